"""gzip for large files: packed when it pays, recognised on reading."""

from __future__ import annotations

import gzip
import zlib

from .errors import TornCheckpoint

MAGIC = b"\x1f\x8b"
"""The two bytes that every gzip file begins with. No JSON document does."""


def pack(data: bytes, above: int | None) -> bytes:
    """Return the bytes, compressed when there are more of them than `above`. None never compresses."""
    if above is None or len(data) <= above:
        return data
    return gzip.compress(data, compresslevel=6, mtime=0)  # no time in it: equal states give equal bytes


def unpack(data: bytes) -> bytes:
    """Return the bytes as they were before packing. Bytes that were never packed are returned as they are."""
    if not data.startswith(MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise TornCheckpoint(f"The checkpoint is not one whole gzip file: {error}.") from None
