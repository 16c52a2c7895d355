"""Explore a save: every crash it could meet, and what its own load makes of what is left.

    from grader.crash import explore

    def test_save_survives_a_crash():
        explore(save, load, old={"turn": 1}, new={"turn": 2}).check()
"""

from __future__ import annotations

import contextlib
import enum
import functools
import operator
import posixpath
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from grader.crash.image import ROOT, Image
from grader.crash.models import (
    EVERY_BYTE,
    CrashModel,
    Look,
    Memory,
    Moment,
    Outcome,
    PowerLoss,
    ProcessKill,
    Survey,
    line_of,
)
from grader.crash.namespaces import faked
from grader.crash.operations import Mark, Observation, Recording, Where
from grader.crash.replay import replay

if TYPE_CHECKING:
    from grader.crash.disk import Disk

S = TypeVar("S")


class Verdict(enum.Enum):
    """What recovery made of one crash image."""

    OLD = "old"
    """The state before the save: all right while the save runs."""
    NEW = "new"
    """The state being saved."""
    RAISES = "raises"
    """Loading raised."""
    WRONG = "wrong"
    """Loading gave something that is neither, without a word."""
    LOST = "lost"
    """The save had returned, yet the old state is found."""

    @property
    def sound(self) -> bool:
        """Whether a program may go on from here."""
        return self in (Verdict.OLD, Verdict.NEW)


FULL_SECONDS, MANY_SECONDS = 2, 8
"""Leftovers that make the next save do the same operations: so many are killed again at every byte, so many at some."""
SECOND_BOUND = "; a second crash after some of the leftovers of each kind, in some places of each write"


class CannotExplore(Exception):
    """The function or state given can't be explored; the message says which and why."""


@dataclass(frozen=True)
class Found:
    """What one load found: a verdict, and in words what it raised or returned."""

    verdict: Verdict
    detail: str = ""


@dataclass(frozen=True)
class Next:
    """What the next save made of the leftovers of a crash.

    Attributes:
        error: what the save, or the load after it, raised or gave; None when all was well.
        where: the line at which it happened.
        residue: files left behind that a save without a crash does not leave.
        second: a second crash, during that save or during recovery, that was not survived.
    """

    error: str | None = None
    where: Where | None = None
    residue: tuple[str, ...] = ()
    second: str | None = None


@dataclass(frozen=True)
class Counterexample:
    """One crash that the save does not survive, the smallest there is.

    Attributes:
        model: ``kill``, ``power`` or ``next`` (a kill whose leftovers break the next save).
        moment: when it struck.
        where: the line the process was at.
        found: what recovery made of it.
        image: what lay on the disk.
        path: the file that recovery read, relative to the working directory.
    """

    model: str
    moment: Moment
    where: Where | None
    found: Found
    image: Image
    path: str | None
    returned: bool
    """Whether the save had returned."""


