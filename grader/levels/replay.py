"""Play a recording back: the disk after each of its operations, and one file's bytes through time."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace

from grader.crash import Image, Inode, Mark, Operation, Recording
from grader.crash.operations import Link, Meta, Rename, Truncate, Unlink, Write


def after(image: Image, operation: Operation, cut: int | None = None) -> Image:
    """Return the disk as one operation leaves it; ``cut`` takes only so many bytes of a write."""
    inodes = dict(image.inodes)

    def entries(directory: int) -> dict[str, int]:
        return dict(inodes[directory].entries)

    if isinstance(operation, Write | Truncate | Meta) and operation.inode not in inodes:
        inodes[operation.inode] = Inode("file")  # a file that has no name yet (O_TMPFILE)
    if isinstance(operation, Write):
        inodes[operation.inode] = replace(
            inodes[operation.inode], data=written(inodes[operation.inode].data, operation, cut)
        )
    elif isinstance(operation, Truncate):
        data = inodes[operation.inode].data[: operation.size]
        inodes[operation.inode] = replace(
            inodes[operation.inode], data=data + bytes(max(0, operation.size - len(data)))
        )
    elif isinstance(operation, Link):
        inside = entries(operation.parent)
        inside[operation.name] = operation.inode
        inodes[operation.parent] = replace(inodes[operation.parent], entries=inside)
        if operation.inode not in inodes:
            inodes[operation.inode] = Inode(operation.kind, target=operation.target, mode=operation.mode)
    elif isinstance(operation, Unlink):
        inside = entries(operation.parent)
        inside.pop(operation.name, None)
        inodes[operation.parent] = replace(inodes[operation.parent], entries=inside)
    elif isinstance(operation, Rename):
        inside = entries(operation.old_parent)
        inside.pop(operation.old_name, None)
        inodes[operation.old_parent] = replace(inodes[operation.old_parent], entries=inside)
        inside = entries(operation.new_parent)
        inside[operation.new_name] = operation.inode
        inodes[operation.new_parent] = replace(inodes[operation.new_parent], entries=inside)
    elif isinstance(operation, Meta):
        inodes[operation.inode] = replace(inodes[operation.inode], mode=operation.mode, mtime=operation.mtime)
    else:
        return image
    return Image(inodes, image.top, image.cwd)


def written(data: bytes, operation: Write, cut: int | None = None) -> bytes:
    """Return a file's bytes after a write, or after the first ``cut`` bytes of it."""
    new = operation.data if cut is None else operation.data[:cut]
    start = data[: operation.offset] + bytes(max(0, operation.offset - len(data)))
    return start + new + data[operation.offset + len(new) :]


def disks(recording: Recording) -> list[Image]:
    """Return the disk before the first operation, then after each one."""
    found = [recording.initial]
    for operation in recording.operations:
        found.append(found[-1] if isinstance(operation, Mark) else after(found[-1], operation))
    return found


def places(recording: Recording, images: list[Image], name: str) -> list[str]:
    """Return the absolute paths at which a file called ``name`` ever stood, in order of appearance."""
    found: dict[str, None] = {}
    for path in recording.initial.files():
        if posixpath.basename(path) == name:
            found[path] = None
    for index, operation in enumerate(recording.operations):
        if not isinstance(operation, Link | Rename):
            continue
        image = images[index + 1]
        new = operation.name if isinstance(operation, Link) else operation.new_name
        if new == name or image.inodes[operation.inode].kind == "directory":
            found |= dict.fromkeys(path for path in _paths(image, name) if image.find(path) is not None)
    return list(found)


def _paths(image: Image, name: str) -> Iterator[str]:
    stack = [("/", image.top)]
    while stack:
        path, number = stack.pop()
        inode = image.inodes[number]
        if inode.kind == "directory":
            stack += [(posixpath.join(path, inside), child) for inside, child in inode.entries.items()]
        elif posixpath.basename(path) == name:
            yield path
