"""What every test may be asked for on the command line."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")  # a busy machine is no fault of what is tested


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switches for pictures of what the browser tests see, and for every test there is."""
    parser.addoption("--screenshots", metavar="DIR", help="save a picture of each page that a browser test looks at")
    parser.addoption("--thorough", action="store_true", help="run what takes minutes as well")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark of what is left to --thorough."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # the order below, not the files with most tests first
    config.addinivalue_line("markers", "thorough: one more of a kind that is tested anyway; run with --thorough only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to --thorough what takes minutes: what is marked, attacks that the command has graded, the demo whole."""
    most = Counter(item.path for item in items)
    items.sort(key=lambda item: most[item.path])  # a file of few tests takes long: at the end, all would wait for it
    if config.getoption("--thorough"):
        return
    left_out = [
        item
        for item in items
        if item.get_closest_marker("thorough")
        or "demo" in getattr(item, "fixturenames", ())  # CI runs the command itself, which fails where the grader does
        or ("test_attacks.py" in item.nodeid and "nbgrader" in item.nodeid)
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
