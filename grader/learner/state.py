"""What the kit remembers of a learner, in one file that a crash can't hurt.

It is saved as the course teaches it: one whole document with a version and a checksum, written beside, fsynced and
put in place; the one before is kept; who changes it holds a lock from reading to saving. Nothing a learner can do
without depends on it: whatever is wrong with it, work goes on.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from minagent.course.notes import MARKER
from minagent.files import write_atomically
from minagent.locks import locked
from minagent.savefile import checksum, encode, previous

from grader.verdict import Text
from grader.words import catalogue, plain

_words = catalogue("learner/words.toml")
VERSION = 1


class Mark(msgspec.Struct, frozen=True):
    """What is known of one criterion: the last verdict, and since when it is met."""

    met: bool | None
    points: float
    checked: str
    first_met: str | None = None
    tries: int = 1


class Turn(msgspec.Struct, frozen=True):
    """What is known of one "your turn" cell of a lesson."""

    passed: bool
    checked: str
    first_passed: str | None = None


class State(msgspec.Struct, frozen=True):
    """Everything that is remembered: the language, verdicts by criterion, lessons' cells, hints that were shown."""

    version: int = VERSION
    lang: str = "en"
    criteria: dict[str, Mark] = {}
    turns: dict[str, Turn] = {}
    hints: dict[str, int] = {}


@dataclass(frozen=True)
class Read:
    """A state as it was read, and what was the matter with its file, if anything was."""

    state: State
    trouble: Text | None = None
    writable: bool = True
    """False when a newer kit wrote the file: it is left as it is."""


class _Damaged(Exception):
    pass


class _Newer(Exception):
    pass


def read(folder: Path) -> Read:
    """Return what is remembered in a learner's folder: from the file, else from the copy before it, else nothing."""
    path = folder / MARKER
    if not path.exists() and not previous(path).exists():
        return Read(State())
    for place, trouble in ((path, None), (previous(path), "state.previous")):
        try:
            return Read(decode(place.read_bytes()), _words(trouble, path=plain(str(path))) if trouble else None)
        except _Newer:
            return Read(State(), _words("state.newer", path=plain(str(path))), writable=False)
        except (OSError, _Damaged):
            continue
    return Read(State(), _words("state.lost", path=plain(str(path))))


def change(folder: Path, how: Callable[[State], State]) -> Text | None:
    """Change what is remembered, so that no other process's change is lost; return what went wrong, if anything did."""
    path = folder / MARKER
    try:
        with locked(folder):
            found = read(folder)
            if found.writable:
                after = how(found.state)
                if found.trouble is not None or after != found.state or not path.exists():
                    save(path, after)
            return found.trouble
    except OSError as error:
        why = plain(error.strerror or type(error).__name__)
        return _words("state.not_saved", path=plain(str(path)), why=why)


def save(path: Path, state: State) -> None:
    """Replace the file, atomically and durably; the sound one before it is kept, a damaged one is put aside."""
    data = encode(msgspec.to_builtins(state))
    with contextlib.suppress(FileNotFoundError):
        current = path.read_bytes()
        try:
            decode(current)
        except _Damaged:
            write_atomically(path.with_name(path.name + ".damaged"), current)
        else:
            write_atomically(previous(path), current)
    write_atomically(path, data)


def decode(data: bytes) -> State:
    """Return the state in a file's bytes; raise when they are not what was saved, or are a newer kit's."""
    try:
        found = json.loads(data)
        saved = found.pop("checksum")
        version = found["version"]
        sound = saved == checksum(found)
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        raise _Damaged from None
    if not sound:
        raise _Damaged
    if isinstance(version, int) and version > VERSION:
        raise _Newer
    try:
        return msgspec.convert(found, State)
    except msgspec.ValidationError:
        raise _Damaged from None