@dataclass(frozen=True, repr=False)
class Exploration(Generic[S]):
    """The answer of ``explore``.

    Attributes:
        cant_judge: why no verdict would be honest; None when there is one.
        kill: what a kill can leave. None when it was not asked for, or can't be judged.
        power: the same for power loss.
        following: what the next save makes of the leftovers of a kill.
    """

    recording: Recording
    cant_judge: str | None
    kill: Survey[Found] | None
    power: Survey[Found] | None
    following: Survey[Next] | None
    path: str | None

    @property
    def survives_kill(self) -> bool | None:
        """Killed at any moment, recovery finds the old state or the new one."""
        return _all_sound(self.kill, self._end, only_running=False)

    @property
    def survives_power_loss(self) -> bool | None:
        """The same when the power goes at any moment before the save has returned."""
        return _all_sound(self.power, self._end, only_running=True)

    @property
    def durable_on_return(self) -> bool | None:
        """Once the save has returned, recovery finds the new state, whatever happens."""
        if self.power is None or self.kill is None:
            return None
        outcomes = [*self.kill.outcomes, *self.power.outcomes]
        return all(o.result.verdict is Verdict.NEW for o in outcomes if o.moment.until > self._end)

    @property
    def next_save_works(self) -> bool | None:
        """On whatever a kill leaves, the next save works, even when it is killed in its turn."""
        if self.following is None:
            return None
        return all(o.result.error is None and o.result.second is None for o in self.following.outcomes)

    @property
    def residue(self) -> tuple[str, ...]:
        """Files that stay behind after a kill and the save that follows it."""
        if self.following is None:
            return ()
        return tuple(sorted({name for o in self.following.outcomes for name in o.result.residue}))

    @functools.cached_property
    def _end(self) -> int:
        operations = self.recording.operations
        ends = (i for i, op in enumerate(operations) if isinstance(op, Mark) and op.kind == "save-end")
        return next(ends, len(operations))

    def counterexample(self, model: str | None = None) -> Counterexample | None:
        """The smallest crash that is not survived; of a kill before a power loss when ``model`` is None."""
        models: Sequence[CrashModel] = (ProcessKill(), PowerLoss())
        for survey in (self.kill, self.power):
            if survey is None or model not in (None, survey.model.name):
                continue
            bad = [o for o in survey.outcomes if self._bad(o, survey.model.name)]
            if bad:
                return self._example(survey.model, min(bad, key=_severity))
        if self.following is not None and model in (None, "next"):
            for outcome in self.following.outcomes:
                if outcome.result.error or outcome.result.second:
                    words = outcome.result.error or outcome.result.second or ""
                    moment = outcome.moment
                    kill = self.kill.model if self.kill else models[0]
                    return Counterexample(
                        "next",
                        moment,
                        line_of(self.recording, moment),
                        Found(Verdict.RAISES, words),
                        kill.image(self.recording, moment),
                        self.path,
                        moment.op > self._end,
                    )
        return None

    def _bad(self, outcome: Outcome[Found], model: str) -> bool:
        if not outcome.result.verdict.sound:
            return True
        return outcome.moment.until > self._end and outcome.result.verdict is Verdict.OLD

    def _example(self, model: CrashModel, outcome: Outcome[Found]) -> Counterexample:
        moment, found = outcome.moment, outcome.result
        late = moment.until > self._end
        if found.verdict is Verdict.OLD and late:
            moment = replace(moment, op=max(moment.op, self._end + 1))
            found = Found(Verdict.LOST, "the old state")
        where, image = line_of(self.recording, moment), model.image(self.recording, moment)
        return Counterexample(model.name, moment, where, found, image, self.path, late)

    def check(self, *, power_loss: bool = True) -> None:
        """Raise AssertionError with the whole report unless the save survives.

        Args:
            power_loss: whether power loss and durability on return count.
        """
        __tracebackhide__ = True
        wanted = [self.survives_kill, self.next_save_works]
        if power_loss:
            wanted += [self.survives_power_loss, self.durable_on_return]
        if self.cant_judge or any(answer is False for answer in wanted):
            raise AssertionError("\n" + str(self))

    def __repr__(self) -> str:
        if self.cant_judge:
            return f"<Exploration: can't judge: {self.cant_judge}>"
        names = ("survives_kill", "survives_power_loss", "durable_on_return", "next_save_works")
        return f"<Exploration: {', '.join(f'{name}={getattr(self, name)}' for name in names)}>"

    def __str__(self) -> str:
        from grader.crash.report import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from grader.crash.crashmap import as_html

        return as_html(self)


def _all_sound(survey: Survey[Found] | None, end: int, *, only_running: bool) -> bool | None:
    if survey is None:
        return None
    for outcome in survey.outcomes:
        if not outcome.result.verdict.sound:
            return False
        if not only_running and outcome.moment.op > end and outcome.result.verdict is Verdict.OLD:
            return False
    return True


def _severity(outcome: Outcome[Found]) -> tuple[bool, int, int, int]:
    """Smallest first: what can't be used before what is merely old, then the earliest, then the least torn."""
    moment = outcome.moment
    return (outcome.result.verdict.sound, moment.op, moment.cut, len(moment.data))


