"""The attacked class, graded once in each way."""

import pytest
from attack import CANARY
from attacked_class import WAYS, Graded, graded_by

_MADE: dict[str, Graded] = {}
"""Kept here: pytest makes a fixture anew when tests ask for the same parameter in different ways."""


@pytest.fixture(scope="session", params=WAYS)
def graded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """The whole class, graded in one go in one of the ways."""
    way = request.param
    if way not in _MADE:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("INSTRUCTORS_SECRET", CANARY)
            _MADE[way] = graded_by(way, tmp_path_factory.mktemp(f"attacked by {way}"))
    return _MADE[way]
