"""Level 4: the level judges everything."""

from __future__ import annotations

from grader.answers.cells import Cell
from grader.criteria import Criterion
from grader.levels import level4
from grader.levels.trial import Runner
from grader.verdict import Verdict


def judge(cells: list[Cell], wanted: list[Criterion], run: Runner, student_id: str) -> list[Verdict]:
    """Judge criteria of Level 4."""
    judge = level4.Judge({cell.id: cell.source for cell in cells}, run)
    return judge.verdicts([criterion.id for criterion in wanted])
