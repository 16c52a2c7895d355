"""What stands in the gradebook and the autograded notebooks of an exercise, as plain data for the class report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from nbgrader import api
from sqlalchemy import select

from grader.answers.cells import to_python
from grader.classroom.folders import Folders
from grader.classroom.handed_in import HandedIn
from grader.criteria import criteria
from grader.verdict import Text

MET, PARTLY, NOT, WAITS = "met", "partly", "not", "waits"


@dataclass(frozen=True)
class Result:
    """What became of one criterion in one submission: the gradebook's mark and the judge's word."""

    score: float
    most: float
    waits: bool
    by_person: bool
    message: Text | None = None
    kind: str = ""
    """Which kind of fault, or of success, the message is."""
    suggested: float | None = None
    picture: str = ""
    """Its crash map or timeline, as HTML."""

    @property
    def state(self) -> str:
        """One of MET, PARTLY, NOT and WAITS."""
        if self.waits:
            return WAITS
        if self.score >= self.most:
            return MET
        return PARTLY if self.score > 0 else NOT


@dataclass(frozen=True)
class Line:
    """One line of what a learner wrote."""

    cell: str
    number: int
    text: str


@dataclass(frozen=True)
class Submission:
    """One graded submission."""

    student: str
    score: float
    most: float
    late: float
    results: Mapping[str, Result]
    """By criterion, in the exercise's order."""
    flags: tuple[str, ...] = ()
    unreadable: Text | None = None
    lines: tuple[Line, ...] = field(default=(), repr=False)
    """The code cells that are the learner's."""

    @property
    def waits(self) -> int:
        """How many of its marks wait for a person."""
        return sum(result.waits for result in self.results.values())

    @property
    def cells(self) -> list[str]:
        """The learner's code cells; their lines, one cell after the other, are ``lines``."""
        by_cell = groupby(self.lines, key=lambda line: line.cell)
        return ["\n".join(line.text for line in lines) for _, lines in by_cell]


def results_of(folders: Folders, exercise: str) -> list[Submission]:
    """Return the graded submissions of an exercise, by student."""
    return [
        _submission(folders, exercise, student, notebooks)
        for student, notebooks in sorted(_marks(folders, exercise).items())
    ]


def _marks(folders: Folders, exercise: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the gradebook's rows: by student and notebook, ``late`` and ``cells``."""
    query = (
        select(
            api.SubmittedAssignment.student_id,
            api.Notebook.name,
            api.SubmittedNotebook.late_submission_penalty,
            api.GradeCell.__table__.c.max_score,
            api.BaseCell.__table__.c.name,
            api.Grade.auto_score,
            api.Grade.manual_score,
            api.Grade.extra_credit,
            api.Grade.needs_manual_grade,
        )
        .join(api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id)
        .join(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
        .join(api.Notebook, api.Notebook.id == api.SubmittedNotebook.notebook_id)
        .join(api.Grade, api.Grade.notebook_id == api.SubmittedNotebook.id)
        .join(api.BaseCell.__table__, api.BaseCell.__table__.c.id == api.Grade.cell_id)
        .join(api.GradeCell.__table__, api.GradeCell.__table__.c.id == api.Grade.cell_id)
        .where(api.Assignment.name == exercise)
    )
    found: dict[str, dict[str, dict[str, Any]]] = {}
    with folders.course.gradebook() as gradebook:
        rows = gradebook.db.execute(query).all()
    for student, notebook, late, most, cell, auto, manual, extra, waits in rows:
        entry = found.setdefault(student, {}).setdefault(notebook, {"late": float(late or 0), "cells": {}})
        counts = manual if manual is not None else auto
        score = 0.0 if counts is None else float(counts) + float(extra or 0)
        entry["cells"][cell] = (score, float(most), bool(waits), manual is not None)
    return found


def _submission(folders: Folders, exercise: str, student: str, notebooks: dict[str, dict[str, Any]]) -> Submission:
    results: dict[str, Result] = {}
    flags: list[str] = []
    unreadable: Text | None = None
    lines: list[Line] = []
    for name, marks in sorted(notebooks.items()):
        judged = _read(folders.autograded / student / exercise / f"{name}.ipynb")
        note = _note(judged)
        flags += [str(flag) for flag in note.get("flags", [])] if judged else ["no autograded notebook"]
        unreadable = unreadable or _text(note.get("unreadable"))
        cells = {cell.get("metadata", {}).get("nbgrader", {}).get("grade_id"): cell for cell in _cells(judged)}
        for cell, (score, most, waits, by_person) in marks["cells"].items():
            results[cell] = Result(score, most, waits, by_person, **_said(cells.get(cell, {})))
        lines += _lines(judged)
    if not HandedIn(student, folders.submitted / student / exercise).timestamp()[1]:
        flags.append("timestamp can't be read")  # a flag of the folder: no notebook holds it
    order = list(criteria())
    ranked = sorted(results, key=lambda name: (order.index(name) if name in order else len(order), name))
    late = sum(marks["late"] for marks in notebooks.values())
    return Submission(
        student=student,
        score=sum(result.score for result in results.values()) - late,
        most=sum(result.most for result in results.values()),
        late=late,
        results={name: results[name] for name in ranked},
        flags=tuple(flags),
        unreadable=unreadable,
        lines=tuple(lines),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _note(holder: Mapping[str, Any]) -> dict[str, Any]:
    note = holder.get("metadata", {}).get("crash_course")
    return note if isinstance(note, dict) else {}


def _cells(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(notebook.get("cells", []))


def _text(said: Any) -> Text | None:
    return Text(said["en"], said["zh"]) if isinstance(said, dict) and {"en", "zh"} <= said.keys() else None


def _said(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the judge wrote into a criterion cell."""
    note = _note(cell)
    if not note:
        return {}
    from grader.classroom.judging import picture_of

    shown: dict[str, Any] = next(
        (one["data"] for one in cell.get("outputs", []) if one.get("output_type") == "display_data"), {}
    )
    return {
        "message": _text(note.get("message")),
        "kind": note.get("kind", ""),
        "suggested": note.get("suggested"),
        "picture": picture_of(_joined(shown.get("text/html", ""))),
    }


def _joined(value: Any) -> str:
    return "".join(value) if isinstance(value, list) else str(value)


def code_of(notebook: Mapping[str, Any], *, everything: bool = False) -> Iterator[tuple[str, str]]:
    """Return a notebook's code cells as plain Python, name by name: the learner's own, or ``everything``."""
    for number, cell in enumerate(_cells(notebook), start=1):
        marks = cell.get("metadata", {}).get("nbgrader", {})
        if cell.get("cell_type") == "code" and (everything or not marks.get("locked")):
            name = marks.get("grade_id") or cell.get("id") or f"cell-{number}"
            yield str(name), to_python(_joined(cell.get("source", "")))


def _lines(notebook: Mapping[str, Any]) -> list[Line]:
    return [
        Line(name, number, text)
        for name, source in code_of(notebook)
        for number, text in enumerate(source.split("\n"), start=1)
    ]
