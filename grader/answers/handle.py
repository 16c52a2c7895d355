"""The judge's hold on one zygote: start it when first needed, ask it, put another in its place, end it."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from collections.abc import Callable
from typing import IO

from grader.answers import frames
from grader.answers.patience import WALL


class Handle:
    """One zygote of a worker's.

    Args:
        launch: starts its process.
        limits: what one run may use; no reply is longer than they allow.
    """

    def __init__(self, launch: Callable[[], subprocess.Popen[bytes]], limits: frames.Limits) -> None:
        self._launch = launch
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    def started(self) -> subprocess.Popen[bytes]:
        """Return the zygote's process, started if it is not there."""
        if self._owner != os.getpid():  # a fork of the judge: the pipes are the parent's
            self._process, self._owner = None, os.getpid()
        if self._process is None or self._process.poll() is not None:
            self.stop()
            self._process = self._launch()
        return self._process

    def ask(self, order: frames.Order, job: bytes, then: bytes | None = None) -> frames.Reply:
        """Hand over one job and return the reply.

        Args:
            order: what the zygote learns of it.
            job: what its host reads.
            then: what its host reads when it has forked the job's processes, where it does.

        Raises:
            OSError, EOFError, ValueError, msgspec.MsgspecError: the zygote is gone, or what comes is no reply.
        """
        process = self.started()
        assert process.stdin is not None and process.stdout is not None
        after = b"" if then is None else frames.framed(then)
        end = time.monotonic() + WALL * (order.seconds + self._limits.grace) + 15
        _put(process.stdin, frames.framed(frames.encode(order)) + frames.framed(job) + after, end)
        (size,) = frames.FRAME.unpack(_exactly(process.stdout, frames.FRAME.size, end))
        if size > self._limits.result + 2 * self._limits.output + 4096:
            raise ValueError("reply too large")
        return frames.decode_reply(_exactly(process.stdout, size, end))

    def stop(self) -> None:
        """End the zygote."""
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


def _put(pipe: IO[bytes], data: bytes, end: float) -> None:
    """Write all of it into an unbuffered pipe until ``end``, by the monotonic clock."""
    os.set_blocking(pipe.fileno(), False)
    left = memoryview(data)
    while left:
        if not select.select([], [pipe], [], max(0.0, end - time.monotonic()))[1]:
            raise EOFError("the worker reads nothing")
        left = left[os.write(pipe.fileno(), left) :]


def _exactly(pipe: IO[bytes], size: int, end: float) -> bytes:
    """Read that many bytes from an unbuffered pipe until ``end``, by the monotonic clock."""
    data = bytearray()
    while len(data) < size:
        if not select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
            raise EOFError("the worker says nothing")
        piece = os.read(pipe.fileno(), min(size - len(data), 1 << 20))
        if not piece:
            raise EOFError("the worker ended")
        data += piece
    return bytes(data)
