"""``crash-course solution``: the reference solution beside one's own, once a level is met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from html import escape
from pathlib import Path

from minagent.files import write_atomically

from grader.answers.cells import BadNotebook, code_cells, read_notebook
from grader.answers.show import columns, html_box
from grader.learner.folder import folder_or_raise, item_named, notebook_of
from grader.learner.material import Item, solved_cells
from grader.learner.recording import was_met
from grader.learner.state import read
from grader.words import catalogue, language, plain, say

_words = catalogue("learner/words.toml")
_ROWS = (
    "display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 1em;margin:.2em 0 1em;"
    "font-family:ui-monospace,monospace;font-size:.78em;line-height:1.4"
)
_LINE = "white-space:pre-wrap;overflow-wrap:anywhere;padding:0 .6em;min-height:1.4em;background:rgba(128,128,128,.12)"
_MARKED = "background:rgba(230,160,0,.28);box-shadow:inset 3px 0 rgb(190,120,0)"
_BEGIN = "<!doctype html><!-- crash-course solution -->"


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
                parts.append(f"{title}{'-' * max(2, 80 - columns(title))}\n{text}\n")
        return "\n".join(parts)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return html_box(self.side_by_side(), "dotted", self.lang).replace("max-width:48em", "max-width:100%")

    def side_by_side(self) -> str:
        """Return the cells as HTML, two columns each: equal lines are level with each other, others are marked."""
        heads = "".join(f"<em>{head}</em>" for head in self._heads())
        parts = []
        for name, own, other in self.cells:
            lines = "".join(f"{_line(one, differs)}{_line(two, differs)}" for one, two, differs in _level(own, other))
            parts.append(f'<strong>{name}</strong><div style="{_ROWS}">{heads}{lines}</div>')
        return "".join(parts)


def _level(own: str, other: str) -> Iterator[tuple[str | None, str | None, bool]]:
    """Yield the lines of two texts in pairs, and whether they differ; None fills the gap beside a line of its own."""
    left, right = own.split("\n"), other.split("\n")
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        for step in range(max(b - a, d - c)):
            one = left[a + step] if a + step < b else None
            two = right[c + step] if c + step < d else None
            yield one, two, kind != "equal"


def _line(text: str | None, differs: bool) -> str:
    style = f"{_LINE};{_MARKED}" if differs and text is not None else _LINE
    return f'<div style="{style}">{escape(text or "")}</div>'


def write_page(path: Path, found: Compared, level: str) -> None:
    """Write a page that shows a comparison side by side, and fetches nothing.

    Raises:
        BadNotebook: another file has this name, or the page can't be written.
    """
    title = say(_words("solution.title", level=plain(level)), found.lang)
    legend = say(_words("solution.legend"), found.lang)
    page = (
        f'{_BEGIN}<html lang="{"zh-Hans" if found.lang == "zh" else "en"}"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title>'
        "<style>:root{color-scheme:light dark}body{font-family:system-ui,sans-serif;margin:1.5em}"
        "strong{display:block;margin:1.5em 0 .3em}</style>"
        f"<h1>{title}</h1><p>{legend}</p>{found.side_by_side()}</html>\n"
    )
    try:
        if path.exists() and not path.read_bytes().startswith(_BEGIN.encode()):
            raise BadNotebook(_words("solution.taken", path=plain(str(path))))
        write_atomically(path, page.encode("utf-8", "replace"))
    except OSError as error:
        why = plain(error.strerror or type(error).__name__)
        raise BadNotebook(_words("solution.failed", path=plain(str(path)), why=why)) from None


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
    folder = folder_or_raise()
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
