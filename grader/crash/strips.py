"""The data of a crash map: for each crash model a strip, for each operation of the save a column, in each a verdict.

Letters: ``O`` old, ``N`` new, ``R`` load raised, ``W`` wrong, ``L`` lost; for the next save ``.`` works, ``+`` a file
is left for good, ``F`` it fails. For a resumed run ``=`` the same end, ``D`` an effect
doubled, ``M`` an effect missing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.crash.describe import Step, Story
from grader.crash.explore import Counterexample, Exploration, Verdict
from grader.crash.models import Moment

LETTERS = "ON.=+LRWFMD"
"""From the best to the worst; the order in which letters of one column are shown after a power loss."""
UNSOUND = "LRWFMD"
_OF = {Verdict.OLD: "O", Verdict.NEW: "N", Verdict.RAISES: "R", Verdict.WRONG: "W", Verdict.LOST: "L"}


@dataclass(frozen=True)
class Cell:
    """What a crash at one column leaves.

    Attributes:
        during: verdicts within the write, in order, each with the number of cuts that gave it.
        after: verdicts once the operation is complete: one for a kill, as many as are possible for a power loss.
    """

    during: tuple[tuple[str, int], ...] = ()
    after: str = ""

    @property
    def letters(self) -> str:
        """The verdicts in order, neighbours that are alike put together."""
        found = ""
        for letter in [*(letter for letter, _ in self.during), *self.after]:
            if not found.endswith(letter):
                found += letter
        return found

    @property
    def worst(self) -> str:
        """The worst verdict of the column."""
        return max(self.letters or ".", key=LETTERS.index)


@dataclass(frozen=True)
class Column:
    """One column: the start, one operation or several alike, or the time after the save had returned.

    Attributes:
        kind: ``start``, ``op``, or ``returned`` (of a run: ``ended``).
        first: number of the first operation, counted from 1.
        last: number of the last.
        step: the operation, of several the first; None when they are not alike.
        size: bytes written by all of them.
    """

    kind: str
    first: int = 0
    last: int = 0
    step: Step | None = None
    size: int = 0

    @property
    def count(self) -> int:
        """How many operations it stands for."""
        return self.last - self.first + 1 if self.kind == "op" else 1


@dataclass(frozen=True)
class Strip:
    """One crash model's row of cells."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class CrashMap:
    """Columns, strips, and the column at which the counterexample lies (None when there is none)."""

    columns: tuple[Column, ...]
    strips: tuple[Strip, ...]
    operations: int
    marked: int | None = None
    marked_strip: str | None = None


def crash_map(exploration: Exploration[Any], story: Story, example: Counterexample | None, most: int = 64) -> CrashMap:
    """The crash map of an exploration, with at most about ``most`` columns."""
    indices = sorted(story.steps)
    columns = _columns(story, indices, "returned")

    def column_of(done: int) -> int:
        """The column of a moment at which ``done`` operations were complete."""
        return len(indices) + 1 if done > story.end else bisect_right(indices, done - 1)

    strips: list[Strip] = []
    if exploration.kill is not None:
        kills = ((o.moment, _OF[o.result.verdict], o.images) for o in exploration.kill.outcomes)
        strips.append(Strip("kill", _row(kills, column_of, len(columns), lost=True)))
    if exploration.power is not None:
        powers = ((o.moment, _OF[o.result.verdict], o.images) for o in exploration.power.outcomes)
        strips.append(Strip("power", _sets(powers, column_of, len(columns))))
    if exploration.following is not None:
        nexts = (
            (o.moment, "F" if o.result.error or o.result.second else "+" if o.result.residue else ".", o.images)
            for o in exploration.following.outcomes
        )
        cells = _row(nexts, column_of, len(columns), lost=False)
        strips.append(Strip("next", tuple(_worst_within(cell) for cell in cells)))
    marked = None
    if example is not None:
        marked = column_of(example.moment.op) + (1 if example.moment.cut else 0)
    whole = CrashMap(tuple(columns), tuple(strips), len(indices), marked, example.model if example else None)
    return _shorten(whole, most)


def run_map(
    outcomes: Iterable[tuple[Moment, str, int]], story: Story, worst: Moment | None, most: int = 64
) -> CrashMap:
    """The crash map of a whole run: for each kill how resuming ended.

    Args:
        outcomes: moments, letters, and how many images each stands for.
        story: the uninterrupted run in words.
        worst: the counterexample.
        most: columns at most, about.
    """
    indices = sorted(story.steps)
    columns = _columns(story, indices, "ended")[:-1]

    def column_of(done: int) -> int:
        return bisect_right(indices, done - 1)

    cells = _row(outcomes, column_of, len(columns), lost=False)
    marked = None if worst is None else column_of(worst.op) + (1 if worst.cut else 0)
    shown = CrashMap(tuple(columns), (Strip("run", cells),), len(indices), marked, "run" if worst else None)
    return _shorten(shown, most)


