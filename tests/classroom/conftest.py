"""What the tests of the classroom share."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from class_to_grade import CHECKOUT, Class, SayingJudge, saying_judge

from grader.classroom.course import Course


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> SayingJudge:
    return saying_judge(monkeypatch)


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder, its path with a space in it, with level2 released and entered into the gradebook."""
    folder = tmp_path_factory.mktemp("a course")
    shutil.copy(CHECKOUT / "nbgrader_config.py", folder)
    shutil.copytree(CHECKOUT / "solutions" / "level2", folder / "solutions" / "level2")
    Course(folder).generate_assignment("level2")
    return folder


@pytest.fixture
def a_class(released: Path, tmp_path: Path) -> Iterator[Class]:
    folder = tmp_path / "my class"
    shutil.copytree(released, folder)
    yield Class(folder)


@pytest.fixture
def cell_of() -> Callable[[dict[str, Any], str], dict[str, Any]]:
    def find(notebook: dict[str, Any], name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(cell for cell in notebook["cells"] if cell["id"] == name)
        return found

    return find
