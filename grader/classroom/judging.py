"""Autograding by the judge: one verdict for each criterion cell, then exactly its points in the gradebook.

No cell is executed here. The judge runs the learner's code in a worker of its own and sends back verdicts.
They are written into the criterion cells so that nbgrader's ``determine_grade`` reads the judge's points and
nothing else.
"""

import html
import logging
import math
import re
from functools import cache
from typing import Any

import nbformat
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from grader.classroom import FAILED, UNSETTLED
from grader.criteria import criteria
from grader.verdict import Text, Verdict
from grader.words import LANGUAGES, catalogue, join, language, say

words = catalogue("classroom/words.toml")


log = logging.getLogger(__name__)


class JudgeCriteria(NbGraderPreprocessor):  # type: ignore[misc]
    """Judge a notebook once and write each verdict into its criterion cell."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Fill the criterion cells; run a kernel only for graded cells that are no criterion."""
        if needs_kernel(nb):
            nb, resources = Execute(parent=self.parent).preprocess(nb, resources)
        _warn(self.log)
        judge_into(nb, resources["nbgrader"]["student"], _class_worker())
        return nb, resources


@cache
def _warn(its_log: logging.Logger) -> None:
    """Say in nbgrader's log, once in a process, what grading without bubblewrap means."""
    from grader.answers import sandbox

    if (notice := sandbox.notice()) is not None:
        its_log.warning("%s", say(notice))


@cache
def _class_worker() -> Any:
    from grader.answers.runner import Worker
    from grader.answers.sandbox import for_class

    return Worker(isolation=for_class())


def needs_kernel(nb: Any) -> bool:
    """Whether a notebook that can be read has graded cells that are no criterion of ours."""
    others = [cell for cell in _checks(nb) if cell.metadata.nbgrader.grade_id not in criteria()]
    return bool(others) and "unreadable" not in nb.metadata.get("crash_course", {})


def _checks(nb: Any) -> list[Any]:
    return [cell for cell in nb.cells if is_grade(cell) and not is_solution(cell)]


def judge_into(nb: Any, student: str, worker: Any = None) -> None:
    """Judge a restored notebook and write the verdicts into it, in place.

    Args:
        nb: the notebook, the course's cells restored.
        student: whose it is.
        worker: where the learner's code runs; this process's own when None.
    """
    mine = [cell for cell in _checks(nb) if cell.metadata.nbgrader.grade_id in criteria()]
    verdicts = _verdicts(nb, mine, student, worker)
    flags = set(nb.metadata.get("crash_course", {}).get("flags", []))
    for cell in mine:
        verdict = verdicts[cell.metadata.nbgrader.grade_id]
        flags.update(verdict.flags)
        write_verdict(cell, verdict)
    note = dict(nb.metadata.get("crash_course", {}))
    note["flags"] = sorted(flags)
    if any(flag.startswith(UNSETTLED) for flag in flags):
        note.pop("fingerprint", None)  # so that grading again judges it again
    nb.metadata["crash_course"] = nbformat.from_dict(note)


def _verdicts(nb: Any, cells: list[Any], student: str, worker: Any) -> dict[str, Verdict]:
    """Return a verdict that can be graded for every cell."""
    note = nb.metadata.get("crash_course", {})
    most = {cell.metadata.nbgrader.grade_id: float(cell.metadata.nbgrader.points) for cell in cells}
    if "unreadable" in note:
        sentence = words("wait.unreadable", why=Text(**note["unreadable"]))
        return {name: _waits(name, points, sentence) for name, points in most.items()}
    found: dict[str, Verdict] = {}
    missing, failure = words("wait.silent"), ""
    try:
        from grader.answers.judge import judge_notebook

        for exercise in dict.fromkeys(criteria()[name].exercise for name in most):
            for verdict in judge_notebook(nb, exercise=exercise, student_id=student, worker=worker):
                found[verdict.criterion] = verdict
    except Exception as problem:
        log.exception("the judge failed on %s", student)
        missing = words("wait.failed", reason=type(problem).__name__)
        failure = f"{FAILED}{type(problem).__name__}: {problem}"
    result = {}
    for name, points in most.items():
        verdict = gradable(found.get(name) or _waits(name, points, missing, failure), points)
        if name in note.get("missing_checks", []):
            sentence = words("check.deleted")
            verdict = Verdict(criterion=name, met=False, points=0.0, max_points=points, message=sentence)
        elif "problem" in note:
            verdict = _referred(verdict, Text(**note["problem"]))
        result[name] = verdict
    return result


def _waits(name: str, most: float, message: Text, flag: str = "") -> Verdict:
    flags = (flag,) if flag else ()
    return Verdict(criterion=name, met=None, points=0.0, max_points=most, message=message, flags=flags)


