"""What the gradebook says of one submitted notebook, as plain data: its feedback page is made from nothing else."""

import hashlib
from dataclasses import dataclass
from typing import Any

from nbgrader.utils import is_grade, is_solution, is_task

from grader.classroom.course_cells import kit
from grader.words import language


@dataclass(frozen=True)
class Mark:
    """What a graded cell earned."""

    score: float
    most: float
    waits: bool
    by_person: bool


@dataclass(frozen=True)
class Sheet:
    """The marks of one submitted notebook."""

    marks: dict[str, Mark]
    comments: dict[str, str | None]
    """What a person wrote, by answer cell. Automatic comments hold the judge's suggestions to that person."""
    late_penalty: float

    @property
    def score(self) -> float:
        """What counts: the marks without what coming late cost."""
        return sum(mark.score for mark in self.marks.values()) - self.late_penalty

    @property
    def most(self) -> float:
        """What can be reached."""
        return sum(mark.most for mark in self.marks.values())

    def about(self) -> dict[str, float]:
        """Return the totals under the names that nbgrader gives them."""
        return {"score": self.score, "max_score": self.most, "late_penalty": self.late_penalty}

    def into(self, nb: Any) -> None:
        """Write the marks into the cells of an autograded notebook, where the page looks for them."""
        for cell in nb.cells:
            marks = cell.metadata.get("nbgrader", {})
            if is_solution(cell) or is_task(cell):
                marks["comment"] = self.comments[marks.grade_id]
            if is_grade(cell) or is_task(cell):
                mark = self.marks[marks.grade_id]
                marks["score"], marks["points"] = mark.score, mark.most
                marks["waits"], marks["by_person"] = mark.waits, mark.by_person


def sheet_of(notebook: Any) -> Sheet:
    """Return the sheet of nbgrader's ``SubmittedNotebook``."""
    marks = {
        grade.name: Mark(
            float(grade.score), float(grade.max_score), bool(grade.needs_manual_grade), grade.manual_score is not None
        )
        for grade in notebook.grades
    }
    comments = {comment.name: comment.manual_comment for comment in notebook.comments}
    return Sheet(marks, comments, float(notebook.late_submission_penalty or 0))


def made_from(autograded: str, sheet: Sheet) -> str:
    """Return a digest of all that a feedback page is made from; the page carries it, so it shows when it is old."""
    parts = [kit(), language(), repr(sheet), autograded]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
