"""A course folder, worked by nbgrader's own API with the folder's own configuration."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class NbgraderFailed(Exception):
    """nbgrader refused a step; the message is its log, or the last line of its traceback."""


class Course:
    """The course in ``root``: a folder with ``nbgrader_config.py`` and ``solutions/``."""

    def __init__(self, root: Path) -> None:
        from nbgrader.apps import NbGraderAPI
        from traitlets.config import PyFileConfigLoader

        self.root = root
        config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
        self.api: Any = NbGraderAPI(config=config)

    def generate_assignment(self, level: str) -> None:
        """Make the release of ``level`` and enter it into the gradebook."""
        _run(self.api.generate_assignment, level)

    def autograde(self, level: str, student: str) -> None:
        """Grade one submission into the gradebook."""
        _run(self.api.autograde, level, student)

    def generate_feedback(self, level: str, student: str) -> None:
        """Write the feedback page of one graded submission."""
        _run(self.api.generate_feedback, level, student)

    @contextmanager
    def gradebook(self) -> Iterator[Any]:
        """Open nbgrader's gradebook for the length of a ``with`` statement."""
        with _quiet(), self.api.gradebook as gradebook:
            yield gradebook


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep SQLAlchemy's advice to nbgrader's authors off the screen."""
    from sqlalchemy.exc import SAWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)
        yield


def _run(step: Callable[..., dict[str, Any]], *what: str) -> None:
    with _quiet():
        result = step(*what)
    if not result["success"]:
        raise NbgraderFailed((result.get("log") or result.get("error") or "").strip())
