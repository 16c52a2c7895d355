"""The crash explorer: record a save once, derive every image a crash could leave, run recovery on each.

It knows nothing of the course and serves anyone's code: see ``explore``.
"""

from typing import TYPE_CHECKING, Any

from grader.crash import wasm  # noqa: F401  (before pyfakefs)
from grader.crash.explore import CannotExplore, Counterexample, Exploration, Found, Next, Verdict, explore
from grader.crash.image import ROOT, Image, Inode
from grader.crash.models import Memory, Moment, Outcome, PowerLoss, ProcessKill, Survey, line_of
from grader.crash.operations import Mark, Operation, Recording, Where
from grader.crash.runs import Broken, Ledger, Resumed, RunExploration, explore_run

if TYPE_CHECKING:
    from grader.crash.disk import Disk

__all__ = [
    "ROOT",
    "Broken",
    "CannotExplore",
    "Counterexample",
    "Disk",
    "Exploration",
    "Found",
    "Image",
    "Inode",
    "Ledger",
    "Mark",
    "Memory",
    "Moment",
    "Next",
    "Operation",
    "Outcome",
    "PowerLoss",
    "ProcessKill",
    "Recording",
    "Resumed",
    "RunExploration",
    "Survey",
    "Verdict",
    "Where",
    "explore",
    "explore_run",
    "line_of",
]


def __getattr__(name: str) -> Any:
    """Import the disk, and pyfakefs with it, when it is first asked for: the judge plays recordings without it."""
    if name == "Disk":
        from grader.crash.disk import Disk

        return Disk
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
