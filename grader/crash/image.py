"""A crash image: everything a disk holds at one moment, as plain data."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

ROOT = "/crash-disk/work"
"""Where code under judgement finds itself. No such path exists on a real disk, so a real call that gets it fails."""

LONG_AGO = 1_500_000_000.0
"""When the files of an image made by hand were last changed: long before any run, yet no date that a format refuses."""


@dataclass(frozen=True, slots=True)
class Inode:
    """A file, directory or symbolic link.

    ``data`` is a file's bytes; ``target`` where a symbolic link points; ``entries`` a directory's names and inodes.
    """

    kind: str
    data: bytes = b""
    target: str = ""
    entries: Mapping[str, int] = field(default_factory=dict)
    mode: int = 0o644
    mtime: float = 0.0


@dataclass(frozen=True, slots=True)
class Image:
    """An immutable disk. ``top`` is the inode of ``/``; ``cwd`` is where relative paths start.

    ``world`` is what has happened outside the disk by then, as (name, key) of each effect: no crash takes it back.
    """

    inodes: Mapping[int, Inode]
    top: int
    cwd: str = "/"
    world: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, files: Mapping[str, bytes], *, cwd: str = "/") -> Image:
        """Build an image from a mapping of paths (relative to ``cwd`` or absolute) to bytes.

        A path that ends in ``/`` makes an empty directory.
        """
        inodes: dict[int, Inode] = {}
        entries: dict[int, dict[str, int]] = {1: {}}
        names = [cwd + "/", *files]

        def directory(path: str) -> int:
            here = 1
            for part in [p for p in posixpath.normpath(path).split("/") if p]:
                if part not in entries[here]:
                    number = len(entries) + len(inodes) + 1
                    entries[here][part] = number
                    entries[number] = {}
                here = entries[here][part]
            return here

        for name in names:
            path = posixpath.join(cwd, name)
            if path.endswith("/"):
                directory(path)
                continue
            parent = directory(posixpath.dirname(path))
            number = len(entries) + len(inodes) + 1
            entries[parent][posixpath.basename(path)] = number
            inodes[number] = Inode("file", data=files[name], mtime=LONG_AGO)
        for number, inside in entries.items():
            inodes[number] = Inode("directory", entries=inside, mode=0o755, mtime=LONG_AGO)
        return cls(inodes, 1, cwd)

    def find(self, path: str, *, follow: bool = True) -> int | None:
        """The inode number at ``path``, following symbolic links; None when nothing is there."""
        return self._walk(posixpath.join(self.cwd, path), follow, 40)

    def _walk(self, path: str, follow: bool, hops: int) -> int | None:
        here = self.top
        parts = [p for p in path.split("/") if p and p != "."]
        for position, part in enumerate(parts):
            if part == "..":
                above = parts[: max(0, position - 1)]
                return self._walk("/".join([*above, *parts[position + 1 :]]), follow, hops)
            inode = self.inodes.get(here)
            if inode is None or inode.kind != "directory" or part not in inode.entries:
                return None
            here = inode.entries[part]
            child = self.inodes[here]
            if child.kind == "symlink" and (follow or position < len(parts) - 1):
                if not hops:
                    return None
                before, after = "/".join(parts[:position]), "/".join(parts[position + 1 :])
                return self._walk(posixpath.join(before, child.target, after), follow, hops - 1)
        return here

    def read(self, path: str) -> bytes | None:
        """The bytes of the file at ``path``; None when there is no file of that name."""
        number = self.find(path)
        if number is None:
            return None
        inode = self.inodes[number]
        return inode.data if inode.kind == "file" else None

    def exists(self, path: str) -> bool:
        """Whether a name is there (a broken symbolic link counts)."""
        return self.find(path, follow=False) is not None

    def files(self) -> dict[str, bytes]:
        """Every regular file by absolute path."""
        found: dict[str, bytes] = {}
        stack = [("/", self.top)]
        while stack:
            path, number = stack.pop()
            inode = self.inodes[number]
            if inode.kind == "file":
                found[path] = inode.data
            elif inode.kind == "directory":
                stack += [(posixpath.join(path, name), child) for name, child in inode.entries.items()]
        return dict(sorted(found.items()))

    def names(self) -> tuple[str, ...]:
        """Every path on the disk, sorted; directories end in ``/``. Relative to ``cwd`` where they lie below it."""
        found: list[str] = []
        stack = [("/", self.top)]
        while stack:
            path, number = stack.pop()
            inode = self.inodes[number]
            if inode.kind == "directory":
                stack += [(posixpath.join(path, name), child) for name, child in inode.entries.items()]
            if path == "/" or self.cwd == path or self.cwd.startswith(path + "/"):
                continue
            shown = posixpath.relpath(path, self.cwd) if path.startswith(self.cwd.rstrip("/") + "/") else path
            found.append(shown + "/" if inode.kind == "directory" else shown)
        return tuple(sorted(found))

    def fingerprint(self) -> str:
        """A digest of names, kinds, bytes and link targets: equal when two disks look the same (times aside)."""
        digest = hashlib.blake2b(digest_size=16)
        numbers: dict[int, int] = {}
        stack = [("/", self.top)]
        while stack:
            path, number = stack.pop()
            inode = self.inodes[number]
            same = numbers.setdefault(number, len(numbers))
            digest.update(f"{path}\0{same}\0{inode.kind}\0{inode.target}\0{len(inode.data)}\0".encode())
            digest.update(inode.data)
            for name in sorted(inode.entries, reverse=True):
                stack.append((posixpath.join(path, name), inode.entries[name]))
        return digest.hexdigest()
