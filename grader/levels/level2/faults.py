"""The first moment of a save at which the checkpoint is neither the old document nor the new one."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import Any

from grader.crash.operations import Link, Rename, Truncate, Write
from grader.levels.level2.documents import document, holds, same
from grader.levels.level2.facts import FIELDS
from grader.levels.level2.film import Film, Save


@dataclass(frozen=True)
class Fault:
    """The first moment at which the checkpoint was neither the old nor the new document."""

    kind: str
    save: Save
    content: bytes | None = None
    op: int = -1
    """Index of the operation after which, or within which, it died; -1: at the save's end."""
    cut: int | None = None
    detail: str = ""
    lost: bool = False
    """Whether an older document was there before this save."""


def faults(played: Film) -> list[Fault]:
    """Return one fault for each save that has one, those with an older document to lose first."""
    found = [fault for save in played.saves if (fault := _fault(played, save)) is not None]
    return sorted(found, key=lambda fault: (not fault.lost, fault.save.begin))


class Expected:
    """What a save may leave on disk at any moment: the document of before, or the new one."""

    def __init__(self, played: Film, save: Save) -> None:
        self.played = played
        self.save = save
        self.before = played.contents[save.begin]
        self.end = played.contents[save.end]
        self.document = document(self.end)
        self._known: dict[bytes, bool] = {}

    def is_new(self, content: bytes) -> bool:
        """Tell whether these bytes are the document that the save was to write."""
        found = document(content)
        if found is None:
            return False
        if content not in self._known:
            self._known[content] = _is_new(found, self.save, self.document)
        return self._known[content]

    def fine(self, content: bytes | None) -> bool:
        """Tell whether it is no fault to find these bytes, or no file."""
        if content is None:
            return self.save.nth == 1
        return content == self.before or self.is_new(content)


def _fault(played: Film, save: Save) -> Fault | None:
    expected = Expected(played, save)
    before, end, after_document = expected.before, expected.end, expected.document
    lost = save.nth > 1 and before is not None
    worst: Fault | None = None
    for index in range(save.begin, min(save.end, len(played.operations))):
        operation = played.operations[index]
        content = played.contents[index + 1]
        if isinstance(operation, Write) and content is not played.contents[index]:
            base = played.contents[index] or b""
            for cut in cuts(len(operation.data)):
                partial = written(base, operation, cut)
                if not expected.fine(partial):
                    return Fault(_kind(played, save, index), save, partial, index, cut, lost=lost)
        if save.called and content == end and after_document is not None:
            continue  # a whole document: what is wrong with it is said below
        if not expected.fine(content) and worst is None:
            worst = Fault(_kind(played, save, index), save, content, index, lost=lost)
            if content is None:
                return worst
    if worst is not None:
        return worst
    if not save.called or not save.returned:
        return None
    if save.raised:
        return Fault("raised", save, end, lost=lost)
    if end is None:
        return Fault("absent", save, lost=lost)
    if after_document is None:
        return Fault("unfinished", save, end, lost=lost)
    if not expected.is_new(end):
        if end == before:
            return Fault("unchanged", save, end, lost=lost)
        return Fault("other", save, end, detail=_difference(after_document, save), lost=lost)
    return None


def cuts(size: int) -> list[int]:
    """Return where to cut a write: half way first, for it shows most; then every byte, or samples of a long one."""
    if size <= 1:
        return []
    step = max(1, size // 512)
    return [size // 2, *range(1, size, step), size - 1]


def _is_new(found: dict[str, Any], save: Save, end: dict[str, Any] | None) -> bool:
    inside = [found, *(value for value in found.values() if isinstance(value, dict))]
    answers = [held for given in save.given for doc in inside if (held := holds(doc, given)) is not None]
    if answers:
        return any(answers)
    return found == end or (not save.called and bool(set(FIELDS) & set(found)))


def _difference(found: dict[str, Any], save: Save) -> str:
    """Return the first protocol field in which the document is not the state that was given."""
    for given in reversed(save.given):
        for state in given:
            if isinstance(state, dict):
                for name in FIELDS:
                    if name in state and not (name in found and same(found[name], state[name])):
                        return name
    return ""


def _kind(played: Film, save: Save, index: int) -> str:
    """Return what kind of fault it is that shows at operation ``index``, from how the save goes about its work."""
    name = posixpath.basename(played.path)
    operation = played.operations[index]
    earlier = played.operations[save.begin : index + 1]
    later = played.operations[index + 1 : save.end]
    if played.contents[index + 1] is None:
        if isinstance(operation, Rename):
            return "moved_away"
        if any(isinstance(op, Rename | Link) and _new_name(op) == name for op in later):
            return "unlinked"
        return "removed"
    if isinstance(operation, Write | Truncate):
        brought = [op for op in earlier if isinstance(op, Rename) and op.new_name == name]
        if brought and brought[-1].inode == operation.inode:
            return "renamed_early"
        if any(isinstance(op, Rename) and op.old_name == name for op in earlier):
            return "moved_then_in_place"
        return "in_place"
    if isinstance(operation, Rename | Link) and _new_name(operation) == name:
        if any(isinstance(op, Rename) and op.old_name == name for op in earlier) and isinstance(operation, Link):
            return "moved_then_in_place"
        if isinstance(operation, Link):
            return "in_place"
        return (
            "renamed_early"
            if any(isinstance(op, Write) and op.inode == operation.inode for op in later)
            else "renamed_unfinished"
        )
    return "in_place"


def _new_name(operation: Rename | Link) -> str:
    return operation.new_name if isinstance(operation, Rename) else operation.name


def had_copy(played: Film, save: Save) -> bool:
    """Tell whether the save had the same bytes whole in another file when it wrote them into the checkpoint."""
    end = played.contents[save.end]
    if not end or save.end >= len(played.images):
        return False
    for index in range(save.begin, save.end):
        operation = played.operations[index]
        if isinstance(operation, Write) and played.contents[index + 1] is not played.contents[index]:
            return any(data == end for path, data in played.images[index].files().items() if path != played.path)
    return False


def written(data: bytes, operation: Write, cut: int | None = None) -> bytes:
    """Return a file's bytes after a write, or after the first ``cut`` bytes of it."""
    new = operation.data if cut is None else operation.data[:cut]
    start = data[: operation.offset] + bytes(max(0, operation.offset - len(data)))
    return start + new + data[operation.offset + len(new) :]
