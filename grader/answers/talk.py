"""What a learner's process says to its host, one message after the other, while its limits are watched."""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from grader.answers import zygote
from grader.answers.frames import FRAME, Limits, framed, write_all
from grader.answers.patience import Clock

Ending = Literal["end", "raised", "stopped", "died", "time", "starved"]


class Say(msgspec.Struct, frozen=True):
    """What the learner's process says."""

    kind: str
    data: Any = None


_encoder = msgspec.msgpack.Encoder()
_says = msgspec.msgpack.Decoder(Say)


class Ended(Exception):
    """The process says nothing more."""

    def __init__(self, how: Ending, detail: str = "") -> None:
        super().__init__(how)
        self.how, self.detail = how, detail


class Talk:
    """The host's side.

    Args:
        pid: the process.
        says: the pipe of what it says.
        out: the pipe of what it prints; read, and thrown away.
        into: the pipe of the answers.
        source: the judge's pipe, whose end means that the judge is gone.
        seconds: of processor time, as much as it may take.
        limits: its other limits.
    """

    def __init__(self, pid: int, says: int, out: int, into: int, source: int, seconds: float, limits: Limits) -> None:
        self.pid, self.says, self.out, self.into, self.source = pid, says, out, into, source
        self.seconds, self.limits = seconds, limits
        self._clock = Clock(pid)
        self._heard = bytearray()

    def next(self, beside: Mapping[int, Callable[[], None]]) -> Say:
        """Return the next thing that it says.

        Args:
            beside: other descriptors, and what to do when one of them can be read.

        Raises:
            Ended: it says nothing more, or what it says is nothing that can be read.
            zygote.JudgeGone: nobody waits for this any more.
        """
        while True:
            size = FRAME.size + FRAME.unpack_from(self._heard)[0] if len(self._heard) >= FRAME.size else None
            if size is not None and size > self.limits.result:
                raise Ended("died")
            if size is not None and len(self._heard) >= size:
                data = bytes(self._heard[FRAME.size : size])
                del self._heard[:size]
                try:
                    return _says.decode(data)
                except msgspec.MsgspecError:
                    raise Ended("stopped", "damaged") from None
            self._listen(beside)

    def _listen(self, beside: Mapping[int, Callable[[], None]]) -> None:
        over = self._clock.read().over(self.seconds + self.limits.grace)
        if over is not None:
            raise Ended("starved" if over == "starved" else "time", over)
        ready, _, _ = select.select([self.says, self.out, self.source, *beside], [], [], 0.1)
        if self.source in ready:
            raise zygote.JudgeGone
        for descriptor in beside.keys() & ready:
            beside[descriptor]()
        if self.out in ready:
            os.read(self.out, 1 << 16)
        if self.says in ready:
            piece = os.read(self.says, 1 << 20)
            if not piece:
                raise Ended("died")
            self._heard += piece
        elif not ready and os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            raise Ended("died")

    def answer(self, data: Any) -> None:
        """Answer what it said last."""
        with contextlib.suppress(BrokenPipeError):
            write_all(self.into, framed(_encoder.encode(data)))
