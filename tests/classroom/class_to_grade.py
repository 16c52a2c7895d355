"""A class in a scratch course, and a judge whose word a test can choose."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from grader.build import find_checkout
from grader.classroom.course import Course
from grader.criteria import of_exercise
from grader.verdict import Text, Verdict

CHECKOUT = find_checkout(Path(__file__).parent) or Path()


class SayingJudge:
    """Stands in for the judge where a test is about nbgrader's side: says what the test tells it to."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.special: dict[str, Verdict] = {}
        self.failure: Exception | None = None

    def __call__(
        self, notebook: Any, exercise: str | None = None, student_id: str = "", *, worker: Any = None
    ) -> list[Verdict]:
        self.seen.append(notebook)
        if self.failure is not None:
            raise self.failure
        verdicts = [
            Verdict(one.id, True, one.points, one.points, Text(f"{one.id} holds.", f"{one.id} 成立。"))
            for one in of_exercise(exercise or "")
        ]
        return [self.special.get(verdict.criterion, verdict) for verdict in verdicts]


def saying_judge(monkeypatch: pytest.MonkeyPatch) -> SayingJudge:
    """Put such a judge in the judge's place, as long as the patch lasts."""
    module = ModuleType("grader.answers.judge")
    says = SayingJudge()
    module.judge_notebook = says  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "grader.answers.judge", module)
    return says


class Class:
    """A course with a way to hand in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.course = Course(folder)

    def release(self) -> dict[str, Any]:
        text = (self.folder / "exercises/level2/level2.ipynb").read_text(encoding="utf-8")
        notebook: dict[str, Any] = json.loads(text)
        return notebook

    def hand_in(self, student: str, work: bytes | dict[str, Any]) -> None:
        place = self.folder / "classroom/submitted" / student / "level2" / "level2.ipynb"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(work if isinstance(work, bytes) else json.dumps(work).encode())

    def grade(self, student: str) -> dict[str, tuple[float, float | None, bool]]:
        """Autograde and return of each criterion: score, automatic score, waits."""
        self.course.autograde("level2", student)
        return self.grades(student)

    def grades(self, student: str) -> dict[str, tuple[float, float | None, bool]]:
        with self.course.gradebook() as gradebook:
            submission = gradebook.find_submission("level2", student)
            return {
                grade.name: (grade.score, grade.auto_score, grade.needs_manual_grade)
                for notebook in submission.notebooks
                for grade in notebook.grades
            }

    def autograded(self, student: str) -> dict[str, Any]:
        path = self.folder / "classroom/autograded" / student / "level2/level2.ipynb"
        notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return notebook

    def page(self, student: str) -> Path:
        self.course.generate_feedback("level2", student)
        return self.folder / "classroom/feedback" / student / "level2/level2.html"
