"""A longer task, whose crashes, flipped bytes and second resumers are drawn by chance; the same seed draws the same."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from grader.crash import Image, Memory, Moment, PowerLoss
from grader.crash.operations import Query
from grader.crash.replay import Snapshot
from grader.levels.level4 import rivals
from grader.levels.level4.damage import flipped, told
from grader.levels.level4.documents import NOTHING, read
from grader.levels.level4.facts import LARGE
from grader.levels.level4.lives import Life, Worker
from grader.levels.level4.rules import Death, Problem, Start, begun_with, check_found, check_life, check_refused
from grader.levels.level4.runs import Search
from grader.levels.level4.saves import EMPTY

WALKS = 8
DEATHS = 3


class Large:
    """Draws walks: each some lives of one task, each crashed at a moment drawn by chance, and the last one whole."""

    def __init__(self, worker: Worker, seed: int) -> None:
        self.search = Search(worker, LARGE, seed)
        self.seed = seed
        self.walks = WALKS

    def problem(self) -> Problem | None:
        """Return the first problem there is."""
        dice = [random.Random(f"{self.seed}/{walk}") for walk in range(WALKS)]
        plans = list(rivals.plans(LARGE))
        drawn = dice[0].sample(plans, WALKS // 2)
        lives = self.search.rivals(EMPTY, [plan for _, plan in drawn])
        for (start, plan), life in zip(drawn, lives, strict=False):
            wrong = rivals.check(start, plan, life, self.search)
            if wrong is not None:
                return wrong
        front = [_Walk(Start(), EMPTY) for _ in range(WALKS)]
        for depth in range(DEATHS + 1):
            self.search.claims = depth
            lives = self.search.lives([walk.image for walk in front])
            ahead: list[_Walk] = []
            for walk, life in zip(front, lives, strict=False):
                wrong = check_found(walk.start, life, LARGE) if not walk.damaged else _damaged(walk, life)
                refused = wrong is None and life.data["before"]["raised"] is not None
                if wrong is None:
                    wrong = check_refused(walk.start, life) if refused else check_life(walk.start, life, LARGE)
                if wrong is not None:
                    return wrong
                if not refused:
                    ahead.append(_crashed(walk.start, life, dice[len(ahead)]))
            front = ahead
        return None


@dataclass(frozen=True)
class _Walk:
    start: Start
    image: Image
    damaged: bool = False


def _damaged(walk: _Walk, life: Life) -> Problem | None:
    """Check what ``load`` made of damage: it may give an older state, and it may raise."""
    if life.failure is not None:
        return Problem("stopped", walk.start, life, life.failure.place)
    before = life.data["before"]
    if before["raised"] is not None:
        return None
    reading = read(before["loaded"], LARGE)
    if before["loaded"] is None:
        return Problem("flip_nothing", walk.start, life)
    return Problem(f"load_wrong.{reading.fault}", walk.start, life, values=reading.values) if reading.fault else None


def _crashed(start: Start, life: Life, dice: random.Random) -> _Walk:
    """Crash a life at a moment drawn by chance; now and then a byte of what is left turns over."""
    drawn = _Drawn(dice)
    survey = PowerLoss().survey(life.running, drawn.look, memory=drawn)
    outcome = next(outcome for outcome in survey.outcomes if outcome.result == drawn.number)
    image = drawn.image
    before = begun_with(life, LARGE).progress
    death = Death(life, outcome.moment)
    following = replace(start, deaths=(*start.deaths, death), floor=max(start.floor, before))
    files = [n for n, inode in image.inodes.items() if inode.kind == "file" and inode.data]
    quiet = _quiet(life, outcome.moment)
    if files and quiet and dice.random() < 0.3:
        number = dice.choice(files)
        at = dice.randrange(len(image.inodes[number].data))
        hurt = replace(told(image, number, at), deaths=following.deaths, floor=NOTHING)
        return _Walk(hurt, flipped(image, number, at), True)
    return _Walk(following, image)


def _quiet(life: Life, moment: Moment) -> bool:
    """Whether the crash came while nothing was being saved, in the second half of the run: damage is all there is."""
    effects = [event.at for event in life.events if event.what == "tool" and event.held]
    return (
        len(effects) > 2
        and not moment.data
        and moment.names is not None
        and moment.op > effects[1] + 1
        and any(at in (moment.op, moment.op - 1) for at in effects[2:])
    )


class _Drawn(Memory[int]):
    """Draws one of the disks of a survey and lives on none."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(self._never)
        self.dice = dice
        self.count = 0
        self.number = 0
        self.image: Image = EMPTY

    @staticmethod
    def _never(_: Image) -> tuple[int, tuple[()]]:
        raise AssertionError

    def see(self, snapshot: Snapshot) -> tuple[int, tuple[Query, ...]]:
        """Take each disk in place of the one before with a chance that makes all of them as likely."""
        self.count += 1
        if self.dice.randrange(self.count) == 0:
            self.number, self.image = self.count, snapshot.image()
        return self.count, ()
