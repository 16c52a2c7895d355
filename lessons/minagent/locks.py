"""A lock between processes that the operating system takes back when its holder dies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .files import make_folder


@contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Let one process (or thread) at a time into the body; the others wait until it is out, or dead.

    The lock is on the folder itself, so it leaves no file behind. It holds on one machine: on a network file system
    ask its manual. Hold it for one save, never for a whole task: nobody can see who holds it, or since when.

    Args:
        folder: what to lock; it is made if it is missing.
    """
    make_folder(Path(folder))
    if sys.platform == "emscripten":  # in a browser there is no second process to keep out
        yield
    elif sys.platform == "win32":  # Windows can't open a folder: a file in it is locked, and stays
        import msvcrt

        descriptor = os.open(Path(folder) / ".lock", os.O_RDWR | os.O_CREAT)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
            yield
        finally:
            os.close(descriptor)  # which also lets go
    else:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)  # which also lets go
