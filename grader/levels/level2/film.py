"""The film of a run: the disk after each operation, the checkpoint's bytes through time, and the saves."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from grader.crash import Image, Mark, Operation, Recording
from grader.crash.operations import Link, Rename, Write
from grader.levels.level2.facts import NAME


@dataclass
class Save:
    """One save: a call of the learner's ``save_checkpoint``, or changes between two other marks."""

    run: int
    nth: int
    """Its number within its run, from 1."""
    begin: int
    end: int
    given: list[list[Any]]
    """The arguments of each call, as they were when it began and when it ended; empty for changes outside a call."""
    raised: bool = False
    returned: bool = True

    @property
    def called(self) -> bool:
        """Whether it went through ``save_checkpoint``."""
        return bool(self.given)


@dataclass
class Film:
    """A recording, played once: the disk after each operation, and the checkpoint's bytes."""

    recording: Recording
    path: str
    images: list[Image]
    contents: list[bytes | None]
    """Of the checkpoint, before the first operation and after each one."""
    saves: list[Save] = field(default_factory=list)

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The recording's operations."""
        return self.recording.operations

    def marks(self) -> Iterator[tuple[int, Mark]]:
        """Yield the driver's marks with their index."""
        for index, operation in enumerate(self.operations):
            if isinstance(operation, Mark):
                yield index, operation


def film(recording: Recording, images: list[Image], path: str) -> Film:
    """Play a recording with ``path`` as the checkpoint."""
    contents: list[bytes | None] = []
    for number, image in enumerate(images):
        if number and image is images[number - 1]:
            contents.append(contents[-1])
            continue
        data = image.read(path)
        contents.append(contents[-1] if contents and contents[-1] == data else data)
    found = Film(recording, path, images, contents)
    _find_saves(found)
    return found


def _find_saves(played: Film) -> None:
    run, nth, depth = -1, 0, 0
    current: Save | None = None
    gap = 0
    open_saves: dict[int, list[Any]] = {}
    saves = played.saves

    def close_gap(end: int) -> None:
        nonlocal nth
        if not nth and all(content in (None, played.contents[gap]) for content in played.contents[gap : end + 1]):
            return  # a run that clears away what an earlier one left: none of its own is lost
        if run >= 0 and played.contents[end] != played.contents[gap]:
            nth += 1
            saves.append(Save(run, nth, gap, end, []))
        elif run >= 0 and any(c != played.contents[gap] for c in played.contents[gap:end]):
            saves.append(Save(run, max(nth, 1), gap, end, []))

    for index, mark in played.marks():
        data = mark.data if isinstance(mark.data, dict) else {}
        if depth == 0:
            close_gap(index)
            gap = index + 1
        if mark.kind == "run-begin":
            run, nth = run + 1, 0
        elif mark.kind == "save-begin" and run >= 0:
            depth += 1
            open_saves[as_int(data.get("save"))] = as_list(data.get("given"))
            if current is None:
                nth += 1
                current = Save(run, nth, index + 1, index + 1, [], returned=False)
            current.given.append(as_list(data.get("given")))
        elif mark.kind == "save-end" and current is not None:
            depth = max(0, depth - 1)
            current.given.append(as_list(data.get("given")))
            current.raised = current.raised or data.get("raised") is True
            if depth == 0:
                current.end, current.returned = index, True
                saves.append(current)
                current, gap = None, index + 1
    if current is not None:
        current.end = len(played.operations)
        saves.append(current)
    else:
        close_gap(len(played.operations))


def as_int(value: Any) -> int:
    return value if type(value) is int else -1


def as_list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def begin_of(recording: Recording) -> int | None:
    """Return where in the log the first run begins."""
    return next(
        (i for i, op in enumerate(recording.operations) if isinstance(op, Mark) and op.kind == "run-begin"), None
    )


def left_at(played: Film) -> list[str]:
    """Return the places at which a checkpoint lay once the saves were done."""
    end = played.images[played.saves[-1].end]
    return [path for path in places(played.recording, played.images, NAME) if end.read(path) is not None]


def standing(recording: Recording, images: list[Image]) -> list[str]:
    """Return the places of a checkpoint in the runs, those where most saves left one first; not what cells did before.

    A cell that tries the code out leaves folders of its own, and a save may build its file in a new one each time.
    """
    begun = begin_of(recording) or 0
    runs = [images[i] for i in range(begun, len(images)) if i == begun or images[i] is not images[i - 1]]
    ends = [
        images[index]
        for index, op in enumerate(recording.operations)
        if index >= begun and isinstance(op, Mark) and op.kind == "save-end"
    ]
    found = [path for path in places(recording, images, NAME) if any(image.read(path) is not None for image in runs)]
    return sorted(found, key=lambda path: -sum(image.read(path) is not None for image in ends))


def written_in(played: Film) -> bool:
    """Tell whether any save changed the checkpoint at this path."""
    return any(
        content is not played.contents[save.begin]
        for save in played.saves
        for content in played.contents[save.begin : save.end + 1]
    )


def moments_of(played: Film) -> int:
    """Return how many moments of a run a kill can hit: after each operation, and between the bytes of each write."""
    return sum(
        len(op.data) if isinstance(op, Write) else 1
        for save in played.saves
        for op in played.operations[save.begin : save.end]
        if not isinstance(op, Mark)
    )


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
