"""Paths as the kernel walks them, in place of pyfakefs's own walk, which costs several times the rest of a save."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Any, NoReturn

from pyfakefs.fake_file import FakeDirectory, FakeFile

from grader.crash.installed import is_installed

if TYPE_CHECKING:
    from grader.crash.disk import Disk

MOST_LINKS = 40


def fail(number: int, path: Any, other: Any = None) -> NoReturn:
    """Raise the OSError of an errno, with the names the caller gave."""
    raise OSError(number, os.strerror(number), path, None, other)


def place(disk: Disk, path: str, shown: Any, *, follow: bool, links: int = 0) -> tuple[FakeDirectory, str, Any]:
    """The directory a path's last name lies in, that name, and the inode there (None when there is none).

    A path that names the root, or ends in ``..`` or ``.``, gives the directory itself with an empty name.

    Args:
        disk: the disk.
        path: an absolute path, or one relative to the working directory.
        shown: the path to name in errors.
        follow: whether a symbolic link at the end is followed.
        links: symbolic links followed so far.

    Raises:
        OSError: a directory on the way is missing (ENOENT), is no directory (ENOTDIR), or links go round (ELOOP).
    """
    here: FakeFile = disk.fs.root_dir
    trail: list[FakeFile] = []
    parts = [part for part in (path if path.startswith("/") else f"{disk.fs.cwd}/{path}").split("/") if part != ""]
    last = len(parts) - 1
    for position, part in enumerate(parts):
        if not isinstance(here, FakeDirectory):
            fail(errno.ENOTDIR, shown)
        if part == ".":
            continue
        if part == "..":
            here = trail.pop() if trail else here
            continue
        child = here._entries.get(part)
        disk.saw_name(here, part)
        if child is None:
            known = disk.installed.find("/" + "/".join(parts)) if path.startswith("/") else None
            if known is not None:
                return known[0], parts[-1], known[1]
            if position < last:
                fail(errno.ENOENT, shown)
            return here, part, None
        if stat.S_ISLNK(child.stat_result.st_mode) and (follow or position < last or path.endswith("/")):
            if links >= MOST_LINKS:
                fail(errno.ELOOP, shown)
            target = bytes(child._byte_contents or b"").decode("utf-8", "surrogateescape")
            if not target.startswith("/"):
                target = "/".join(["", *parts[:position], target])
            rest = "/".join([target, *parts[position + 1 :]]) + ("/" if path.endswith("/") and position < last else "")
            return place(disk, rest, shown, follow=follow, links=links + 1)
        if position == last:
            return here, part, child
        trail.append(here)
        here = child
    if not isinstance(here, FakeDirectory):
        fail(errno.ENOTDIR, shown)
    return here, "", here


def find(disk: Disk, path: str, shown: Any, *, follow: bool = True) -> FakeFile | None:
    """The inode at a path, None when its last name is missing."""
    node = place(disk, path, shown, follow=follow)[2]
    found: FakeFile | None = node
    return found


def resolve(disk: Disk, path: Any, follow_symlinks: bool = True, allow_fd: bool = False, **checks: bool) -> FakeFile:
    """pyfakefs's ``resolve``: the inode at a path or behind a descriptor."""
    if isinstance(path, int):
        if allow_fd:
            handle: FakeFile = disk.fs.get_open_file(path).get_object()
            return handle
        raise TypeError("path should be string, bytes or os.PathLike, not int")
    if path is None:
        fail(errno.ENOENT, path)
    name = os.fsdecode(os.fspath(path))
    node = find(disk, name, path, follow=follow_symlinks) if name else None
    if node is None:
        fail(errno.ENOENT, path)
    return node


def exists(disk: Disk, path: Any, check_link: bool = False) -> bool:
    """pyfakefs's ``exists``."""
    if path is None:
        raise TypeError("path should be string, bytes or os.PathLike, not NoneType")
    name = os.fsdecode(os.fspath(path))
    if not name or "\0" in name:
        return False
    if name == os.devnull:
        return True
    try:
        node = find(disk, name, path, follow=not check_link)
    except OSError:
        return False
    return node is not None and (isinstance(node, FakeDirectory) or not name.endswith("/"))


