"""``crash-course check``: a saved notebook, judged as ``check`` judges a running one."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from grader.answers.cells import BadNotebook, code_cells, decisions, exercise_of, read_notebook
from grader.answers.judge import decide, judge_cells, open_notebook, worker
from grader.answers.show import text_report
from grader.criteria import of_exercise
from grader.verdict import Text, Verdict
from grader.words import catalogue, plain, say, use_language

_words = catalogue()

MET, NOT_MET, UNUSABLE = 0, 1, 2


Next = Callable[[Sequence[Verdict]], list[Text]]
"""What is done with verdicts once they stand; returns what there is to say besides."""


def check(
    notebook: Path | None, as_json: bool = False, lang: str | None = None, after: Next = lambda verdicts: []
) -> int:
    """Judge a notebook, print what it meets, and return the exit code.

    Returns:
        0 when every criterion is met, 1 when one is not or waits for a person, 2 when there is nothing to judge.
    """
    if lang is not None:
        if lang not in ("en", "zh"):
            return _unusable(_words("check.lang", lang=lang[:20]))
        use_language(lang)
    worker().warm()  # it gets ready while the notebook is read
    try:
        path = notebook if notebook is not None else only_exercise(Path.cwd())
        exercise, cells = open_notebook(path)
    except BadNotebook as problem:
        return _unusable(problem.text)
    try:
        verdicts = judge_cells(cells, [criterion.id for criterion in of_exercise(exercise)])
    except Exception as error:  # a fault of the kit's own
        return _unusable(_words("check.failed", what=type(error).__name__))
    verdicts = decide(verdicts, decisions(cells))
    left = [v.criterion for v in verdicts if v.met is None and v.suggested is not None]
    notes = [_words("mine.how", criterion=name) for name in left]
    notes += after(verdicts)
    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    print(as_data(exercise, verdicts) if as_json else text_report(verdicts, notes))
    return MET if all(verdict.met is True for verdict in verdicts) else NOT_MET


def as_data(exercise: str, verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as JSON for machines."""
    listed = [
        {
            "id": verdict.criterion,
            "met": verdict.met,
            "points": verdict.points,
            "max_points": verdict.max_points,
            "message": say(verdict.message),
        }
        for verdict in verdicts
    ]
    return json.dumps({"exercise": exercise, "criteria": listed}, ensure_ascii=False, indent=2)


def only_exercise(folder: Path) -> Path:
    """Return the one notebook in ``folder`` that is an exercise, or raise :class:`BadNotebook`."""
    found = []
    for path in sorted(folder.glob("*.ipynb")):
        try:
            if exercise_of(code_cells(read_notebook(path))) is not None:
                found.append(path)
        except BadNotebook:
            continue
    if len(found) == 1:
        return found[0]
    if not found:
        raise BadNotebook(_words("check.which_none"))
    raise BadNotebook(_words("check.which", names=plain(", ".join(path.name for path in found[:6]))))


def _unusable(text: Text) -> int:
    print(say(text), file=sys.stderr)
    return UNUSABLE
