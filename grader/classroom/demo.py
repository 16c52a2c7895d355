"""A small class, graded through nbgrader from nothing to feedback pages and a class report."""

import json
import shutil
import tempfile
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.classroom import FAILED
from grader.classroom.course import Course, NbgraderFailed
from grader.classroom.folders import Folders
from grader.classroom.report import report_on
from grader.classroom.report_page import write_report
from grader.verdict import Text
from grader.words import catalogue

words = catalogue("classroom/words.toml")
_CLASS = Path(__file__).parent / "demo_class.toml"

Step = Callable[[int, int, Text], None]
"""Called before each step of the demo: how many are done, how many there are, and what comes now."""


@dataclass(frozen=True)
class Handed:
    """One submission of the demo class, as ``demo_class.toml`` lists it."""

    student: str
    level: str
    about: str
    entry: dict[str, Any]


@dataclass(frozen=True)
class Mark:
    """What the gradebook holds for one criterion of one submission."""

    id: str
    points: float
    max_points: float
    waits: bool


@dataclass(frozen=True)
class Graded:
    """One submission after grading."""

    student: str
    level: str
    about: str
    score: float
    max_score: float
    criteria: tuple[Mark, ...]
    feedback: Path | None
    flags: tuple[str, ...] = ()
    problem: Text | None = None
    """Why the submission could not be read, in which case all of it waits for a person."""


@dataclass(frozen=True)
class Demo:
    """The graded class and where its files lie."""

    folder: Path
    submissions: tuple[Graded, ...]
    reports: tuple[Path, ...]
    """The class report's page of each exercise."""
    seconds: float

    def faults(self) -> list[str]:
        """Return what went wrong in the grader or nbgrader themselves, each fault once."""
        flags = [flag for graded in self.submissions for flag in graded.flags]
        return list(dict.fromkeys(flag for flag in flags if flag.startswith(FAILED)))

    def levels(self) -> list[str]:
        """Return the exercises that the class handed in."""
        return list(dict.fromkeys(graded.level for graded in self.submissions))


def demo_class() -> list[Handed]:
    """Return the submissions of the demo class, in order."""
    with _CLASS.open("rb") as file:
        entries = tomllib.load(file)["submission"]
    return [Handed(entry["student"], entry["level"], entry["about"], entry) for entry in entries]


def run_demo(checkout: Path, folder: Path | None = None, step: Step = lambda done, of, what: None) -> Demo:
    """Grade the demo class in ``folder`` (a new scratch folder by default) with the checkout's course.

    The checkout is only read. The folder is a course of its own afterwards: nbgrader's commands work in it.
    """
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="crash-course-demo-")) if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    handed = demo_class()
    levels = list(dict.fromkeys(one.level for one in handed))
    total = 2 * (len(levels) + len(handed))
    done = 0

    def tell(key: str, **values: object) -> None:
        nonlocal done
        step(done, total, words(f"demo.{key}", **values))
        done += 1

    shutil.copy(checkout / "nbgrader_config.py", folder)
    for level in levels:
        target = folder / "solutions" / level
        target.mkdir(parents=True)
        for notebook in (checkout / "solutions" / level).glob("*.ipynb"):
            shutil.copy(notebook, target)
    course = Course(folder)
    for level in levels:
        tell("release", level=level)
        course.generate_assignment(level)
    failures: dict[tuple[str, str], str] = {}
    for one in handed:
        tell("grade", level=one.level, student=one.student)
        hand_in(folder, one)
        try:
            course.autograde(one.level, one.student)
        except NbgraderFailed as problem:
            failures[one.level, one.student] = (str(problem).splitlines() or ["?"])[-1]
    for one in handed:
        tell("feedback", level=one.level, student=one.student)
        if (one.level, one.student) not in failures:
            course.generate_feedback(one.level, one.student)
    with course.gradebook() as gradebook:
        graded = tuple(_graded(folder, gradebook, one, failures.get((one.level, one.student))) for one in handed)
    folders = Folders(folder)
    reports = []
    for level in levels:
        tell("report", level=level)
        reports.append(write_report(folders, report_on(folders, level)))
    return Demo(folder, graded, tuple(reports), time.monotonic() - begun)


def hand_in(folder: Path, one: Handed) -> Path:
    """Write one submission of the class where nbgrader looks for it and return its path."""
    place = folder / "classroom" / "submitted" / one.student / one.level / f"{one.level}.ipynb"
    place.parent.mkdir(parents=True)
    if "file" in one.entry:
        place.write_text(one.entry["file"].lstrip("\n"), encoding="utf-8")
        return place
    name = f"{one.level}/{one.level}.ipynb"
    notebook = json.loads((folder / "exercises" / name).read_text(encoding="utf-8"))
    solved = json.loads((folder / "solutions" / name).read_text(encoding="utf-8"))
    reference = {cell["id"]: "".join(cell["source"]) for cell in solved["cells"]}
    answers = {cell: text.strip("\n") for cell, text in one.entry.get("cells", {}).items()}
    answers |= {cell: reference[cell] for cell in one.entry.get("right", [])}
    for cell, old, new in one.entry.get("edits", []):
        answers.setdefault(cell, reference[cell])
        if old not in answers[cell]:
            raise ValueError(f"{one.student}: {cell} of the reference solution no longer holds {old!r}")
        answers[cell] = answers[cell].replace(old, new)
    cells = []
    for cell in notebook["cells"]:
        if cell["id"] == one.entry.get("extra_before"):
            extra = one.entry["extra"].strip("\n")
            blank: dict[str, Any] = {
                "cell_type": "code",
                "id": "extra",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            cells.append({**blank, "source": extra})
        cells.append({**cell, "source": answers.get(cell["id"], cell["source"])})
    place.write_text(json.dumps({**notebook, "cells": cells}, ensure_ascii=False), encoding="utf-8")
    return place


def _graded(folder: Path, gradebook: Any, one: Handed, failure: str | None) -> Graded:
    classroom = folder / "classroom"
    page = classroom / "feedback" / one.student / one.level / f"{one.level}.html"
    problem: Text | None = None
    flags = [f"{FAILED}nbgrader: {failure}"] if failure else []
    autograded = classroom / "autograded" / one.student / one.level / f"{one.level}.ipynb"
    if autograded.is_file():
        note = json.loads(autograded.read_text(encoding="utf-8"))["metadata"].get("crash_course", {})
        flags += note.get("flags", [])
        if "unreadable" in note:
            problem = Text(**note["unreadable"])
    submission = gradebook.find_submission(one.level, one.student)
    marks = [
        Mark(grade.name, float(grade.score), float(grade.max_score), bool(grade.needs_manual_grade))
        for notebook in submission.notebooks
        for grade in notebook.grades
    ]
    order = _order(folder, one.level)
    return Graded(
        student=one.student,
        level=one.level,
        about=one.about,
        score=float(submission.score),
        max_score=float(submission.max_score),
        criteria=tuple(sorted(marks, key=lambda mark: order.index(mark.id))),
        feedback=page if page.is_file() else None,
        flags=tuple(flags),
        problem=problem,
    )


def _order(folder: Path, level: str) -> list[str]:
    release = json.loads((folder / "exercises" / level / f"{level}.ipynb").read_text(encoding="utf-8"))
    return [cell["id"] for cell in release["cells"]]
