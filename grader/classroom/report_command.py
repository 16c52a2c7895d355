"""``crash-course report``: the class report in the terminal, as a page, as JSON and as CSV."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from sqlalchemy.exc import SQLAlchemyError

from grader.classroom.folders import Folders, Refused, course_root
from grader.classroom.report import STATES, Report, Spread, as_data, report_on
from grader.classroom.report_page import shortened, write_report
from grader.crash.report import wrapped
from grader.verdict import Text
from grader.words import LANGUAGES, catalogue, plain, say, use_language

words = catalogue("classroom/report.toml")

_NAME, _BAR, _MEAN = 25, 14, 8
_COLUMNS = {"met": 5, "partly": 8, "not": 9, "waits": 7}
_SIGNS = {"met": "#", "partly": "+", "not": ".", "waits": "?"}
_FAULTS, _PAIRS, _LINES = 6, 10, 8
_HEAD = "student,score,max_score"


def report(exercise: str | None, table: Path | None = None, as_json: bool = False, lang: str | None = None) -> int:
    """Report on the course that the current folder lies in; return 0, or 2 when there is nothing to report on."""
    try:
        if lang is not None and lang not in LANGUAGES:
            raise Refused(catalogue()("check.lang", lang=lang[:20]))
        use_language(lang)
        with contextlib.suppress(AttributeError, ValueError):
            sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        print("\n".join(reported(course_root(), exercise, table, as_json)))
    except Refused as refusal:
        print(say(refusal.text), file=sys.stderr)
        return 2
    return 0


def reported(root: Path | None, exercise: str | None, table: Path | None = None, as_json: bool = False) -> list[str]:
    """Make the reports and return the lines to print; the pages and the table are written on the way.

    Args:
        root: the course's folder.
        exercise: which one; every exercise that has been graded when None.
        table: where a CSV file of the marks goes.
        as_json: return JSON in place of lines for people.

    Raises:
        Refused: there is nothing to report on, or a file can't be written.
    """
    if root is None:
        raise Refused(catalogue("classroom/grade.toml")("no_course"))
    folders = Folders(root)
    reports = _reports(folders, exercise)
    if table is not None:
        if len(reports) > 1:
            raise Refused(words("csv.one", levels=", ".join(each.exercise for each in reports)))
        write_table(table, reports[0])
    pages = [write_report(folders, each) for each in reports]
    if as_json:
        data = [{**as_data(each), "page": str(page)} for each, page in zip(reports, pages, strict=True)]
        return [json.dumps(data[0] if exercise else {"reports": data}, ensure_ascii=False, indent=2)]
    lines = []
    for each, page in zip(reports, pages, strict=True):
        lines += [*as_lines(each), "", say(words("page.at", path=page)), ""]
    if table is None:
        return lines[:-1]
    waiting = [one.student for one in reports[0].submissions if one.waits]
    note = _wrapped(words("csv.waits", students=shortened(waiting))) if waiting else []
    return [*lines[:-1], say(words("csv.at", path=table)), *note]


def _reports(folders: Folders, exercise: str | None) -> list[Report]:
    if folders.db_url.startswith("sqlite") and not folders.gradebook.is_file():
        raise Refused(words("no_gradebook", path=folders.gradebook))
    try:
        if exercise is None:
            with folders.course.gradebook() as gradebook:
                names = sorted(each.name for each in gradebook.assignments if each.num_submissions)
        else:
            exercise = exercise.rstrip("/")
            names = [exercise]
        reports = [report_on(folders, name) for name in names]
    except SQLAlchemyError as problem:
        reason = plain(str(getattr(problem, "orig", problem)).splitlines()[0][:200])
        raise Refused(words("broken", path=folders.gradebook, reason=reason)) from problem
    found = [each for each in reports if each.submissions]
    if not found:
        known = folders.known()
        if exercise and known and exercise not in known:
            raise Refused(catalogue("classroom/grade.toml")("no_exercise", name=exercise, known=", ".join(known)))
        missing = words("none.exercise", exercise=exercise) if exercise else words("none.any", path=folders.root)
        raise Refused(missing)
    return found


# ------------------------------------------------------------------------------------------------ for a terminal


def as_lines(report: Report) -> list[str]:
    """Return the report as text of at most 80 columns."""
    lines = _wrapped(words("title", exercise=report.exercise))
    lines += _wrapped(report.summary)
    if report.ungraded:
        lines += _wrapped(words("ungraded", students=shortened(report.ungraded), exercise=report.exercise))
    lines += ["", *_criteria(report.spreads), "", *_faults(report), "", say(words("look.head"))]
    for look in report.looks:
        first, *rest = [part for reason in look.reasons for part in _wrapped(reason, "    ")]
        lines += [f"  {look.student}:", first, *rest]
    lines += [] if report.looks else _wrapped(words("look.none"), "  ")
    return [*lines, "", *_alike(report)]


def _criteria(spreads: Sequence[Spread]) -> list[str]:
    name = say(words("criteria.name"))
    wide = min(_NAME, max(cell_len(text) for text in [name, *(each.criterion for each in spreads)]))
    heads = [_right(say(words(f"state.{state}")), _COLUMNS[state]) for state in STATES]
    head = set_cell_size(name, wide + _BAR + 3) + "".join(heads) + _right(say(words("points.mean")), _MEAN)
    lines = [say(words("criteria.head")), head]
    for each in spreads:
        counts = "".join(_right(str(each.counts[state]), _COLUMNS[state]) for state in STATES)
        mean = _right((f"{each.mean:.1f}" if each.settled else "-") + f"/{each.most:g}", _MEAN)
        lines.append(f"{set_cell_size(each.criterion, wide)}  {_bar(each)} {counts}{mean}")
    return [*lines, say(words("criteria.key"))]


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text


def _bar(spread: Spread) -> str:
    """Return the counts as a bar; what is there at all has one sign at least."""
    whole = spread.of or 1
    sizes = {state: max(1, round(_BAR * n / whole)) if n else 0 for state, n in spread.counts.items()}
    while sum(sizes.values()) != _BAR and any(sizes.values()):
        largest = max(sizes, key=lambda state: sizes[state])
        sizes[largest] += 1 if sum(sizes.values()) < _BAR else -1
    return "".join(_SIGNS[state] * sizes[state] for state in STATES)


def _faults(report: Report) -> list[str]:
    lines = [say(words("faults.head"))]
    for fault in report.faults[:_FAULTS]:
        lines += _wrapped(words("faults.shared", count=len(fault.students), criterion=fault.criterion), "  ")
        lines += _wrapped(words("faults.students", students=shortened(fault.students)), "    ")
        for part in say(fault.message).split("\n"):
            lines += _wrapped(plain(part), "    ")
    if not report.faults:
        lines += _wrapped(words("faults.none"), "  ")
    if len(report.faults) > _FAULTS:
        lines += _wrapped(words("faults.more", count=len(report.faults) - _FAULTS), "  ")
    return lines


def _alike(report: Report) -> list[str]:
    lines = [say(words("alike.head"))]
    if not report.pairs:
        return [*lines, f"  {say(words('alike.none'))}"]
    lines += _wrapped(words("alike.note"), "  ")
    for pair in report.pairs[:_PAIRS]:
        one = pair.likeness
        shares = [("alike.code", one.code), ("alike.prose", one.prose)]
        said = ", ".join(say(words(key, share=f"{100 * share:.0f}")) for key, share in shares if share)
        lines += _wrapped(plain(f"{say(words('alike.pair', first=one.first, second=one.second))}: {said}"), "  ")
        for student, side in ((one.first, pair.first), (one.second, pair.second)):
            cells = dict.fromkeys(line.cell for line in side)
            places = [f"{cell} {_numbers(line.number for line in side if line.cell == cell)}" for cell in cells]
            lines += _wrapped(words("alike.lines", student=student, places="; ".join(places)), "    ")
    if len(report.pairs) > _PAIRS:
        lines += _wrapped(words("alike.more", count=len(report.pairs) - _PAIRS), "  ")
    return lines


def _numbers(lines: Iterable[int]) -> str:
    """Return "3-9, 12" for the lines 3 to 9 and 12."""
    found: list[list[int]] = []
    for line in sorted(set(lines)):
        if found and line == found[-1][-1] + 1:
            found[-1].append(line)
        else:
            found.append([line])
    parts = [str(each[0]) if len(each) == 1 else f"{each[0]}-{each[-1]}" for each in found]
    return ", ".join(parts[:_LINES]) + (", …" if len(parts) > _LINES else "")


def _wrapped(text: Text, indent: str = "") -> list[str]:
    return wrapped(say(text), indent, indent)


# --------------------------------------------------------------------------------------------------------- a table


def write_table(path: Path, report: Report) -> None:
    """Write the marks as CSV for a learning platform, a row for each student; what waits is left empty.

    Raises:
        Refused: the file can't be written, or another file is in its place.
    """
    if path.exists() and not _ours(path):
        raise Refused(words("csv.taken", path=path))
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(as_table(report), encoding="utf-8", newline="")
        os.replace(part, path)
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise Refused(words("csv.unwritable", path=path, reason=reason)) from problem


def _ours(path: Path) -> bool:
    try:
        return path.read_text(encoding="utf-8").startswith(_HEAD)
    except (OSError, UnicodeDecodeError):
        return False


def as_table(report: Report) -> str:
    """Return the marks as CSV: student, score, max_score, then each criterion."""
    names = [spread.criterion for spread in report.spreads]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*_HEAD.split(","), *map(_harmless, names)])
    for one in report.submissions:
        marks = [one.results.get(name) for name in names]
        cells = ["" if mark is None or mark.waits else f"{mark.score:g}" for mark in marks]
        score = f"{one.score:g}" if one.waits < len(one.results) else ""  # a 0 would be imported as a mark
        writer.writerow([_harmless(one.student), score, f"{one.most:g}", *cells])
    return out.getvalue()


def _harmless(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula: an apostrophe before what would begin one."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
