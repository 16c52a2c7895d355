"""For pytest suites of one's own: a fixture that explores a save and fails with the whole report.

    def test_a_crash_cannot_hurt_my_save(explore_save):
        explore_save(save, load, old={"turn": 1}, new={"turn": 2})

pytest finds it by itself once the package is installed. Nothing is imported until a test asks for the fixture.
``pytest --crash-maps FOLDER`` writes the crash map of every exploration as an HTML page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pytest

if TYPE_CHECKING:
    from grader.crash import Exploration

S = TypeVar("S")


class ExploreSave(Protocol):
    """What the fixture ``explore_save`` gives: ``explore``, and the test fails unless the save survives."""

    def __call__(
        self,
        save: Callable[[S], object],
        load: Callable[[], S],
        *,
        old: S,
        new: S,
        power_loss: bool = True,
        **options: Any,
    ) -> Exploration[S]:
        """Explore ``save``.

        Args:
            save: writes a state.
            load: reads the state back.
            old: the state saved before.
            new: the state whose save is interrupted.
            power_loss: whether power loss, and durability on return, count.
            options: anything else that ``grader.crash.explore`` takes.

        Returns:
            The exploration, when the save survives.
        """


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--crash-maps``."""
    parser.getgroup("crash explorer").addoption(
        "--crash-maps", metavar="FOLDER", help="write the crash map of every exploration as an HTML page into FOLDER"
    )


@pytest.fixture
def explore_save(request: pytest.FixtureRequest) -> ExploreSave:
    """Explore a save: every crash it could meet, and what its own load makes of what is left."""
    folder = request.config.getoption("--crash-maps", default=None)
    count = 0

    def run(
        save: Callable[[S], object],
        load: Callable[[], S],
        *,
        old: S,
        new: S,
        power_loss: bool = True,
        **options: Any,
    ) -> Exploration[S]:
        __tracebackhide__ = True
        nonlocal count
        from grader.crash import PowerLoss, ProcessKill, explore

        options.setdefault("crash", (ProcessKill(), PowerLoss()) if power_loss else (ProcessKill(),))
        exploration = explore(save, load, old=old, new=new, **options)
        count += 1
        if folder:
            _write(Path(folder), request.node.nodeid + (f" {count}" if count > 1 else ""), exploration)
        exploration.check(power_loss=power_loss)
        return exploration

    return run


def _write(folder: Path, name: str, exploration: Exploration[Any]) -> None:
    from grader.crash.crashmap import as_page

    folder.mkdir(parents=True, exist_ok=True)
    file = re.sub(r"[^\w.-]+", "_", name).strip("_") + ".html"
    (folder / file).write_text(as_page(exploration, title=name), encoding="utf-8")
