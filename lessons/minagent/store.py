"""One place for many tasks, shared by many processes: a save that names the version it was made from, and a claim.

The rules stand here once: `saved`, `claimed`, `renewed`, `released`, `deleted` say what may become of a record. A
backend (`FileStore`, `SqliteStore`, `RedisStore`) brings one thing only: it reads a record, applies a rule and writes
what comes out, and lets nobody in between.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from .agent import Agent, Save
from .errors import (
    ChecksumMismatch,
    Conflict,
    LeaseLost,
    MalformedCheckpoint,
    NoCheckpoint,
    TaskClaimed,
    TornCheckpoint,
    UnknownVersion,
)
from .model import Model
from .recovery import checkpoint, resume_document
from .savefile import Document, checksum, encode
from .tools import Tools

RECORD_FORMAT = 1


# -- what is stored ------------------------------------------------------------------------------------------


class Record(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a store keeps for one key: the document, how often it was saved, and who works on it.

    ``version`` counts the saves of this key; the document's own ``version`` names its format, which is another thing.
    ``token`` counts the claims. ``owner`` is None while nobody works on it.
    """

    document: dict[str, Any]
    version: int
    saved_at: float
    token: int = 0
    owner: str | None = None
    until: float = 0.0
    format: int = RECORD_FORMAT


@dataclass(frozen=True)
class Stored:
    """What `load` gives: the document, the version to name in the next save, and when it was saved."""

    document: Document
    version: int
    saved_at: float


@dataclass(frozen=True)
class Lease:
    """A claim that was granted: on what, to whom, the fencing token, and until when the others keep away."""

    key: str
    owner: str
    token: int
    until: float


def encode_record(record: Record) -> bytes:
    """Turn a record into bytes: readable JSON, the checksum last."""
    return encode(msgspec.to_builtins(record))


def decode_record(data: bytes) -> Record:
    """Turn bytes back into a record, or say what is wrong with them."""
    try:
        found = json.loads(data)
        saved = found.pop("checksum")
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        raise TornCheckpoint(f"The record is not one whole JSON document ({len(data)} bytes).") from None
    if saved != checksum(found):
        raise ChecksumMismatch("The record is not what was saved: its checksum does not match.")
    if found.get("format") != RECORD_FORMAT:
        raise UnknownVersion(f"The record is of format {found.get('format')!r}; this program knows {RECORD_FORMAT}.")
    try:
        return msgspec.convert(found, Record)
    except msgspec.ValidationError as error:
        raise MalformedCheckpoint(f"The record does not follow its schema: {error}.") from None


# -- the rules -----------------------------------------------------------------------------------------------

Rule = Callable[[Record | None], Record | None]
"""What becomes of a record. None stands for no record; an error for "not allowed"."""


def check_lease(record: Record, token: int | None) -> None:
    """Refuse a holder whose claim has passed to somebody else. No clock is asked: the numbers say it."""
    if token is None and record.owner is not None:
        raise TaskClaimed(f"{record.owner} has claimed this: claim it before you save.")
    if token is not None and (record.owner is None or token != record.token):
        raise LeaseLost(f"The claim {token} is over; the last one is {record.token}. Nothing was saved.")


def saved(record: Record | None, document: Document, expected: int, now: float, token: int | None = None) -> Record:
    """Rule of `save`: the version must still be the one that this document was made from."""
    if record is not None:
        check_lease(record, token)
    version = record.version if record else 0
    if version != expected:
        raise Conflict(f"This save was made from version {expected}; the store has {version}. Load it again.")
    if record is None:
        return Record(document, 1, now)
    return msgspec.structs.replace(record, document=document, version=version + 1, saved_at=now)


def claimed(record: Record, owner: str, now: float, seconds: float) -> Record:
    """Rule of `claim`: nobody else's lease may be running. Each claim gets the next token."""
    if record.owner not in (None, owner) and record.until > now:
        raise TaskClaimed(f"{record.owner} works on this for another {record.until - now:g} s.")
    return msgspec.structs.replace(record, owner=owner, token=record.token + 1, until=now + seconds)


def renewed(record: Record, token: int, now: float, seconds: float) -> Record:
    """Rule of `renew`: the holder is still at work."""
    check_lease(record, token)
    return msgspec.structs.replace(record, until=now + seconds)


