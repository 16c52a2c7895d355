"""One module for each exercise: from cells and a runner to verdicts. Each is imported when its exercise is judged."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from grader.answers.cells import Cell
from grader.criteria import Criterion, exercises
from grader.levels.trial import Runner
from grader.verdict import Verdict

Judge = Callable[[list[Cell], list[Criterion], Runner, str], list[Verdict]]
JUDGED = tuple(name for _, name, _ in pkgutil.iter_modules(__path__) if name in exercises())
"""The exercises that can be judged: those with criteria and a module here."""


def judge_of(exercise: str) -> Judge:
    """Return the function that judges an exercise: cells to run, criteria, runner and learner's id to verdicts."""
    judge: Judge = importlib.import_module(f"grader.answers.exercises.{exercise}").judge
    return judge
