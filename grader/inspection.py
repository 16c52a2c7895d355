"""What has to hold of a course before it is given out: the maintainers' check behind ``build --check``.

Every sentence is there in both languages and asks for the same values; every reference solution passes and every
release fails; every check cell is a listed criterion and says what it asks; every criterion has its wording and three
hints in both languages; the points that a notebook's tables name are those that are given; every "your turn" cell of a
lesson has its judge. That the notebooks are in
step with their sources is :mod:`grader.build`'s.
"""

import json
import re
import string
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grader.answers.judge import judge_notebook
from grader.build import Difference
from grader.criteria import Criterion, criteria, exercises, of_exercise
from grader.verdict import Text
from grader.words import LANGUAGES

HINTS = 3
"""Hints that each criterion has, from the general to the particular."""
DECIDED = ("code", "list")
"""Kinds of criteria on which the judge never leaves a reference solution to a person."""


def inspect(root: Path, step: Callable[[str], None] = lambda exercise: None) -> list[Difference]:
    """Return what is wrong with the course in ``root``, worst last; nothing is changed.

    Args:
        root: a checkout whose notebooks are built.
        step: called with each exercise before it is judged, which takes a second or a few.
    """
    unsaid = [fault for path in sorted((root / "grader").rglob("*.toml")) for fault in _sentences(root, path)]
    if unsaid:  # a judge that can't speak would seem to be wrong about everything
        return unsaid
    found = [Difference("grader/criteria.toml", fault) for one in criteria().values() for fault in _wording(one)]
    found += _lesson_checks(root)
    solved = {path.stem: path for path in sorted(root.glob("solutions/*/*.ipynb"))}
    for name in solved.keys() - set(exercises()):
        found.append(Difference(solved[name].relative_to(root).as_posix(), "has no criteria in grader/criteria.toml"))
    for exercise in exercises():
        path = f"solutions/{exercise}/{exercise}.ipynb"
        release = root / "exercises" / exercise / f"{exercise}.ipynb"
        if not (root / path).is_file() or not release.is_file():
            found.append(Difference(path, "is missing, or its release is"))
            continue
        step(exercise)
        edited = f"solutions/{exercise}/{exercise}.md"
        found += [Difference(edited, fault) for fault in _cells(root / path, of_exercise(exercise))]
        for source in (edited, *_translated(root, exercise)):
            found += [Difference(source, fault) for fault in _named_points(root / source, of_exercise(exercise))]
        failed = [fault for fault, _ in _judged(root / path, solved=True)]
        if failed:
            why = f"`crash-course check {path}` says why"
            found.append(Difference(edited, f"does not pass {', '.join(failed)}: {why}"))
        where = release.relative_to(root).as_posix()
        for fault, met in _judged(release, solved=False):
            found.append(Difference(where, f"{'passes' if met else 'waits for a person'} unsolved: {fault}"))
    return found


