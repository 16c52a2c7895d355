"""A recording in words: what each operation did, to which name, at which line of whose source."""

from __future__ import annotations

import linecache
import posixpath
from collections import Counter
from dataclasses import dataclass

from grader.crash.operations import (
    EFFECT,
    Fsync,
    Link,
    Mark,
    Meta,
    Operation,
    Recording,
    Rename,
    SyncAll,
    Truncate,
    Unlink,
    Where,
    Write,
)
from grader.crash.replay import Names
from grader.crash.sentences import number_of_bytes, sentence


@dataclass(frozen=True)
class Step:
    """One operation in words.

    Attributes:
        index: its place in the recording.
        verb: ``create``, ``write``, ``replace``, ... (the keys ``verb.*`` of the table).
        name: what it was done to, relative to the working directory.
        other: a second name (where a rename led, where a link points).
        size: bytes written, or the size cut to.
    """

    index: int
    verb: str
    name: str
    other: str = ""
    size: int = 0
    where: Where | None = None

    def head(self, lang: str) -> str:
        """The operation as one word."""
        return sentence(f"verb.{self.verb}", lang)

    def words(self, lang: str) -> str:
        """The operation as a phrase, as in ``write 217 bytes to c.tmp``."""
        verb = "fsynchere" if self.verb == "fsyncdir" and self.name == "." else self.verb
        return sentence(f"op.{verb}", lang, a=self.name, b=self.other, n=number_of_bytes(self.size, lang))


class Story:
    """All operations of a recording in words.

    Args:
        recording: what to tell.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._names = _Places(recording)
        self.steps: dict[int, Step] = {}
        for index, operation in enumerate(recording.operations):
            if isinstance(operation, Mark):
                if operation.kind == EFFECT:
                    name, key = operation.data
                    self.steps[index] = Step(index, "effect", f"{name} {key}", where=operation.where)
                continue
            self.steps[index] = self._step(index, operation)
        self.end = next(
            (i for i, op in enumerate(recording.operations) if isinstance(op, Mark) and op.kind == "save-end"),
            len(recording.operations),
        )
        """Index of the mark at which the save had returned."""
        files = Counter(step.where.file for step in self.steps.values() if step.where)
        self.file = files.most_common(1)[0][0] if files else None
        """The source file most of the operations came from; lines of other files are told with their name."""

    def _step(self, index: int, operation: Operation) -> Step:
        places = self._names
        where = operation.where
        if isinstance(operation, Link):
            verb = {"file": "create", "directory": "mkdir", "symlink": "symlink"}[operation.kind]
            if operation.kind == "file" and operation.inode in places.known:
                verb = "link"
            places.put(operation.parent, operation.name, operation.inode)
            return Step(index, verb, places.path(operation.parent, operation.name), operation.target, where=where)
        if isinstance(operation, Unlink):
            name = places.path(operation.parent, operation.name)
            places.take(operation.parent, operation.name, operation.inode)
            return Step(index, "unlink", name, where=where)
        if isinstance(operation, Rename):
            old = places.path(operation.old_parent, operation.old_name)
            places.take(operation.old_parent, operation.old_name, operation.inode)
            places.put(operation.new_parent, operation.new_name, operation.inode)
            verb = "rename" if operation.replaced is None else "replace"
            return Step(index, verb, old, places.path(operation.new_parent, operation.new_name), where=where)
        if isinstance(operation, Write):
            return Step(index, "write", places.name(operation.inode), size=len(operation.data), where=where)
        if isinstance(operation, Truncate):
            verb = "truncate" if operation.size else "empty"
            return Step(index, verb, places.name(operation.inode), size=operation.size, where=where)
        if isinstance(operation, Meta):
            return Step(index, "meta", places.name(operation.inode), where=where)
        if isinstance(operation, Fsync):
            verb = "fsyncdir" if operation.directory else "fsync"
            return Step(index, verb, places.name(operation.inode), where=where)
        assert isinstance(operation, SyncAll)
        return Step(index, "sync", "", where=where)

    def place(self, where: Where, lang: str) -> str:
        """``store.py, line 12``; only the line where the file is a notebook's cell."""
        if where.file.startswith("<") or "ipykernel_" in where.file:
            return self.line(where, lang)
        return sentence("file.line", lang, file=short_file(where.file), n=where.line)

    def number(self, index: int) -> int:
        """An operation's number, counted from 1."""
        return sum(1 for known in self.steps if known <= index)

    def line(self, where: Where | None, lang: str) -> str:
        """``line 12``, with the file's name when it is not the one most operations came from."""
        if where is None:
            return sentence("no.line", lang)
        if where.file == self.file or self.file is None:
            return sentence("line", lang, n=where.line)
        return sentence("file.line", lang, file=short_file(where.file), n=where.line)


def short_file(file: str) -> str:
    """A source file's name without its directories; ``<cell ...>`` and the like stay as they are."""
    if file.startswith("<"):
        return file
    if "ipykernel_" in file:
        return "cell"
    return posixpath.basename(file.replace("\\", "/"))


def source(where: Where | None) -> str:
    """The source text of a line, stripped; empty when it can't be found."""
    return linecache.getline(where.file, where.line).strip() if where else ""


class _Places:
    """Where each inode is found, kept up to date as operations go by."""

    def __init__(self, recording: Recording) -> None:
        self._cwd = recording.root.rstrip("/") + "/"
        initial = Names(recording.initial)
        self._at: dict[int, list[tuple[int, str]]] = {}
        for parent, entries in initial.directories.items():
            for name, number in entries.items():
                self._at.setdefault(number, []).append((parent, name))
        self.known = set(initial.kinds)
        self._top = initial.top
        self._last: dict[int, str] = {}

    def put(self, parent: int, name: str, number: int) -> None:
        self.known.add(number)
        places = self._at.setdefault(number, [])
        if (parent, name) in places:
            places.remove((parent, name))
        places.append((parent, name))

    def take(self, parent: int, name: str, number: int) -> None:
        self._last[number] = self.path(parent, name)
        places = self._at.get(number, [])
        if (parent, name) in places:
            places.remove((parent, name))

    def path(self, parent: int, name: str) -> str:
        parts = [name]
        here = parent
        while here != self._top:
            places = self._at.get(here)
            if not places:
                break
            here, part = places[-1]
            parts.append(part)
        path = "/" + "/".join(reversed(parts))
        if path + "/" == self._cwd:
            return "."
        return path.removeprefix(self._cwd) if path.startswith(self._cwd) else path

    def name(self, number: int) -> str:
        places = self._at.get(number)
        if not places:
            return self._last.get(number, "?")
        return self.path(*places[0])


def hexdump(data: bytes, start: int, rows: int = 3) -> list[str]:
    """Rows of 16 bytes beginning at ``start``: offset, hexadecimal, text."""
    shown = []
    for offset in range(start, min(len(data), start + 16 * rows), 16):
        piece = data[offset : offset + 16]
        left = " ".join(f"{byte:02x}" for byte in piece[:8])
        right = " ".join(f"{byte:02x}" for byte in piece[8:])
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in piece)
        shown.append(f"{offset:08x}  {left:<23}  {right:<23}  |{text}|")
    return shown
