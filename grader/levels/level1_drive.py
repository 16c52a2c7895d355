"""The learner's side of Level 1: ``Loss``, and the driver that takes ``missing`` out of their cells as plain data."""

from __future__ import annotations

import types
from dataclasses import dataclass, fields
from typing import Any

from grader.levels.failures import Stage
from grader.levels.values import plain

PARTS = ("consequence", "prediction", "why")


@dataclass(frozen=True)
class Loss:
    """What is lost when a save leaves a field out: a consequence, a prediction and the reason in your own words."""

    consequence: Any = ""
    prediction: Any = None
    why: Any = ""


def drive(stage: Stage, arguments: Any) -> dict[str, Any]:
    """Return ``missing`` as plain data, and the learners whose scenes the cells asked for."""
    found: dict[str, Any] = {"shown": plain(_shown[-1:])}
    if "missing" in stage.namespace:
        found["missing"] = _plain_missing(stage.namespace["missing"])
    return found


def _plain_missing(value: Any) -> Any:
    if not issubclass(type(value), dict):
        return plain(value)
    return plain({key: _as_dict(entry) for key, entry in dict.items(value)})


def _as_dict(entry: Any) -> Any:
    if type(entry) is Loss:
        return {field.name: getattr(entry, field.name) for field in fields(Loss)}
    return {"tuple": list(entry)} if type(entry) is tuple else entry


_shown: list[Any] = []


def _scenes(learner: Any = "", *_: Any, **__: Any) -> None:
    """Stands for ``grader.scenes`` in a worker: remembers whose figures the notebook shows."""
    _shown.append(learner)


def _choices(*_: Any, **__: Any) -> None:
    """Stands for ``grader.choices`` in a worker."""


def furnish(stub: types.ModuleType) -> None:
    """Give the worker's stand-in for ``grader`` what a Level 1 notebook imports from it."""
    _shown.clear()
    stub.Loss = Loss  # type: ignore[attr-defined]
    stub.scenes = _scenes  # type: ignore[attr-defined]
    stub.choices = _choices  # type: ignore[attr-defined]
