"""A log of deltas: one full snapshot, then for each save only what is new.

The file is lines. The first one is a checkpoint as `encode` makes it; each later one is a delta with a checksum
of its own and the checksum of the line it follows. A delta counts when it is whole and follows the last line
that counts. So a torn line costs itself and never what stands before it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .agent import Agent, Save
from .errors import DamagedCheckpoint, NoCheckpoint, NotSerialisable, StaleWriter
from .files import sync_file, write_atomically
from .locks import locked
from .model import Model
from .recovery import checkpoint, resume_document
from .savefile import (
    Document,
    check_fields,
    checksum,
    decode,
    encode,
    find_unserialisable,
    previous,
    warn_of_fallback,
)
from .tools import Tools

Delta = dict[str, Any]

LISTS = ("messages", "steps")
"""The fields that grow at their end. All others are small and written whole when they change."""


# -- what is new ---------------------------------------------------------------------------------------------


def same_start(old: Sequence[Any], new: Sequence[Any]) -> int:
    """Count the items at the beginning that two lists share."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(old), len(new)))


def difference(old: Document, new: Document) -> Delta:
    """Return what has to be known to make the new document from the old one."""
    keep = {name: same_start(old.get(name, []), new[name]) for name in LISTS if name in new}
    return {
        "keep": keep,
        "add": {name: new[name][kept:] for name, kept in keep.items()},
        "set": {
            name: value
            for name, value in new.items()
            if name not in LISTS and (name not in old or old[name] != value)
        },
    }


def merge(document: Document, delta: Delta) -> None:
    """Change the document into the one that the delta was made for."""
    for name, kept in delta["keep"].items():
        items = document.setdefault(name, [])
        items[kept:] = delta["add"][name]
    document.update(delta["set"])


# -- lines ---------------------------------------------------------------------------------------------------


def mark(document: Document) -> str:
    """Return the short checksum by which a line is known: 64 bits, enough against accidents."""
    return checksum(document)[:16]


def encode_delta(delta: Delta, after: str) -> bytes:
    """Turn a delta into its line: what it follows, what is new, the checksum last."""
    record = {"after": after, **delta}
    return json.dumps({**record, "checksum": mark(record)}, ensure_ascii=False).encode() + b"\n"