def _sentences(root: Path, path: Path) -> Iterator[Difference]:
    """Name the sentences of a catalogue that lack a language, or ask for other values in one than in the other."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        yield Difference(path.relative_to(root).as_posix(), f"can't be read: {problem}")
        return
    spoken = [
        isinstance(entry, dict) and any(isinstance(entry.get(one), str) for one in LANGUAGES)
        for entry in entries.values()
    ]
    if "rubric" in path.parts or not any(spoken):
        return  # a table of another kind
    for key, entry in entries.items():
        fault = _sentence(entry)
        if fault:
            yield Difference(path.relative_to(root).as_posix(), f"has a sentence [{key}] that {fault}")


def _sentence(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "is no pair of languages"
    asked = []
    for one in LANGUAGES:
        if not str(entry.get(one, "")).strip():
            return f"lacks its {one}"
        try:
            asked.append({name for _, name, _, _ in string.Formatter().parse(entry[one]) if name})
        except ValueError as problem:
            return f"has a brace out of place in {one} ({problem})"
    differ = sorted(asked[0] ^ asked[1])
    return f"has {{{'}, {'.join(differ)}}} in one language and not in the other" if differ else None


def _lesson_checks(root: Path) -> Iterator[Difference]:
    """Name the "your turn" cells that nobody judges."""
    from minagent.course.yourturn import JUDGES

    for path in sorted(root.glob("lessons/[0-9][0-9]_*.md")):
        for name in re.findall(r'^check\("([^"]+)"\)$', path.read_text(encoding="utf-8"), re.MULTILINE):
            if name not in JUDGES:
                reason = f'has check("{name}"), which no @turn in lessons/minagent/course/turns_*.py judges'
                yield Difference(path.relative_to(root).as_posix(), reason)


def _translated(root: Path, exercise: str) -> list[str]:
    return sorted(
        p.relative_to(root).as_posix() for p in root.glob(f"translations/*/exercises/{exercise}/{exercise}.md")
    )


_ROW = re.compile(r"^\| *`([\w-]+)` *\| *([\d.]+) *\|", re.MULTILINE)
"""A row of the table in which a notebook tells its learners the criteria and their points."""


def _named_points(path: Path, listed: tuple[Criterion, ...]) -> Iterator[str]:
    points = {criterion.id: criterion.points for criterion in listed}
    for name, said in _ROW.findall(path.read_text(encoding="utf-8") if path.is_file() else ""):
        if name in points and float(said) != points[name]:
            yield f"says {said} points for {name} in its table; grader/criteria.toml gives {points[name]:g}"


def _wording(criterion: Criterion) -> Iterator[str]:
    hints = {f"hint {number}": hint for number, hint in enumerate(criterion.hints, start=1)}
    for what, text in {"statement": criterion.statement, **hints}.items():
        for language, words in (("English", text.en), ("Chinese", text.zh)):
            if not words.strip():
                yield f"has an empty {what} of {criterion.id} in {language}"
    if len(criterion.hints) != HINTS:
        yield f"gives {len(criterion.hints)} hints for {criterion.id}, not {HINTS}"
    if len(set(_both(criterion.hints))) != 2 * len(criterion.hints):
        yield f"gives one hint for {criterion.id} twice, or the same in both languages"
    if criterion.points <= 0:
        yield f"gives no points for {criterion.id}"


def _both(texts: tuple[Text, ...]) -> list[str]:
    return [words for text in texts for words in (text.en, text.zh)]


def _cells(path: Path, listed: tuple[Criterion, ...]) -> Iterator[str]:
    cells: dict[str, Any] = {
        name: cell
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if (name := cell["metadata"].get("nbgrader", {}).get("grade_id"))
    }
    checks = [
        name
        for name, cell in cells.items()
        if cell["metadata"]["nbgrader"]["grade"] and not cell["metadata"]["nbgrader"]["solution"]
    ]
    wanted = [criterion.id for criterion in listed]
    if checks != wanted:
        unknown, lacking = sorted(set(checks) - set(wanted)), sorted(set(wanted) - set(checks))
        if unknown:
            yield f"has a check cell {', '.join(unknown)}, which is no criterion of grader/criteria.toml"
        if lacking:
            yield f"has no check cell {', '.join(lacking)}, which is a criterion of grader/criteria.toml"
        if not unknown and not lacking:
            yield f"has its check cells in another order than grader/criteria.toml: {', '.join(wanted)}"
        return
    for criterion in listed:
        cell = cells[criterion.id]
        if cell["metadata"]["nbgrader"]["points"] != criterion.points:
            said, given = cell["metadata"]["nbgrader"]["points"], f"{criterion.points:g}"
            yield f"says {said} points for {criterion.id} in the cell's header; grader/criteria.toml gives {given}"
        if "".join(cell["source"]) != f'"""{criterion.statement.en}"""\ncheck("{criterion.id}")':
            yield (
                f"has other words in the cell {criterion.id} than its statement.en in grader/criteria.toml, "
                f'in triple quotes, and check("{criterion.id}")'
            )
        if not cells.get(criterion.cell, {"metadata": {}})["metadata"].get("nbgrader", {}).get("solution"):
            yield f"has no answer cell {criterion.cell}, which {criterion.id} is about"


def _judged(path: Path, *, solved: bool) -> Iterator[tuple[str, bool | None]]:
    for verdict in judge_notebook(path):
        open_is_fine = solved and criteria()[verdict.criterion].kind not in DECIDED
        if verdict.met is not solved and not (verdict.met is None and open_is_fine):
            yield verdict.criterion, verdict.met
