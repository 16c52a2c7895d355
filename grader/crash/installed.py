"""Files of Python and its packages, to be read on the fake disk: a package finds its data, and nothing can be written.

What is not on the fake disk but lies under one of these folders of the real one is shown as it is there. It is no part
of an image, and no observation: it is the same in every life.
"""

from __future__ import annotations

import os
import posixpath
import site
import stat
import sys
import sysconfig
from collections.abc import Iterable

from pyfakefs.fake_file import FakeDirectory, FakeFile
from pyfakefs.fake_filesystem import FakeFilesystem

_REAL_OPEN = open
FIRST_INODE = 1 << 40
"""Inodes of the library begin here; no image has such numbers."""
_MACHINE = (
    "/etc/ca-certificates", "/etc/fonts", "/etc/localtime", "/etc/mime.types", "/etc/pki", "/etc/ssl",
    "/etc/timezone", "/usr/lib", "/usr/share",
)  # fmt: skip
_HIDDEN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The package this module belongs to."""


def _folders() -> tuple[str, ...]:
    python = (
        sys.prefix,
        sys.base_prefix,
        sysconfig.get_paths()["stdlib"],
        sysconfig.get_paths()["platstdlib"],
        *(site.getsitepackages() if hasattr(site, "getsitepackages") else ()),
    )
    found = {os.path.abspath(path) for path in python} | {os.path.realpath(path) for path in python}
    return (*_MACHINE, *sorted(found - {"/"}))


def is_installed(node: FakeFile) -> bool:
    """Tell whether an inode belongs to the library, where nothing is written."""
    return (node.stat_result.st_ino or 0) >= FIRST_INODE


class Installed:
    """The part of the real disk that one fake disk shows."""

    def __init__(self, fs: FakeFilesystem, folders: Iterable[str] | None = None) -> None:
        self._fs = fs
        self._folders = tuple(folders or _folders())
        self._nodes: dict[str, FakeFile] = {}
        self._real: dict[int, str] = {}
        self._filled: set[int] = set()

    def find(self, path: str) -> tuple[FakeDirectory, FakeFile] | None:
        """Return the folder of an absolute path and the file there, when the library has it."""
        path = posixpath.normpath(path)
        if not self.shows(path):
            return None
        node = self._node(path)
        if node is None:
            return None
        parent = self._node(posixpath.dirname(path)) if self.shows(posixpath.dirname(path)) else None
        return (parent if isinstance(parent, FakeDirectory) else self._fs.root_dir), node

    def shows(self, path: str) -> bool:
        """Tell whether a path of the real disk is one that is shown."""
        inside = any(path == folder or path.startswith(folder + "/") for folder in self._folders)
        return inside and path != _HIDDEN and not path.startswith(_HIDDEN + "/")

    def _node(self, path: str) -> FakeFile | None:
        node = self._nodes.get(path)
        if node is None:
            try:
                known = os.stat(path)
            except (OSError, ValueError):
                return None
            node = self._made(path, known)
        if isinstance(node, FakeDirectory) and node.st_ino not in self._filled:
            self._fill(node, path)
        return node

    def _made(self, path: str, known: os.stat_result) -> FakeFile | None:
        name = posixpath.basename(path)
        if stat.S_ISDIR(known.st_mode):
            node: FakeFile = FakeDirectory(name, 0o555, filesystem=self._fs)
        elif stat.S_ISREG(known.st_mode):
            node = FakeFile(name, stat.S_IFREG | (known.st_mode & 0o555), "", filesystem=self._fs)
            node.stat_result.st_size = known.st_size
        else:
            return None
        node.st_ino = FIRST_INODE + len(self._real)
        node.st_nlink = 1
        node.st_mtime = known.st_mtime
        self._real[node.st_ino] = path
        self._nodes[path] = node
        return node

    def _fill(self, directory: FakeDirectory, path: str) -> None:
        self._filled.add(directory.st_ino)
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    inside = f"{path.rstrip('/')}/{entry.name}"
                    if not self.shows(inside):
                        continue
                    try:
                        node = self._nodes.get(inside) or self._made(inside, entry.stat())
                    except OSError:
                        continue  # a link that leads nowhere
                    if node is not None:
                        directory._entries[entry.name] = node
        except OSError:
            return

    def load(self, node: FakeFile) -> None:
        """Read a file's bytes, the first time it is opened."""
        if node._byte_contents:
            return
        with _REAL_OPEN(self._real[node.st_ino], "rb") as file:
            node._byte_contents = file.read()
