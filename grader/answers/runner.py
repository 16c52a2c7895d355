"""The judge's end of the worker: start it, hand it runs, and believe nothing it says."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence

import msgspec

from grader.answers import frames, given, live, sandbox, start, wire
from grader.answers.cells import Cell
from grader.answers.handle import Handle
from grader.answers.live import LiveJob
from grader.answers.sandbox import Isolation
from grader.crash import Image
from grader.levels import sightings
from grader.levels.sightings import Sightings
from grader.levels.trial import Failure, Outcome, Runner, Trial

_GONE = (OSError, EOFError, ValueError, msgspec.MsgspecError)
"""What talking to a zygote that is no more, or no longer itself, raises."""
BUSY = "busy"
"""Type of a ``broken`` failure: the machine was too busy, twice, to let the run come to anything."""


class Worker:
    """Zygotes, each started at its first run and kept warm; one run at a time.

    Args:
        limits: what one run may use.
        isolation: ``plain`` for a learner's own code, ``auto`` or ``required`` for a class (see ``sandbox``).

    Raises:
        grader.answers.sandbox.NoSandbox: ``required``, and bubblewrap can't be used.
    """

    def __init__(self, limits: frames.Limits | None = None, *, isolation: Isolation = "plain") -> None:
        self.limits = limits or frames.Limits()
        self.isolation = sandbox.enclosure(isolation)
        self.fake = Handle(self._launched, self.limits)
        self.live = Handle(lambda: start.launch(self.isolation, "live"), self.limits)
        self._lock = threading.Lock()
        self._submissions = itertools.count(1)
        atexit.register(self.close)

    def runner(self, cells: Iterable[Cell]) -> Runner:
        """Return the function that makes one run of these cells after the other."""
        pairs = [(cell.id, cell.source.encode("utf-8", "replace").decode("utf-8")) for cell in cells]
        number = next(self._submissions)
        return lambda trial: self.run(pairs, trial, number)

    def run(self, cells: list[tuple[str, str]], trial: Trial, submission: int = 0) -> Outcome:
        """Make one run. Whatever goes wrong comes back as an outcome with a failure; nothing is raised."""
        heavy = frames.heavy_in(source for _, source in cells)
        order = frames.Order(trial.seconds, self.limits, heavy, submission)
        if trial.real:
            return Outcome(None, sightings=self._watched(cells, trial, order))
        job = wire.Job(cells, trial, self.limits)
        if sys.platform == "emscripten":
            from grader.answers.worker import run_here

            return run_here(job)
        for attempt in range(2):
            with self._lock:
                try:
                    reply = self.fake.ask(order, wire.encode(job))
                except _GONE as error:
                    self.fake.stop()
                    if self.isolation.sandboxed and not attempt:
                        continue  # nothing in there can end a zygote: it was somebody else's doing
                    return Outcome(None, failure=Failure("died", message=f"{type(error).__name__}: {error}"[:200]))
            outcome = read(reply, trial.disks)
            if not (reply.starved and outcome.failure is not None and outcome.failure.kind == "time"):
                return outcome
        return Outcome(None, failure=Failure("broken", BUSY))  # once more in vain: nothing to judge it by

    def _watched(self, cells: list[tuple[str, str]], trial: Trial, order: frames.Order) -> Sightings | None:
        """Return what is seen of the program on a real disk; None where none can be given to it."""
        if not self.isolation.sandboxed:
            return None
        job = LiveJob(cells, trial.driver, trial.arguments, trial.real, self.limits, trial.seconds, trial.kills)
        steps = None
        if trial.processes:  # forked by a host that is new, and that reads the steps when they are there
            job = msgspec.structs.replace(job, arguments=None, processes=trial.processes)
            order = msgspec.structs.replace(order, submission=0)
            steps = given.encode_steps(trial.arguments)
        for _ in range(2):
            with self._lock:
                try:
                    reply = self.live.ask(order, live.encode_job(job), steps)
                    seen = sightings.decode(reply.payload) if reply.ended == "result" else None
                except _GONE:
                    self.live.stop()
                    continue
            if seen is not None and seen.plays and seen.plays[-1 if trial.processes else 0].ended != "starved":
                return seen
        return None

    def warm(self) -> None:
        """Start the zygotes that will be asked, if they are not there, without waiting for them."""
        if sys.platform != "emscripten":
            with self._lock, contextlib.suppress(OSError):
                self.fake.started()
                if self.isolation.sandboxed:
                    self.live.started()

    def close(self) -> None:
        """End the zygotes."""
        with self._lock:
            self.fake.stop()
            self.live.stop()

    def _launched(self) -> subprocess.Popen[bytes]:
        if not self.isolation.isolated:
            return start.take() or start.launch()
        return start.launch(self.isolation)


def read(reply: frames.Reply, images: Sequence[Image] = ()) -> Outcome:
    """Return what a reply amounts to; ``images`` are the disks of its trial."""
    output = reply.output.decode("utf-8", "replace")
    if reply.ended != "result":
        failures = {
            "time": Failure("time"),
            "died": Failure("died", message=reply.detail),
            "large": Failure("damaged", message="large"),
            "broken": Failure("broken", message=reply.detail),
        }
        return Outcome(None, failure=failures[reply.ended], output=output)
    try:
        outcome = wire.decode_outcome(reply.payload, output, images)
    except (msgspec.MsgspecError, ValueError, TypeError, KeyError, RecursionError) as error:
        return Outcome(None, failure=Failure("damaged", message=str(error)[:200]), output=output)
    if outcome.failure is not None and outcome.failure.kind == "broken":  # only the judge's own side may say so
        return Outcome(None, failure=Failure("damaged", message="broken"), output=output)
    return outcome
