"""A class with every attack in it, honest work before and after, graded by nbgrader or by the command."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attack import CANARY, Attack, Work
from catalogue import BY_WHAT_IS_HANDED_IN, attacks

from grader.answers import sandbox
from grader.build import find_checkout
from grader.classroom.course import Course, NbgraderFailed
from grader.classroom.grade_command import Wishes, grade

CHECKOUT = find_checkout(Path(__file__).parent) or Path()
LEVELS = ("level1", "level2", "level3", "level4")
FIRST, LAST = "a-honest", "z-honest"
SANDBOXED = sandbox.why_not() is None
ATTACKS = attacks(SANDBOXED)
WAYS = {"nbgrader": BY_WHAT_IS_HANDED_IN, "command": ATTACKS}
"""The ways in which a class is graded, and the attacks in it. Code is judged by the same step in both."""


def student_of(attack: Attack) -> str:
    """Return who makes an attack: somebody between the first and the last."""
    return f"m{ATTACKS.index(attack):03d}-{attack.name}".replace(" ", "-").replace("/", "-")


@dataclass
class Graded:
    """A class after it was graded."""

    folder: Path
    levels: tuple[str, ...] = LEVELS
    refused: dict[str, str] = field(default_factory=dict)
    """What nbgrader said of submissions that it did not take at all."""
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    """What lay in the course, but for the results of grading."""

    def marks(self, level: str, student: str) -> dict[str, tuple[float, float | None, bool]]:
        """Return of each criterion: the score, the automatic score and whether it waits."""
        with Course(self.folder).gradebook() as gradebook:
            submission = gradebook.find_submission(level, student)
            return {
                grade.name.removeprefix(f"{level}-"): (grade.score, grade.auto_score, grade.needs_manual_grade)
                for notebook in submission.notebooks
                for grade in notebook.grades
            }

    def taken(self, level: str, student: str) -> bool:
        """Whether the submission got as far as any step of ours."""
        return (self.folder / "classroom/autograded" / student / level / f"{level}.ipynb").is_file()

    def autograded(self, level: str, student: str) -> str:
        """Return the text of the graded notebook."""
        return (self.folder / "classroom/autograded" / student / level / f"{level}.ipynb").read_text(encoding="utf-8")

    def flags(self, level: str, student: str) -> list[str]:
        """Return what the instructor is told."""
        found: list[str] = json.loads(self.autograded(level, student))["metadata"]["crash_course"]["flags"]
        return found

    def page(self, level: str, student: str) -> str:
        """Return the text of the feedback page."""
        return (self.folder / "classroom/feedback" / student / level / f"{level}.html").read_text(encoding="utf-8")


def notebook(level: str, *, solved: bool) -> Any:
    """Return a level's notebook: the reference's answers in what learners are given, or without them."""
    released: Any = json.loads((CHECKOUT / "exercises" / level / f"{level}.ipynb").read_text(encoding="utf-8"))
    reference = json.loads((CHECKOUT / "solutions" / level / f"{level}.ipynb").read_text(encoding="utf-8"))
    answers = {cell["id"]: cell["source"] for cell in reference["cells"]}
    for cell in released["cells"]:
        if solved and cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = answers[cell["id"]]
        if isinstance(cell["source"], list):
            cell["source"] = "".join(cell["source"])
    return released


def course(folder: Path, levels: tuple[str, ...] = LEVELS) -> None:
    """Make a course in an empty folder, with a secret in its solutions and its gradebook."""
    shutil.copy(CHECKOUT / "nbgrader_config.py", folder)
    for level in levels:
        place = folder / "solutions" / level / f"{level}.ipynb"
        place.parent.mkdir(parents=True)
        text = (CHECKOUT / "solutions" / level / f"{level}.ipynb").read_text(encoding="utf-8")
        solutions = json.loads(text)
        for cell in solutions["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("solution"):
                cell["source"] = f"# {CANARY}\n" + "".join(cell["source"])
        place.write_text(json.dumps(solutions), encoding="utf-8")
        Course(folder).generate_assignment(level)
    with Course(folder).gradebook() as book:
        for student in (FIRST, LAST):
            book.update_or_create_student(student, last_name=CANARY)


def _hand_in(folder: Path, made: list[Attack], levels: tuple[str, ...]) -> None:
    for level in levels:
        for student in (FIRST, LAST):
            place = folder / "classroom/submitted" / student / level / f"{level}.ipynb"
            place.parent.mkdir(parents=True)
            honest = notebook(level, solved=True)
            honest["cells"][-1]["source"] += f"\n{CANARY}"
            place.write_text(json.dumps(honest), encoding="utf-8")
    for attack in made:
        place = folder / "classroom/submitted" / student_of(attack) / attack.level
        place.mkdir(parents=True)
        work = Work(folder, place, attack.level, notebook(attack.level, solved=attack.solved))
        attack.change(work)
        work.hand_in()


def _everything(folder: Path) -> dict[str, str]:
    """Return what lies in a course, but for what grading writes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.startswith(("classroom/autograded", "classroom/feedback", "classroom/gradebook", "classroom/report")):
            continue
        mode = path.lstat().st_mode
        data = path.read_bytes() if stat.S_ISREG(mode) else os.readlink(path).encode() if path.is_symlink() else b""
        found[name] = f"{mode} {hashlib.sha256(data).hexdigest()}"
    return found


def _by_nbgrader(folder: Path, graded: Graded) -> None:
    for level in graded.levels:
        nbgrader = Course(folder)
        wanted = [student_of(attack) for attack in WAYS["nbgrader"] if attack.level == level]
        for student in (FIRST, *wanted, LAST):
            try:
                nbgrader.autograde(level, student)
                nbgrader.generate_feedback(level, student)
            except NbgraderFailed as refusal:
                graded.refused[student] = str(refusal)


def _by_command(folder: Path) -> None:
    here = os.getcwd()
    os.chdir(folder)
    try:
        for level in LEVELS:
            assert grade(level, Wishes()) == 0
    finally:
        os.chdir(here)


def graded_by(way: str, folder: Path) -> Graded:
    """Make the class in an empty folder, hand everything in and grade it in one go."""
    made = Graded(folder)
    made.levels = LEVELS if way == "command" else ("level2",)
    course(folder, made.levels)
    _hand_in(folder, WAYS[way], made.levels)
    made.before = _everything(folder)
    if way == "nbgrader":
        _by_nbgrader(folder, made)
    else:
        _by_command(folder)
    made.after = _everything(folder)
    return made
