"""What a recording is made of: the operations that changed the disk, in order, each with the line that made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from grader.crash.image import Image

Kind: TypeAlias = Literal["file", "directory", "symlink"]


@dataclass(frozen=True, slots=True)
class Where:
    """A line of the code under judgement (never of a library it calls)."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Write:
    """``data`` was put into file ``inode`` at ``offset`` by one system call."""

    inode: int
    offset: int
    data: bytes
    time: float
    where: Where | None


@dataclass(frozen=True, slots=True)
class Truncate:
    """File ``inode`` was cut or grown (with zeros) to ``size`` bytes."""

    inode: int
    size: int
    time: float
    where: Where | None


@dataclass(frozen=True, slots=True)
class Link:
    """``name`` appeared in directory ``parent``: a new file, directory or symbolic link, or one more hard link."""

    parent: int
    name: str
    inode: int
    kind: Kind
    mode: int
    target: str
    time: float
    where: Where | None


@dataclass(frozen=True, slots=True)
class Unlink:
    """``name`` disappeared from directory ``parent`` (unlink and rmdir alike)."""

    parent: int
    name: str
    inode: int
    time: float
    where: Where | None


@dataclass(frozen=True, slots=True)
class Rename:
    """``old_name`` became ``new_name`` in one step, replacing what stood there (inode ``replaced``, or None)."""

    old_parent: int
    old_name: str
    new_parent: int
    new_name: str
    inode: int
    replaced: int | None
    time: float
    where: Where | None


@dataclass(frozen=True, slots=True)
class Meta:
    """Mode or modification time of ``inode`` were set."""

    inode: int
    mode: int
    mtime: float
    time: float
    where: Where | None


@dataclass(frozen=True, slots=True)
class Fsync:
    """``fsync`` or ``fdatasync`` returned for ``inode`` (a file, or a directory when ``directory``)."""

    inode: int
    directory: bool
    time: float
    where: Where | None


@dataclass(frozen=True, slots=True)
class SyncAll:
    """``sync`` returned."""

    time: float
    where: Where | None


@dataclass(frozen=True, slots=True)
class Mark:
    """A note of the program that drives the code under judgement: a save began, a tool ran. Changes nothing on disk."""

    kind: str
    data: Any
    time: float
    where: Where | None = None


Operation: TypeAlias = Write | Truncate | Link | Unlink | Rename | Meta | Fsync | SyncAll | Mark


@dataclass(frozen=True, slots=True)
class Escape:
    """The code went past the fake disk, so no verdict on it would be honest."""

    reason: str
    """In words, as in "sqlite3.connect opened a database on the real disk"."""
    where: Where | None
    at: int
    """Index of the next operation in the log."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One run of the code under judgement on the fake disk."""

    initial: Image
    operations: tuple[Operation, ...]
    escapes: tuple[Escape, ...] = ()
    root: str = "/"
    """The working directory of the run."""


Query: TypeAlias = tuple[Literal["name", "list", "data", "stat", "world"], str]
"""A question a run put to what it was started on: what a path is, a directory's names, a file's bytes, its stat; or how
often an effect has happened in the world outside."""

EFFECT = "effect"
"""The kind of a Mark that stands for an effect outside the disk; its data is ``(name, key)``."""

Answer: TypeAlias = Any
"""Hashable; two images that give the same answers to all queries of a run can't be told apart by that run."""

Observation: TypeAlias = tuple[Query, Answer]
