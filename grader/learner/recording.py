"""From a check's outcome to what is remembered of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import msgspec

from grader.criteria import criteria, of_exercise
from grader.learner.state import Mark, State, Turn, change
from grader.verdict import Text, Verdict


def now() -> str:
    """Return the time, as the state keeps it."""
    return datetime.now().isoformat(timespec="seconds")


def record_verdicts(folder: Path, verdicts: Iterable[Verdict]) -> Text | None:
    """Remember verdicts; return what went wrong, if anything did. A check that could not be run says nothing."""
    said = [verdict for verdict in verdicts if "not run" not in verdict.flags and verdict.criterion in criteria()]
    if not said:
        return None

    def take_in(state: State) -> State:
        marks = dict(state.criteria)
        for verdict in said:
            old = marks.get(verdict.criterion)
            first = old.first_met if old else None
            marks[verdict.criterion] = Mark(
                met=verdict.met,
                points=float(verdict.points),
                checked=now(),
                first_met=first or (now() if verdict.met is True else None),
                tries=(old.tries if old else 0) + 1,
            )
        return msgspec.structs.replace(state, criteria=marks)

    return change(folder, take_in)


def record_turn(folder: Path, name: str, passed: bool) -> Text | None:
    """Remember how a lesson's "your turn" cell went; return what went wrong, if anything did."""

    def take_in(state: State) -> State:
        old = state.turns.get(name)
        first = (old.first_passed if old else None) or (now() if passed else None)
        return msgspec.structs.replace(state, turns={**state.turns, name: Turn(passed, now(), first)})

    return change(folder, take_in)


def was_met(state: State, exercise: str) -> bool:
    """Tell whether each criterion of an exercise has been met at some time."""
    marks = [state.criteria.get(criterion.id) for criterion in of_exercise(exercise)]
    return bool(marks) and all(mark is not None and mark.first_met is not None for mark in marks)