def released(record: Record, token: int) -> Record:
    """Rule of `release`: the holder is done. The token stays, so that the next one is higher."""
    check_lease(record, token)
    return msgspec.structs.replace(record, owner=None, until=0.0)


def deleted(record: Record, expected: int, now: float) -> None:
    """Rule of `delete`: nobody works on it, and it is still what was looked at."""
    if record.owner is not None and record.until > now:
        raise TaskClaimed(f"{record.owner} works on this: it can't be deleted.")
    if record.version != expected:
        raise Conflict(f"Version {expected} was to be deleted; the store has {record.version}.")


# -- the interface -------------------------------------------------------------------------------------------


class Store(ABC):
    """Documents by key, safe to share between processes. Every key is new: don't use one again after `delete`."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock

    @abstractmethod
    def read(self, key: str) -> Record | None:
        """Return the record of a key, or None."""

    @abstractmethod
    def change(self, key: str, rule: Rule) -> Record | None:
        """Replace a record by what the rule makes of it, with nobody in between; return the new one."""

    @abstractmethod
    def keys(self) -> list[str]:
        """Return all keys, sorted."""

    def load(self, key: str) -> Stored:
        """Return the last document and its version; raise NoCheckpoint when there is none."""
        record = existing(self.read(key), key)
        return Stored(record.document, record.version, record.saved_at)

    def save(self, key: str, document: Document, expected: int, lease: Lease | None = None) -> int:
        """Save a document that was made from version `expected` (0: there is none yet); return the new version.

        Raises Conflict when somebody else has saved meanwhile, LeaseLost when the lease has passed on, TaskClaimed when
        there is a claim and no lease was shown. Then nothing is changed.
        """
        token = lease.token if lease else None
        record = self.change(key, lambda record: saved(record, document, expected, self.clock(), token))
        return cast(Record, record).version

    def claim(self, key: str, owner: str, seconds: float) -> Lease:
        """Claim a task for so many seconds; raise TaskClaimed while somebody else's lease runs.

        The same owner gets a new lease at once, and the one before is over. So a name must mean one process.
        """
        record = self.change(key, lambda record: claimed(existing(record, key), owner, self.clock(), seconds))
        return Lease(key, owner, cast(Record, record).token, cast(Record, record).until)

    def renew(self, lease: Lease, seconds: float) -> Lease:
        """Prolong a lease from now on; raise LeaseLost when it has passed on."""
        key = lease.key
        record = self.change(key, lambda record: renewed(existing(record, key), lease.token, self.clock(), seconds))
        return Lease(key, lease.owner, lease.token, cast(Record, record).until)

    def release(self, lease: Lease) -> None:
        """Give a lease back before its time; raise LeaseLost when it has passed on."""
        self.change(lease.key, lambda record: released(existing(record, lease.key), lease.token))

    def delete(self, key: str, expected: int) -> None:
        """Delete a document that is still at version `expected` and on which no lease runs."""
        self.change(key, lambda record: deleted(existing(record, key), expected, self.clock()))


def existing(record: Record | None, key: str) -> Record:
    """Return the record, or raise NoCheckpoint."""
    if record is None:
        raise NoCheckpoint(f"The store has nothing under {key!r}.")
    return record


# -- agent <-> store -----------------------------------------------------------------------------------------


def store_saver(store: Store, key: str, expected: int = 0, lease: Lease | None = None) -> Save:
    """Return the `save` that keeps an agent's checkpoint in a store, each from the version before."""
    version = expected

    def save(agent: Agent) -> None:
        nonlocal version
        version = store.save(key, checkpoint(agent), version, lease)

    return save


def resume_from_store(
    store: Store, key: str, owner: str, seconds: float, model: Model, tools: Tools, *, unknown: str = "refuse"
) -> tuple[Agent, Save, Lease]:
    """Claim a task, load it, settle what was under way; return the agent, its `save`, and the lease to release.

    Claim first: what is loaded before the claim can be old when the claim is granted.
    """
    lease = store.claim(key, owner, seconds)
    stored = store.load(key)
    save = store_saver(store, key, stored.version, lease)
    return resume_document(stored.document, model, tools, save, unknown=unknown), save, lease
