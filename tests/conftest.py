"""What every test may be asked for on the command line."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch for pictures of what the browser tests see."""
    parser.addoption("--screenshots", metavar="DIR", help="save a picture of each page that a browser test looks at")
