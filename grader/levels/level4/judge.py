"""Judges a learner's cells: part by part, until one of them finds a problem."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from grader.criteria import criteria
from grader.levels.level4 import picture, real_disk, rivals
from grader.levels.level4.damage import Damage
from grader.levels.level4.facts import CELL, CODE, SMALL, words
from grader.levels.level4.large import Large
from grader.levels.level4.lives import Forged, Stopped, Worker
from grader.levels.level4.picture import Picture
from grader.levels.level4.rules import Problem, Start
from grader.levels.level4.runs import Search
from grader.levels.level4.saves import EMPTY, Saves
from grader.levels.level4.tell import Teller
from grader.levels.level4.versions import Versions
from grader.levels.places import Sources
from grader.levels.places import names as listed
from grader.levels.trial import Failure, Outcome, Runner
from grader.verdict import Text, Verdict
from grader.words import join


def seed() -> int:
    """Return the seed of what is drawn by chance: ``CRASH_COURSE_SEED``, else 0."""
    try:
        return int(os.environ.get("CRASH_COURSE_SEED", "0"))
    except ValueError:
        return 0


class Judge:
    """Judges one learner's cells."""

    def __init__(self, sources: dict[str, str], run: Runner) -> None:
        self.sources = Sources(sources, CELL)
        self.teller = Teller(self.sources)
        self.worker = Worker(run)
        self.saves = Saves(self.worker)

    def verdicts(self, wanted: list[str]) -> list[Verdict]:
        """Return the verdicts on the wanted criteria."""
        return [self.code() for _ in wanted]

    def code(self) -> Verdict:
        """Judge ``save``, ``load`` and ``resume``."""
        most = criteria()[CODE].points
        try:
            found = self._found()
        except Stopped as stopped:
            return self._stopped(stopped.outcome)
        except Forged as forged:
            flag = f"level4: the log does not fit what was asked for: {forged}"
            return Verdict(CODE, None, 0.0, most, words("forged"), suggested=0.0, flags=(flag,))
        if isinstance(found, Text):
            return self._again(Verdict(CODE, True, most, most, found))
        text, pair = found
        html, drawn = pair or (None, None)
        return Verdict(CODE, False, 0.0, most, text, picture=html, picture_text=drawn)

    def _found(self) -> Text | tuple[Text, Picture | None]:
        """Return what is said when all holds, or the smallest problem with its picture."""
        dice = seed()
        saves = self.saves
        trouble = saves.trouble()
        if trouble is not None:
            return self.teller.trouble(trouble), None
        search = Search(self.worker, SMALL, dice)
        search.base = search.life(EMPTY)
        start = Start()
        problem = search.first(start, search.base)
        if problem is not None:
            return self._told(problem)
        for exploration in saves.explorations():
            told = self.teller.exploration(exploration)
            if told is not None:
                return told, self._drawn(partial(picture.of_save, exploration, self.sources.cells))
        problem = search.crash_all([(start, search.base)], deaths=2)
        if problem is not None:
            return self._told(problem, search)
        versions, damage, large = (
            Versions(self.worker, search),
            Damage(self.worker, search, search.base, saves.first()),
            Large(self.worker, dice),
        )
        problem = versions.problem() or damage.problem() or rivals.problem(search)
        if problem is not None:
            return self._told(problem, search)
        problem = large.problem()
        if problem is not None:
            text, pair = self._told(problem)
            return join(text, words("sampled", seed=dice)), pair
        key = "held" if search.whole else "held.part"
        return words(
            key,
            images=f"{saves.images + search.images:,}",
            lives=f"{self.worker.lives:,}",
            flips=f"{damage.places:,}",
            walks=large.walks,
            seed=dice,
        )

    def _again(self, verdict: Verdict) -> Verdict:
        """Return the verdict on code that held, once a real disk has been given to it where there is one."""
        assert self.saves.life is not None
        return real_disk.borne_out(verdict, self.worker, self.saves.life)

    def _told(self, problem: Problem, search: Search | None = None) -> tuple[Text, Picture | None]:
        drawn = self._drawn(partial(picture.of_run, problem, search, self.sources.cells))
        return self.teller.problem(problem), drawn

    def _drawn(self, draw: Callable[[], Picture]) -> Picture | None:
        try:
            return draw()
        except Exception:  # a recording made to be strange: its picture is not worth the verdict
            return None

    def _stopped(self, outcome: Outcome) -> Verdict:
        most = criteria()[CODE].points
        if outcome.recording is not None and outcome.recording.escapes:
            text = words("cant_judge", reason=outcome.recording.escapes[0].reason)
            return Verdict(CODE, None, 0.0, most, text, flags=("level4: past the fake disk",))
        failure = next(iter(outcome.cells), outcome.failure) or Failure("died")
        text = words("cell.raised", what=self.sources.reason(failure))
        if outcome.failure is not None and outcome.failure.kind == "missing":
            lead = words("cell.raised", what=self.sources.reason(outcome.cells[0])) if outcome.cells else None
            text = join(lead, words("missing", names=listed(outcome.failure.message.split())))
        return Verdict(CODE, False, 0.0, most, text)
