"""A whole task, crashed at every moment, and crashed again in what follows."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from grader.crash import Image, Moment, PowerLoss
from grader.crash.models import Outcome
from grader.crash.operations import Observation
from grader.levels.level4.documents import Progress
from grader.levels.level4.facts import Script
from grader.levels.level4.lives import BATCH, Known, Life, Worker, counts
from grader.levels.level4.rules import Death, Problem, Start, begun_with, check_found, check_life

MODEL = PowerLoss()
MOST_LIVES = 320
"""Lives in one search; beyond that it is said that not all was gone through."""
MOST_BRANCHES = 40
"""Lives after a first crash that are crashed again; beyond that some are drawn by chance."""


class Search:
    """Crashes lives everywhere, one crash after the other, and lives on whatever that leaves."""

    def __init__(self, worker: Worker, script: Script, seed: int = 0) -> None:
        self.worker, self.script, self.seed = worker, script, seed
        self.known: Known[Life] = Known(self._live)
        self.base: Life
        """The run that nothing interrupted."""
        self.claims = 0
        self.images = 0
        self.whole = True
        self.crashed: tuple[Life, tuple[Outcome[Life], ...]] | None = None
        """The life whose crash was not survived, and what was found at each of its moments."""

    def life(self, image: Image) -> Life:
        """Live on one disk, in a world where nobody has claimed the task yet."""
        return self.lives([image])[0]

    def lives(self, images: list[Image]) -> list[Life]:
        """Live on disks, in a world where nobody has claimed the task yet."""
        return self._lives(images, [{}] * len(images))

    def rivals(self, image: Image, plans: list[dict[str, Any]]) -> list[Life]:
        """Live on one disk, with each of the ways in which a second resumer may come."""
        return self._lives([image] * len(plans), [{"rival": plan} for plan in plans])

    def _lives(self, images: list[Image], asks: list[dict[str, Any]]) -> list[Life]:
        common = {"do": "resume", "script": self.script.wire(), "claims": self.claims}
        wanted = [(image, {**common, **ask}) for image, ask in zip(images, asks, strict=True)]
        lives: list[Life] = []
        for first in range(0, len(wanted), BATCH):
            lives += self.worker.live(wanted[first : first + BATCH])
            if lives[-1].failure is not None:
                break
        return lives

    def first(self, start: Start, life: Life) -> Problem | None:
        """Check a life that no crash came before."""
        if life.failure is not None:
            return Problem("stopped", start, life, life.failure.place)
        return check_life(start, life, self.script)

    def crash_all(self, begun: list[tuple[Start, Life]], deaths: int = 1) -> Problem | None:
        """Crash lives at every moment, and what follows in its turn; return the smallest problem, if any."""
        front = begun
        for depth in range(1, deaths + 1):
            self.claims = depth
            found = self._crash_all(front, last=depth == deaths)
            self.claims = 0
            if isinstance(found, Problem):
                return found
            front = found
            if len(front) > MOST_BRANCHES:
                self.whole = False
                front = random.Random(self.seed).sample(front, MOST_BRANCHES)
        return None

    def _crash_all(self, front: list[tuple[Start, Life]], *, last: bool) -> Problem | list[tuple[Start, Life]]:
        surveys: list[tuple[Outcome[Life], ...]] = [() for _ in front]
        open_ones = set(range(len(front)))
        images = 0
        while open_ones:
            images = 0
            for number in sorted(open_ones):
                waiting = len(self.known.waiting)
                survey = MODEL.survey(front[number][1].running, self.known.look, memory=self.known)
                surveys[number] = survey.outcomes
                images += survey.images
                problem = self._problem(front[number], survey.outcomes)
                if problem is not None:
                    self.crashed = front[number][1], survey.outcomes
                    return problem
                if len(self.known.waiting) == waiting:
                    open_ones.discard(number)
                    self.images += survey.images
            if self.known.lived > MOST_LIVES:
                self.whole = False
                break
            self.known.settle(BATCH)
        following: dict[int, tuple[Start, Life]] = {}
        for (start, life), outcomes in zip(front, surveys, strict=True):
            for outcome in outcomes:
                found = outcome.result
                if found is not None and id(found) not in following and not last:
                    following[id(found)] = self.after(start, life, outcome.moment), found
        return list(following.values())

    def _problem(self, begun: tuple[Start, Life], outcomes: Iterable[Outcome[Life]]) -> Problem | None:
        start, life = begun
        first: Problem | None = None
        for outcome in sorted(outcomes, key=lambda one: (one.moment.op, len(one.moment.data))):
            found = outcome.result
            if found is None:
                continue
            crashed = self.after(start, life, outcome.moment)
            problem = check_found(crashed, found, self.script) or self._lived(crashed, found)
            if problem is not None and (first is None or _rank(problem) < _rank(first)):
                first = problem
        return first

    def _floor(self, start: Start, life: Life) -> Progress:
        return max(start.floor, begun_with(life, self.script).progress)

    def _lived(self, start: Start, life: Life) -> Problem | None:
        """Check what a life did, once: that does not depend on how it came about."""
        if "lived" not in life.known:
            life.known["lived"] = check_life(start, life, self.script)
        problem: Problem | None = life.known["lived"]
        return replace(problem, start=start) if problem is not None else None

    def after(self, start: Start, life: Life, moment: Moment) -> Start:
        """Return where the next life begins when this one is crashed."""
        death = Death(life, moment)
        return replace(start, deaths=(*start.deaths, death), floor=self._floor(start, life))

    def _live(self, images: list[Image]) -> list[tuple[Life, tuple[Observation, ...]]]:
        return [(life, (*counts(life.image, self.script), *life.observations)) for life in self.lives(images)]


def _rank(problem: Problem) -> int:
    """What was found comes before what was done with it."""
    return 0 if problem.kind.startswith(("load_", "call_", "end_", "stopped")) else 1
