"""What a process syncs, told by the kernel: it stands still in the call while its host looks at what is synced.

The descriptor comes from ``fence.tell_syncs``, taken on by the child before it runs a learner's line and handed to the
host; the child keeps none. A filter of the learner's own can only make a sync not happen, and then it is not told of.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import struct
from dataclasses import dataclass, replace
from typing import Any, Literal

from grader.answers import fence
from grader.levels.sightings import Sync

_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTICE, _ANSWER = struct.Struct("=QIIiIQQQQ24x"), struct.Struct("=QqiI")
_GO_ON = 1
MOST = 2000
"""Syncs of one process that are looked at, and files on one disk."""
LARGEST = 1 << 24


@dataclass(frozen=True)
class _Seen:
    what: Literal["file", "folder", "all", "nothing"]
    inode: int = 0
    holds: Any = None
    names: frozenset[str] = frozenset()


class Heard:
    """The syncs of one process.

    Args:
        descriptor: where the kernel tells of them.
        folder: the working directory; names of files are looked for below it.
    """

    def __init__(self, descriptor: int, folder: str) -> None:
        self.descriptor, self.folder = descriptor, folder
        self.syncs: list[Sync] = []
        self._open: list[_Seen] = []
        self._writing: _Seen | None = None
        """A file in which a write is under way that is a sync as well."""

    def take(self) -> None:
        """Look at what one call syncs, and let it go on."""
        notice = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(self.descriptor, _RECEIVE, notice)
        except OSError:
            return  # it was killed in the call
        number, pid, _, call, _, _, argument, _, size = _NOTICE.unpack(notice)
        name, descriptor = fence.call_told(call), argument & 0xFFFFFFFF
        self._finish()
        if len(self.syncs) + len(self._open) < MOST:
            if "write" not in name:
                self._open.append(self._look(name, pid, descriptor))
            elif size and _synchronous(pid, descriptor):
                self._writing = self._look(name, pid, descriptor)
        # sync(2) can't fail, and is the whole machine's: it is answered here. The others the kernel sees through.
        answer = bytearray(_ANSWER.pack(number, 0, 0, 0 if name == "sync" else _GO_ON))
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.descriptor, _SEND, answer)

    def settle(self, looks: int) -> None:
        """Hold what was synced against what is there now that the program stands still, after so many looks."""
        self._finish()
        for seen in self._open:
            self.syncs.append(self._settled(seen, looks))
        self._open.clear()

    def _finish(self) -> None:
        """Look at a file that was written to and synced in one call, which has returned by now."""
        seen, self._writing = self._writing, None
        if seen is not None and seen.what == "file":
            names = sorted(self._names().get(seen.inode, frozenset()))
            holds = _digest(os.path.join(self.folder, names[0])) if names else None
            self._open.append(replace(seen, holds=holds))

    def _look(self, call: str, pid: int, descriptor: int) -> _Seen:
        if call in ("sync", "syncfs"):
            return _Seen("all", holds=self._everything())
        there = f"/proc/{pid}/fd/{descriptor}"
        with contextlib.suppress(OSError):
            about = os.stat(there)
            if stat.S_ISDIR(about.st_mode):
                return _Seen("folder", about.st_ino, _listing(there), frozenset({os.readlink(there)}))
            if stat.S_ISREG(about.st_mode):
                return _Seen("file", about.st_ino, _digest(there), self._names().get(about.st_ino, frozenset()))
        return _Seen("nothing")

    def _settled(self, seen: _Seen, looks: int) -> Sync:
        if seen.what == "all":
            return Sync("all", seen.holds == self._everything(), True, looks)
        if seen.what == "folder":
            (path,) = seen.names
            return Sync("folder", _listing(path) == seen.holds, True, looks)
        if seen.what == "file":
            names = self._names().get(seen.inode, frozenset())
            kept = any(_digest(os.path.join(self.folder, name)) == seen.holds for name in sorted(names)[:1])
            return Sync("file", kept, names == seen.names, looks)
        return Sync("nothing", True, True, looks)

    def _names(self) -> dict[int, frozenset[str]]:
        found: dict[int, frozenset[str]] = {}
        for path, entry in entries(self.folder):
            if entry.is_file(follow_symlinks=False):
                found[entry.inode()] = found.get(entry.inode(), frozenset()) | {path}
        return found

    def _everything(self) -> dict[str, Any]:
        return {
            path: (entry.inode(), _digest(entry.path) if entry.is_file(follow_symlinks=False) else None)
            for path, entry in entries(self.folder)
        }


def entries(folder: str) -> list[tuple[str, os.DirEntry[str]]]:
    """Return everything below a folder, with its path from there; what is above comes first.

    Raises:
        OverflowError: it is more than can be looked at.
    """
    found: list[tuple[str, os.DirEntry[str]]] = []
    waiting = [("", folder)]
    while waiting:
        below, path = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(path) as listed:
            for entry in listed:
                found.append((below + entry.name, entry))
                if len(found) > MOST:
                    raise OverflowError("too many files")
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((f"{below}{entry.name}/", entry.path))
    return found


def _synchronous(pid: int, descriptor: int) -> bool:
    """Tell whether every write to a file is a sync."""
    with contextlib.suppress(OSError, LookupError, ValueError), open(f"/proc/{pid}/fdinfo/{descriptor}") as about:
        flags = next(line.split()[1] for line in about if line.startswith("flags:"))
        return bool(int(flags, 8) & os.O_DSYNC)
    return False


def _listing(folder: str) -> Any:
    with contextlib.suppress(OSError), os.scandir(folder) as listed:
        return {entry.name: entry.inode() for entry in listed}
    return None


def _digest(path: str) -> bytes | None:
    with contextlib.suppress(OSError):
        found = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return hashlib.blake2b(os.read(found, LARGEST), digest_size=16).digest()
        finally:
            os.close(found)
    return None
