"""`checkpoint.json`: six fields, three extras and a checksum, written so that a crash can't hurt them.

The six fields are the protocol: ``version``, ``task``, ``turns``, ``tokensUsed``, ``messages``,
``pendingToolUse``. The extras ``modelCursor``, ``steps`` and ``session`` are minagent's own.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import (
    ChecksumMismatch,
    DamagedCheckpoint,
    EmptyCheckpoint,
    FellBack,
    MalformedCheckpoint,
    NoCheckpoint,
    NotSerialisable,
    TornCheckpoint,
    UnknownVersion,
    ZeroedCheckpoint,
)
from .files import write_atomically
from .packed import pack, unpack

Document = dict[str, Any]

VERSION = 1
FIELDS: dict[str, tuple[type, ...]] = {
    "version": (int,),
    "task": (str,),
    "turns": (int,),
    "tokensUsed": (int,),
    "messages": (list,),
    "pendingToolUse": (dict, list, type(None)),
}
EXTRAS: dict[str, tuple[type, ...]] = {"modelCursor": (int,), "steps": (list,), "session": (dict,)}


# -- from a document to bytes --------------------------------------------------------------------------------


def find_unserialisable(value: Any, path: str = "", inside: tuple[int, ...] = ()) -> str | None:
    """Say where a value is that JSON would refuse or change, and what it is; None when there is none."""
    if value is None or isinstance(value, bool | int):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{path} is {value}"
    if isinstance(value, str):
        broken = any("\ud800" <= letter <= "\udfff" for letter in value)
        return f"{path} holds half a surrogate pair" if broken else None
    if not isinstance(value, dict | list):
        return f"{path} is of type {type(value).__name__}"
    if id(value) in inside:
        return f"{path} contains itself"
    inside = (*inside, id(value))
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in pairs:
        if isinstance(value, dict) and not isinstance(key, str):
            return f"{path} has the key {key!r}, which is not a string"
        place = f"{path}[{key}]" if isinstance(value, list) else f"{path}.{key}".removeprefix(".")
        found = find_unserialisable(item, place, inside)
        if found is not None:
            return found
    return None


def checksum(document: Document) -> str:
    """Return the checksum of a document: of its text, its own field ``checksum`` left out."""
    body = {key: value for key, value in document.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(body, ensure_ascii=False).encode()).hexdigest()


def encode(document: Document) -> bytes:
    """Turn a document into the bytes of its file: readable UTF-8, the checksum last."""
    found = find_unserialisable(document)
    if found is not None:
        raise NotSerialisable(f"The checkpoint can't be saved: {found}.")
    return json.dumps({**document, "checksum": checksum(document)}, ensure_ascii=False).encode()


# -- from bytes to a document --------------------------------------------------------------------------------


def from_version_0(old: Document) -> Document:
    """Migrate version 0, which wrote its names with underscores and had no checksum."""
    renamed = {"tokens_used": "tokensUsed", "pending_tool_use": "pendingToolUse"}
    return {**{renamed.get(key, key): value for key, value in old.items()}, "version": 1}


MIGRATIONS: dict[int, Callable[[Document], Document]] = {0: from_version_0}
"""How a document of each old version becomes one of the next."""


def migrate(document: Document) -> Document:
    """Bring a document of an old version up to this one; refuse a version that nobody here knows."""
    version = document["version"]
    while version != VERSION or isinstance(version, bool):
        if isinstance(version, bool) or not isinstance(version, int) or version not in MIGRATIONS:
            raise UnknownVersion(
                f"The checkpoint is of version {version!r}; this program reads up to {VERSION}."
                " It was left as it is: use the program that wrote it."
            )
        document = MIGRATIONS[version](document)
        version = document["version"]
    return document


def check_fields(document: Document) -> None:
    """Raise MalformedCheckpoint when one of the six fields is missing, or a field is of the wrong type."""
    for name in FIELDS:
        if name not in document:
            raise MalformedCheckpoint(f"The checkpoint has no field {name!r}.")
    for name, kinds in {**FIELDS, **EXTRAS}.items():
        value = document.get(name, kinds[0]())
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise MalformedCheckpoint(f"The field {name!r} holds a value of type {type(value).__name__}.")
        if isinstance(value, int) and value < 0:
            raise MalformedCheckpoint(f"The field {name!r} holds {value}, which is less than nothing.")
    pending = document["pendingToolUse"] or []
    for call in [pending] if isinstance(pending, dict) else pending:
        if not isinstance(call, dict) or set(call) != {"id", "name", "input"}:
            raise MalformedCheckpoint("The field 'pendingToolUse' must name calls as {id, name, input}.")


def decode(data: bytes, forgiving: bool = False) -> Document:
    """Turn a file's bytes into a document of this version, or say what is wrong with them.

    With ``forgiving`` a missing field or checksum is let through, as careless recovery code does. The course
    uses it to show what each field is for; nothing else should.
    """
    data = unpack(data)
    if not data:
        raise EmptyCheckpoint("The checkpoint is empty: 0 bytes. A save was cut short before its first byte.")
    if b"\0" in data:
        raise ZeroedCheckpoint(f"The checkpoint holds {data.count(0)} NUL bytes of {len(data)}.")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise TornCheckpoint(f"The checkpoint is not one whole JSON document: {error}.") from None
    if not isinstance(document, dict):
        raise MalformedCheckpoint(f"The checkpoint is a {type(document).__name__}, not an object.")
    saved = document.pop("checksum", None)
    if saved is not None and saved != checksum(document):
        raise ChecksumMismatch("The checkpoint is not what was saved: its checksum does not match.")
    if "version" not in document:
        if forgiving:
            return document  # parsed on luck
        raise MalformedCheckpoint("The checkpoint has no field 'version': its format is unknown.")
    unsigned = saved is None and document["version"] == VERSION
    document = migrate(document)
    if not forgiving:
        check_fields(document)
        if unsigned:
            raise ChecksumMismatch("The checkpoint has no checksum, so nobody can say whether it is whole.")
    return document


# -- the file ------------------------------------------------------------------------------------------------


def previous(path: str | os.PathLike[str]) -> Path:
    """Return where the copy before the last one is kept."""
    target = Path(os.path.realpath(path))
    return target.with_name(target.name + ".prev")


def save_checkpoint(document: Document, path: str | os.PathLike[str], *, gzip_above: int | None = None) -> None:
    """Replace the checkpoint by this document, atomically and durably; keep the one before it beside it.

    A document of more bytes than ``gzip_above`` is compressed; loading recognises it.
    """
    data = pack(encode(document), gzip_above)  # everything that can fail without the disk fails here
    try:
        current = Path(path).read_bytes()
        decode(current)
    except FileNotFoundError:
        pass
    except DamagedCheckpoint:
        pass  # a damaged file must not push out the last good copy
    else:
        write_atomically(previous(path), current)
    write_atomically(path, data)


def warn_of_fallback(reason: str) -> None:
    """Tell whoever runs the program that an older state was loaded."""
    warnings.warn(reason, FellBack, stacklevel=3)


def load_checkpoint(
    path: str | os.PathLike[str],
    *,
    forgiving: bool = False,
    on_fallback: Callable[[str], None] = warn_of_fallback,
) -> Document:
    """Return the document that was saved last, or the one before it when the last one is damaged.

    Nothing on disk is changed. ``on_fallback`` is told why the previous copy was needed. A file of an unknown
    version is not damage: it is refused.
    """
    trouble: DamagedCheckpoint | NoCheckpoint
    try:
        return decode(Path(path).read_bytes(), forgiving)
    except FileNotFoundError:
        trouble = NoCheckpoint(f"There is no checkpoint at {path}.")
    except DamagedCheckpoint as error:
        trouble = error
    try:
        document = decode(previous(path).read_bytes(), forgiving)
    except FileNotFoundError:
        raise trouble from None
    except DamagedCheckpoint as error:
        raise type(trouble)(f"{trouble} The previous copy is no better: {error}") from None
    on_fallback(f"{trouble} The previous copy was loaded: a little progress is lost.")
    return document
