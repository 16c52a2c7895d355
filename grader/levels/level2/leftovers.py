"""What runs that were killed during a save leave for the next one to start in."""

from __future__ import annotations

from typing import Any

from grader.crash import Image, Mark, Recording
from grader.crash.operations import Link, Rename, Write
from grader.crash.replay import step
from grader.levels.level2.documents import document
from grader.levels.level2.film import Film, Save


def left_behind(played: Film) -> tuple[list[tuple[int, Image]], list[tuple[int, Image]]]:
    """Return the directories that a run killed during a save leaves: one of each look, then the others.

    Two look the same when the same names are there, each empty, in part or whole; the largest of them goes first, for a
    save that does not empty an old file shows only with more left in it than it writes. A write stands for three
    moments: not begun, half done, done.
    """
    found: dict[tuple[Any, ...], list[tuple[int, Image]]] = {}
    for save in played.saves:
        if save.run:
            break
        writes = _first_and_last_writes(played, save)
        for index in range(save.begin, save.end):
            operation = played.operations[index]
            if isinstance(operation, Mark) or (isinstance(operation, Write) and index not in writes):
                continue
            moments = [played.images[index + 1]]
            if isinstance(operation, Write) and len(operation.data) > 1:
                moments.insert(0, step(played.images[index], operation, len(operation.data) // 2))
            for image in moments:
                look = tuple(
                    (path, "empty" if not data else "whole" if document(data) is not None else "part")
                    for path, data in image.files().items()
                )
                found.setdefault(look, []).append((index, image))
    largest = [max(entries, key=lambda entry: _size(entry[1])) for entries in found.values()]
    return largest, [entry for entries in found.values() for entry in entries]


def _first_and_last_writes(played: Film, save: Save) -> set[int]:
    """Return the indices of each file's first and last write within a save: the ones between leave nothing new."""
    seen: dict[int, tuple[int, int]] = {}
    for index in range(save.begin, save.end):
        operation = played.operations[index]
        if isinstance(operation, Write):
            seen[operation.inode] = (seen.get(operation.inode, (index, 0))[0], index)
    return {index for both in seen.values() for index in both}


def _size(image: Image) -> int:
    return sum(len(data) for data in image.files().values())


def in_tmp(recording: Recording) -> bool:
    """Tell whether a run made anything in ``/tmp``."""
    inside = {recording.initial.find("/tmp")}
    running = False
    for operation in recording.operations:
        if isinstance(operation, Mark):
            running = running or operation.kind == "run-begin"
        elif isinstance(operation, Link) and operation.parent in inside:
            if running:
                return True
            if operation.kind == "directory":
                inside.add(operation.inode)
        elif isinstance(operation, Rename) and operation.new_parent in inside and running:
            return True
    return False
