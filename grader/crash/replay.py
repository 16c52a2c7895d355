"""Replaying a recording: the disk after any number of its operations, without running the program again."""

from __future__ import annotations

import hashlib
import posixpath
from collections import Counter
from collections.abc import Mapping

from grader.crash.image import Image, Inode
from grader.crash.operations import (
    EFFECT,
    Answer,
    Link,
    Mark,
    Meta,
    Operation,
    Query,
    Recording,
    Rename,
    Truncate,
    Unlink,
    Write,
)

DIGEST_ENDS = 1 << 16


def digest(data: bytes | bytearray) -> bytes:
    """What stands for a file's bytes in an answer."""
    return hashlib.blake2b(data, digest_size=16).digest()


def answer(image: Image, query: Query) -> Answer:
    """What ``image`` answers to one query of a run. Paths are literal: no symbolic link is followed."""
    kind, path = query
    if kind == "world":
        return sum(key == path for _, key in image.world)
    number = image.find(path, follow=False)
    if number is None:
        return None
    inode = image.inodes[number]
    if kind == "name":
        return (inode.kind, inode.mode, inode.target)
    if kind == "list":
        return tuple(inode.entries)
    if kind == "data":
        return digest(inode.data)
    return (inode.kind, inode.mode, len(inode.data), inode.mtime)


class Names:
    """The name space: directories, what kind each inode is, modes, link targets. Everything but files' bytes."""

    def __init__(self, image: Image) -> None:
        self.top = image.top
        self.directories = {n: dict(i.entries) for n, i in image.inodes.items() if i.kind == "directory"}
        self.kinds = {n: i.kind for n, i in image.inodes.items()}
        self.modes = {n: i.mode for n, i in image.inodes.items()}
        self.targets = {n: i.target for n, i in image.inodes.items() if i.kind == "symlink"}
        self.version = 0

    def copy(self) -> Names:
        """An independent copy."""
        twin = object.__new__(Names)
        twin.top = self.top
        twin.directories = {n: dict(e) for n, e in self.directories.items()}
        twin.kinds, twin.modes, twin.targets = dict(self.kinds), dict(self.modes), dict(self.targets)
        twin.version = self.version
        return twin

    def apply(self, operation: Operation) -> None:
        """Carry out one operation; those that change no name are passed over.

        A directory that is itself not there yet (its creation did not persist) takes the name with it.
        """
        if isinstance(operation, Link):
            self.know(operation)
            self.directories.setdefault(operation.parent, {})[operation.name] = operation.inode
        elif isinstance(operation, Unlink):
            self.directories.setdefault(operation.parent, {}).pop(operation.name, None)
        elif isinstance(operation, Rename):
            old = self.directories.setdefault(operation.old_parent, {})
            if old.get(operation.old_name) == operation.inode:
                del old[operation.old_name]
            self.directories.setdefault(operation.new_parent, {})[operation.new_name] = operation.inode
        elif isinstance(operation, Meta):
            self.modes[operation.inode] = operation.mode
        else:
            return
        self.version += 1

    def know(self, operation: Link) -> None:
        """Take down what kind of inode an operation made, whether or not its name is there."""
        self.kinds[operation.inode] = operation.kind
        self.modes[operation.inode] = operation.mode
        if operation.kind == "symlink":
            self.targets[operation.inode] = operation.target
        if operation.kind == "directory":
            self.directories.setdefault(operation.inode, {})

    def find(self, path: str) -> int | None:
        """The inode at a literal absolute path."""
        here = self.top
        for part in path.split("/"):
            if part:
                inside = self.directories.get(here)
                if inside is None or part not in inside:
                    return None
                here = inside[part]
        return here

    def reachable(self) -> set[int]:
        """Inodes that have a name."""
        seen: set[int] = set()
        stack = [self.top]
        while stack:
            number = stack.pop()
            if number not in seen:
                seen.add(number)
                stack += self.directories.get(number, {}).values()
        return seen

    def path_of(self, number: int) -> str | None:
        """One path of an inode."""
        stack = [("/", self.top)]
        while stack:
            path, here = stack.pop()
            if here == number:
                return path
            stack += [(posixpath.join(path, name), n) for name, n in self.directories.get(here, {}).items()]
        return None


