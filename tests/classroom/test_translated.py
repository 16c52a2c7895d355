"""A notebook of the Chinese edition is graded like any other, and nothing in it looks tampered with."""

import json
from pathlib import Path
from typing import Any

import pytest
from class_to_grade import CHECKOUT, Class, SayingJudge

from grader.classroom.course_cells import CourseCell
from grader.classroom.submission import opened, restore

EDITIONS = sorted((CHECKOUT / "translations").glob("*/exercises/*/*.ipynb"))


def course_of(level: str) -> list[CourseCell]:
    """Return the course's own cells, as nbgrader's gradebook would keep them of the release."""
    release = json.loads((CHECKOUT / f"exercises/{level}/{level}.ipynb").read_text(encoding="utf-8"))
    cells = [(cell, cell["metadata"]["nbgrader"]) for cell in release["cells"] if "nbgrader" in cell["metadata"]]
    return [
        CourseCell(
            name=marks["grade_id"],
            kind=cell["cell_type"],
            source="".join(cell["source"]),
            locked=marks["locked"],
            solution=marks["solution"],
            points=marks.get("points"),
            checksum=marks.get("checksum"),
        )
        for cell, marks in cells
    ]


@pytest.mark.parametrize("path", EDITIONS, ids=lambda path: f"{path.parts[-4]}-{path.stem}")
def test_a_translated_notebook_is_the_courses_own(path: Path) -> None:
    notebook = opened(path.read_bytes())
    result = restore(notebook, course_of(path.stem))
    assert (result.flags, result.problem()) == ([], None)
    sources = {cell.id: cell.source for cell in notebook.cells}
    for cell in course_of(path.stem):
        assert cell.solution or sources[cell.name] == cell.source


def test_what_is_changed_in_a_translated_notebook_is_flagged() -> None:
    data = json.loads((CHECKOUT / "translations/zh/exercises/level2/level2.ipynb").read_text(encoding="utf-8"))
    for cell in data["cells"]:
        if cell["id"] == "level2-atomic":
            cell["source"] = ["4.0"]
    result = restore(opened(json.dumps(data).encode()), course_of("level2"))
    assert result.flags == ["changed cell level2-atomic"]


def test_it_is_graded_like_any_other(a_class: Class, judge: SayingJudge) -> None:
    path = CHECKOUT / "translations/zh/exercises/level2/level2.ipynb"
    work: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    a_class.hand_in("mei", work)
    a_class.hand_in("ada", a_class.release())
    assert a_class.grade("mei") == a_class.grade("ada")
    assert a_class.autograded("mei")["metadata"]["crash_course"]["flags"] == []
