"""Level 5: one criterion, judged by behaviour."""

from __future__ import annotations

from grader.answers.cells import Cell
from grader.criteria import Criterion
from grader.levels import level5
from grader.levels.trial import Runner
from grader.verdict import Verdict


def judge(cells: list[Cell], wanted: list[Criterion], run: Runner, student_id: str) -> list[Verdict]:
    """Judge criteria of Level 5."""
    return [level5.verdict(run, criterion.points) for criterion in wanted]
