"""Options of the crash explorer's tests."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """``pytest tests/crash --rewrite`` writes what the explorer says now into ``cases/``; read the diff."""
    parser.addoption("--rewrite", action="store_true", help="rewrite the expected output of tests/crash/cases")
