"""The judge: from cells to verdicts. The learner's code runs in a worker; nothing of it enters this process."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.answers.cells import (
    BadNotebook,
    Cell,
    check_complete,
    code_cells,
    context_cells,
    exercise_of,
    read_notebook,
)
from grader.answers.exercises import JUDGED, judge_of
from grader.answers.runner import BUSY, Worker
from grader.criteria import Criterion, criteria, of_exercise
from grader.levels.trial import Outcome, Runner, Trial
from grader.verdict import Verdict
from grader.words import catalogue

_words = catalogue()
_worker: Worker | None = None


def worker() -> Worker:
    """Return this process's warm worker; it is started when first needed."""
    global _worker
    if _worker is None:
        _worker = Worker()
    return _worker


def judge_notebook(
    source: str | Path | Mapping[str, Any],
    exercise: str | None = None,
    student_id: str = "",
    *,
    worker: Worker | None = None,
) -> list[Verdict]:
    """Judge every criterion of a notebook's exercise.

    Args:
        source: a notebook's path, or the notebook itself.
        exercise: the exercise it should be; found from the cells' ids when None.
        student_id: whose it is, for exercises whose figures vary by learner.
        worker: where learners' code runs; this process's own when None.

    Raises:
        BadNotebook: it can't be judged as it is.
    """
    found, cells = open_notebook(source, exercise)
    return judge_cells(cells, [c.id for c in of_exercise(found)], student_id=student_id, worker=worker)


def open_notebook(source: str | Path | Mapping[str, Any], exercise: str | None = None) -> tuple[str, list[Cell]]:
    """Return a notebook's exercise and its code cells, or raise :class:`BadNotebook`."""
    cells = code_cells(read_notebook(source))
    found = exercise or exercise_of(cells)
    if found is None or not of_exercise(found):
        name = "notebook" if isinstance(source, Mapping) else Path(source).name
        raise BadNotebook(_words("notebook.no_exercise", name=name))
    check_complete(cells, found)
    if found not in JUDGED:
        raise BadNotebook(_words("notebook.no_judge", exercise=found))
    return found, cells


def judge_cells(
    cells: Iterable[Cell],
    criteria: Collection[str],
    *,
    student_id: str = "",
    worker: Worker | None = None,
) -> list[Verdict]:
    """Judge the given criteria on cells in order; criterion cells among them are left out.

    Nothing that is in the cells makes this raise: what the judge can't cope with waits for a person.
    """
    run_in = worker if worker is not None else globals()["worker"]()
    to_run = context_cells(cells)
    verdicts: dict[str, Verdict] = {}
    wanted = _listed(criteria)
    for exercise in dict.fromkeys(criterion.exercise for criterion in wanted):
        here = [criterion for criterion in wanted if criterion.exercise == exercise]
        if exercise not in JUDGED:
            for criterion in here:
                text = _words("notebook.no_judge", exercise=exercise)
                verdicts[criterion.id] = Verdict(criterion.id, None, 0.0, criterion.points, text)
            continue
        try:
            found = judge_of(exercise)(to_run, here, _sure(run_in.runner(to_run)), student_id)
        except _NotRun as not_run:
            text = _words("check.not_run" if not_run.busy else "check.no_worker")
            found = [Verdict(c.id, None, 0.0, c.points, text, flags=("not run",)) for c in here]
        except Exception as error:  # a recording made to be strange must not stop a batch
            what = type(error).__name__
            found = [
                Verdict(
                    c.id,
                    None,
                    0.0,
                    c.points,
                    _words("check.internal", what=what),
                    flags=(f"judge: {error!r}",),
                )
                for c in here
            ]
        verdicts |= {verdict.criterion: verdict for verdict in found}
    return [verdicts[criterion.id] for criterion in wanted]


class _NotRun(Exception):
    """Nothing of the learner's could be run, so there is nothing to judge."""

    def __init__(self, busy: bool) -> None:
        self.busy = busy


def _sure(run: Runner) -> Runner:
    """Return ``run``, raising when the worker could not run anything."""

    def once(trial: Trial) -> Outcome:
        outcome = run(trial)
        if outcome.failure is not None and outcome.failure.kind == "broken":
            raise _NotRun(outcome.failure.type == BUSY)
        return outcome

    return once


MINE: dict[object, bool] = {"met": True, True: True, "not met": False, False: False}
"""What a learner may decide about an answer that the rubric leaves to a person."""


def decide(verdicts: Iterable[Verdict], mine: Mapping[str, object]) -> list[Verdict]:
    """Settle verdicts that wait as the learner decided. Only self-study does this; a class has a person who reads."""
    return [_decided(one, MINE[mine[one.criterion]]) if _open(one, mine) else one for one in verdicts]


def _open(verdict: Verdict, mine: Mapping[str, object]) -> bool:
    if verdict.met is not None or verdict.suggested is None:
        return False
    word = mine.get(verdict.criterion)
    return isinstance(word, str | bool) and word in MINE


def _decided(verdict: Verdict, met: bool) -> Verdict:
    points = verdict.max_points if met else verdict.points
    text = _words("mine.met" if met else "mine.not_met")
    said = verdict.message
    message = replace(said, en=f"{said.en}\n{text.en}", zh=f"{said.zh}\n{text.zh}")
    return replace(verdict, met=met, points=points, message=message, suggested=None)


def _listed(names: Collection[str]) -> list[Criterion]:
    return [criteria()[name] for name in dict.fromkeys(names)]
