"""The lessons and exercises as this installation brings them, and the order in which they are taken."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grader.criteria import Criterion, exercises, of_exercise

_PACKED = Path(__file__).parent / "packed"
AFTER = {"level1": 4, "level2": 6, "level3": 9, "level4": 10}
"""The lesson after which each level is taken."""


@dataclass(frozen=True)
class Item:
    """One lesson or one exercise of the course."""

    name: str
    """``05_writes_that_survive`` or ``level2``."""
    path: str
    """Its notebook, relative to the learner's folder, with forward slashes."""
    number: int

    @property
    def is_lesson(self) -> bool:
        """Whether it is a lesson; else it is an exercise."""
        return self.path.startswith("lessons/")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The done criteria of an exercise; none for a lesson."""
        return of_exercise(self.name)


def material() -> Path:
    """Return the folder with ``lessons``, ``exercises``, ``solutions`` and ``translations``.

    An installed wheel has them packed inside; in a clone they are the clone's own.
    """
    return _PACKED if _PACKED.is_dir() else Path(__file__).resolve().parents[2]


def is_translated(item: Item, lang: str) -> bool:
    """Tell whether a lesson or exercise is there in a language other than English."""
    return (material() / "translations" / lang / item.path).is_file()


@cache
def course() -> tuple[Item, ...]:
    """Return every lesson and exercise, in the order in which they are taken."""
    place = material()
    lessons = [
        Item(path.stem, f"lessons/{path.name}", int(path.name[:2]))
        for path in sorted((place / "lessons").glob("[0-9][0-9]_*.ipynb"))
    ]
    levels = [
        Item(name, f"exercises/{name}/{name}.ipynb", int(re.sub(r"\D", "", name) or 0))
        for name in exercises()
        if (place / "exercises" / name / f"{name}.ipynb").is_file()
    ]
    return tuple(sorted([*lessons, *levels], key=_place))


def _place(item: Item) -> tuple[int, int]:
    return (item.number, 0) if item.is_lesson else (AFTER.get(item.name, 99), item.number)


def fresh(item: Item, lang: str = "en") -> bytes:
    """Return the notebook as a learner gets it: in their language where there is a translation."""
    translated = material() / "translations" / lang / item.path
    return (translated if translated.is_file() else material() / item.path).read_bytes()


@cache
def title(item: Item, lang: str = "en") -> str:
    """Return the heading of the notebook, without its number."""
    for cell in json.loads(fresh(item, lang))["cells"]:
        first = source_of(cell).lstrip().split("\n", 1)[0]
        if cell["cell_type"] == "markdown" and first.startswith("# "):
            return first[2:].split("·", 1)[-1].strip()
    return item.name


def solved_cells(exercise: str) -> dict[str, str]:
    """Return the reference answer of each solution cell of an exercise, by the cell's id."""
    path = material() / "solutions" / exercise / f"{exercise}.ipynb"
    found = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        marks = cell.get("metadata", {}).get("nbgrader", {})
        if marks.get("solution"):
            found[str(marks["grade_id"])] = source_of(cell)
    return found


def source_of(cell: Mapping[str, Any]) -> str:
    """Return a cell's text, whichever way the notebook file stores it."""
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else str(source)
