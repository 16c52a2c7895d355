"""The crash explorer: record a save once, derive every image a crash could leave, run recovery on each.

It knows nothing of the course and serves anyone's code: see ``explore``.
"""

from grader.crash.disk import ROOT, Disk
from grader.crash.explore import CannotExplore, Counterexample, Exploration, Found, Next, Verdict, explore
from grader.crash.image import Image, Inode
from grader.crash.models import Memory, Moment, Outcome, PowerLoss, ProcessKill, Survey, line_of
from grader.crash.operations import Mark, Operation, Recording, Where
from grader.crash.runs import Broken, Ledger, Resumed, RunExploration, explore_run

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