def decode_delta(line: bytes) -> Delta | None:
    """Turn a line back into a delta; None when it is not the line that was written."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or record.get("checksum") != mark(record) or "after" not in record:
        return None
    return record


@dataclass(frozen=True)
class Reading:
    """What a log says: the document, the mark of the last line that counts, and what is lost."""

    document: Document
    head: str
    deltas: int
    lost: str | None


def read_log(data: bytes) -> Reading:
    """Merge the lines of a log, up to the last one that counts; raise when not even the snapshot is sound."""
    first, *lines = data.split(b"\n")
    document = decode(first)
    head, deltas, torn, cut_off = mark(document), 0, 0, 0
    for line in filter(None, lines):
        delta = decode_delta(line)
        if delta is None:
            torn += 1
        elif delta["after"] != head:
            cut_off += 1
        else:
            merge(document, delta)
            head, deltas = delta["checksum"], deltas + 1
            torn = cut_off = 0  # what was torn before this line has been done again
    check_fields(document)
    lost = None
    if torn or cut_off:
        last = f"delta {deltas}" if deltas else "its snapshot"
        lost = f"The log is damaged after {last}: {torn} torn"
        lost += f", {cut_off} whole that can't be merged without them." if cut_off else "."
        lost += f" The state after {last} was loaded."
    return Reading(document, head, deltas, lost)


# -- the file ------------------------------------------------------------------------------------------------


class DeltaLog:
    """A checkpoint file that is appended to.

    When the deltas weigh more than the snapshot before them, and more than ``floor`` bytes, the next save
    writes a new snapshot in place of all (compaction): so the file stays below about twice the state's size.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        floor: int = 4096,
        on_fallback: Callable[[str], None] = warn_of_fallback,
    ) -> None:
        self.path = Path(path)
        self.floor = floor
        self.on_fallback = on_fallback
        self._reading: Reading | None = None  # what the file says, as far as this process knows
        self._ending: tuple[int, bytes] | None = None  # by which it is recognised
        self._snapshot = 0  # bytes of the first line
        self._sound = True  # whether more may be appended

    def load(self) -> Document:
        """Return the document that was saved last, or the last one that can be had; nothing is changed on disk.

        ``on_fallback`` is told what is lost. A damaged snapshot is looked for in the previous copy.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            data = None
        trouble: DamagedCheckpoint | NoCheckpoint
        try:
            if data is None:
                raise NoCheckpoint(f"There is no checkpoint at {self.path}.")
            self._reading, self._sound = read_log(data), True
        except (DamagedCheckpoint, NoCheckpoint) as error:
            trouble = error
            try:
                self._reading, self._sound = read_log(previous(self.path).read_bytes()), False
            except (DamagedCheckpoint, FileNotFoundError):
                raise trouble from None
            self.on_fallback(f"{trouble} The previous copy was loaded: some progress is lost.")
        if self._reading.lost:
            self.on_fallback(self._reading.lost)
        self._ending = None if data is None else (len(data), data[-128:])
        self._snapshot = len(data.split(b"\n", 1)[0]) if data else 0
        return json.loads(json.dumps(self._reading.document))  # type: ignore[no-any-return]

    def save(self, document: Document) -> None:
        """Append what is new in this document, or compact when that is due; return when it is on the disk.

        Raises StaleWriter when another process has saved since; nobody can get in between the look and the write.
        """
        with locked(self.path.parent):
            self._save(document)

    def compact(self, document: Document) -> None:
        """Replace the log by one snapshot, atomically; keep the log before it as the previous copy.

        Raises StaleWriter as `save` does.
        """
        with locked(self.path.parent):
            self._compact(document)

    def _save(self, document: Document) -> None:
        if self._reading is None and not self._begin(document):
            return
        assert self._reading is not None
        self.refuse_if_stale()
        old = self._reading.document
        delta = difference(old, document)
        if find_unserialisable(delta) is not None:
            raise NotSerialisable(f"The checkpoint can't be saved: {find_unserialisable(document)}.")
        line = encode_delta(delta, self._reading.head)
        deltas = (self._ending[0] if self._ending else 0) - self._snapshot + len(line)
        if not self._sound or old.keys() - document.keys() or deltas > max(self._snapshot, self.floor):
            return self._compact(document)
        self._append(line)
        written = json.loads(line)  # our own copy: what the caller changes later does not change it
        merge(old, written)
        self._reading = replace(self._reading, head=written["checksum"], deltas=self._reading.deltas + 1)

    def _compact(self, document: Document) -> None:
        self.refuse_if_stale()
        data = encode(document) + b"\n"
        if self._sound and self._ending is not None:
            write_atomically(previous(self.path), self.path.read_bytes())
        write_atomically(self.path, data)
        self._reading, self._ending = read_log(data), (len(data), data[-128:])
        self._snapshot, self._sound = len(data) - 1, True

    def refuse_if_stale(self) -> None:
        """Raise StaleWriter when the file has gone on without this process: what it knows is of yesterday."""
        ending = self._look()
        if ending == self._ending:
            return
        if ending is not None and self._reading is not None and self._sound:
            found = read_log(self.path.read_bytes())
            if found.head == self._reading.head:  # a line of our own was cut short: an error in the last save
                self._ending = ending
                return
        raise StaleWriter(
            f"{self.path} has changed since this process read or wrote it: somebody else has gone on. Nothing was"
            " saved; load it again."
        )

    def _begin(self, document: Document) -> bool:
        """Get to know the file before the first save; when there is none to go on from, write a snapshot."""
        try:
            self.load()
            return True
        except (NoCheckpoint, DamagedCheckpoint):
            self._ending, self._sound = self._look(), False
            self._compact(document)
            return False

    def _look(self) -> tuple[int, bytes] | None:
        try:
            with open(self.path, "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 128))
                return size, file.read()
        except FileNotFoundError:
            return None

    def _append(self, line: bytes) -> None:
        assert self._ending is not None
        size, ending = self._ending
        if not ending.endswith(b"\n"):
            line = b"\n" + line  # what is torn stays a line of its own
        with open(self.path, "ab", buffering=0) as file:
            rest = memoryview(line)
            while rest:
                rest = rest[file.write(rest) :]
            sync_file(file.fileno())
        self._ending = (size + len(line), (ending + line)[-128:])


# -- agent <-> log -------------------------------------------------------------------------------------------


def light_checkpoint(agent: Agent) -> Document:
    """Return what `checkpoint` does, without copying the messages: for a save that only looks at them."""
    bare = checkpoint(replace(agent, session=replace(agent.session, messages=[])))
    return {**bare, "messages": agent.messages}


def delta_saver(log: DeltaLog) -> Save:
    """Return the `save` that keeps the agent's checkpoint in a log of deltas."""
    return lambda agent: log.save(light_checkpoint(agent))


def resume_from_log(log: DeltaLog, model: Model, tools: Tools, *, unknown: str = "refuse") -> Agent:
    """Do what `resume` does, from a log of deltas. What was lost is among the agent's notices."""
    notices: list[str] = []
    tell, log.on_fallback = log.on_fallback, notices.append
    try:
        document = log.load()
    finally:
        log.on_fallback = tell
    return resume_document(document, model, tools, delta_saver(log), notices=notices, unknown=unknown)