def save_map(
    outcomes: Iterable[tuple[Moment, str, int]], story: Story, worst: Moment | None, most: int = 64
) -> CrashMap:
    """The crash map of one save, from what is known to lie on disk at each kill; arguments as for ``run_map``."""
    indices = sorted(story.steps)
    columns = _columns(story, indices, "returned")

    def column_of(done: int) -> int:
        return len(indices) + 1 if done > story.end else bisect_right(indices, done - 1)

    cells = _row(outcomes, column_of, len(columns), lost=True)
    marked = None if worst is None else column_of(worst.op) + (1 if worst.cut else 0)
    shown = CrashMap(tuple(columns), (Strip("kill", cells),), len(indices), marked, "kill" if worst else None)
    return _shorten(shown, most)


def _columns(story: Story, indices: Sequence[int], last: str) -> list[Column]:
    steps = [story.steps[index] for index in indices]
    inner = [Column("op", n, n, s, s.size if s.verb == "write" else 0) for n, s in enumerate(steps, 1)]
    return [Column("start"), *inner, Column(last)]


def _row(outcomes: Iterable[tuple[Moment, str, int]], column_of: Any, width: int, *, lost: bool) -> tuple[Cell, ...]:
    during: list[list[tuple[str, int]]] = [[] for _ in range(width)]
    after = [""] * width
    for moment, letter, count in outcomes:
        column = column_of(moment.op)
        if moment.cut:
            inside = during[column + 1]
            if inside and inside[-1][0] == letter:
                inside[-1] = (letter, inside[-1][1] + count)
            else:
                inside.append((letter, count))
            continue
        after[column] = "L" if lost and column == width - 1 and letter == "O" else letter
    return tuple(Cell(tuple(d), a) for d, a in zip(during, after, strict=True))


def _worst_within(cell: Cell) -> Cell:
    """One verdict for all cuts of a write: after a second crash, not every one of them is looked at."""
    if len(cell.during) < 2:
        return cell
    letter = max((letter for letter, _ in cell.during), key=LETTERS.index)
    return Cell(((letter, sum(count for _, count in cell.during)),), cell.after)


def _sets(outcomes: Iterable[tuple[Moment, str, int]], column_of: Any, width: int) -> tuple[Cell, ...]:
    found: list[set[str]] = [set() for _ in range(width)]
    for moment, letter, _ in outcomes:
        for column in range(column_of(moment.op), column_of(max(moment.until, moment.op)) + 1):
            found[column].add("L" if column == width - 1 and letter == "O" else letter)
    return tuple(Cell((), "".join(sorted(letters, key=LETTERS.index))) for letters in found)


def _shorten(whole: CrashMap, most: int) -> CrashMap:
    """Put neighbouring columns together: those alike always when there are many, then any, until ``most`` are left."""
    if len(whole.columns) <= most:
        return whole
    groups: list[list[int]] = []
    for index, column in enumerate(whole.columns):
        if groups and index != whole.marked and groups[-1][-1] != whole.marked and _alike(whole, groups[-1][-1], index):
            groups[-1].append(index)
        else:
            groups.append([index])
        del column
    if len(groups) > most:
        groups = _by_place(whole, most)
    return _grouped(whole, groups)


def _alike(whole: CrashMap, left: int, right: int) -> bool:
    a, b = whole.columns[left], whole.columns[right]
    if a.kind != "op" or b.kind != "op" or a.step is None or b.step is None:
        return False
    if (a.step.verb, a.step.name, a.step.where) != (b.step.verb, b.step.name, b.step.where):
        return False
    return all(strip.cells[left].letters == strip.cells[right].letters for strip in whole.strips)


def _by_place(whole: CrashMap, most: int) -> list[list[int]]:
    fixed = {0, len(whole.columns) - 1} | ({whole.marked} if whole.marked is not None else set())
    share = -(-len(whole.columns) // max(1, most - 2 * len(fixed)))
    groups: list[list[int]] = []
    for index in range(len(whole.columns)):
        if groups and len(groups[-1]) < share and index not in fixed and groups[-1][-1] not in fixed:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _grouped(whole: CrashMap, groups: Sequence[Sequence[int]]) -> CrashMap:
    columns = []
    for group in groups:
        inside = [whole.columns[i] for i in group]
        step = inside[0].step
        if any(c.step is None or step is None or (c.step.verb, c.step.name) != (step.verb, step.name) for c in inside):
            step = None
        size = sum(c.size for c in inside)
        columns.append(replace(inside[0], last=inside[-1].last, step=step, size=size))
    strips = [
        Strip(strip.name, tuple(_joined([strip.cells[i] for i in group]) for group in groups)) for strip in whole.strips
    ]
    marked = next((n for n, group in enumerate(groups) if whole.marked in group), None)
    return replace(whole, columns=tuple(columns), strips=tuple(strips), marked=marked)


def _joined(cells: Sequence[Cell]) -> Cell:
    if len(cells) == 1:
        return cells[0]
    letters = {letter for cell in cells for letter in cell.letters}
    return Cell((), "".join(sorted(letters, key=LETTERS.index)))