def explore(
    save: Callable[[S], object],
    load: Callable[[], S],
    *,
    old: S,
    new: S,
    crash: Sequence[CrashModel] = (ProcessKill(), PowerLoss()),
    same: Callable[[S, S], object] = operator.eq,
    second_crash: bool = True,
    prune: bool = True,
    cwd: str = ROOT,
) -> Exploration[S]:
    """Save ``old``, then record the save of ``new`` on a fake disk; run ``load`` on every image a crash could leave.

    The real disk is not touched. ``save`` and ``load`` use plain file names relative to the working directory, or any
    absolute path whose directories they make themselves.

    Args:
        save: writes a state.
        load: reads the state back.
        old: the state saved before; ``load`` must be able to tell it from ``new``.
        new: the state whose save is interrupted.
        crash: the ways to die.
        same: when a loaded state counts as the one saved.
        second_crash: whether the next save, and a load that writes, are killed in their turn.
        prune: whether images that a load can't tell apart share one run. The verdicts are the same either way.
        cwd: the working directory on the fake disk.

    Returns:
        An Exploration: print it, show it in a notebook, or ``check()`` it in a test.

    Raises:
        CannotExplore: ``save`` or ``load`` fails without any crash, or the two states look the same.
    """
    for name, value in (("save", save), ("load", load), ("same", same)):
        if not callable(value):
            raise CannotExplore(f"{name} must be a function, not {short(value)}.")
    if same(old, new):
        raise CannotExplore("old and new are the same state, so no crash could be seen: give explore two that differ.")
    from grader.crash.disk import Disk  # here, for it takes pyfakefs along: who only plays recordings needs neither

    with Disk(cwd=cwd) as disk, faked(disk, save, load, same):
        reason = _attempt(disk, "save(old)", lambda: save(old))
        if reason:
            return Exploration(disk.recording(), reason, None, None, None, None)
        disk.settle()
        _expect(disk, "save(old)", load, old, same)
        disk.start()
        before = disk.image()
        disk.mark("save-begin")
        reason = _attempt(disk, "save(new)", lambda: save(new))
        disk.mark("save-end")
        recording = disk.recording()
        if reason:
            return Exploration(recording, reason, None, None, None, None)
        clean = disk.image()
        lab = _Lab(disk, save, load, old, new, same, prune, set(clean.names()) | set(before.names()))
        path = lab.path_of(clean)
        surveys: dict[str, Survey[Found]] = {}
        for model in crash:
            surveys[model.name] = model.survey(recording, lab.look, prune=prune)
        following = None
        if "kill" in surveys:
            kill = next(m for m in crash if m.name == "kill")
            following = kill.survey(recording, lab.look_further(second_crash), prune=prune)
            following = replace(following, bound=following.bound + lab.second_bound)
        if lab.escaped:
            return Exploration(recording, lab.escaped, None, None, None, path)
    return Exploration(recording, None, surveys.get("kill"), surveys.get("power"), following, path)


