"""How a run can fail, in words that travel; and what a driver is given to say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol

if TYPE_CHECKING:
    from grader.crash import Image

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


class Stage(Protocol):
    """What a driver is given, inside the worker, to drive the learner's functions."""

    namespace: dict[str, Any]
    images: tuple[Image, ...]
    """The trial's disks, for lives of their own."""

    def mark(self, kind: str, data: Any = None) -> None:
        """Put a mark into the log of the disk, with plain data."""

    def fresh(self) -> dict[str, Any]:
        """Run the cells again in a namespace of their own, as a new process would, and return it."""

    def life(self, image: Image, *, keep: bool = True) -> dict[str, Any]:
        """Put an image on the disk and run the cells on it, as a new process would; return their namespace.

        What was recorded so far is kept for the judge as a life of its own, unless this is the first life or ``keep``
        is False.
        """

    def damaged(self, image: Image, inode: int, position: int) -> dict[str, Any]:
        """As ``life``, with one bit of one byte turned over, and quicker when it is asked for again and again.

        Nothing of such a life is kept.
        """

    def happened(self, key: str) -> int:
        """Return how often an effect outside the disk has happened: a question of the learner's code."""

    def finish(self, failure: Failure) -> NoReturn:
        """Send off what has been recorded and end the process at once; nothing of the learner's runs after."""
