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
from grader.learner.state import Mark, State, change, read
from grader.verdict import Text
from grader.words import catalogue, join, language, plain, say

_words = catalogue("learner/words.toml")
DONE, BEGUN, OPEN = "x", "~", " "
_HTML = {DONE: "✓", BEGUN: "~", OPEN: "·"}


@dataclass(frozen=True)
class Standing:
    """One criterion, and what is known of it."""

    criterion: Criterion
    mark: Mark | None
    hints: int
    """How many hints were shown."""

    @property
    def sign(self) -> str:
        """How far it is."""
        return OPEN if self.mark is None else DONE if self.mark.met else BEGUN


@dataclass(frozen=True)
class Row:
    """One lesson or level: how many of its cells or criteria are done, when last, and what a note calls hard."""

    item: Item
    done: int
    count: int
    last: str
    """When it was last worked at, as text that sorts by time; empty if never."""
    hard: tuple[str, ...] = ()
    criteria: tuple[Standing, ...] = ()

    @property
    def sign(self) -> str:
        """How far it is."""
        return DONE if self.count and self.done == self.count else BEGUN if self.last else OPEN


@dataclass(frozen=True)
class Progress:
    """How far a learner is. In a notebook it shows itself as HTML, in a terminal as text."""

    rows: tuple[Row, ...]
    trouble: Text | None = None
    lang: str = field(default_factory=language)

    @property
    def done(self) -> bool:
        """Whether everything is."""
        return all(row.sign == DONE for row in self.rows)

    def current(self) -> Row | None:
        """Return what comes next: what was worked at last, if it is not done, else the first open one after it."""
        at = max(range(len(self.rows)), key=lambda number: (self.rows[number].last, -number))
        onwards = [*self.rows[at:], *self.rows[:at]]
        return next((row for row in onwards if row.sign != DONE), None)

    def next(self) -> Text:
        """Say what comes next: a lesson or a level; of a level that is begun, its first open criterion."""
        row = self.current()
        if row is None:
            return _words("progress.done")
        open_one = next((one.criterion.id for one in row.criteria if one.sign != DONE), None)
        if open_one is not None and row.last:
            return _words("progress.next_criterion", criterion=plain(open_one))
        name = Text(*(title(row.item, lang) for lang in ("en", "zh")))
        return _words("progress.next", item=plain(row.item.path), title=name)

    def _count(self, row: Row) -> str:
        key = "progress.turns" if row.item.is_lesson else "progress.criteria"
        return say(_words(key, done=row.done, count=row.count), self.lang) if row.count else ""

    def _head(self) -> str:
        lessons = [row for row in self.rows if row.item.is_lesson]
        listed = [one for row in self.rows for one in row.criteria]
        text = _words(
            "progress.head",
            turns=sum(row.done for row in lessons),
            all_turns=sum(row.count for row in lessons),
            points=sum(one.mark.points for one in listed if one.mark is not None),
            all_points=sum(one.criterion.points for one in listed),
        )
        return say(text, self.lang)

    def _criterion(self, one: Standing) -> str:
        points = one.mark.points if one.mark is not None else 0.0
        text = _words("progress.criterion", points=points, max_points=one.criterion.points)
        if one.hints:
            text = join(_words("progress.hints", count=one.hints, total=len(one.criterion.hints)), text)
        return say(text, self.lang)

    def _line(self, left: str, right: str) -> list[str]:
        gap = WIDTH - columns(left) - columns(right)
        return [f"{left}{' ' * gap}{right}".rstrip()] if gap > 1 else [left, " " * (WIDTH - columns(right)) + right]

    def _hard(self) -> list[tuple[str, str]]:
        return [(_name(row), words) for row in self.rows for words in row.hard]

    def __repr__(self) -> str:
        lines = [self._head(), say(_words("progress.signs"), self.lang), ""]
        for row in self.rows:
            hard = f"  ({say(_words('progress.hard'), self.lang)})" if row.hard else ""
            left = f"[{row.sign}] {_name(row):<7} {title(row.item, self.lang)}"
            lines += self._line(left, f"{self._count(row)}{hard}")
            if row.last or any(one.hints for one in row.criteria):
                for one in row.criteria:
                    lines += self._line(f"      [{one.sign}] {one.criterion.id}", self._criterion(one))
        if self._hard():
            lines += ["", say(_words("progress.was_hard"), self.lang)]
            for name, words in self._hard():
                first, *rest = wrap(words, WIDTH - 10, " " * 10)
                lines += [f"  {name:<7} {first.lstrip()}", *rest]
        lines += ["", *wrap(say(self.next(), self.lang), WIDTH, "")]
        if self.trouble is not None:
            lines += wrap(say(self.trouble, self.lang), WIDTH, "")
        return "\n".join(lines)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        body = []
        for row in self.rows:
            mark = f" <em>({html_text(say(_words('progress.hard'), self.lang))})</em>" if row.hard else ""
            body.append(_cells(row.sign, _name(row), html_text(title(row.item, self.lang)) + mark, self._count(row)))
            if row.last:
                body += [
                    _cells("", _HTML[one.sign], html_text(one.criterion.id), self._criterion(one))
                    for one in row.criteria
                ]
        texts = [say(text, self.lang) for text in (self.next(), self.trouble) if text]
        if self._hard():
            hard = "; ".join(f"{name}: {words}" for name, words in self._hard())
            texts.insert(0, f"{say(_words('progress.was_hard'), self.lang)} {hard}")
        rest = "".join(f'<p style="margin:.4em 0">{html_text(text)}</p>' for text in texts)
        table = f'<table style="margin:.4em 0">{"".join(body)}</table>'
        return html_box(f"<strong>{html_text(self._head())}</strong>{table}{rest}", "dotted", self.lang)


