"""The course's own cells of an exercise, as the gradebook keeps them since the release: plain data that travels."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from grader.words import language


@dataclass(frozen=True)
class CourseCell:
    """One cell of the course's own that the gradebook keeps."""

    name: str
    kind: str
    source: str
    locked: bool
    solution: bool
    points: float | None
    checksum: str | None

    def marks(self) -> Any:
        """Return nbgrader's metadata of the cell, as the release had it."""
        marks: dict[str, Any] = {
            "schema_version": 3,
            "grade_id": self.name,
            "grade": self.points is not None,
            "solution": self.solution,
            "locked": self.locked,
            "task": False,
            "cell_type": self.kind,
        }
        if self.points is not None:
            marks["points"] = self.points
        if self.checksum is not None:
            marks["checksum"] = self.checksum
        return nbformat.from_dict(marks)


@dataclass(frozen=True)
class CourseNotebook:
    """One notebook of a released exercise."""

    name: str
    kernelspec: str | None
    """As JSON, the way the gradebook keeps it."""
    cells: tuple[CourseCell, ...]

    @property
    def graded(self) -> dict[str, float]:
        """The points of each graded cell."""
        return {cell.name: cell.points for cell in self.cells if cell.points is not None}

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the cells that learners fill in."""
        return tuple(cell.name for cell in self.cells if cell.solution)


def course_notebook(row: Any) -> CourseNotebook:
    """Return what the gradebook keeps of a notebook; ``row`` is nbgrader's ``Notebook``."""
    points = {cell.name: float(cell.max_score) for cell in row.grade_cells}
    answers = {cell.name for cell in row.solution_cells}
    cells = tuple(
        CourseCell(
            name=cell.name,
            kind=cell.cell_type,
            source=cell.source,
            locked=bool(cell.locked),
            solution=cell.name in answers,
            points=points.get(cell.name),
            checksum=cell.checksum,
        )
        for cell in row.source_cells
    )
    return CourseNotebook(row.name, row.kernelspec, cells)


def fingerprint(course: CourseNotebook, student: str, submission: str) -> str:
    """Return a digest of everything a verdict depends on; ``submission`` is the digest of the file handed in."""
    cells = [list(vars(cell).values()) for cell in course.cells]
    parts = [kit(), language(), course.name, course.kernelspec, cells, student, submission]
    return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()


@cache
def translated() -> dict[str, list[str]]:
    """Return the texts of the course's own cells in other languages, by the cells' names; the build writes them."""
    path = Path(__file__).with_name("translated.json")
    texts: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return texts


@cache
def kit() -> str:
    """Return a digest of the kit's code, criteria and words, and of the Python that runs them."""
    digest = hashlib.sha256(repr(sys.version_info[:3]).encode())
    package = Path(__file__).resolve().parents[1]
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".toml", ".json", ".j2") and path.is_file():
            digest.update(f"{path.relative_to(package).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
