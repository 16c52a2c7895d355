"""``crash-course solution``: the reference solution beside one's own, once a level is met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from grader.answers.cells import BadNotebook, code_cells, read_notebook
from grader.answers.show import html_box
from grader.learner.folder import find_folder, item_named, notebook_of
from grader.learner.material import Item, solved_cells
from grader.learner.recording import was_met
from grader.learner.state import read
from grader.words import catalogue, language, plain, say

_words = catalogue("learner/words.toml")
_PRE = (
    "margin:0;padding:.5em;overflow-x:auto;white-space:pre;word-break:normal;"
    "background:rgba(128,128,128,.12);font-size:.85em;line-height:1.4"
)


@dataclass(frozen=True)
class Compared:
    """One's own answer cells and the reference's. In a notebook side by side, in a terminal one after the other."""

    cells: tuple[tuple[str, str, str], ...]
    """For each answer cell its id, one's own text, and the reference's."""
    lang: str = field(default_factory=language)

    def _heads(self) -> tuple[str, str]:
        return say(_words("solution.yours"), self.lang), say(_words("solution.reference"), self.lang)

    def __repr__(self) -> str:
        yours, reference = self._heads()
        parts = []
        for name, own, other in self.cells:
            for head, text in ((yours, own), (reference, other)):
                title = f"-- {name}: {head} "
                parts.append(f"{title}{'-' * max(2, 80 - len(title))}\n{text}\n")
        return "\n".join(parts)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        yours, reference = self._heads()
        parts = []
        for name, own, other in self.cells:
            columns = "".join(
                f'<div style="flex:1 1 22em;min-width:0"><em>{head}</em><pre style="{_PRE}">{escape(text)}</pre></div>'
                for head, text in ((yours, own), (reference, other))
            )
            parts.append(f'<strong>{name}</strong><div style="display:flex;flex-wrap:wrap;gap:1em">{columns}</div>')
        return html_box("".join(parts), "dotted", self.lang).replace("max-width:48em", "max-width:100%")


def compare_solution(word: str, running: Mapping[str, str] | None = None) -> Compared:
    """Return one's own answers of a level beside the reference's.

    Args:
        word: the level.
        running: the cells of a running notebook, by id; they are newer than what was saved.

    Raises:
        BadNotebook: it is no level, or not all of its criteria have been met; the sentence names what is missing.
    """
    item = item_named(word)
    if item.is_lesson:
        raise BadNotebook(_words("solution.lesson", name=plain(item.name)))
    folder = find_folder()
    if folder is None:
        raise BadNotebook(_words("folder.none"))
    _met_or_raise(item, folder)
    own = {cell.id: cell.source for cell in code_cells(read_notebook(notebook_of(str(folder / item.path))))}
    own |= running or {}
    return Compared(tuple((name, own.get(name, ""), text) for name, text in solved_cells(item.name).items()))


def _met_or_raise(item: Item, folder: Path) -> None:
    state = read(folder).state
    if not was_met(state, item.name):
        missing = [one.id for one in item.criteria if (m := state.criteria.get(one.id)) is None or not m.first_met]
        raise BadNotebook(
            _words("solution.not_yet", level=plain(item.name), missing=plain(", ".join(missing))),
        )
