"""A course folder, worked by nbgrader's own API with the folder's own configuration."""

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
        self._run(self.api.generate_assignment(level))

    def autograde(self, level: str, student: str) -> None:
        """Grade one submission into the gradebook."""
        self._run(self.api.autograde(level, student))

    def generate_feedback(self, level: str, student: str) -> None:
        """Write the feedback page of one graded submission."""
        self._run(self.api.generate_feedback(level, student))

    def gradebook(self) -> Any:
        """Return nbgrader's gradebook, to be used in a ``with`` statement."""
        return self.api.gradebook

    @staticmethod
    def _run(result: dict[str, Any]) -> None:
        if not result["success"]:
            lines = (result.get("log") or result.get("error") or "").strip()
            raise NbgraderFailed(lines)
