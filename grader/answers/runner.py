"""The judge's end of the worker: start it, hand it runs, and believe nothing it says."""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from typing import IO

import msgspec

from grader.answers import frames, sandbox, start, wire
from grader.answers.cells import Cell
from grader.answers.patience import WALL
from grader.answers.sandbox import Isolation
from grader.levels.trial import Failure, Outcome, Runner, Trial

BUSY = "busy"
"""Type of a ``broken`` failure: the machine was too busy, twice, to let the run come to anything."""


class Worker:
    """A zygote, started at the first run and kept warm; one run at a time.

    Args:
        limits: what one run may use.
        isolation: ``plain`` for a learner's own code, ``auto`` or ``required`` for a class (see ``sandbox``).

    Raises:
        grader.answers.sandbox.NoSandbox: ``required``, and bubblewrap can't be used.
    """

    def __init__(self, limits: frames.Limits | None = None, *, isolation: Isolation = "plain") -> None:
        self.limits = limits or frames.Limits()
        self.isolation = sandbox.enclosure(isolation)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._owner = os.getpid()
        atexit.register(self.close)

    def runner(self, cells: Iterable[Cell]) -> Runner:
        """Return the function that makes one run of these cells after the other."""
        pairs = [(cell.id, cell.source.encode("utf-8", "replace").decode("utf-8")) for cell in cells]
        return lambda trial: self.run(pairs, trial)

    def run(self, cells: list[tuple[str, str]], trial: Trial) -> Outcome:
        """Make one run. Whatever goes wrong comes back as an outcome with a failure; nothing is raised."""
        job = wire.Job(cells, trial, self.limits)
        if sys.platform == "emscripten":
            from grader.answers.worker import run_here

            return run_here(job)
        for _ in range(2):
            with self._lock:
                try:
                    reply = self._ask(job)
                except (OSError, EOFError, msgspec.MsgspecError, ValueError) as error:
                    self._stop()
                    return Outcome(None, failure=Failure("died", message=f"{type(error).__name__}: {error}"[:200]))
            outcome = read(reply)
            if not (reply.starved and outcome.failure is not None and outcome.failure.kind == "time"):
                return outcome
        return Outcome(None, failure=Failure("broken", BUSY))  # once more in vain: nothing to judge it by

    def warm(self) -> None:
        """Start the zygote, if it is not there, without waiting for it."""
        if sys.platform != "emscripten":
            with self._lock, contextlib.suppress(OSError):
                self._started()

    def close(self) -> None:
        """End the zygote."""
        with self._lock:
            self._stop()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():  # a fork of the judge: the pipes are the parent's
            self._process, self._owner = None, os.getpid()
        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._process = self._launched()
        return self._process

    def _launched(self) -> subprocess.Popen[bytes]:
        if not self.isolation.isolated:
            return start.take() or start.launch()
        return start.launch(self.isolation)

    def _ask(self, job: wire.Job) -> frames.Reply:
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        longest = WALL * (job.trial.seconds + self.limits.grace)
        watchdog = threading.Timer(longest + 15, process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            heavy = frames.heavy_in(source for _, source in job.cells)
            order = frames.Order(job.trial.seconds, self.limits, heavy)
            process.stdin.write(frames.framed(frames.encode(order)) + frames.framed(wire.encode(job)))
            process.stdin.flush()
            (size,) = frames.FRAME.unpack(_exactly(process.stdout, frames.FRAME.size))
            if size > self.limits.result + 2 * self.limits.output + 4096:
                raise ValueError("reply too large")
            return frames.decode_reply(_exactly(process.stdout, size))
        finally:
            watchdog.cancel()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) != size:
        raise EOFError("the worker ended")
    return data


def read(reply: frames.Reply) -> Outcome:
    """Return what a reply amounts to."""
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
        outcome = wire.decode_outcome(reply.payload, output)
    except (msgspec.MsgspecError, ValueError, TypeError, KeyError, RecursionError) as error:
        return Outcome(None, failure=Failure("damaged", message=str(error)[:200]), output=output)
    if outcome.failure is not None and outcome.failure.kind == "broken":  # only the judge's own side may say so
        return Outcome(None, failure=Failure("damaged", message="broken"), output=output)
    return outcome
