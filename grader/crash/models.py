"""What a crash can leave: the images of a killed process and of a power loss, derived from one recording."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from grader.crash.image import Image
from grader.crash.operations import (
    EFFECT,
    Fsync,
    Link,
    Mark,
    Observation,
    Operation,
    Query,
    Recording,
    Rename,
    SyncAll,
    Truncate,
    Unlink,
    Where,
    Write,
)
from grader.crash.replay import Files, Names, Snapshot, replay

R = TypeVar("R")
EVERY_BYTE = "every byte of every write"
"""The bound when nothing was left out."""
Look = Callable[[Image], tuple[R, Sequence[Observation]]]
"""Something done with an image (recovery is run on it), and what it looked at while doing so."""


@dataclass(frozen=True)
class Moment:
    """A crash point, and which of the images possible there is meant.

    Attributes:
        op: how many operations of the recording were complete.
        cut: bytes of the next operation (a write) that had reached the file; 0 for none.
        cut_to: the last such number, where all from ``cut`` on gave the same result.
        until: the image stays possible until so many operations are complete (power loss; equal to ``op`` for a kill).
        names: indices of the operations on names that had reached the disk (power loss); None when all had.
        data: files whose bytes are not those last written: inode, "lost", "torn", "zeros" or "zero tail", bytes kept.
    """

    op: int
    cut: int = 0
    cut_to: int = 0
    until: int = 0
    names: tuple[int, ...] | None = None
    data: tuple[tuple[int, str, int], ...] = ()


@dataclass(frozen=True)
class Outcome(Generic[R]):
    """What a look at the images of one moment found; ``images`` says how many gave this same result."""

    moment: Moment
    result: R
    images: int


@dataclass(frozen=True)
class Survey(Generic[R]):
    """All outcomes of one recording under one crash model.

    Attributes:
        images: crash images within the bound.
        distinct: how many of them differ in names or bytes.
        looks: how often recovery was really run; the rest is answered by what those runs observed.
        bound: what was left out, in words; "every byte" when nothing was.
    """

    model: CrashModel
    outcomes: tuple[Outcome[R], ...]
    images: int
    distinct: int
    looks: int
    bound: str


class CrashModel(Protocol):
    """One way to die."""

    @property
    def name(self) -> str:
        """``kill`` or ``power``."""

    def survey(
        self, recording: Recording, look: Look[R], *, prune: bool = True, memory: Memory[R] | None = None
    ) -> Survey[R]:
        """Look at every image this crash could leave.

        Args:
            recording: the run that is killed.
            look: what is done with each image.
            prune: whether images that a look can't tell apart share one.
            memory: results of earlier surveys with the same look.
        """

    def image(self, recording: Recording, moment: Moment) -> Image:
        """The image of one moment, made again."""


class Memory(Generic[R]):
    """Runs a look once for each way images can look to it: exact pruning.

    A run is a function of the answers it got. An image that gives the same answers to the same queries gives the same
    run, so it needs none. (This holds for code that depends on nothing else: not on time, chance or the network.)
    """

    def __init__(self, look: Look[R], prune: bool = True) -> None:
        self.look = look
        self.prune = prune
        self._known: dict[tuple[Query, ...], dict[tuple[Hashable, ...], R]] = {}
        self.looks = 0

    def see(self, snapshot: Snapshot) -> tuple[R, tuple[Query, ...]]:
        """The result for this disk, and the queries it depends on."""
        if self.prune:
            for queries, table in self._known.items():
                answers = tuple(snapshot.answer(query) for query in queries)
                if answers in table:
                    return table[answers], queries
        result, observations = self.look(snapshot.image())
        self.looks += 1
        queries = tuple(query for query, _ in observations)
        self._known.setdefault(queries, {})[tuple(snapshot.answer(query) for query in queries)] = result
        return result, queries


def _concerned(queries: Sequence[Query], names: Names, number: int) -> bool:
    """Whether a result depends on the bytes of one inode."""
    return any(kind in ("data", "stat") and names.find(path) == number for kind, path in queries)


@dataclass(frozen=True)
class ProcessKill:
    """The process is killed (SIGKILL, out of memory): what the kernel was given stays, what it was not is gone.

    Every prefix of the operations, and of each write every prefix of its bytes.

    Args:
        every_byte: when a recording writes up to this many bytes in all, each write is cut at every byte.
        cuts: a longer recording's writes, where recovery reads the file being written, are cut at about so many places
            in all, spread evenly, both ends of each write included. Where recovery does not read that file, every byte
            is covered whatever the length.
        most_read: fewer places, but at least 32, where recovery would have to read more than so many bytes in all.
    """

    every_byte: int = 8192
    cuts: int = 1024
    most_read: int = 1 << 28

    @property
    def name(self) -> str:
        return "kill"

    def survey(
        self, recording: Recording, look: Look[R], *, prune: bool = True, memory: Memory[R] | None = None
    ) -> Survey[R]:
        names, files = Names(recording.initial), Files(recording.initial)
        memory = Memory(look, prune) if memory is None else memory
        before = memory.looks
        outcomes: list[Outcome[R]] = []
        seen: set[object] = set()
        images = distinct = sampled = 0
        queries: tuple[Query, ...] = ()
        operations = recording.operations
        total = sum(len(op.data) for op in operations if isinstance(op, Write))
        for at in range(len(operations) + 1):
            if at and prune and _leaves_all_as_it_is(operations[at - 1]):
                # nothing changed on disk: the same image at a later moment
                last = outcomes[-1]
                outcomes.append(Outcome(Moment(at, until=at), last.result, 1))
                images += 1
            else:
                snapshot = Snapshot(names, files, recording.root)
                result, queries = memory.see(snapshot)
                outcomes.append(Outcome(Moment(at, until=at), result, 1))
                images += 1
                key = snapshot.fingerprint()
                if key not in seen:
                    seen.add(key)
                    distinct += 1
            if at == len(operations):
                break
            operation = operations[at]
            if isinstance(operation, Write) and len(operation.data) > 1:
                inner = len(operation.data) - 1
                images += inner
                if names.path_of(operation.inode) is not None:
                    distinct += _differing(operation, files)
                if prune and not _concerned(queries, names, operation.inode):
                    moment = Moment(at, 1, inner, until=at)
                    outcomes.append(Outcome(moment, outcomes[-1].result, inner))
                else:
                    places = self._places(len(operation.data), total)
                    sampled += inner - len(places)
                    outcomes += self._inside(at, operation, places, names, files, memory, recording.root)
            names.apply(operation)
            files.apply(operation)
        bound = EVERY_BYTE
        if sampled:
            bound = (
                f"every operation; writes to a file that recovery reads cut at about {self._cuts(total):,} places "
                f"in all ({sampled:,} images left out)"
            )
        return Survey(self, tuple(outcomes), images - sampled, distinct - sampled, memory.looks - before, bound)

    def _cuts(self, total: int) -> int:
        return max(32, min(self.cuts, self.most_read // max(1, total)))

    def _places(self, length: int, total: int) -> list[int]:
        """Where to cut a write of ``length`` bytes in a recording that writes ``total`` bytes."""
        wanted = length - 1 if total <= self.every_byte else max(3, round(self._cuts(total) * length / total))
        if wanted >= length - 1:
            return list(range(1, length))
        step = (length - 2) / (wanted - 1)
        return sorted({1 + round(k * step) for k in range(wanted)})

    def _inside(
        self,
        at: int,
        write: Write,
        places: Sequence[int],
        names: Names,
        files: Files,
        memory: Memory[R],
        cwd: str,
    ) -> Iterator[Outcome[R]]:
        """Outcomes for cuts within one write, neighbours with the same result put together."""
        base = bytes(files.data(write.inode))
        start, end, result, count = 0, 0, None, 0
        for cut in places:
            torn = overlay(base, write.offset, write.data[:cut])
            found, _ = memory.see(Snapshot(names, files, cwd, {write.inode: torn}))
            if count and found == result:
                end, count = cut, count + 1
                continue
            if count:
                yield Outcome(Moment(at, start, end, until=at), result, count)  # type: ignore[arg-type]
            start = end = cut
            result, count = found, 1
        if count:
            yield Outcome(Moment(at, start, end, until=at), result, count)  # type: ignore[arg-type]

    def image(self, recording: Recording, moment: Moment) -> Image:
        return replay(recording, moment.op, moment.cut).image()


def overlay(base: bytes, offset: int, piece: bytes) -> bytes:
    """``base`` with ``piece`` written at ``offset``; a gap is filled with zeros."""
    if offset > len(base):
        base = base + bytes(offset - len(base))
    return base[:offset] + piece + base[offset + len(piece) :]


def _leaves_all_as_it_is(operation: Operation) -> bool:
    return isinstance(operation, (Fsync, SyncAll)) or (isinstance(operation, Mark) and operation.kind != EFFECT)


def _differing(write: Write, files: Files) -> int:
    """How many of the inner cuts of a write leave bytes that neither the cut before nor the whole write leaves."""
    base = files.data(write.inode)
    under = base[write.offset : write.offset + len(write.data)]
    same = [old == new for old, new in zip(under, write.data, strict=False)]
    differing = len(write.data) - 1 - sum(same[: len(write.data) - 1])
    return differing - 1 if differing and len(same) == len(write.data) and same[-1] else differing


_NAMING = (Link, Unlink, Rename)


@dataclass(frozen=True)
class PowerLoss:
    """The machine loses power: what was not synced may be lost, torn or zeroed.

    Changes of names reach the disk in order (a journal), each perhaps not yet; ``fsync`` of a directory waits for all
    changes of names so far. Bytes that no ``fsync`` of their file has secured may be missing, cut short, or zeros
    (blocks allocated, data not yet written). ``fsync`` of a file secures its bytes, not its name (fsync(2)).

    Args:
        torn: where unsynced bytes are cut, as shares of them; -1 means all but the last byte.
        zeros: whether unsynced bytes may read as zeros, wholly and in their second half.
        ordered: whether changes of names reach the disk in order. When False, any selection of the pending ones may
            have arrived (up to ``subsets`` of them in all combinations, beyond that each one alone and all but each).
        fsync_lies: whether ``fsync`` does nothing at all, as some disks do.
        points: crash points within one file's unsynced writes that are looked at, spread evenly.
    """

    torn: tuple[float, ...] = (0.25, 0.5, -1)
    zeros: bool = True
    ordered: bool = True
    fsync_lies: bool = False
    points: int = 64
    subsets: int = 6

    @property
    def name(self) -> str:
        return "power"

    def survey(
        self, recording: Recording, look: Look[R], *, prune: bool = True, memory: Memory[R] | None = None
    ) -> Survey[R]:
        memory = Memory(look, prune) if memory is None else memory
        before = memory.looks
        outcomes: list[Outcome[R]] = []
        seen: set[object] = set()
        images = distinct = 0
        sampled = False
        history = _History(recording, self)
        for names, moments in history.name_states():
            reachable = names.reachable()
            points, thinned = history.points(moments.op, moments.until, reachable, self.points)
            sampled |= thinned
            for position, at in enumerate(points):
                until = points[position + 1] - 1 if position + 1 < len(points) else moments.until
                moment = replace(moments, op=at, until=max(until, at))
                choices = {n: v for n in reachable if len(v := history.variants(n, at)) > 1}
                for outcome in self._assign(moment, names, history, {}, choices, memory, recording.root, at):
                    outcomes.append(outcome)
                    images += outcome.images
                distinct += _count_new(seen, names, history, choices, at)
        bound = "names in order" if self.ordered else f"names in any order, {2**self.subsets} selections at a time"
        bound += f"; unsynced bytes lost, cut at {len(self.torn)} places"
        bound += ", zeroed whole and by half" if self.zeros else ""
        if self.fsync_lies:
            bound += "; fsync does nothing"
        if sampled:
            bound += f"; at most {self.points} moments within a file's unsynced writes"
        return Survey(self, tuple(outcomes), images, distinct, memory.looks - before, bound)

    def _assign(
        self,
        moment: Moment,
        names: Names,
        history: _History,
        fixed: Mapping[int, Variant],
        choices: Mapping[int, Sequence[Variant]],
        memory: Memory[R],
        cwd: str,
        at: int,
    ) -> Iterator[Outcome[R]]:
        """All combinations of what became of each file's bytes, those that recovery does not look at left open."""
        files = history.files_at(at)
        now = dict(fixed)
        for number, variants in choices.items():
            if number not in now:
                now[number] = variants[0]
        instead = {n: history.content(n, v) for n, v in now.items() if not v.current}
        result, queries = memory.see(Snapshot(names, files, cwd, instead))
        looked_at = [n for n in choices if n not in fixed and (not memory.prune or _concerned(queries, names, n))]
        if not looked_at:
            count = 1
            for number, variants in choices.items():
                if number not in fixed:
                    count *= len(variants)
            data = tuple((n, v.label, v.kept) for n, v in sorted(now.items()) if not v.current)
            yield Outcome(replace(moment, data=data), result, count)
            return
        number = looked_at[0]
        for variant in choices[number]:
            yield from self._assign(
                moment, names, history, {**fixed, number: variant}, choices, memory, cwd, at
            )

    def image(self, recording: Recording, moment: Moment) -> Image:
        history = _History(recording, self)
        names = history.names_of(moment)
        instead: dict[int, bytes] = {}
        for number in names.reachable():
            wanted = next(((label, kept) for n, label, kept in moment.data if n == number), None)
            for variant in history.variants(number, moment.op):
                if wanted == (variant.label, variant.kept):
                    instead[number] = history.content(number, variant)
        return Snapshot(names, history.files_at(moment.op), recording.root, instead).image()