def rename(disk: Disk, source: Any, target: Any, force_replace: bool = False) -> None:
    """rename(2): one step, the target replaced if there is one."""
    old_path, new_path = os.fsdecode(os.fspath(source)), os.fsdecode(os.fspath(target))
    if not old_path or not new_path:
        fail(errno.ENOENT, source, target)
    try:
        old, old_name, moved = place(disk, old_path.rstrip("/") or "/", source, follow=False)
        new, new_name, gone = place(disk, new_path.rstrip("/") or "/", target, follow=False)
    except OSError as error:
        fail(error.errno or 0, source, target)
    if not old_name or not new_name:
        fail(errno.EBUSY, source, target)
    if moved is None:
        fail(errno.ENOENT, source, target)
    is_directory = isinstance(moved, FakeDirectory)
    if not is_directory and (old_path.endswith("/") or new_path.endswith("/")):
        fail(errno.ENOTDIR, source, target)
    _writable(old, source)
    _writable(new, target)
    if old.stat_result.st_dev != new.stat_result.st_dev or moved.stat_result.st_dev != new.stat_result.st_dev:
        fail(errno.EXDEV, source, target)
    if is_directory:
        above: Any = new
        while above is not None:
            if above is moved:
                fail(errno.EINVAL, source, target)
            above = above.parent_dir() if above.parent_dir else None
    if gone is moved:
        return
    if gone is not None:
        if isinstance(gone, FakeDirectory):
            if not is_directory:
                fail(errno.EISDIR, source, target)
            if gone._entries:
                fail(errno.ENOTEMPTY, source, target)
        elif is_directory:
            fail(errno.ENOTDIR, source, target)
    disk.rename(old, old_name, new, new_name, moved, gone)


def link(disk: Disk, source: Any, target: Any, follow: bool, shown: tuple[Any, Any]) -> None:
    """link(2), or linkat(2) with AT_SYMLINK_FOLLOW."""
    old_path, new_path = os.fsdecode(os.fspath(source)), os.fsdecode(os.fspath(target))
    if not old_path or not new_path:
        fail(errno.ENOENT, *shown)
    try:
        node = place(disk, old_path, source, follow=follow)[2]
        if node is None:
            fail(errno.ENOENT, *shown)
        directory, name, there = place(disk, new_path.rstrip("/") or "/", target, follow=False)
    except OSError as error:
        fail(error.errno or 0, *shown)
    if there is not None:
        fail(errno.EEXIST, *shown)
    if new_path.endswith("/"):
        fail(errno.ENOENT, *shown)
    if node.stat_result.st_dev != directory.stat_result.st_dev:
        fail(errno.EXDEV, *shown)
    if isinstance(node, FakeDirectory):
        fail(errno.EPERM, *shown)
    _writable(directory, shown[1])
    node.name = name
    directory.add_entry(node)


def remove(disk: Disk, path: Any) -> None:
    """unlink(2)."""
    name = os.fsdecode(os.fspath(path))
    if not name:
        fail(errno.ENOENT, path)
    directory, last, node = place(disk, name.rstrip("/") or "/", path, follow=False)
    if node is None:
        fail(errno.ENOENT, path)
    if isinstance(node, FakeDirectory):
        fail(errno.EISDIR, path)
    if name.endswith("/"):
        fail(errno.ENOTDIR, path)
    _writable(directory, path)
    disk.unlink(directory, last, node)


def _writable(directory: FakeDirectory, shown: Any) -> None:
    if is_installed(directory):
        fail(errno.EROFS, shown)
    if os.geteuid() != 0 and not directory.stat_result.st_mode & 0o200:
        fail(errno.EACCES, shown)
