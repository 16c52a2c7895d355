"""Drives a learner's Level 5 inside the worker: two numbers are kept, one after the other."""

from __future__ import annotations

from typing import Any

from grader.levels.failures import Failure, Stage


def drive(stage: Stage, arguments: Any) -> None:
    """Call keep with each number, and note where each call begins and ends."""
    keep = stage.namespace.get("keep")
    if not callable(keep):
        stage.finish(Failure("missing", message="keep"))
    for number in arguments:
        stage.mark("begin", number)
        keep(number)
        stage.mark("end", number)
