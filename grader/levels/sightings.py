"""What was seen of a learner's program on a real disk, from another process: plain data, none of it the learner's word.

A *play* is one run of the cells and of a driver in a process of its own, which knows of no fake disk and no recorder.
It stands still whenever it asks for something (the model's answer, a tool's result), and then the checkpoint is looked
at from outside. Between two looks, the kernel tells what was done to the file's name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

import msgspec

Ask = Callable[[str, Any], Any]
"""In the learner's process: says something to the other side, and returns what it answers."""


class Played(Protocol):
    """In the learner's process: the cells, as they were run."""

    namespace: dict[str, Any]

    def fresh(self) -> dict[str, Any]:
        """Run the cells again in a namespace of their own, as a new process would, and return it."""


What = Literal["modified", "gone", "came"]
"""What became of the checkpoint's name: its file was written to or cut under it; it was taken away; it was given."""


class Look(msgspec.Struct, frozen=True):
    """The checkpoint while the program stood still."""

    kind: str
    """What the program asked for, as a driver's mark would call it; ``killed`` when it was dead."""
    data: Any
    content: int
    """Which of the contents the file held; -1 when there was none."""
    inode: int
    plain: bool
    """Whether its name is that of a file, not of a link to one."""


class Event(msgspec.Struct, frozen=True):
    """What the kernel told."""

    what: What
    after: int
    """How many looks were before it."""


class Sync(msgspec.Struct, frozen=True):
    """One fsync, fdatasync, sync or syncfs, as the kernel told of it while the program stood still in the call."""

    what: Literal["file", "folder", "all", "nothing"]
    kept: bool = True
    """Whether what it made durable is still so when the program next asks for something: a file's bytes, a folder's
    names."""
    named: bool = True
    """Whether the file has the same names then."""
    after: int = 0
    """How many looks were before it."""


class Entry(msgspec.Struct, frozen=True):
    """Something that lies on a disk that is given."""

    path: str
    """Below the working directory."""
    kind: Literal["file", "folder", "same", "link"]
    data: bytes = b""
    """A file's bytes; where a symbolic link points; the path of the entry that is the same file."""
    mode: int = 0o644
    mtime: float = 0.0


class Flip(msgspec.Struct, frozen=True):
    """A disk that was kept, with the lowest bit of one byte turned over."""

    kept: str
    where: float
    """Which byte of all its files, from 0 to 1."""


class Step(msgspec.Struct, frozen=True):
    """One life in a process of its own that was there before: the disk that it finds, and what it is to do."""

    ask: Any
    disk: list[Entry] | Flip | None = None
    """None: what the step before left."""
    keep: str = ""
    """Under what name its disk is kept when it has ended."""


class Play(msgspec.Struct, frozen=True):
    """One run."""

    looks: list[Look]
    events: list[Event]
    ended: Literal["end", "raised", "stopped", "died", "time", "starved"]
    detail: str = ""
    told: bool = True
    """Whether the kernel told everything: no queue ran over, and no folder on the way was moved."""
    kill: Literal["", "byte", "moment"] = ""
    """How it was to be killed: at a byte of a write, or at a moment in a save."""
    killed: bool = False
    syncs: list[Sync] | None = None
    """None where the kernel tells of none."""
    flipped: str = ""
    """Which byte of which file was turned over before it."""


class Sightings(msgspec.Struct, frozen=True):
    """All that was seen of one program. The first play was left alone."""

    plays: list[Play]
    contents: list[bytes]

    def content(self, look: Look) -> bytes | None:
        """Return the bytes of the checkpoint at one look."""
        return self.contents[look.content] if 0 <= look.content < len(self.contents) else None


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Sightings)


def encode(sightings: Sightings) -> bytes:
    """Return sightings as bytes."""
    return _encoder.encode(sightings)


def decode(data: bytes) -> Sightings:
    """Return the sightings in ``data``."""
    return _decoder.decode(data)
