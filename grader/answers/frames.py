"""What judge and zygote say to each other around a run: the order before it, the reply after it, each in a frame."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

FRAME = struct.Struct(">Q")

_HEAVY = ("aiofiles", "attr", "httpx", "numpy", "orjson", "pandas", "PIL", "pydantic", "requests", "scipy", "yaml")
HEAVY = {name: (name,) for name in _HEAVY} | {
    "matplotlib": ("matplotlib.pyplot", "matplotlib.backends.backend_agg"),
    "minagent": ("minagent.course.drills", "minagent.tickets"),
}
"""Packages that take long to import, the course's own among them: the zygote does it, once, when an order asks."""
_IMPORTS = re.compile(r"^\s*(?:import|from)\s+([A-Za-z_]\w*)", re.MULTILINE)


class Limits(msgspec.Struct, frozen=True):
    """What one run may use; its time is the order's own."""

    memory: int = 1536 * 1024 * 1024
    output: int = 64 * 1024
    result: int = 48 * 1024 * 1024
    grace: float = 0.7
    """Seconds that a child has to end itself once it is over its limit, before it is killed."""
    processes: int = 64
    """Processes and threads together, where the run has a user of its own."""
    files: int = 256
    """Open files."""


class Order(msgspec.Struct, frozen=True):
    """What the zygote learns of a run: nothing of the learner's, only what it needs to start and to end it."""

    seconds: float
    limits: Limits = Limits()
    heavy: tuple[str, ...] = ()
    submission: int = 0
    """Runs of the same number, one after the other, are of one submission; 0 is a run by itself."""


class Reply(msgspec.Struct, frozen=True):
    """What is said of a run: how it ended, and the bytes it sent, unread."""

    ended: Literal["result", "time", "died", "large", "broken"]
    payload: bytes = b""
    output: bytes = b""
    detail: str = ""
    starved: bool = False
    """It was ended on a machine too busy to let it run."""


_encoder = msgspec.msgpack.Encoder()
_orders = msgspec.msgpack.Decoder(Order)
_replies = msgspec.msgpack.Decoder(Reply)


def heavy_in(sources: Iterable[str]) -> tuple[str, ...]:
    """Return which of the well-known packages the learner's sources import."""
    return tuple(sorted({name for source in sources for name in _IMPORTS.findall(source)} & HEAVY.keys()))


def encode(message: Order | Reply) -> bytes:
    """Return an order or a reply as bytes."""
    return _encoder.encode(message)


def decode_order(data: bytes) -> Order:
    """Return the order in ``data``."""
    return _orders.decode(data)


def decode_reply(data: bytes) -> Reply:
    """Return the reply in ``data``."""
    return _replies.decode(data)


def framed(payload: bytes) -> bytes:
    """Return a payload with its length in front."""
    return FRAME.pack(len(payload)) + payload


def write_all(descriptor: int, data: bytes, write: Callable[[int, memoryview], int] = os.write) -> None:
    """Write all of ``data``."""
    left = memoryview(data)
    while left:
        left = left[write(descriptor, left) :]


def read_frame(descriptor: int) -> bytes | None:
    """Return the next frame's payload, or None at the end."""
    head = _exactly(descriptor, FRAME.size)
    return None if head is None else _exactly(descriptor, FRAME.unpack(head)[0])


def _exactly(descriptor: int, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = os.read(descriptor, min(size - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return bytes(data)
