"""Hints, one after the other: three for each criterion, from the general to the particular, never the answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from grader.answers.cells import BadNotebook
from grader.answers.show import WIDTH, html_box, html_text, wrap
from grader.criteria import Criterion, criteria, exercises, nearest, of_exercise
from grader.learner.folder import find_folder
from grader.learner.state import State, change, read
from grader.verdict import Text
from grader.words import catalogue, language, plain, say

_words = catalogue("learner/words.toml")
_shown: dict[str, int] = {}
"""How many were shown in this process, where there is no folder that remembers it."""


@dataclass(frozen=True)
class Hints:
    """The hints on one criterion that have been asked for so far. In a notebook it shows itself as HTML."""

    criterion: Criterion
    count: int
    trouble: Text | None = None
    from_shell: bool = False
    lang: str = field(default_factory=language)

    def _lines(self) -> tuple[str, list[str], str]:
        total = len(self.criterion.hints)
        head = say(self.criterion.statement, self.lang)
        parts = [say(hint, self.lang) for hint in self.criterion.hints[: self.count]]
        how = "shell" if self.from_shell else "notebook"
        key = f"hint.more_{how}" if self.count < total else "hint.last"
        values = {"name": self.criterion.id, "left": total - self.count, "next": self.count + 1}
        left = say(_words(key, **values), self.lang)
        if self.trouble is not None:
            left = f"{left}\n{say(self.trouble, self.lang)}"
        return head, parts, left

    def __repr__(self) -> str:
        head, parts, left = self._lines()
        total = len(self.criterion.hints)
        lines = [self.criterion.id, *wrap(head, WIDTH - 2, "  "), ""]
        for number, part in enumerate(parts, start=1):
            lines += [*_hanging(f"{number}/{total}  ", part), ""]
        for part in left.split("\n"):
            lines += wrap(part, WIDTH, "")
        return "\n".join(lines)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        head, parts, left = self._lines()
        listed = "".join(f"<li>{html_text(part)}</li>" for part in parts)
        body = (
            f"<strong>{html_text(self.criterion.id)}</strong>: {html_text(head)}"
            f'<ol style="margin:.4em 0">{listed}</ol>'
            f'<span style="opacity:.8">{html_text(left)}</span>'
        )
        return html_box(body, "dotted", self.lang)


def _hanging(first: str, text: str) -> list[str]:
    lines = wrap(text, WIDTH - len(first), " " * len(first))
    return [first + lines[0].lstrip(), *lines[1:]]


def criterion_named(name: str, state: State) -> Criterion:
    """Return the criterion of this name; of a level's name, the first one that is not met yet.

    Raises:
        BadNotebook: there is none; the sentence names the nearest.
    """
    name = name.strip()
    if name in criteria():
        return criteria()[name]
    if name in exercises():
        listed = of_exercise(name)
        return next((c for c in listed if (mark := state.criteria.get(c.id)) is None or not mark.met), listed[-1])
    near = nearest(name)
    if near is not None:
        raise BadNotebook(_words("hint.near", name=plain(name[:60]), near=plain(near)))
    raise BadNotebook(_words("hint.unknown", name=plain(name[:60]), known=plain(", ".join(criteria()))))


def ask_for_hints(name: str, more: int = 0, up_to: int = 1, start: Path | None = None) -> Hints:
    """Return the hints shown so far on a criterion, at least the first, and ``more`` of those that follow.

    Args:
        name: a criterion, or a level for the first of its criteria that is not met.
        more: how many further hints to show.
        up_to: the number of the last hint to show, if it was not shown before.
        start: where the learner is; the current folder when None.

    Raises:
        BadNotebook: no criterion has this name.
    """
    folder = find_folder(start)
    known = read(folder).state if folder is not None else State()
    criterion = criterion_named(name, known)
    total = len(criterion.hints)

    def count(before: int) -> int:
        return min(total, max(1, up_to, before + more if before else 1 + more))

    if folder is None:
        _shown[criterion.id] = count(_shown.get(criterion.id, 0))
        return Hints(criterion, _shown[criterion.id])
    found = known.hints.get(criterion.id, 0)

    def remember(state: State) -> State:
        nonlocal found
        found = count(state.hints.get(criterion.id, 0))
        return msgspec.structs.replace(state, hints={**state.hints, criterion.id: found})

    trouble = change(folder, remember)
    return Hints(criterion, max(1, found) if found else count(0), trouble)


def for_shell(hints: Hints) -> Hints:
    """Return the same hints, with the words of the command in place of the notebook's."""
    return replace(hints, from_shell=True)
