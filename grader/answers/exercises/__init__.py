"""One module for each exercise: from cells and a runner to verdicts. Each is imported when its exercise is judged."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from grader.answers.cells import Cell
from grader.criteria import Criterion
from grader.levels.trial import Runner
from grader.verdict import Verdict

Judge = Callable[[list[Cell], list[Criterion], Runner, str], list[Verdict]]
JUDGED = ("level1", "level2", "level3", "level4")


def judge_of(exercise: str) -> Judge:
    """Return the function that judges an exercise: cells to run, criteria, runner and learner's id to verdicts."""
    judge: Judge = importlib.import_module(f"grader.answers.exercises.{exercise}").judge
    return judge