@dataclass(frozen=True)
class Variant:
    """One thing that can have become of a file's bytes: the synced ones and a part of what was written since."""

    label: str
    synced: int
    """Operations up to this index are on the disk whatever happens."""
    upto: int
    kept: int
    """Bytes written since then that are there; -1 for all."""
    current: bool = False


class _History:
    """One recording, asked about power loss."""

    def __init__(self, recording: Recording, model: PowerLoss) -> None:
        self.recording = recording
        self.model = model
        self.operations = recording.operations
        self.naming = [i for i, op in enumerate(self.operations) if isinstance(op, _NAMING)]
        self.data: dict[int, list[int]] = {}
        self.fsyncs: dict[int, list[int]] = {}
        self.syncs: list[int] = []
        self.directory_syncs: list[tuple[int, int | None]] = []
        self.effects = [i for i, op in enumerate(self.operations) if isinstance(op, Mark) and op.kind == EFFECT]
        for index, op in enumerate(self.operations):
            if isinstance(op, (Write, Truncate)):
                self.data.setdefault(op.inode, []).append(index)
            elif model.fsync_lies:
                continue
            elif isinstance(op, SyncAll):
                self.syncs.append(index)
                self.directory_syncs.append((index, None))
            elif isinstance(op, Fsync):
                if op.directory:
                    self.directory_syncs.append((index, op.inode))
                else:
                    self.fsyncs.setdefault(op.inode, []).append(index)
        self._files = Files(recording.initial)
        self._files_at = 0
        self._variants: dict[tuple[int, int, int], list[Variant]] = {}

    # -- names -----------------------------------------------------------------------------------------------------

    def name_states(self) -> Iterator[tuple[Names, Moment]]:
        """Each state of the name space that can be on the disk, with the span of operations in which it can."""
        if self.model.ordered:
            yield from self._prefixes()
        else:
            yield from self._selections()

    def _prefixes(self) -> Iterator[tuple[Names, Moment]]:
        names = Names(self.recording.initial)
        end = len(self.operations)
        barriers = [index for index, _ in self.directory_syncs]
        for count in range(len(self.naming) + 1):
            begin = 0
            if count:
                names.apply(self.operations[self.naming[count - 1]])
                begin = self.naming[count - 1] + 1
            until = end
            if count < len(self.naming):
                after = bisect_right(barriers, self.naming[count])
                until = barriers[after] if after < len(barriers) else end
            if begin <= until:
                yield names, Moment(begin, until=until, names=tuple(self.naming[:count]))

    def _selections(self) -> Iterator[tuple[Names, Moment]]:
        seen: set[tuple[int, ...]] = set()
        end = len(self.operations)
        for at in [0, *[i + 1 for i in self.naming]]:
            done = [i for i in self.naming if i < at]
            pending = [i for i in done if not self._secured(i, at)]
            secured = [i for i in done if i not in set(pending)]
            for kept in self._subsets(pending):
                chosen = tuple(sorted([*secured, *kept]))
                if chosen in seen:
                    continue
                seen.add(chosen)
                missing = [i for i in pending if i not in kept]
                until = min([self._secured_at(i) for i in missing], default=end)
                following = [i for i in self.naming if i >= at]
                if following:
                    until = min(until, self._secured_at(following[0]))
                names = self._named(chosen)
                yield names, Moment(at, until=max(until, at), names=chosen)

    def _subsets(self, pending: Sequence[int]) -> Iterator[tuple[int, ...]]:
        if len(pending) <= self.model.subsets:
            for size in range(len(pending) + 1):
                yield from itertools.combinations(pending, size)
            return
        yield ()
        yield tuple(pending)
        for index in pending:
            yield (index,)
            yield tuple(i for i in pending if i != index)

    def _secured(self, index: int, at: int) -> bool:
        return self._secured_at(index) < at

    def _secured_at(self, index: int) -> int:
        operation = self.operations[index]
        parents = {getattr(operation, field, None) for field in ("parent", "new_parent", "old_parent")} - {None}
        for sync, directory in self.directory_syncs:
            if sync > index and (directory is None or directory in parents):
                return sync
        return len(self.operations)

    def names_of(self, moment: Moment) -> Names:
        """The name space of a moment, made again."""
        return self._named(moment.names or ())

    def _named(self, chosen: Sequence[int]) -> Names:
        """The names after some of the operations; a file's last name may be there though its first never was."""
        names = Names(self.recording.initial)
        for index in self.naming:
            operation = self.operations[index]
            if isinstance(operation, Link):
                names.know(operation)
        for index in chosen:
            names.apply(self.operations[index])
        return names

    # -- bytes -----------------------------------------------------------------------------------------------------

    def points(self, begin: int, until: int, reachable: set[int], most: int) -> tuple[list[int], bool]:
        """Moments within a span at which something about the bytes of reachable files changes."""
        wanted = {begin, *(index + 1 for index in self.effects if begin <= index < until)}
        for number in reachable:
            written = self.data.get(number, ())
            for index in (*written, *self.fsyncs.get(number, ()), *(self.syncs if written else ())):
                if begin <= index < until:
                    wanted.add(index + 1)
        found = sorted(wanted)
        if len(found) <= most:
            return found, False
        step = (len(found) - 1) / (most - 1)
        return sorted({found[round(k * step)] for k in range(most)}), True

    def variants(self, number: int, at: int) -> list[Variant]:
        """What can have become of a file's bytes when the power went after ``at`` operations; as written is first."""
        writes = self.data.get(number)
        if not writes:
            return [Variant("current", at, at, -1, True)]
        done = bisect_right(writes, at - 1)
        synced = max(
            [-1, *[i for i in self.fsyncs.get(number, ()) if i < at], *[i for i in self.syncs if i < at]]
        )
        first = bisect_right(writes, synced)
        key = (number, first, done)
        known = self._variants.get(key)
        if known is not None:
            return known
        base, upto = (writes[first - 1] if first else -1), (writes[done - 1] if done else -1)
        found = [Variant("current", base, upto, -1, True)]
        unsynced = [self.operations[i] for i in writes[first:done]]
        if unsynced:
            total = sum(len(op.data) for op in unsynced if isinstance(op, Write))
            found.append(Variant("lost", base, base, 0))
            kept = {total - 1 if share < 0 else int(total * share) for share in self.model.torn} - {0, total}
            if any(isinstance(op, Truncate) for op in unsynced):
                kept.add(0)
            found += [Variant("torn", base, upto, k) for k in sorted(kept) if 0 <= k < total]
            if self.model.zeros and self._grows(number, base, unsynced):
                found.append(Variant("zeros", base, upto, 0))
                if total > 1:
                    found.append(Variant("zero tail", base, upto, total // 2))
        self._variants[key] = found
        return found

    def _grows(self, number: int, base: int, pending: Sequence[Operation]) -> bool:
        """Whether unsynced writes went to blocks that the synced file did not have."""
        size = self._size(number, base)
        for operation in pending:
            if isinstance(operation, Truncate):
                size = min(size, operation.size)
            elif isinstance(operation, Write) and operation.offset + len(operation.data) > size:
                return True
        return False

    def _size(self, number: int, base: int) -> int:
        inode = self.recording.initial.inodes.get(number)
        size = len(inode.data) if inode else 0
        for index in self.data[number]:
            if index > base:
                break
            operation = self.operations[index]
            if isinstance(operation, Truncate):
                size = operation.size
            elif isinstance(operation, Write):
                size = max(size, operation.offset + len(operation.data))
        return size

    def content(self, number: int, variant: Variant) -> bytes:
        """The bytes of one variant."""
        files = Files(self.recording.initial)
        base_size = len(files.data(number))
        kept = variant.kept
        zeroing = variant.label in ("zeros", "zero tail")
        for index in self.data[number]:
            operation = self.operations[index]
            if index <= variant.synced:
                files.apply(operation)
                base_size = len(files.data(number))
                continue
            if index > variant.upto:
                break
            if isinstance(operation, Truncate):
                files.apply(operation)
                base_size = min(base_size, operation.size)
            elif isinstance(operation, Write):
                if variant.kept < 0 or kept >= len(operation.data):
                    files.apply(operation)
                elif zeroing:
                    # only blocks that were allocated for new bytes can read as zeros
                    old_end = max(0, min(len(operation.data), base_size - operation.offset))
                    piece = operation.data[: max(kept, old_end, 0)]
                    files.apply(replace(operation, data=piece + bytes(len(operation.data) - len(piece))))
                elif kept > 0:
                    files.apply(operation, kept)
                kept -= len(operation.data)
                if variant.kept >= 0 and kept <= 0 and not zeroing:
                    break
        return bytes(files.data(number))

    def files_at(self, at: int) -> Files:
        """All files as the program had written them after ``at`` operations."""
        if at < self._files_at:
            self._files, self._files_at = Files(self.recording.initial), 0
        for operation in self.operations[self._files_at : at]:
            self._files.apply(operation)
        self._files_at = at
        return self._files


def _count_new(
    seen: set[object], names: Names, history: _History, choices: Mapping[int, Sequence[Variant]], at: int
) -> int:
    """How many images of this moment no earlier moment had. Above 4 MB, files are told apart by what became of them."""
    new = 0
    files = history.files_at(at)
    small = sum(len(files.data(n)) * len(v) for n, v in choices.items()) < 1 << 22
    for combination in itertools.product(*choices.values()):
        pairs = list(zip(choices, combination, strict=True))
        instead = {n: history.content(n, v) for n, v in pairs if not v.current} if small else {}
        key: object = Snapshot(names, files, history.recording.root, instead).fingerprint()
        if not small:
            key = (key, tuple((n, v.label, v.upto, v.kept) for n, v in pairs))
        if key not in seen:
            seen.add(key)
            new += 1
    return new


def line_of(recording: Recording, moment: Moment) -> Where | None:
    """The line at which the process was when it died: of the write in progress, else of the last operation done."""
    operations: Sequence[Operation] = recording.operations
    if moment.cut:
        return operations[moment.op].where
    for operation in reversed(operations[: moment.op]):
        if operation.where is not None or not isinstance(operation, Mark):
            return operation.where
    return None
