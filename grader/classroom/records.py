"""What a judged notebook puts into the gradebook: a score for each graded cell, a comment for each answer cell."""

from dataclasses import dataclass
from typing import Any

from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution, is_task

from grader.criteria import criteria
from grader.verdict import Text
from grader.words import catalogue, say

words = catalogue("classroom/words.toml")


@dataclass(frozen=True)
class Records:
    """The rows of one judged notebook, by grade_id."""

    scores: dict[str, float | None]
    """The automatic score; None waits for a person."""
    comments: dict[str, str | None]
    """The automatic comment."""


def records_of(nb: Any, log: Any = None) -> Records:
    """Return what ``nb`` puts into the gradebook.

    A verdict that waits goes to nbgrader's manual queue. Its suggested mark becomes the automatic comment on the
    answer cell, where a grader finds it and writes over it.
    """
    suggestions: dict[str, list[str]] = {}
    for cell in nb.cells:
        if _waiting(cell):
            name = cell.metadata.nbgrader.grade_id
            suggestions.setdefault(criteria()[name].cell, []).append(_suggestion(name, cell))
    scores: dict[str, float | None] = {}
    comments: dict[str, str | None] = {}
    for cell in nb.cells:
        if is_grade(cell):
            scores[cell.metadata.nbgrader.grade_id] = None if _waiting(cell) else determine_grade(cell, log)[0]
        if is_solution(cell) or is_task(cell):
            name = cell.metadata.nbgrader.grade_id
            comments[name] = _no_response(cell) or "\n\n".join(suggestions.get(name, [])) or None
    return Records(scores, comments)


def _no_response(cell: Any) -> str | None:
    unchanged = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
    return "No response." if unchanged and not is_task(cell) else None  # nbgrader's own words


class SaveGrades(SaveAutoGrades):  # type: ignore[misc]
    """nbgrader's own step into the gradebook, with these records."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Work out the records, then save cell by cell."""
        self.records = records_of(nb, self.log)
        nb, resources = super().preprocess(nb, resources)
        return nb, resources

    def _add_score(self, cell: Any, resources: Any) -> None:
        grade = self._find(self.gradebook.find_grade, cell)
        grade.auto_score = self.records.scores[cell.metadata.nbgrader.grade_id]
        grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        self.gradebook.db.commit()

    def _add_comment(self, cell: Any, resources: Any) -> None:
        comment = self._find(self.gradebook.find_comment, cell)
        comment.auto_comment = self.records.comments[cell.metadata.nbgrader.grade_id]
        self.gradebook.db.commit()

    def _find(self, find: Any, cell: Any) -> Any:
        return find(cell.metadata.nbgrader.grade_id, self.notebook_id, self.assignment_id, self.student_id)


def _waiting(cell: Any) -> bool:
    note = cell.metadata.get("crash_course")
    return note is not None and is_grade(cell) and not is_solution(cell) and note.get("met", False) is None


def _suggestion(name: str, cell: Any) -> str:
    """Return the comment for the person who marks: the mark suggested, the reason, and what each point is for."""
    note = cell.metadata.crash_course
    parts = [f"{name}: {say(words('status.waits'))}."]
    if note.get("suggested") is not None:
        points = float(cell.metadata.nbgrader.points)
        parts.append(say(words("suggested", points=f"{note['suggested']:g}", most=f"{points:g}")))
    lines = [" ".join(parts), *say(Text(**note["message"])).split("\n")]
    if note.get("suggested") is not None:
        lines += [say(words("scheme.head")), *(say(line) for line in _scheme(name))]
    return "\n".join(lines)


def _scheme(name: str) -> list[Text]:
    """Return the mark scheme of a criterion that has written parts."""
    criterion = criteria()[name]
    most = criterion.points - 1 if criterion.kind == "prediction" else criterion.points
    lines = [words("scheme.prediction")] if criterion.kind == "prediction" else []
    share = most / max(1, len(criterion.compare))
    return lines + [words("scheme.point", points=f"{share:g}", point=point) for point in criterion.compare]
