"""Level 1: the predictions are judged by the level, the explanations read by the rubric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.answers.cells import Cell
from grader.answers.exercises.written import points_to_compare
from grader.answers.rubric import read
from grader.criteria import Criterion, criteria
from grader.levels import level1
from grader.levels.literals import last_cell_with
from grader.levels.places import Sources
from grader.levels.trial import Runner, Trial
from grader.verdict import Verdict
from grader.words import catalogue, join

_words = catalogue()


def judge(cells: list[Cell], wanted: list[Criterion], run: Runner, student_id: str) -> list[Verdict]:
    """Judge criteria of Level 1."""
    outcome = run(Trial("level1"))
    until = last_cell_with([(cell.id, cell.source) for cell in cells], ["missing"], level1.CELL)
    if outcome.failure is not None and outcome.failure.cell != until:  # what comes after it must not take it away
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
    return replace(reading, reason=join(reading.reason, points_to_compare(criteria()[f"level1-{field}"])))