class Files:
    """The bytes of every inode, as the operations so far left them."""

    def __init__(self, image: Image) -> None:
        self._data: dict[int, bytes | bytearray] = {n: i.data for n, i in image.inodes.items() if i.kind == "file"}
        self._mtimes = {n: i.mtime for n, i in image.inodes.items()}
        self._digests: dict[int, bytes] = {}
        self.world = list(image.world)
        """Effects outside the disk, which the same steps bring about."""
        self.happened = Counter(key for _, key in image.world)

    def data(self, number: int) -> bytes | bytearray:
        """The bytes of a file; do not change them."""
        return self._data.get(number, b"")

    def mtime(self, number: int) -> float:
        """The time of the last change."""
        return self._mtimes.get(number, 0.0)

    def digest(self, number: int) -> bytes:
        """``digest`` of the bytes, remembered until they change."""
        known = self._digests.get(number)
        if known is None:
            known = self._digests[number] = digest(self.data(number))
        return known

    def apply(self, operation: Operation, cut: int | None = None) -> None:
        """Carry out one operation, or only the first ``cut`` bytes of a write."""
        if isinstance(operation, Write):
            piece = operation.data if cut is None else operation.data[:cut]
            buffer = self._buffer(operation.inode)
            if operation.offset > len(buffer):
                buffer.extend(bytes(operation.offset - len(buffer)))
            buffer[operation.offset : operation.offset + len(piece)] = piece
        elif isinstance(operation, Truncate):
            buffer = self._buffer(operation.inode)
            if operation.size < len(buffer):
                del buffer[operation.size :]
            else:
                buffer.extend(bytes(operation.size - len(buffer)))
        elif isinstance(operation, Meta):
            self._mtimes[operation.inode] = operation.mtime
            return
        elif isinstance(operation, Link):
            if operation.kind == "file":
                self._data.setdefault(operation.inode, b"")
                self._mtimes.setdefault(operation.inode, operation.time)
            return
        elif isinstance(operation, Mark):
            if operation.kind == EFFECT:
                self.world.append(tuple(operation.data))
                self.happened[operation.data[1]] += 1
            return
        else:
            return
        self._digests.pop(operation.inode, None)
        self._mtimes[operation.inode] = operation.time

    def _buffer(self, number: int) -> bytearray:
        buffer = self._data.get(number)
        if type(buffer) is not bytearray:
            buffer = self._data[number] = bytearray(buffer or b"")
        return buffer


