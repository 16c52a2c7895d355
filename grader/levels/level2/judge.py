"""Judges Level 2: makes the runs, and puts the three questions to what they left."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

from grader.crash.operations import Escape
from grader.levels import level2_scripts as scripts
from grader.levels.level2.atomic import Atomic
from grader.levels.level2.case import Case
from grader.levels.level2.facts import CELL_WRITTEN, CODE, HAZARDS, SECONDS, words
from grader.levels.level2.film import begin_of
from grader.levels.level2.loop import Loop
from grader.levels.level2.point_a import PointA
from grader.levels.level2.real_disk import seen_again
from grader.levels.literals import last_cell_with, literal
from grader.levels.trial import FORKS, Failure, Outcome, Runner, Trial
from grader.verdict import Text, Verdict
from grader.words import join, plain

_QUESTIONS: dict[str, type[Atomic | PointA | Loop]] = {
    "level2-atomic": Atomic,
    "level2-point-a": PointA,
    "level2-runs": Loop,
}


class Judge:
    """One learner's Level 2. ``run`` makes the runs it asks for; ``cells`` are the sources, to quote lines from."""

    def __init__(self, cells: Mapping[str, str], run: Runner) -> None:
        self.case = Case(cells, run)
        self.sources = self.case.sources

    def verdicts(self, wanted: Collection[str]) -> list[Verdict]:
        """Judge the code criteria among ``wanted``."""
        asked = [criterion for criterion in CODE if criterion in wanted]
        if not asked:
            return []
        self.case.first = self.case.trial(scripts.FIRST)
        stop = self._hopeless(self.case.first)
        if stop is not None:
            return [self.case.verdict(criterion, False, stop) for criterion in asked]
        if self.case.first.failure is None or self.case.first.failure.kind not in ("time", "runaway"):
            self.case.second = self.case.trial(scripts.SECOND)
        escape = self._escape()
        if escape is not None:
            return [self.case.verdict(criterion, None, escape) for criterion in asked]
        return seen_again(self.case, [_QUESTIONS[criterion](self.case).verdict() for criterion in asked])

    def texts(self) -> tuple[dict[str, Any], Failure | None]:
        """Return the written answers as plain values, and why one may be missing.

        They are read where they are literals, so that nothing the code does takes them away; else the cells are run.
        """
        read = self._read_texts
        if len(read) == len(HAZARDS):
            return read, None
        outcome = self.case.first
        if outcome is None or not isinstance(outcome.data, dict):
            until = last_cell_with(self.case.sources.cells.items(), HAZARDS, CELL_WRITTEN)
            outcome = self.case.run(Trial("level2", {"scripts": []}, seconds=SECONDS, until=until))
        found = outcome.data.get("texts") if isinstance(outcome.data, dict) else None
        texts = read | (found if isinstance(found, dict) else {})
        failures = [*outcome.cells, *([outcome.failure] if outcome.failure else [])]
        stopped = [failure for failure in failures if failure.cell in (CELL_WRITTEN, "")]
        return texts, next(iter(stopped or failures), None)

    def literal_texts(self) -> dict[str, Any] | None:
        """Return the written answers when reading them is enough; None when a run is needed."""
        read = self._read_texts
        return read if len(read) == len(HAZARDS) else None

    @cached_property
    def _read_texts(self) -> dict[str, Any]:
        cells = self.case.sources.cells.values()
        return {name: value[0] for name in HAZARDS if (value := literal(cells, name)) is not None}

    def _hopeless(self, outcome: Outcome) -> Text | None:
        """Return the message when there is nothing at all to judge."""
        failure = outcome.failure
        recording = outcome.recording
        if recording is not None and (begin_of(recording) is not None or self._escape_of(outcome) is not None):
            return None
        if failure is None:
            failure = Failure("damaged")
        if failure.kind == "missing" and outcome.cells:
            return join(words("cells_raised", what=self._cells_raised(outcome)), words("undefined"))
        if failure.kind == "missing":
            return words("undefined")
        if failure.cell:
            return words("stopped_in_cell", why=self.case.reason(failure))
        return words("stopped", why=self.case.reason(failure))

    def _cells_raised(self, outcome: Outcome) -> Text:
        return self.case.reason(outcome.cells[0])

    def _escape(self) -> Text | None:
        for outcome in (self.case.first, self.case.second):
            escape = self._escape_of(outcome) if outcome is not None else None
            if escape is not None:
                return words("escape", at=self.case.sources.at(escape.where), reason=plain(escape.reason))
        return None

    def _escape_of(self, outcome: Outcome) -> Escape | None:
        """Return how a run went past the fake disk, if it did; what cells did before the run does not count."""
        if outcome.recording is None:
            return None
        failure = outcome.failure
        if failure is not None and failure.kind == "fork":
            ended = failure.type not in FORKS
            return outcome.recording.escapes[-1] if ended and outcome.recording.escapes else None
        begun = begin_of(outcome.recording)
        return next((e for e in outcome.recording.escapes if begun is not None and e.at > begun), None)
