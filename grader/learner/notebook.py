"""What a notebook imports: ``check`` as the judge's, with progress kept; ``hint``, ``progress`` and ``solution``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from minagent.course import Answer

from grader.answers import session
from grader.answers.cells import BadNotebook
from grader.answers.show import Report
from grader.criteria import criteria
from grader.learner.comparing import Compared, compare_solution
from grader.learner.folder import find_folder
from grader.learner.hints import Hints, ask_for_hints
from grader.learner.progress import Progress, progress_in
from grader.learner.recording import record_turn, record_verdicts, was_met
from grader.learner.state import read
from grader.verdict import Text, Verdict
from grader.words import catalogue, plain

_words = catalogue("learner/words.toml")


def check(*names: str, mine: str | bool | None = None) -> Report | Answer | float:
    """Judge the session's own cells, show what they meet, and remember it in the learner's folder.

    Where nbgrader runs the notebook (the button Validate, an autograding of its own), which reads a number, the points.

    Args:
        names: criteria such as ``"level2-atomic"``, or an exercise (``"level2"``) for all of its criteria; with none,
            every criterion of what the session defines. In a lesson, the name of a "your turn" cell.
        mine: your own word, ``"met"`` or ``"not met"``, on a written answer that the rubric could not decide.
    """
    found = session.check(*names, mine=mine)
    folder = find_folder()
    if isinstance(found, Report):
        report = Report(found.verdicts, [*found.notes, *after_check(found.verdicts, folder, "notebook")], found.lang)
        by_nbgrader = os.environ.get("NBGRADER_EXECUTION")
        return _as_points(report, by_nbgrader) if by_nbgrader else report
    if folder is not None and found.passed is not None and names:
        record_turn(folder, names[0], found.passed)
    return found


def _as_points(report: Report, how: str) -> float:
    """Print a report and return its points; nbgrader's validation shows a learner what stderr says."""
    validates = how == "validate"
    if validates and any(verdict.met is None for verdict in report.verdicts):
        print(report)  # a person will read it, which is no failure
        return sum(verdict.max_points for verdict in report.verdicts)
    print(report, file=sys.stderr if validates and not report.met else sys.stdout)
    return sum(verdict.points for verdict in report.verdicts)


def after_check(verdicts: Sequence[Verdict], folder: Path | None, where: str) -> list[Text]:
    """Remember verdicts, and return what to say after them: how to get a hint, or to see the solution.

    Args:
        verdicts: what the check found.
        folder: the learner's folder, if there is one.
        where: ``"notebook"`` or ``"shell"``, where the learner is.
    """
    trouble = record_verdicts(folder, verdicts) if folder is not None else None
    notes = [trouble] if trouble is not None else []
    first = next((verdict.criterion for verdict in verdicts if verdict.met is False), None)
    if first is not None:
        notes.append(_words(f"check.hint_{where}", criterion=plain(first)))
    elif verdicts and folder is not None:
        level = criteria()[verdicts[-1].criterion].exercise
        if was_met(read(folder).state, level):
            notes.append(_words(f"solution.ready_{where}", level=plain(level)))
    return notes


def hint(name: str, count: int = 1) -> Hints | Report:
    """Show hints on a criterion: those seen before, at least the first, and up to the one numbered ``count``.

    The number is absolute: a cell that is run again shows the same hints again.
    """
    try:
        return ask_for_hints(name, up_to=count if isinstance(count, int) else 1)
    except BadNotebook as problem:
        return Report(notes=[problem.text])


def progress() -> Progress | Report:
    """Show how far you are in the course, and what comes next."""
    folder = find_folder()
    return progress_in(folder) if folder is not None else Report(notes=[_words("folder.none")])


def solution(level: str) -> Compared | Report:
    """Show the reference solution beside your own answers, once every criterion of the level is met."""
    try:
        found = session.begin()
        running = {cell.id: cell.source for cell in found.cells()} if found is not None else {}
        return compare_solution(level, running)
    except BadNotebook as problem:
        return Report(notes=[problem.text])
