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


class Malformed(ValueError):
    """``criteria.toml`` can't be read; the message names the criterion and what is the matter with it."""


@cache
def criteria() -> dict[str, Criterion]:
    """Return every criterion by its id, in the order of the course.

    Raises:
        Malformed: the file is no TOML, or an entry lacks something.
    """
    return read((Path(__file__).parent / "criteria.toml").read_bytes())


def read(data: bytes) -> dict[str, Criterion]:
    """Return the criteria that a ``criteria.toml`` with these bytes lists; raises :class:`Malformed`."""
    try:
        tables = tomllib.loads(data.decode("utf-8"))
    except ValueError as problem:
        raise Malformed(f"grader/criteria.toml can't be read: {problem}.") from None
    return {key: _criterion(key, entry) for key, entry in tables.items()}


def _criterion(key: str, entry: Any) -> Criterion:
    try:
        return Criterion(
            id=key,
            exercise=entry["exercise"],
            cell=entry["cell"],
            kind=entry["kind"],
            points=_number(entry["points"]),
            statement=Text(en=entry["statement"]["en"], zh=entry["statement"]["zh"]),
            hints=_texts("hints", entry["hints"]),
            compare=_texts("compare", entry["compare"]) if "compare" in entry else (),
        )
    except KeyError as problem:
        what = f"has no {problem.args[0]}"
        if problem.args[0] in ("en", "zh"):
            what = f"has a statement, hints or compare without .{problem.args[0]}"
    except Malformed as problem:
        what = str(problem)
    except (TypeError, AttributeError):
        what = "is not written as the other criteria are"
    raise Malformed(f"grader/criteria.toml: [{key}] {what}.")


def _number(points: object) -> float:
    if isinstance(points, int | float) and not isinstance(points, bool):
        return float(points)
    raise Malformed(f"has points = {points!r}, which is no number")


def _texts(what: str, entry: dict[str, list[str]]) -> tuple[Text, ...]:
    en, zh = entry["en"], entry["zh"]
    if len(en) != len(zh):
        raise Malformed(f"has {len(en)} {what} in English and {len(zh)} in Chinese")
    return tuple(Text(en=one, zh=other) for one, other in zip(en, zh, strict=True))


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
