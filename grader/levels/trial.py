"""What a level asks of the worker, and what comes back: plain data on both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grader.crash import Image, Recording
from grader.crash.operations import Observation
from grader.levels.failures import FORKS, Failure, Kind, Place, Stage
from grader.levels.sightings import Sightings
from grader.levels.values import ALIEN, alien, plain, type_name

__all__ = [
    "ALIEN", "FORKS", "Failure", "Kind", "Outcome", "Past", "Place", "Runner", "Stage", "Trial", "alien", "plain",
    "type_name",
]  # fmt: skip


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
    real: str = ""
    """Not on a fake disk, but on a real one, where the checkpoint lies at this path: it is watched from outside."""
    kills: bool = True
    """On a real disk: whether it is run again, to be killed."""
    processes: int = 0
    """On a real disk: so many processes, there before it is known what ``arguments`` (``sightings.Step`` each) says."""
    images: tuple[Image, ...] = ()
    """Disks for a driver that lives several lives, each begun with :meth:`Stage.life`."""

    @property
    def disks(self) -> tuple[Image, ...]:
        """Every image that a recording of this trial may begin with, as far as it is known before."""
        return self.images if self.image is None else (self.image, *self.images)


@dataclass(frozen=True)
class Past:
    """What one life left behind, of several in one run."""

    recording: Recording
    observations: tuple[Observation, ...] = ()


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
    earlier: tuple[Past, ...] = ()
    """The lives before the last one, where a driver lived several; the recording above is the last one's."""
    sightings: Sightings | None = None
    """What was seen on a real disk; None for every other run, and where there is no real disk to give."""


Runner = Callable[[Trial], Outcome]
