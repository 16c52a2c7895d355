"""What the kernel tells of one file's name: a watch on its folder, and on the folders above that are yet to come."""

from __future__ import annotations

import ctypes
import os
import posixpath
import struct

from grader.levels.sightings import What

_MODIFY, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x40, 0x80, 0x100, 0x200
_OVERFLOW, _ONLY_FOLDERS, _IS_FOLDER = 0x4000, 0x01000000, 0x40000000
_HEAD = struct.Struct("=iIII")


_LIBC = ctypes.CDLL(None, use_errno=True)


def queue() -> int:
    """Return a new queue's descriptor. The last one to close it waits for milliseconds: share it with forks.

    Raises:
        OSError: the kernel has no inotify, or has none left.
    """
    descriptor: int = _LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    return descriptor


class Watch:
    """Follows ``path``, which lies below ``top``; both are absolute and normal.

    Args:
        descriptor: a queue; what other watches left in it is passed over.
        top: a folder that is there.
        path: the file's path, there or not.

    Raises:
        OSError: it can't be watched.
    """

    def __init__(self, descriptor: int, top: str, path: str) -> None:
        self.descriptor = descriptor
        self._path = path
        self._folders: dict[int, str] = {}
        self.told = True
        if not self._add(top):
            raise OSError(ctypes.get_errno(), "inotify")
        self._descend(top)

    def close(self) -> None:
        """End it."""
        for number in self._folders:
            _LIBC.inotify_rm_watch(self.descriptor, number)
        self.events()

    def events(self) -> list[What]:
        """Return what has happened since."""
        found: list[What] = []
        while True:
            try:
                data = os.read(self.descriptor, 1 << 16)
            except BlockingIOError:
                return found
            position = 0
            while position < len(data):
                number, mask, _, size = _HEAD.unpack_from(data, position)
                position += _HEAD.size
                name = os.fsdecode(data[position : position + size].rstrip(b"\0"))
                position += size
                if mask & _OVERFLOW:
                    self.told = False
                elif number in self._folders:
                    self._happened(posixpath.join(self._folders[number], name), mask, found)

    def _happened(self, path: str, mask: int, found: list[What]) -> None:
        if path == self._path:
            if mask & (_MOVED_FROM | _DELETE):
                found.append("gone")
            elif mask & (_MOVED_TO | _CREATE):
                found.append("came")
            elif mask & _MODIFY:
                found.append("modified")
        elif self._path.startswith(path + "/"):
            if mask & (_MOVED_FROM | _MOVED_TO | _DELETE) or not mask & _IS_FOLDER:
                self.told = False
            elif mask & _CREATE:
                self._add(path)
                self._descend(path)

    def _descend(self, folder: str) -> None:
        """Watch the folders below that are there already."""
        while self._path.startswith(folder + "/") and posixpath.dirname(self._path) != folder:
            folder = posixpath.join(folder, self._path[len(folder) + 1 :].split("/")[0])
            if not os.path.isdir(folder) or os.path.islink(folder):
                return
            self._add(folder)

    def _add(self, folder: str) -> bool:
        mask = _MODIFY | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _ONLY_FOLDERS
        number: int = _LIBC.inotify_add_watch(self.descriptor, os.fsencode(folder), mask)
        if number < 0:
            self.told = False  # made, and gone already
            return False
        self._folders[number] = folder
        return True