def _name(row: Row) -> str:
    return f"{row.item.number:02d}" if row.item.is_lesson else row.item.name


def _cells(sign: str, name: str, what: str, count: str) -> str:
    cells = (_HTML.get(sign, ""), html_text(name), what, html_text(count))
    return "<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>"


def progress_in(folder: Path) -> Progress:
    """Return how far the learner in ``folder`` is. Damage to what is remembered is mended, and so is told once."""
    found = read(folder)
    if found.trouble is not None and found.writable:
        change(folder, lambda state: state)
    notes = all_notes(folder)
    return Progress(tuple(_row(item, found.state, notes.get(item.name, ())) for item in course()), found.trouble)


def _row(item: Item, state: State, notes: Sequence[Note]) -> Row:
    hard = tuple(note.words.split("\n")[0] for note in notes if note.hard)
    if item.is_lesson:
        names = [name for name in JUDGES if name.startswith(f"lesson{item.number:02d}-")]
        turns = [state.turns[name] for name in names if name in state.turns]
        done = sum(turn.first_passed is not None for turn in turns)
        return Row(item, done, len(names), max((turn.checked for turn in turns), default=""), hard)
    listed = tuple(Standing(one, state.criteria.get(one.id), state.hints.get(one.id, 0)) for one in item.criteria)
    last = max((one.mark.checked for one in listed if one.mark is not None), default="")
    return Row(item, sum(one.sign == DONE for one in listed), len(listed), last, hard, listed)


def as_data(found: Progress) -> dict[str, object]:
    """Return a progress as plain data, for machines."""
    items = [
        {
            "name": row.item.name,
            "done": row.done,
            "of": row.count,
            "hard": list(row.hard),
            "criteria": [
                {
                    "id": one.criterion.id,
                    "met": one.mark.met if one.mark is not None else None,
                    "points": one.mark.points if one.mark is not None else 0.0,
                    "max_points": one.criterion.points,
                    "hints": one.hints,
                }
                for one in row.criteria
            ],
        }
        for row in found.rows
    ]
    return {"items": items, "next": say(found.next())}


def open_level(folder: Path) -> Item:
    """Return the level that the learner is at: the one checked last if it is not met, else the first that isn't."""
    rows = [row for row in progress_in(folder).rows if not row.item.is_lesson]
    row = Progress(tuple(rows)).current()
    return row.item if row is not None else rows[-1].item


def all_notes(folder: Path) -> dict[str, Sequence[Note]]:
    """Return the learner's notes by lesson or level, in the course's order."""
    found: dict[str, Sequence[Note]] = {}
    for item in course():
        path = folder / "notes" / f"{item.name}.md"
        if path.is_file():
            found[item.name] = read_notes(path)
    return found
