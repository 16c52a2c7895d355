"""``crash-course progress``: a map of the course, what is done of it, what was hard, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from minagent.course.notes import Note, read_notes
from minagent.course.yourturn import JUDGES

from grader.answers.show import WIDTH, columns, html_box, html_text, wrap
from grader.criteria import Criterion
from grader.learner.material import Item, course, title
from grader.learner.state import State, read
from grader.verdict import Text
from grader.words import catalogue, language, plain, say

_words = catalogue("learner/words.toml")
DONE, BEGUN, OPEN = "x", "~", " "
_HTML = {DONE: "✓", BEGUN: "~", OPEN: "·"}


@dataclass(frozen=True)
class Row:
    """One lesson or level: how many of its cells or criteria are done, and whether a note says it was hard."""

    item: Item
    done: int
    count: int
    hard: bool
    criteria: tuple[tuple[Criterion, str], ...] = ()
    """Of a level: each criterion and its sign."""

    @property
    def sign(self) -> str:
        """How far it is."""
        return DONE if self.count and self.done == self.count else BEGUN if self.done else OPEN


@dataclass(frozen=True)
class Progress:
    """How far a learner is. In a notebook it shows itself as HTML, in a terminal as text."""

    rows: tuple[Row, ...]
    trouble: Text | None = None
    lang: str = field(default_factory=language)

    def next(self) -> Text:
        """Say what comes next: the first lesson or level that isn't done, of a level its first open criterion."""
        row = next((row for row in self.rows if row.sign != DONE), None)
        if row is None:
            return _words("progress.done")
        open_one = next((one.id for one, sign in row.criteria if sign != DONE), None)
        if open_one is not None and row.done:
            return _words("progress.next_criterion", criterion=plain(open_one))
        return _words("progress.next", item=plain(row.item.name), title=plain(title(row.item, self.lang)))

    def _count(self, row: Row) -> str:
        if not row.count:
            return ""
        key = "progress.turns" if row.item.is_lesson else "progress.criteria"
        return say(_words(key, done=row.done, count=row.count), self.lang)

    def __repr__(self) -> str:
        lines = [say(_words("progress.head"), self.lang), ""]
        for row in self.rows:
            name = row.item.name if not row.item.is_lesson else f"{row.item.number:02d}"
            left = f"[{row.sign}] {name:<7} {title(row.item, self.lang)}"
            hard = f"  ({say(_words('progress.hard'), self.lang)})" if row.hard else ""
            right = f"{self._count(row)}{hard}"
            gap = WIDTH - columns(left) - columns(right)
            fits = [f"{left}{' ' * gap}{right}".rstrip()]
            lines += fits if gap > 1 else [left, " " * (WIDTH - columns(right)) + right]
            lines += [f"      [{sign}] {one.id}" for one, sign in row.criteria if row.done or sign != OPEN]
        lines += ["", *wrap(say(self.next(), self.lang), WIDTH, "")]
        if self.trouble is not None:
            lines += wrap(say(self.trouble, self.lang), WIDTH, "")
        return "\n".join(lines)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        body = []
        for row in self.rows:
            name = row.item.name if not row.item.is_lesson else f"{row.item.number:02d}"
            hard = f" <em>{html_text(say(_words('progress.hard'), self.lang))}</em>" if row.hard else ""
            body.append(
                f"<tr><td>{_HTML[row.sign]}</td><td>{html_text(name)}</td>"
                f'<td style="text-align:left">{html_text(title(row.item, self.lang))}{hard}</td>'
                f"<td>{html_text(self._count(row))}</td></tr>"
            )
        rest = "".join(f"<p>{html_text(say(text, self.lang))}</p>" for text in (self.next(), self.trouble) if text)
        return html_box(f"<table>{''.join(body)}</table>{rest}", "dotted", self.lang)


def progress_in(folder: Path) -> Progress:
    """Return how far the learner in ``folder`` is."""
    found = read(folder)
    hard = {name for name, notes in all_notes(folder).items() if any(note.hard for note in notes)}
    return Progress(tuple(_row(item, found.state, item.name in hard) for item in course()), found.trouble)


def _row(item: Item, state: State, hard: bool) -> Row:
    if item.is_lesson:
        names = [name for name in JUDGES if name.startswith(f"lesson{item.number:02d}-")]
        done = sum((turn := state.turns.get(name)) is not None and turn.first_passed is not None for name in names)
        return Row(item, done, len(names), hard)
    signs = tuple((one, _sign(one, state)) for one in item.criteria)
    return Row(item, sum(sign == DONE for _, sign in signs), len(signs), hard, signs)


def _sign(criterion: Criterion, state: State) -> str:
    mark = state.criteria.get(criterion.id)
    return OPEN if mark is None else DONE if mark.met else BEGUN


def all_notes(folder: Path) -> dict[str, Sequence[Note]]:
    """Return the learner's notes by lesson or level, in the course's order."""
    found: dict[str, Sequence[Note]] = {}
    for item in course():
        path = folder / "notes" / f"{item.name}.md"
        if path.is_file():
            found[item.name] = read_notes(path)
    return found
