"""What a submission's metadata says that the course's own does not: marks, tags and verdicts somebody wrote into it.

None of it is believed (see ``submission``); the instructor is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.classroom.course_cells import CourseCell

KEPT = "handed_in"
"""Under this name a cell carries, until the course's cells are back, what its metadata said."""
_MARKS = ("schema_version", "grade", "solution", "locked", "task", "cell_type", "points", "checksum")
_TAGS = ("skip-execution", "raises-exception")
_MOST = 8
"""Remarks of one kind that a submission can get; more of them tell an instructor nothing new."""


def metadata_of(raw: Any) -> Mapping[str, Any]:
    """Return the metadata of a cell, or of a notebook, whatever it is."""
    found = raw.get("metadata") if isinstance(raw, dict) else None
    return found if isinstance(found, dict) else {}


def kept(raw: Any) -> dict[str, Any]:
    """Return what is worth keeping of a cell's metadata for :func:`remarks`; empty when nothing is."""
    metadata = metadata_of(raw)
    result: dict[str, Any] = {}
    marks = metadata.get("nbgrader")
    if isinstance(marks, dict):
        result["marks"] = {name: _brief(marks[name]) for name in _MARKS if name in marks}
        if marks.get("grade_id") is not None:
            result["grade_id"] = str(_brief(marks["grade_id"]))
    tags = metadata.get("tags")
    found = [tag for tag in _TAGS if isinstance(tags, list) and tag in tags]
    if found:
        result["tags"] = found
    if "crash_course" in metadata:
        result["verdict"] = True
    return result


def _brief(value: Any) -> Any:
    """Return a plain value as it is, anything else as its type's name: no metadata is too odd to be kept."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if abs(value) < 1e9 else "out of range"  # not a number is not below either
    return value[:80].encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else type(value).__name__


def remarks(cells: list[tuple[dict[str, Any], str, CourseCell | None]]) -> list[str]:
    """Return the flags for the instructor.

    Args:
        cells: of each cell, what :func:`kept` returned, its id, and the course's cell that it is, if it is one.
    """
    marks, tags, verdicts, foreign = [], [], [], []
    for said, name, mine in cells:
        tags += [f"tag {tag} on cell {name}" for tag in said.get("tags", ())]
        if said.get("verdict"):
            verdicts.append(f"a verdict was written into cell {name}")
        if mine is not None:
            changed = _changed(said.get("marks", {}), mine)
            if changed:
                marks.append(f"changed marks of cell {mine.name}: {', '.join(changed)}")
        elif "grade_id" in said:
            foreign.append(f"a cell of nobody's that is to be graded: {ascii(said['grade_id'])[1:-1][:40]}")
    return [flag for kind in (marks, tags, verdicts, foreign) for flag in dict.fromkeys(kind[:_MOST])]


def _changed(marks: Mapping[str, Any], mine: CourseCell) -> list[str]:
    """Return the names of the marks that are not the course's. Marks that are lost were changed by nobody."""
    own = dict(mine.marks())
    own.setdefault("points", None)
    return [
        name for name in _MARKS if name in marks and (name != "checksum" or name in own) and marks[name] != own[name]
    ]
