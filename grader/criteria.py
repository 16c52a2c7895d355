"""The done criteria of the exercises, as ``criteria.toml`` lists them."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grader.verdict import Text


@dataclass(frozen=True)
class Criterion:
    """One done criterion: what it asks, what it is worth, and how to help somebody who is stuck."""

    id: str
    exercise: str
    cell: str
    """Id of the solution cell that answers it."""
    kind: str
    """``code`` (judged by behaviour), ``written`` (read by the rubric), ``prediction`` (both) or ``list``."""
    points: float
    statement: Text
    hints: tuple[Text, ...]
    compare: tuple[Text, ...] = ()
    """Written answers: the points a full answer makes, shown to compare with."""


def _text(entry: dict[str, str]) -> Text:
    return Text(en=entry["en"], zh=entry["zh"])


def _texts(entry: dict[str, list[str]]) -> tuple[Text, ...]:
    return tuple(Text(en=en, zh=zh) for en, zh in zip(entry["en"], entry["zh"], strict=True))


@cache
def criteria() -> dict[str, Criterion]:
    """Return every criterion by its id, in the order of the course."""
    with (Path(__file__).parent / "criteria.toml").open("rb") as file:
        tables: dict[str, Any] = tomllib.load(file)
    return {
        key: Criterion(
            id=key,
            exercise=entry["exercise"],
            cell=entry["cell"],
            kind=entry["kind"],
            points=float(entry["points"]),
            statement=_text(entry["statement"]),
            hints=_texts(entry["hints"]),
            compare=_texts(entry["compare"]) if "compare" in entry else (),
        )
        for key, entry in tables.items()
    }


def exercises() -> tuple[str, ...]:
    """Return the names of the exercises, in the order of the course."""
    return tuple(dict.fromkeys(criterion.exercise for criterion in criteria().values()))


def of_exercise(exercise: str) -> tuple[Criterion, ...]:
    """Return the criteria of one exercise, in order."""
    return tuple(criterion for criterion in criteria().values() if criterion.exercise == exercise)


def nearest(name: str) -> str | None:
    """Return the id or the exercise that ``name`` most looks like, if one does."""
    known = [*criteria(), *exercises()]
    found = difflib.get_close_matches(
        name.strip().lower(), [entry.lower() for entry in known], n=1, cutoff=0.5
    )
    if not found:
        return None
    return next(entry for entry in known if entry.lower() == found[0])