class Snapshot:
    """A disk at one crash point, read in place; ``image()`` makes a copy that lasts.

    Args:
        names: the names that are there.
        files: the bytes of files.
        instead: files whose bytes are others here (torn, lost, zeroed).
        cwd: the working directory.
    """

    def __init__(self, names: Names, files: Files, cwd: str, instead: Mapping[int, bytes] | None = None) -> None:
        self.names = names
        self.files = files
        self.cwd = cwd
        self.instead = instead or {}

    def data(self, number: int) -> bytes | bytearray:
        """A file's bytes."""
        other = self.instead.get(number)
        return self.files.data(number) if other is None else other

    def answer(self, query: Query) -> Answer:
        """The same as ``answer(self.image(), query)``, without making the image."""
        kind, path = query
        if kind == "world":
            return self.files.happened[path]
        number = self.names.find(path)
        if number is None:
            return None
        what = self.names.kinds.get(number, "directory")
        mode = self.names.modes.get(number, 0o755)
        if kind == "name":
            return (what, mode, self.names.targets.get(number, ""))
        if kind == "list":
            return tuple(self.names.directories.get(number, {}))
        if kind == "data":
            return digest(self.instead[number]) if number in self.instead else self.files.digest(number)
        size = len(self.data(number)) if what == "file" else 0
        return (what, mode, size, self.files.mtime(number))

    def image(self) -> Image:
        """An immutable copy."""
        names = self.names
        inodes = {number: self.inode(number) for number in names.reachable()}
        return Image(inodes, names.top, self.cwd, tuple(self.files.world))

    def inode(self, number: int) -> Inode:
        """An immutable copy of one inode."""
        names = self.names
        kind = names.kinds.get(number, "directory")
        mode, mtime = names.modes.get(number, 0o755), self.files.mtime(number)
        if kind == "directory":
            return Inode("directory", entries=dict(names.directories.get(number, {})), mode=mode, mtime=mtime)
        if kind == "symlink":
            return Inode("symlink", target=names.targets.get(number, ""), mode=mode)
        return Inode("file", data=bytes(self.data(number)), mode=mode, mtime=mtime)

    def fingerprint(self) -> tuple[object, ...]:
        """Equal for disks that look the same: names, kinds, links and bytes; times and modes aside.

        Files above 64 KB are told apart by their length and both ends.
        """
        found: list[object] = [("", tuple(self.files.world))]
        stack: list[tuple[str, int]] = [("", self.names.top)]
        while stack:
            path, number = stack.pop()
            kind = self.names.kinds.get(number, "directory")
            if kind == "directory":
                found.append(path)
                stack += [(f"{path}/{n}", c) for n, c in self.names.directories.get(number, {}).items()]
            elif kind == "symlink":
                found.append((path, self.names.targets.get(number, "")))
            else:
                data = self.data(number)
                if len(data) > DIGEST_ENDS:
                    found.append((path, len(data), bytes(data[:64]), bytes(data[-4096:])))
                else:
                    found.append((path, self.answer(("data", path)) if path else b""))
        return tuple(sorted(found, key=repr))


def replay(recording: Recording, upto: int | None = None, cut: int = 0) -> Snapshot:
    """The disk after the first ``upto`` operations (all when None) and ``cut`` bytes of the write that follows."""
    names, files = Names(recording.initial), Files(recording.initial)
    for operation in recording.operations[:upto]:
        names.apply(operation)
        files.apply(operation)
    if cut and upto is not None:
        files.apply(recording.operations[upto], cut)
    return Snapshot(names, files, recording.root)


def images_along(recording: Recording) -> list[Image]:
    """The disk before the first operation, then after each one; the same object where an operation changes nothing.

    What two of them have in common is shared, so that a long recording takes little more room than its writes.
    """
    found = [recording.initial]
    names, files = Names(recording.initial), Files(recording.initial)
    for operation in recording.operations:
        found.append(_next(found[-1], names, files, operation))
    return found


def step(image: Image, operation: Operation, cut: int | None = None) -> Image:
    """The disk after one more operation, or after the first ``cut`` bytes of a write."""
    return _next(image, Names(image), Files(image), operation, cut)


def _next(image: Image, names: Names, files: Files, operation: Operation, cut: int | None = None) -> Image:
    names.apply(operation)
    files.apply(operation, cut)
    touched = {number for number in _touched(operation) if number in names.kinds}  # a nameless file is in no image
    world = tuple(files.world)
    if not touched and world == image.world:
        return image
    disk = Snapshot(names, files, image.cwd)
    changed = {number: disk.inode(number) for number in touched}
    return Image({**image.inodes, **changed}, image.top, image.cwd, world)


def _touched(operation: Operation) -> tuple[int, ...]:
    """The inodes that are not the same after an operation."""
    if isinstance(operation, Write | Truncate | Meta):
        return (operation.inode,)
    if isinstance(operation, Link):
        return (operation.inode, operation.parent)
    if isinstance(operation, Unlink):
        return (operation.parent,)
    if isinstance(operation, Rename):
        return (operation.old_parent, operation.new_parent)
    return ()
