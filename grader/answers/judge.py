"""The judge: from cells to verdicts. The learner's code runs in a worker; nothing of it enters this process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
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
from grader.answers.rubric import read
from grader.answers.rubric.reading import Reading
from grader.answers.runner import BUSY, Worker
from grader.criteria import Criterion, criteria, of_exercise
from grader.levels import level1, level2, level3
from grader.levels.literals import last_cell_with
from grader.levels.places import Sources
from grader.levels.trial import Outcome, Runner, Trial, alien
from grader.verdict import Text, Verdict
from grader.words import catalogue, join

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
    if found not in _LEVELS:
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
        judge = _LEVELS.get(exercise)
        if judge is None:
            for criterion in here:
                text = _words("notebook.no_judge", exercise=exercise)
                verdicts[criterion.id] = Verdict(criterion.id, None, 0.0, criterion.points, text)
            continue
        try:
            found = judge(to_run, here, _sure(run_in.runner(to_run)), student_id)
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
    message = Text(f"{verdict.message.en}\n{text.en}", f"{verdict.message.zh}\n{text.zh}")
    return replace(verdict, met=met, points=points, message=message, suggested=None)


def _listed(names: Collection[str]) -> list[Criterion]:
    return [criteria()[name] for name in dict.fromkeys(names)]


# ------------------------------------------------------------------------------------------------ the levels

Level = Callable[[list[Cell], list[Criterion], Runner, str], list[Verdict]]


def _level1(cells: list[Cell], wanted: list[Criterion], run: Runner, student_id: str) -> list[Verdict]:
    outcome = run(Trial("level1"))
    if not (isinstance(outcome.data, dict) and "missing" in outcome.data):  # what comes after it must not take it away
        until = last_cell_with([(cell.id, cell.source) for cell in cells], ["missing"], level1.CELL)
        outcome = run(Trial("level1", until=until))
    verdicts = level1.judge(outcome.data, [criterion.id for criterion in wanted], student_id, _explanation)
    failure = next(iter([*outcome.cells, *([outcome.failure] if outcome.failure else [])]), None)
    if failure is None or (isinstance(outcome.data, dict) and "missing" in outcome.data):
        return verdicts
    sources = Sources({cell.id: cell.source for cell in cells}, level1.CELL)
    why = _words("check.cell_raised", what=sources.reason(failure))
    return [replace(verdict, message=join(why, verdict.message)) for verdict in verdicts]


def _explanation(field: str, text: str, others: Mapping[str, str]) -> level1.Reading:
    """Read the explanation of one field; where a person has to decide, with the points to compare."""
    reading = read(field, text, others=others)
    if reading.decision != "abstain":
        return reading
    return replace(reading, reason=join(reading.reason, _points(criteria()[f"level1-{field}"])))


def _level2(cells: list[Cell], wanted: list[Criterion], run: Runner, student_id: str) -> list[Verdict]:
    sources: dict[str, str] = {cell.id: cell.source for cell in cells}
    judge = level2.Judge(sources, run)
    verdicts = {verdict.criterion: verdict for verdict in judge.verdicts([c.id for c in wanted])}
    written = [criterion for criterion in wanted if criterion.id in level2.WRITTEN]
    if written:
        texts, failure = judge.texts()
        for criterion in written:
            verdicts[criterion.id] = _written(criterion, texts, judge.sources.reason(failure) if failure else None)
    return [verdicts[criterion.id] for criterion in wanted]


def _written(criterion: Criterion, texts: Mapping[str, Any], why: Text | None) -> Verdict:
    """Judge a written criterion, which may be answered by either of its strings; ``why`` one may not be there."""
    names = level2.WRITTEN[criterion.id]
    found: list[str] = []
    problem: Text | None = None
    for name in names:
        if name not in texts:
            gone = _words("written.missing", name=name, cell=criterion.cell)
            problem = problem or (join(_words("check.cell_raised", what=why), gone) if why else gone)
        elif not isinstance(texts[name], str):
            kind = alien(texts[name]) or type(texts[name]).__name__
            problem = problem or _words("written.type", name=name, found=kind)
        elif texts[name].strip():
            found.append(texts[name])
    if not found:
        text = problem or _words("written.empty", cell=criterion.cell)
        return Verdict(criterion.id, False, 0.0, criterion.points, text)
    readings = [read(criterion.id, text) for text in found]
    best = max(readings, key=lambda reading: (_RANK[reading.decision], len(reading.points_made)))
    if problem is not None and best.decision == "reject":
        return Verdict(criterion.id, False, 0.0, criterion.points, problem)
    return _verdict(criterion, best)


_RANK = {"accept": 2, "abstain": 1, "reject": 0}


def _verdict(criterion: Criterion, reading: Reading) -> Verdict:
    """Return what a reading means for a criterion that is one written answer."""
    most = criterion.points
    if reading.decision == "accept":
        return Verdict(criterion.id, True, most, most, reading.reason)
    if reading.decision == "reject":
        return Verdict(criterion.id, False, 0.0, most, reading.reason)
    text = join(reading.reason, _points(criterion))
    return Verdict(criterion.id, None, 0.0, most, text, suggested=reading.suggested * most)


def _points(criterion: Criterion) -> Text:
    points = Text(
        en=" ".join(f"({n}) {point.en}" for n, point in enumerate(criterion.compare, 1)),
        zh="".join(f"（{n}）{point.zh}" for n, point in enumerate(criterion.compare, 1)),
    )
    return _words("written.compare", points=points)


def _level3(cells: list[Cell], wanted: list[Criterion], run: Runner, student_id: str) -> list[Verdict]:
    judge = level3.Judge({cell.id: cell.source for cell in cells}, run)
    return judge.verdicts([criterion.id for criterion in wanted])


_LEVELS: dict[str, Level] = {"level1": _level1, "level2": _level2, "level3": _level3}
