"""How long a run may take, measured so that a slow or busy machine fails nobody.

A run's limit is processor time. What it stands in the queue for a processor counts for nothing; what it waits for
anything else (a lock that nobody opens) has a looser limit of its own. A run that hits neither is ended in the end
all the same, and counts as starved: the machine was too busy, and nothing has been learnt about the answer.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Literal

IDLE, IDLE_UNSURE = 2.0, 4.0
"""Times its limit that a run may wait, where that can be told from queueing for a processor, and where not."""
WALL = 10.0
"""Times its limit after which a run ends whatever it did."""

Over = Literal["cpu", "idle", "starved"]


@dataclass(frozen=True)
class Spent:
    """What a run has used of the clock, in seconds. ``queued`` is None where the system doesn't tell."""

    wall: float
    cpu: float
    queued: float | None

    def over(self, seconds: float) -> Over | None:
        """Return which of its limits a run that may take ``seconds`` is over, if any."""
        if self.cpu >= seconds:
            return "cpu"
        if self.wall - self.cpu - (self.queued or 0.0) >= seconds * (IDLE_UNSURE if self.queued is None else IDLE):
            return "idle"
        return "starved" if self.wall >= seconds * WALL else None


class Clock:
    """Measures one process from now on: this one, or a child of this one."""

    _open = staticmethod(os.open)
    _read = staticmethod(os.read)
    _close = staticmethod(os.close)
    _now = staticmethod(time.monotonic)
    _own_cpu = staticmethod(time.process_time)
    # held here, where neither a fake disk nor a learner's `time.monotonic = ...` replaces them

    def __init__(self, pid: int | None = None) -> None:
        self._pid = pid
        self._begun = self._now()
        self._ticks = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100

    def read(self) -> Spent:
        """Return what the process has used."""
        wall = self._now() - self._begun
        name = "self" if self._pid is None else str(self._pid)
        try:
            queued = int(self._text(f"/proc/{name}/schedstat").split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            queued = None
        if self._pid is None:
            return Spent(wall, self._own_cpu(), queued)
        try:
            used = self._text(f"/proc/{name}/stat").rpartition(b")")[2].split()
            return Spent(wall, (int(used[11]) + int(used[12])) / self._ticks, queued)
        except (OSError, ValueError, IndexError):
            return Spent(wall, 0.0, queued)

    def _text(self, path: str) -> bytes:
        descriptor = self._open(path, os.O_RDONLY)
        try:
            return self._read(descriptor, 4096)
        finally:
            self._close(descriptor)
