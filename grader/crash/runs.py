"""Explore a whole run: killed at every point, resumed with its own code, its effects on the world counted.

from grader.crash import Ledger, explore_run

def agent(world: Ledger) -> str:      # starts, or resumes from what is on the disk
    ...
    if not world.count("mail-7"):     # ask the outside world
        world.effect("send_mail", "mail-7")

explore_run(agent).check()
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from grader.crash.explore import CannotExplore, short, words_of
from grader.crash.image import ROOT, Image
from grader.crash.models import CrashModel, Memory, Moment, ProcessKill, Survey, line_of
from grader.crash.namespaces import faked
from grader.crash.operations import EFFECT, Mark, Observation, Recording, Where, Write

if TYPE_CHECKING:
    from grader.crash.disk import Disk

T = TypeVar("T")
Effect = tuple[str, str]


class Ledger:
    """The world outside the process: mails sent, tickets opened. It survives every crash.

    A tool calls ``effect`` when it acts; recovery may ask ``count`` whether an act took place.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def effect(self, name: str, key: str) -> None:
        """Something happened outside, ``key`` saying which (an idempotency key, a call's id)."""
        self._disk.mark(EFFECT, (name, key))

    def count(self, key: str) -> int:
        """How often the effect ``key`` has happened, in this life of the process or an earlier one."""
        return self._disk.ask_world(key)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Everything that happened so far. For looking at afterwards: a run should ask ``count``."""
        return self._disk.world()


@dataclass(frozen=True)
class Resumed:
    """How a resumed run ended.

    Attributes:
        effects: what it did to the world, as (name, key).
        error: what it raised; None when it ended.
        value: what it returned, in short.
        same: whether it returned what the uninterrupted run did.
        again: the first crash during the resumed run that its own resume did not mend, in words.
    """

    effects: tuple[Effect, ...]
    error: str | None
    value: str
    same: bool
    again: str | None = None


@dataclass(frozen=True)
class Broken:
    """A crash of the run that resuming did not mend."""

    moment: Moment
    where: Where | None
    problem: str
    image: Image


@dataclass(frozen=True, repr=False)
class RunExploration(Generic[T]):
    """The answer of ``explore_run``.

    Attributes:
        recording: the uninterrupted run.
        value: what it returned.
        expected: the effects it had, each with its number.
        survey: how resuming ended for every crash image.
        broken: the crashes that resuming did not mend, smallest first.
        written: bytes that all runs together wrote, the resumed ones included: what the exploration cost.
    """

    recording: Recording
    value: T
    expected: Counter[Effect]
    survey: Survey[Resumed] | None
    broken: tuple[Broken, ...]
    cant_judge: str | None = None
    written: int = 0

    @property
    def survives(self) -> bool | None:
        """From every crash the run is resumed to the same result, every effect as often as without a crash."""
        return None if self.survey is None else not self.broken

    def check(self) -> None:
        """Raise AssertionError with the smallest counterexample unless the run survives."""
        if not self.survives:
            raise AssertionError("\n" + str(self))

    def __repr__(self) -> str:
        if self.survey is None:
            return f"<RunExploration: can't judge: {self.cant_judge}>"
        return f"<RunExploration: survives={self.survives}, {self.survey.images:,} images>"

    def __str__(self) -> str:
        from grader.crash.runmap import run_as_text

        return run_as_text(self)

    def _repr_html_(self) -> str:
        from grader.crash.crashmap import run_as_html

        return run_as_html(self)


def explore_run(
    run: Callable[[Ledger], T],
    resume: Callable[[Ledger], T] | None = None,
    *,
    crash: CrashModel | None = None,
    same: Callable[[T, T], object] = operator.eq,
    crashes: int = 1,
    prune: bool = True,
    start: Image | None = None,
    cwd: str = ROOT,
) -> RunExploration[T]:
    """Record one uninterrupted run on a fake disk, crash it at every point, resume it, and count effects.

    Args:
        run: the whole run; gets the Ledger that its tools act on.
        resume: what is run after a crash; ``run`` itself when None.
        crash: the way to die; ``ProcessKill()`` when None.
        same: when a resumed run's result counts as that of the uninterrupted run.
        crashes: how many crashes in a row: with 2, every resumed run is crashed at every point in its turn.
        prune: whether crashes that a resumed run can't tell apart share one.
        start: what is on the disk at the beginning.
        cwd: the working directory on the fake disk.

    Raises:
        CannotExplore: the run fails without any crash.
    """
    resume = resume or run
    crash = crash or ProcessKill()
    from grader.crash.disk import Disk  # here, for it takes pyfakefs along: who only plays recordings needs neither

    with Disk(start, cwd=cwd) as disk, faked(disk, run, resume, same):
        try:
            value = run(Ledger(disk))
        except Exception as error:
            raise CannotExplore(f"run() raised {words_of(error)} without any crash: mend that first.") from error
        recording = disk.recording()
        expected = Counter(disk.world())
        if recording.escapes:
            return RunExploration(recording, value, expected, None, (), recording.escapes[0].reason)
        lab = _RunLab(disk, resume, value, same, expected, prune)
        survey = crash.survey(recording, lab.look(crashes - 1), prune=prune)
        broken = []
        for outcome in survey.outcomes:
            before = _effects(recording, outcome.moment.op)
            problem = _problem(outcome.result, before, expected)
            if problem:
                where = line_of(recording, outcome.moment)
                broken.append(Broken(outcome.moment, where, problem, crash.image(recording, outcome.moment)))
                if len(broken) >= 100:
                    break
    broken.sort(key=lambda b: (b.moment.op, b.moment.cut))
    written = lab.written + _bytes_of(recording)
    return RunExploration(recording, value, expected, survey, tuple(broken), written=written)


def _bytes_of(recording: Recording) -> int:
    return sum(len(op.data) for op in recording.operations if isinstance(op, Write))


def _effects(recording: Recording, op: int) -> list[Effect]:
    """What had happened in the world after so many operations."""
    marks = [m for m in recording.operations[:op] if isinstance(m, Mark) and m.kind == EFFECT]
    return [*recording.initial.world, *(tuple(m.data) for m in marks)]


def _problem(ended: Resumed, before: Sequence[Effect], expected: Counter[Effect]) -> str | None:
    if ended.error:
        return f"resuming raised {ended.error}"
    total = Counter([*before, *ended.effects])
    for (name, key), count in total.items():
        if count > expected[(name, key)]:
            return f"{name} {key} happened {count} times, not {expected[(name, key)]}"
    for (name, key), count in expected.items():
        if total[(name, key)] < count:
            return f"{name} {key} happened {total[(name, key)]} times, not {count}"
    if not ended.same:
        return f"the resumed run returned {ended.value}"
    return ended.again


class _RunLab(Generic[T]):
    """Resumes runs from crash images."""

    def __init__(
        self,
        disk: Disk,
        resume: Callable[[Ledger], T],
        value: T,
        same: Callable[[T, T], object],
        expected: Counter[Effect],
        prune: bool,
    ) -> None:
        self.disk, self.resume, self.value, self.same = disk, resume, value, same
        self.expected = expected
        self.prune = prune
        self.written = 0
        self._memories: dict[int, Memory[Resumed]] = {}

    def look(self, crashes: int) -> Callable[[Image], tuple[Resumed, Sequence[Observation]]]:
        """Resume from an image; with ``crashes``, crash the resumed run in its turn."""

        def look(image: Image) -> tuple[Resumed, Sequence[Observation]]:
            self.disk.load(image)
            error, result = None, None
            try:
                result = self.resume(Ledger(self.disk))
            except Exception as raised:
                error = words_of(raised)
            recording, seen = self.disk.recording(), self.disk.observations()
            self.written += _bytes_of(recording)
            new = self.disk.world()[len(image.world) :]
            same = error is None and bool(self.same(result, self.value))  # type: ignore[arg-type]
            again = None
            if crashes and error is None:
                again = self._again(recording, crashes)
                # what comes of a second crash depends on the world as it was at the first
                seen = (*seen, *(((("world", key)), count) for key, count in _counts(image)))
            return Resumed(new, error, short(result), same, again), seen

        return look

    def _again(self, recording: Recording, crashes: int) -> str | None:
        memory = self._memories.setdefault(crashes - 1, Memory(self.look(crashes - 1), self.prune))
        survey = ProcessKill().survey(recording, memory.look, prune=self.prune, memory=memory)
        for outcome in survey.outcomes:
            before = _effects(recording, outcome.moment.op)
            problem = _problem(outcome.result, before, self.expected)
            if problem:
                where = line_of(recording, outcome.moment)
                return f"crashed again{f' at line {where.line}' if where else ''}: {problem}"
        return None


def _counts(image: Image) -> list[tuple[str, int]]:
    return sorted(Counter(key for _, key in image.world).items())