def _referred(verdict: Verdict, why: Text) -> Verdict:
    """Return the verdict as a suggestion to the person who decides because of ``why``."""
    lead = words("wait.problem", why=why)
    return Verdict(
        criterion=verdict.criterion,
        met=None,
        points=0.0,
        max_points=verdict.max_points,
        message=join(lead, verdict.message),
        picture=verdict.picture,
        picture_text=verdict.picture_text,
        suggested=verdict.points if verdict.met is not None else verdict.suggested,
        flags=verdict.flags,
    )


def gradable(verdict: Verdict, most: float) -> Verdict:
    """Return ``verdict`` when its points make sense for a cell worth ``most``; else let a person decide."""
    points = verdict.points
    if verdict.met is None:
        return verdict
    fits = math.isfinite(points) and 0 <= points <= most and (points == most or not verdict.met)
    if fits:
        return verdict
    return _waits(verdict.criterion, most, words("wait.failed", reason=f"{points} / {most:g}"))


def write_verdict(cell: Any, verdict: Verdict) -> None:
    """Write a verdict into its cell: what people see, and the points as nbgrader's partial credit."""
    most = float(cell.metadata.nbgrader.points)
    cell.outputs = [_output("display_data", {"text/html": verdict_html(verdict), "text/plain": verdict_text(verdict)})]
    if verdict.met is not None:
        cell.outputs.append(
            _output(
                "execute_result",
                {
                    "text/plain": repr(float(verdict.points)),
                    "text/html": html.escape(say(words("points", points=f"{verdict.points:g}", most=f"{most:g}"))),
                },
                execution_count=1,
            )
        )
    cell.execution_count = 1
    cell.metadata["crash_course"] = nbformat.from_dict(
        {
            "met": verdict.met,
            "points": float(verdict.points),
            "suggested": verdict.suggested,
            "message": {"en": verdict.message.en, "zh": verdict.message.zh},
            "kind": verdict.message.key,
        }
    )


def _output(kind: str, data: dict[str, str], **more: int) -> Any:
    """Return an output as nbformat has it, without validating it, which takes longer than all else here."""
    return nbformat.from_dict({"output_type": kind, "metadata": {}, "data": data, **more})


def status(verdict: Verdict) -> Text:
    """Return the verdict in two or three words."""
    if verdict.met is None:
        return words("status.waits")
    if verdict.met:
        return words("status.met")
    return words("status.partly" if verdict.points > 0 else "status.not")


def _lines(message: Text) -> list[Text]:
    """Return the paragraphs of a message, in both languages."""
    return [Text(en, zh) for en, zh in zip(message.en.split("\n"), message.zh.split("\n"), strict=False)]


def _parts(verdict: Verdict) -> list[Text]:
    """Return heading, message and remarks of a verdict, each one paragraph."""
    most = f"{verdict.max_points:g}"
    head = status(verdict)
    if verdict.met is not None:
        score = words("points", points=f"{verdict.points:g}", most=most)
        head = Text(en=f"{head.en}: {score.en}", zh=f"{head.zh}：{score.zh}")
    parts = [head, *_lines(verdict.message)]
    if verdict.met is None and verdict.suggested is not None:
        parts.append(words("suggested", points=f"{verdict.suggested:g}", most=most))
    if verdict.advice is not None:
        parts.append(words("advice", advice=verdict.advice))
    return parts


def verdict_text(verdict: Verdict) -> str:
    """Return the verdict as plain text in the course's language."""
    lines = [say(part) for part in _parts(verdict)]
    lines[0] = f"{verdict.criterion}: {lines[0]}"
    return "\n".join([*lines, *([verdict.picture_text] if verdict.picture_text else [])])


def verdict_html(verdict: Verdict) -> str:
    """Return the verdict as an HTML fragment: the course's language in full, the other one folded away."""
    first = language()
    other = next(lang for lang in LANGUAGES if lang != first)
    blocks = {lang: "".join(f"<p>{marked_up(say(part, lang))}</p>" for part in _parts(verdict)) for lang in LANGUAGES}
    tags = {"en": "en", "zh": "zh-Hans"}
    names = {"en": "English", "zh": "中文"}
    return (
        f'<div class="crash-course-verdict"><div lang="{tags[first]}">{blocks[first]}</div>'
        f'<div style="overflow-x:auto">{verdict.picture or ""}</div>'
        f'<details lang="{tags[other]}"><summary>{names[other]}</summary>{blocks[other]}</details></div>'
    )


def picture_of(html_form: str) -> str:
    """Return the picture in what :func:`verdict_html` made; empty when there is none."""
    begin = html_form.find("</div>") + len("</div>")
    end = html_form.rfind("<details lang=")
    return html_form[begin:end] if 0 < begin <= end else ""


def marked_up(text: str) -> str:
    """Escape a sentence, and show what stands between backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
