"""The rows that one submission has in nbgrader's gradebook, those there and those to come, and what they should say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nbgrader import api
from sqlalchemy import Table, bindparam, insert, update
from sqlalchemy.orm import Session

from grader.classroom.course_cells import course_notebook
from grader.classroom.records import Records
from grader.classroom.sheet import Mark, Sheet


class Writes:
    """The rows to insert and to change, table by table: the database gets many at a time."""

    def __init__(self) -> None:
        self._inserts: dict[Table, list[dict[str, Any]]] = {}
        self._changes: dict[tuple[Table, tuple[str, ...]], list[dict[str, Any]]] = {}

    def insert(self, model: Any, **values: Any) -> None:
        """Insert a row. Tables are filled in the order in which they first come."""
        self._inserts.setdefault(model.__table__, []).append(values)

    def change(self, model: Any, row: str, **values: Any) -> None:
        """Change columns of the row with this id."""
        self._changes.setdefault((model.__table__, tuple(values)), []).append({"row": row, **values})

    def into(self, session: Session) -> None:
        """Send them."""
        for table, rows in self._inserts.items():
            session.execute(insert(table), rows)
        for (table, _), rows in self._changes.items():
            columns = {name: bindparam(name) for name in rows[0] if name != "row"}
            session.execute(update(table).where(table.c.id == bindparam("row")).values(columns), rows)


@dataclass(frozen=True)
class Piece:
    """One notebook of a submission. Without records the file was not handed in, which scores 0."""

    notebook: str
    records: Records | None


@dataclass
class AssignmentRow:
    """The exercise in the gradebook."""

    id: str
    duedate: datetime | None

    def seconds_late(self, timestamp: datetime | None, extension: timedelta | None) -> float:
        """Return how late something handed in at ``timestamp`` is."""
        if timestamp is None or self.duedate is None:
            return 0.0
        due = self.duedate + extension if extension is not None else self.duedate
        return max(0.0, (timestamp - due).total_seconds())


class Released:
    """A notebook of the exercise and the ids of its cells."""

    def __init__(self, row: Any) -> None:
        self.id: str = row.id
        self.course = course_notebook(row)
        self.graded = {cell.name: (cell.id, float(cell.max_score)) for cell in [*row.grade_cells, *row.task_cells]}
        self.commented = {cell.name: cell.id for cell in [*row.solution_cells, *row.task_cells]}


@dataclass(frozen=True)
class Stored:
    """What the gradebook holds, as it was read."""

    submissions: Mapping[str, Any]
    """By student."""
    notebooks: Mapping[tuple[str, str], Any]
    """By submission and notebook."""
    grades: Mapping[tuple[str, str], Any]
    """By submitted notebook and cell."""
    comments: Mapping[tuple[str, str], Any]
    """By submitted notebook and cell."""


@dataclass
class GradeRow:
    """A score."""

    id: str
    new: bool
    most: float
    auto: float | None
    manual: float | None
    extra: float | None
    waits: bool

    @property
    def score(self) -> float:
        """What counts: a person's mark before the judge's, and extra credit on top."""
        counts = self.manual if self.manual is not None else self.auto
        return 0.0 if counts is None else counts + (self.extra or 0.0)


@dataclass
class CommentRow:
    """A comment."""

    id: str
    new: bool
    auto: str | None
    manual: str | None


class SubmissionRows:
    """The rows of one submission, those there and those to come."""

    def __init__(self, student: str, known: bool, stored: Stored, released: dict[str, Released]) -> None:
        row = stored.submissions.get(student)
        self.student_known = known
        self.new = row is None
        self.id: str = api.new_uuid() if row is None else row.id
        self.timestamp: datetime | None = None if row is None else row.timestamp
        self.extension: timedelta | None = None if row is None else row.extension
        self.notebooks = {name: NotebookRows(self.id, each, stored) for name, each in released.items()}


class NotebookRows:
    """The rows of one submitted notebook."""

    def __init__(self, submission: str, released: Released, stored: Stored) -> None:
        row = stored.notebooks.get((submission, released.id))
        self.released = released
        self.new = row is None
        self.id: str = api.new_uuid() if row is None else row.id
        self.penalty: float | None = None if row is None else row.late_submission_penalty
        self.grades: dict[str, GradeRow] = {}
        for name, (cell, most) in released.graded.items():
            old = stored.grades.get((self.id, cell))
            if old is None:
                self.grades[name] = GradeRow(api.new_uuid(), True, most, None, None, None, True)
            else:
                marks = (old.auto_score, old.manual_score, old.extra_credit, bool(old.needs_manual_grade))
                self.grades[name] = GradeRow(old.id, False, most, *marks)
        self.comments: dict[str, CommentRow] = {}
        for name, cell in released.commented.items():
            said = stored.comments.get((self.id, cell))
            if said is None:
                self.comments[name] = CommentRow(api.new_uuid(), True, None, None)
            else:
                self.comments[name] = CommentRow(said.id, False, said.auto_comment, said.manual_comment)

    def settle(self, piece: Piece, fresh: bool, writes: Writes) -> None:
        """Bring every row to what the records say."""
        for name, grade in self.grades.items():
            auto, waits = self._wanted(name, grade, piece, fresh)
            if grade.new:
                cell = self.released.graded[name][0]
                writes.insert(
                    api.Grade,
                    id=grade.id,
                    cell_id=cell,
                    notebook_id=self.id,
                    auto_score=auto,
                    needs_manual_grade=waits,
                )
            elif (auto, waits) != (grade.auto, grade.waits):
                writes.change(api.Grade, grade.id, auto_score=auto, needs_manual_grade=waits)
            grade.auto, grade.waits = auto, waits
        for name, comment in self.comments.items():
            text = comment.auto if piece.records is None else piece.records.comments.get(name, comment.auto)
            if comment.new:
                cell = self.released.commented[name]
                writes.insert(api.Comment, id=comment.id, cell_id=cell, notebook_id=self.id, auto_comment=text)
            elif text != comment.auto:
                writes.change(api.Comment, comment.id, auto_comment=text)
            comment.auto = text

    def _wanted(self, name: str, grade: GradeRow, piece: Piece, fresh: bool) -> tuple[float | None, bool]:
        if piece.records is None:
            return 0.0, False
        if name not in piece.records.scores:  # a task cell: only a person marks it
            return grade.auto, grade.waits
        auto = piece.records.scores[name]
        if grade.manual is None:
            return auto, auto is None
        return auto, grade.waits or fresh

    def sheet(self) -> Sheet:
        """Return what the rows say."""
        marks = {
            name: Mark(grade.score, grade.most, grade.waits, grade.manual is not None)
            for name, grade in self.grades.items()
        }
        comments = {name: comment.manual for name, comment in self.comments.items()}
        return Sheet(marks, comments, float(self.penalty or 0))
