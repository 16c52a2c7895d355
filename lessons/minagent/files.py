"""Replace a file so that no crash can hurt it: whole or not at all, and still there after a power cut."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
import threading
import time
from pathlib import Path

ON_WINDOWS = os.name == "nt"
PROCESS = secrets.token_hex(4)
"""Tells this process from one in another container that has the same number."""
STALE_AFTER = 60.0
"""Seconds after which a temp file can't belong to a save that is still going on."""
PATIENCE = (0.01, 0.05, 0.1, 0.2, 0.4)
"""Waits between tries when Windows says that a reader holds the file."""


def sync_file(descriptor: int) -> None:
    """Make the file's bytes survive a power cut. On macOS fsync alone stops at the disk's own cache."""
    os.fsync(descriptor)
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):  # some file systems don't know the stronger word
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)


def sync_directory(directory: Path) -> None:
    """Make the directory's names survive a power cut. Windows can't open a directory, nor needs this."""
    if ON_WINDOWS:
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, so that their names survive a power cut."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_directory(folder.parent)


def temp_for(target: Path) -> Path:
    """Return where this writer writes first: the same directory (one file system), a name that nobody else uses."""
    return target.with_name(f"{target.name}.{PROCESS}-{os.getpid()}-{threading.get_ident()}.tmp")


def remove_stale(target: Path) -> None:
    """Remove temp files of writers that died. A young one may belong to a writer at work: it stays."""
    for leftover in target.parent.glob(f"{target.name}.*.tmp"):
        if leftover == temp_for(target):
            continue  # our own, and about to be written over
        with contextlib.suppress(OSError):
            if time.time() - leftover.stat().st_mtime > STALE_AFTER:
                leftover.unlink()


def replace(temp: Path, target: Path) -> None:
    """Put the temp file in the target's place; on Windows a reader can hold it for a moment, so try again."""
    for wait in PATIENCE:
        try:
            return os.replace(temp, target)
        except PermissionError:
            if not ON_WINDOWS:
                raise
            time.sleep(wait)
    os.replace(temp, target)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Make the file at `path` hold `data`: at every moment it holds all of the old bytes or all of the new.

    When this returns, the new bytes also survive a power cut. When it raises, the old file is untouched.
    """
    target = Path(os.path.realpath(path))  # a symbolic link stays a link; its target is replaced
    make_folder(target.parent)
    remove_stale(target)
    temp = temp_for(target)
    try:
        with open(temp, "wb") as file:
            file.write(data)
            file.flush()
            sync_file(file.fileno())
        if target.exists():
            os.chmod(temp, stat.S_IMODE(target.stat().st_mode))
        replace(temp, target)
    except BaseException:
        temp.unlink(missing_ok=True)
        raise
    sync_directory(target.parent)
