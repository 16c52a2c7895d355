"""Words for a learner's lines and for runs that came to no good end, used by every level."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from grader.crash import Where
from grader.levels.trial import Failure, Place
from grader.verdict import Text
from grader.words import catalogue, plain

_words = catalogue()
_WIDEST = 64


class Sources:
    """The learner's cells, to quote their lines. ``main`` is the cell that needs no name."""

    def __init__(self, cells: Mapping[str, str], main: str) -> None:
        self.cells = dict(cells)
        self.main = main

    def line(self, place: Place | None) -> str:
        """Return the text of a line, stripped; empty when it is not there."""
        lines = self.cells.get(place.cell, "").split("\n") if place else []
        return lines[place.line - 1].strip() if place and 0 < place.line <= len(lines) else ""

    def at(self, place: Place | Where | None) -> Text:
        """Return "line 6 (`f.write(text)`)", with the cell's name when it is not the main one."""
        if isinstance(place, Where):
            place = place_of(place)
        if place is None or place.line <= 0:
            return _words("at.unknown")
        source = self.line(place).replace("`", "'")
        if len(source) > _WIDEST:
            source = source[: _WIDEST - 1] + "…"
        key = ("at.line" if place.cell == self.main else "at.cell") + ("_source" if source else "")
        return _words(key, line=place.line, cell=place.cell, source=source)

    def reason(self, failure: Failure, limit: float = 5.0) -> Text:
        """Return why a run failed, as a part of a sentence."""
        at, kind = self.at(failure.place), failure.kind
        if kind == "exception":
            key = "failure.exception" if failure.place else "failure.exception_nowhere"
            return _words(key, type=failure.type, at=at, message=_short(failure.message) or "-")
        if kind == "time":
            key = "failure.idle" if failure.type == "idle" else "failure.time"
            key = key if failure.place else f"{key}_nowhere"
            return _words(key, at=at, seconds=failure.message or f"{limit:g}")
        if kind in ("exit", "fork"):
            how = "sys.exit" if failure.type == "SystemExit" else failure.type
            return _words(f"failure.{kind}", at=at, how=how)
        if kind == "missing":
            return _words("failure.missing", names=names(failure.message.split()))
        return _words(f"failure.{kind}", at=at, how=failure.message or failure.type)


def names(found: list[str]) -> Text:
    """Return "a and b" in both languages."""
    if len(found) < 2:
        return plain("".join(found))
    return Text(f"{', '.join(found[:-1])} and {found[-1]}", f"{'、'.join(found[:-1])} 和 {found[-1]}")


def place_of(where: Where | None) -> Place | None:
    """Return a recording's line as a place in a cell."""
    if where is None:
        return None
    name = where.file.removeprefix("<cell ").removesuffix(">")
    return Place(name, where.line, where.function)


def _short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= 160 else line[:159] + "…"


@contextmanager
def quotable(cells: Mapping[str, str]) -> Iterator[None]:
    """Let the picture quote the learner's lines, this learner's and only while it is drawn."""
    names = {f"<cell {name}>": source for name, source in cells.items()}
    for file, source in names.items():
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    try:
        yield
    finally:
        for file in names:
            linecache.cache.pop(file, None)
