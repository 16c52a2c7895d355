"""Where a run in a sandbox may write, and how it is emptied."""

from __future__ import annotations

import contextlib
import os

FOLDERS = ("/tmp", "/dev/shm")


class Scratch:
    """The folders that a sandbox has for itself.

    What lies there when this is made stays: folders that lead to what is mounted below them, where a checkout or Python
    itself is in ``/tmp``.
    """

    def __init__(self) -> None:
        self._stays = {path for folder in FOLDERS for path, _ in _inside(folder)}

    def empty(self) -> bool:
        """Take away all that has come since; tell whether that could be done."""
        done = True
        for folder in FOLDERS:
            for path, is_folder in reversed(_inside(folder)):
                if path in self._stays:
                    continue
                try:
                    (os.rmdir if is_folder else os.unlink)(path)
                except OSError:
                    done = False
        return done


def _inside(folder: str) -> list[tuple[str, bool]]:
    """Return what lies in a folder, however deep, and whether each is a folder; what is mounted is not looked into."""
    found: list[tuple[str, bool]] = []
    try:
        device = os.stat(folder).st_dev
    except OSError:
        return found
    folders, at = [folder], 0
    while at < len(folders):
        with contextlib.suppress(OSError), os.scandir(folders[at]) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                found.append((entry.path, is_folder))
                if is_folder and entry.stat(follow_symlinks=False).st_dev == device:
                    folders.append(entry.path)
        at += 1
    return found
