"""What a level asks of the worker, and what comes back: plain data on both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from grader.crash import Image, Recording
from grader.crash.operations import Observation

ALIEN = "\x00type"
"""Key of the mapping that stands for a value which is no plain data; its value is the type's name."""

Kind = Literal[
    "exception",  # learner's code raised
    "exit",  # sys.exit, os._exit, raise SystemExit
    "input",  # asked for input
    "time",  # stopped at its limit; the type says which: cpu, idle (it only waited) or starved
    "memory",  # ran out of memory
    "fork",  # started a process
    "runaway",  # went on after the script's end
    "missing",  # a function that the exercise asks for is not there
    "died",  # the process is gone without a word
    "damaged",  # what came back is not what a worker sends
    "broken",  # the worker itself could not be run
]


FORKS = ("os.fork", "os.forkpty")
"""Types of a ``fork`` failure that count against an answer; another process may be meant well and can't be judged."""


@dataclass(frozen=True)
class Place:
    """A line of the learner's: the cell's id, the line in it (from 1) and the function."""

    cell: str
    line: int
    function: str = ""


@dataclass(frozen=True)
class Failure:
    """Why a run, or one cell of it, came to no good end."""

    kind: Kind
    type: str = ""
    message: str = ""
    place: Place | None = None
    cell: str = ""
    """The cell that was being run, when it was not the driver that called."""


@dataclass(frozen=True)
class Trial:
    """One run to make: the learner's cells, then a level's driver, on a fake disk that starts as ``image``."""

    driver: str
    arguments: Any = None
    image: Image | None = None
    tmp_elsewhere: bool = False
    """Whether ``/tmp`` is another file system, so that nothing can be renamed from there."""
    seconds: float = 5.0
    """Of processor time; what a busy machine makes a run wait does not count."""
    until: str = ""
    """The cell after which no other is run; every cell is when empty."""


@dataclass(frozen=True)
class Outcome:
    """What a run left behind."""

    recording: Recording | None
    data: Any = None
    """What the driver returned."""
    failure: Failure | None = None
    cells: tuple[Failure, ...] = ()
    """Cells that raised; the ones after them ran all the same."""
    output: str = ""
    """The end of what was printed, standard error included."""
    observations: tuple[Observation, ...] = ()
    """What the run learnt of the disk it was started on."""


Runner = Callable[[Trial], Outcome]


class Stage(Protocol):
    """What a driver is given, inside the worker, to drive the learner's functions."""

    namespace: dict[str, Any]

    def mark(self, kind: str, data: Any = None) -> None:
        """Put a mark into the log of the disk, with plain data."""

    def fresh(self) -> dict[str, Any]:
        """Run the cells again in a namespace of their own, as a new process would, and return it."""

    def finish(self, failure: Failure) -> None:
        """Send off what has been recorded and end the process at once; nothing of the learner's runs after."""


_none, _bool, _int, _float, _str, _list, _tuple, _dict, _bytes = (
    type(None), bool, int, float, str, list, tuple, dict, bytes,
)  # fmt: skip
_type, _issubclass, _items, _iter = type, issubclass, dict.items, list.__iter__
_type_name = type.__dict__["__name__"].__get__


def plain(value: Any, depth: int = 40, room: list[int] | None = None) -> Any:
    """Copy a value as plain data: None, bool, int, float, str, and lists and str-keyed dicts of these.

    Types are compared exactly, so that no method of a learner's class is ever called. A tuple becomes a list, a
    subclass of dict, list or str its base, and anything else a mapping with the single key :data:`ALIEN`.
    """
    room = [400_000] if room is None else room
    room[0] -= 1
    kind = _type(value)
    if kind is _none or kind is _bool or kind is _float:
        return value
    if kind is _int:
        return value if -(2**63) <= value < 2**64 else {ALIEN: "int"}
    if room[0] < 0 or depth <= 0:
        return {ALIEN: "..."}
    if kind is _str:
        return value.encode("utf-8", "replace").decode("utf-8")
    if _issubclass(kind, _str):
        return plain(_str.__str__(value), depth, room)
    if kind is _list or _issubclass(kind, _list):
        return [plain(item, depth - 1, room) for item in _iter(value)]
    if kind is _tuple:
        return [plain(item, depth - 1, room) for item in value]
    if kind is _dict or _issubclass(kind, _dict):
        copy = {}
        for key, item in [*_items(value)]:
            name = key if _type(key) is _str else _str.__str__(key) if _issubclass(_type(key), _str) else None
            if name is None:
                name = repr(key) if _type(key) in (_int, _float, _bool, _none) else ALIEN + _type_name(_type(key))
            copy[name.encode("utf-8", "replace").decode("utf-8")] = plain(item, depth - 1, room)
        return copy
    return {ALIEN: _type_name(kind)[:80]}


def type_name(value: Any) -> str:
    """Return the name of a value's type, without asking the value."""
    return str(_type_name(_type(value))[:80])


def alien(value: Any) -> str | None:
    """Return the type's name when ``value`` stands for something that is no plain data."""
    if isinstance(value, dict) and len(value) == 1 and isinstance(name := value.get(ALIEN), str):
        return name
    return None