class _Lab(Generic[S]):
    """Runs load and save on crash images."""

    def __init__(
        self,
        disk: Disk,
        save: Callable[[S], object],
        load: Callable[[], S],
        old: S,
        new: S,
        same: Callable[[S, S], object],
        prune: bool,
        clean: set[str],
    ) -> None:
        self.disk, self.save, self.load = disk, save, load
        self.old, self.new, self.same = old, new, same
        self.clean = clean
        self.escaped: str | None = None
        self.load_writes = False
        self._prune = prune
        self._memory: Memory[Found] = Memory(self.look, prune)
        self._seconds: dict[tuple[object, ...], int] = {}
        self._known_seconds: dict[tuple[object, ...], str] = {}
        self.second_bound = ""

    def path_of(self, image: Image) -> str | None:
        """The file that load reads first."""
        _, observations = self.look(image)
        prefix = self.disk.cwd.rstrip("/") + "/"
        return next((path.removeprefix(prefix) for (kind, path), _ in observations if kind == "data"), None)

    def look(self, image: Image) -> tuple[Found, Sequence[Observation]]:
        """Run load on an image."""
        self.disk.load(image)
        found = self._loaded()
        self.load_writes |= bool(self.disk.recording().operations)
        self._note_escapes()
        return found, self.disk.observations()

    def _loaded(self) -> Found:
        try:
            state = self.load()
        except Exception as error:
            return Found(Verdict.RAISES, words_of(error))
        if self.same(state, self.new):
            return Found(Verdict.NEW)
        if self.same(state, self.old):
            return Found(Verdict.OLD)
        return Found(Verdict.WRONG, short(state))

    def _note_escapes(self) -> None:
        escapes = self.disk.recording().escapes
        if escapes and not self.escaped:
            self.escaped = f"on recovery, {escapes[0].reason}"

    def look_further(self, second_crash: bool) -> Look[Next]:
        """Run recovery and the next save on an image, and perhaps kill both in their turn."""

        def look(image: Image) -> tuple[Next, Sequence[Observation]]:
            self.disk.load(image)
            if self.load_writes:
                with contextlib.suppress(Exception):  # what recovery finds is told already; here, what it leaves
                    self.load()
            recovery = len(self.disk.recording().operations)
            try:
                self.save(self.new)
            except Exception as error:
                self._note_escapes()
                return Next(f"the next save raised {words_of(error)}", _line(self.disk, error)), self._seen(image)
            recording, seen = self.disk.recording(), self._seen(image)
            self._note_escapes()
            left = tuple(sorted(set(self.disk.image().names()) - self.clean))
            after, _ = self._memory.see(replay(recording))
            if after.verdict is not Verdict.NEW:
                return Next(f"the next save returned, but load then {_tells(after)}"), seen
            second = self._second(recording, recovery) if second_crash else None
            return Next(residue=left, second=second), seen

        return look

    def _seen(self, image: Image) -> Sequence[Observation]:
        """What the run learnt, and every directory's names: what is left behind depends on them all."""
        listings: list[Observation] = []
        stack = [("/", image.top)]
        while stack:
            path, number = stack.pop()
            inode = image.inodes[number]
            if inode.kind == "directory":
                listings.append((("list", path), tuple(inode.entries)))
                stack += [(posixpath.join(path, name), child) for name, child in inode.entries.items()]
        return [*self.disk.observations(), *listings]

    def _second(self, recording: Recording, recovery: int) -> str | None:
        """A kill during recovery or during the next save that can't be recovered from."""
        start = replay(recording, 0)
        first = self._memory.see(start)[0]
        if not first.verdict.sound:
            return None  # told already: the first crash was not survived
        kinds = tuple(type(op).__name__ for op in recording.operations)
        links = tuple(sorted(inode.target for inode in recording.initial.inodes.values() if inode.kind == "symlink"))
        shape = (first.verdict, kinds, recording.initial.names(), links)
        so_far = self._seconds[shape] = self._seconds.get(shape, 0) + 1
        model = ProcessKill() if so_far <= FULL_SECONDS else ProcessKill(every_byte=0, cuts=0)
        if so_far > MANY_SECONDS and so_far & (so_far - 1):
            self.second_bound = SECOND_BOUND
            return self._known_seconds.get(shape)  # as the others of its kind that were looked at
        survey = model.survey(recording, self.look, prune=self._prune, memory=self._memory)
        if survey.bound != EVERY_BYTE:
            self.second_bound = SECOND_BOUND
        for outcome in survey.outcomes:
            if not outcome.result.verdict.sound:
                part = "recovery" if outcome.moment.op < recovery else "the next save"
                where = line_of(recording, outcome.moment)
                line = f" at line {where.line}" if where else ""
                told = f"killed again during {part}{line}, load {_tells(outcome.result)}"
                return self._known_seconds.setdefault(shape, told)
        return None


def _tells(found: Found) -> str:
    if found.verdict is Verdict.RAISES:
        return f"raised {found.detail}"
    if found.verdict is Verdict.WRONG:
        return f"gave {found.detail}"
    return f"gave the {found.verdict.value} state"


def _attempt(disk: Disk, what: str, run: Callable[[], object]) -> str | None:
    """Run a save; return why it can't be judged, None when it can."""
    failure: Exception | None = None
    try:
        run()
    except Exception as error:
        failure = error
    escapes = disk.recording().escapes
    if escapes:
        where = escapes[0].where
        return escapes[0].reason + (f" (line {where.line}, {where.function})" if where else "")
    if failure is not None:
        told = words_of(failure) + _at(_line(disk, failure))
        raise CannotExplore(f"{what} raised {told}, without any crash: mend that first.") from failure
    return None


def _expect(disk: Disk, what: str, load: Callable[[], S], state: S, same: Callable[[S, S], object]) -> None:
    try:
        found = load()
    except Exception as error:
        line = _at(_line(disk, error))
        raise CannotExplore(
            f"load() raised {words_of(error)}{line}, after {what} and without any crash: mend that first."
        ) from error
    if not same(found, state):
        raise CannotExplore(
            f"load() gave {short(found)} after {what}, not {short(state)}: mend load, or give explore a `same`."
        )


def _at(where: Where | None) -> str:
    return f", at line {where.line} of {where.function}" if where else ""


def words_of(error: BaseException) -> str:
    """An exception in one line."""
    text = str(error).strip().splitlines()
    return type(error).__name__ + (f": {text[0][:120]}" if text else "")


def short(value: object) -> str:
    """A value in at most 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _line(disk: Disk, error: BaseException) -> Where | None:
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if disk.own(frame.f_code.co_filename):
            found = Where(frame.f_code.co_filename, line, frame.f_code.co_name)
    return found
