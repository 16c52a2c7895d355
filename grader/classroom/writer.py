"""The one writer to nbgrader's gradebook: many submissions at once, the rows that ``nbgrader autograde`` writes.

It compares what the rows should be with what they are and writes the difference. So it may be run again at any time,
and what somebody else changed in the gradebook shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nbgrader import api
from sqlalchemy import create_engine, event, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from grader.classroom.course_cells import CourseNotebook
from grader.classroom.rows import AssignmentRow, NotebookRows, Piece, Released, Stored, SubmissionRows, Writes
from grader.classroom.sheet import Sheet

Penalty = Callable[[str, float, float], float | None]
"""What coming late costs: student, score and seconds late in, points or None out."""
PATIENCE = 20
"""Seconds to wait for another process that holds the gradebook."""


class GradebookLocked(Exception):
    """Another process holds the gradebook and does not let go."""


class GradebookFull(Exception):
    """The disk that the gradebook lies on is full."""


class GradebookBroken(Exception):
    """The gradebook can't be read or written; the message says what the database says."""


@dataclass(frozen=True)
class Entry:
    """What the gradebook is to hold of one submission."""

    student: str
    timestamp: datetime | None
    pieces: tuple[Piece, ...]
    fresh: bool
    """Judged now. A person's marks then go back into the manual queue, as ``nbgrader autograde`` does it."""


class Writer:
    """An open gradebook.

    Args:
        db_url: where it is; it must be there.
        penalty: the course's rule for late submissions.
    """

    def __init__(self, db_url: str, penalty: Penalty) -> None:
        self._penalty = penalty
        sqlite = db_url.startswith("sqlite")
        self._engine = create_engine(db_url, connect_args={"timeout": PATIENCE} if sqlite else {})
        if sqlite:
            event.listen(self._engine, "connect", _own_transactions)
            event.listen(self._engine, "begin", _begin_to_write)
        self._assignment = AssignmentRow("", None)
        self._notebooks: dict[str, Released] = {}

    def close(self) -> None:
        """Let the gradebook go."""
        self._engine.dispose()

    def exercise(self, name: str) -> list[CourseNotebook]:
        """Turn to an exercise and return its notebooks; none when it has not been released into this gradebook."""
        with self._session() as session:
            found = session.execute(select(api.Assignment).where(api.Assignment.name == name)).scalar_one_or_none()
            if found is None:
                return []
            self._assignment = AssignmentRow(found.id, found.duedate)
            self._notebooks = {row.name: Released(row) for row in found.notebooks}
            return [released.course for released in self._notebooks.values()]

    def has_submissions(self) -> bool:
        """Whether anybody's work is in the gradebook for this exercise."""
        wanted = select(api.SubmittedAssignment.id).where(api.SubmittedAssignment.assignment_id == self._assignment.id)
        with self._session() as session:
            return session.execute(wanted.limit(1)).first() is not None

    def enter(self, entries: Sequence[Entry]) -> dict[str, dict[str, Sheet]]:
        """Write the entries in one transaction.

        Returns:
            what the gradebook then holds: by student and notebook, a sheet of marks.

        Raises:
            GradebookLocked, GradebookFull, GradebookBroken: nothing of it has been written.
        """
        with self._session() as session:
            rows = self._rows(session, entries)
            writes = Writes()
            for entry in entries:
                self._settle(entry, rows[entry.student], writes)
            writes.into(session)
        return {
            entry.student: {name: row.sheet() for name, row in rows[entry.student].notebooks.items()}
            for entry in entries
        }

    def _rows(self, session: Session, entries: Sequence[Entry]) -> dict[str, SubmissionRows]:
        """Return the rows of these students; what is not there yet is made up, to be inserted."""
        names = [entry.student for entry in entries]
        known = {row.id for row in _among(session, api.Student, "id", names)}
        submissions = [
            row
            for row in _among(session, api.SubmittedAssignment, "student_id", names)
            if row.assignment_id == self._assignment.id
        ]
        notebooks = _among(session, api.SubmittedNotebook, "assignment_id", [row.id for row in submissions])
        ids = [row.id for row in notebooks]
        stored = Stored(
            {row.student_id: row for row in submissions},
            {(row.assignment_id, row.notebook_id): row for row in notebooks},
            {(row.notebook_id, row.cell_id): row for row in _among(session, api.Grade, "notebook_id", ids)},
            {(row.notebook_id, row.cell_id): row for row in _among(session, api.Comment, "notebook_id", ids)},
        )
        return {name: SubmissionRows(name, name in known, stored, self._notebooks) for name in names}

    def _settle(self, entry: Entry, row: SubmissionRows, writes: Writes) -> None:
        if not row.student_known:
            writes.insert(api.Student, id=entry.student)
        timestamp = entry.timestamp or row.timestamp
        if row.new:
            writes.insert(
                api.SubmittedAssignment,
                id=row.id,
                assignment_id=self._assignment.id,
                student_id=entry.student,
                timestamp=timestamp,
            )
        elif timestamp != row.timestamp:
            writes.change(api.SubmittedAssignment, row.id, timestamp=timestamp)
        late = self._assignment.seconds_late(timestamp, row.extension)
        pieces = {piece.notebook: piece for piece in entry.pieces}
        for name, notebook in row.notebooks.items():
            if notebook.new:
                writes.insert(
                    api.SubmittedNotebook,
                    id=notebook.id,
                    notebook_id=notebook.released.id,
                    assignment_id=row.id,
                    flagged=False,
                )
            notebook.settle(pieces[name], entry.fresh, writes)
            penalty = self._penalty_for(entry.student, notebook, late) if pieces[name].records is not None else None
            if pieces[name].records is not None and penalty != notebook.penalty:
                writes.change(api.SubmittedNotebook, notebook.id, late_submission_penalty=penalty)
                notebook.penalty = penalty

    def _penalty_for(self, student: str, notebook: NotebookRows, late: float) -> float | None:
        if late <= 0:
            return None
        score = sum(grade.score for grade in notebook.grades.values())
        penalty = self._penalty(student, score, late)
        return None if penalty is None else min(max(0.0, penalty), score)

    @contextmanager
    def _session(self) -> Iterator[Session]:
        try:
            with Session(self._engine, expire_on_commit=False) as session, session.begin():
                yield session
        except DBAPIError as problem:
            raise fault(problem) from problem


def fault(problem: DBAPIError) -> Exception:
    """Return what a database's complaint amounts to."""
    says = str(problem.orig)
    if "locked" in says or "busy" in says:
        return GradebookLocked(says)
    if "full" in says:
        return GradebookFull(says)
    return GradebookBroken(says)


def _among(session: Session, model: Any, column: str, values: list[str]) -> list[Any]:
    table = model.__table__
    return list(session.execute(select(table).where(table.c[column].in_(values))))


def _own_transactions(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # Python's sqlite3 would begin transactions of its own, too late


def _begin_to_write(connection: Any) -> None:
    # Reading first and then writing fails at once when somebody else wrote in between, whatever the patience.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
