"""Leaves most cases of a kind to ``--thorough``."""

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(number: int, cases: Iterable[Any]) -> list[Any]:
    """Return a parametrization of these cases in which all but every ``number``-th are run with --thorough only."""
    found = []
    for position, case in enumerate(cases):
        values = case if isinstance(case, tuple) else (case,)
        found.append(pytest.param(*values, marks=[pytest.mark.thorough] if position % number else []))
    return found
