"""``crash-course grade``: a class graded at once, and what the instructor sees of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from grader.answers import sandbox
from grader.classroom import FAILED
from grader.classroom.batch import Batch, Graded
from grader.classroom.course_cells import CourseNotebook
from grader.classroom.crew import Crew, Hands
from grader.classroom.folders import Folders, Refused, course_root
from grader.classroom.grading import Setting
from grader.classroom.handed_in import HandedIn, handed_in
from grader.classroom.writer import GradebookBroken, GradebookFull, GradebookLocked, Writer
from grader.criteria import criteria
from grader.verdict import Text
from grader.words import LANGUAGES, catalogue, language, plain, say, use_language

words = catalogue("classroom/grade.toml")

GRADED, FAULTS, UNUSABLE, STOPPED = 0, 1, 2, 130
_SHOWN = 12


@dataclass(frozen=True)
class Wishes:
    """How the class is to be graded."""

    students: tuple[str, ...] = ()
    """Whose work; everybody's when empty."""
    sandbox: bool = False
    """Refuse to run without bubblewrap."""
    jobs: int | None = None
    """How many processes; one for each core when None."""
    scheduler: str | None = None
    """Address of a Dask scheduler that does the judging."""
    force: bool = False
    """Judge again what has not changed."""
    pages: bool = True
    """Make the feedback pages too."""


def grade(exercise: str, wishes: Wishes, as_json: bool = False, lang: str | None = None) -> int:
    """Grade the submissions of an exercise and print what came of it.

    Returns:
        0 when all are graded, 1 when the grader itself failed on some, 2 when it could not be done, 130 when stopped.
    """
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    if lang is not None and lang not in LANGUAGES:
        return _unusable(errors, catalogue()("check.lang", lang=lang[:20]))
    if lang is not None:
        use_language(lang)
    exercise = exercise.rstrip("/")  # as a shell completes a folder's name
    begun = time.monotonic()
    run = _Run(exercise, wishes, errors)
    try:
        found = run.go()
    except Refused as refusal:
        return _unusable(errors, refusal.text)
    except sandbox.NoSandbox as refusal:
        return _unusable(errors, refusal.text)
    except (GradebookLocked, GradebookFull, GradebookBroken) as problem:
        key = {GradebookLocked: "locked", GradebookFull: "full"}.get(type(problem), "gradebook")
        return _unusable(errors, words(key, path=run.gradebook, reason=plain(str(problem)[:200])))
    except KeyboardInterrupt:
        errors.print(say(words("stopped", done=run.done, total=run.total)), markup=False)
        return STOPPED
    if as_json:
        print(json.dumps(as_data(exercise, run.courses, found), ensure_ascii=False, indent=2))
    else:
        _show(run, found, time.monotonic() - begun)
    faults = [(graded.handed.student, flag) for graded in found for flag in graded.flags if flag.startswith(FAILED)]
    return FAULTS if faults else GRADED


def _unusable(errors: Console, text: Text) -> int:
    errors.print(say(text), markup=False)
    return UNUSABLE


class _Run:
    """One run of the command: what it has found out so far."""

    def __init__(self, exercise: str, wishes: Wishes, errors: Console) -> None:
        self.exercise, self.wishes, self.errors = exercise, wishes, errors
        self.gradebook: Path | None = None
        self.folders: Folders
        self.courses: list[CourseNotebook] = []
        self.done = self.total = 0

    def go(self) -> list[Graded]:
        """Grade, or raise what stands against it."""
        if self.wishes.jobs is not None and self.wishes.jobs < 1:
            raise Refused(words("jobs"))
        root = course_root()
        if root is None:
            raise Refused(words("no_course"))
        self.folders = Folders(root)
        self.gradebook = self.folders.gradebook
        if self.wishes.sandbox:
            sandbox.enclosure("required")
        elif self.wishes.scheduler is None and (notice := sandbox.notice()) is not None:
            self.errors.print(say(notice), markup=False)
        submissions = self._submissions()
        with self.folders.alone():
            writer = Writer(self.folders.db_url, self.folders.penalty)
            try:
                self.courses = self._courses(writer)
                return self._grade(writer, submissions)
            finally:
                writer.close()

    def _submissions(self) -> list[HandedIn]:
        known = self.folders.known()
        submissions, aside = handed_in(self.folders.submitted, self.exercise)
        if not submissions and self.exercise not in known:
            raise Refused(_no_exercise(self.exercise, known, self.folders.solutions))
        for text in aside:
            self.errors.print(say(text), markup=False)
        if not submissions:
            pattern = self.folders.submitted / "*" / self.exercise
            raise Refused(words("no_submissions", name=self.exercise, pattern=pattern))
        if not self.wishes.students:
            return submissions
        by_name = {one.student: one for one in submissions}
        for student in self.wishes.students:
            if student not in by_name:
                folder = self.folders.submitted / student / self.exercise
                raise Refused(words("no_student", student=student, name=self.exercise, folder=folder))
        return [one for one in submissions if one.student in self.wishes.students]

    def _courses(self, writer: Writer) -> list[CourseNotebook]:
        """Return the exercise's notebooks; one that is not in the gradebook yet is entered first."""
        known = self.folders.known()
        there = self.folders.has_gradebook
        courses = writer.exercise(self.exercise) if there else []
        if not there or (not self.folders.is_entered(self.exercise, courses) and not writer.has_submissions()):
            if self.exercise not in known:
                raise Refused(_no_exercise(self.exercise, known, self.folders.solutions))
            self.folders.enter(self.exercise)
            folder = self.folders.solutions / self.exercise
            self.errors.print(say(words("entered", name=self.exercise, folder=folder)), markup=False)
            courses = writer.exercise(self.exercise)
        for course in courses:
            for name, most in course.graded.items():
                if name in criteria() and criteria()[name].points != most:
                    here = f"{criteria()[name].points:g}"
                    raise Refused(words("points", criterion=name, there=f"{most:g}", here=here, name=self.exercise))
        others = [name for course in courses for name in course.graded if name not in criteria()]
        if others and self.wishes.sandbox:
            raise Refused(words("kernel", name=self.exercise, cells=", ".join(others)))
        return courses

    def _grade(self, writer: Writer, submissions: list[HandedIn]) -> list[Graded]:
        self.total = len(submissions)
        hands = self._hands()
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
        )  # fmt: skip
        try:
            shown = self.errors.is_terminal  # else a file of errors gets an empty line
            with Progress(*columns, console=self.errors, transient=True, disable=not shown) as progress:
                bar = progress.add_task(say(words("progress", name=self.exercise)), total=self.total)

                def tell(graded: Graded) -> None:
                    self.done += 1
                    progress.update(bar, completed=self.done)

                batch = Batch(
                    self.folders, self.exercise, self.courses, writer, hands,
                    pages=self.wishes.pages, force=self.wishes.force, tell=tell,
                )  # fmt: skip
                return batch.run(submissions)
        finally:
            hands.close()

    def _hands(self) -> Hands:
        setting = Setting(language(), "required" if self.wishes.sandbox else "auto")
        if self.wishes.scheduler is not None:
            from grader.classroom.cluster import Cluster

            return Cluster(self.wishes.scheduler, setting)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        jobs = self.wishes.jobs or cores + 1  # one more: now and then each waits for a run that itself waits
        return Crew(min(jobs, self.total), setting)


def _no_exercise(name: str, known: Sequence[str], folder: Path) -> Text:
    if known:
        return words("no_exercise", name=name, known=", ".join(known))
    return words("no_exercises", name=name, folder=folder)


def as_data(exercise: str, courses: Sequence[CourseNotebook], found: Sequence[Graded]) -> dict[str, Any]:
    """Return the marks as plain data, criteria as ``check --json`` gives them."""
    return {
        "exercise": exercise,
        "submissions": [
            {
                "student": graded.handed.student,
                "score": sum(sheet.score for sheet in graded.sheets.values()),
                "max_score": sum(sheet.most for sheet in graded.sheets.values()),
                "flags": graded.flags,
                "criteria": [_criterion(graded, course, name) for course in courses for name in course.graded],
            }
            for graded in found
        ],
    }


def _criterion(graded: Graded, course: CourseNotebook, name: str) -> dict[str, Any]:
    mark = graded.sheets[course.name].marks[name]
    judged = graded.judged.get(course.name)
    verdict = judged.verdicts.get(name) if judged is not None else None
    message = "" if verdict is None else say(Text(**verdict["message"]))
    met = None if mark.waits else mark.score >= mark.most
    return {"id": name, "met": met, "points": mark.score, "max_points": mark.most, "message": message}


def _show(run: _Run, found: Sequence[Graded], seconds: float) -> None:
    console = Console(highlight=False)
    judged = sum(graded.fresh for graded in found)
    head = words(
        "head",
        name=run.exercise,
        count=len(found),
        seconds=f"{seconds:.1f}",
        judged=judged,
        kept=len(found) - judged,
    )
    console.print(say(head), markup=False)
    console.print()
    console.print(_table(run, found))
    console.print()
    data = as_data(run.exercise, run.courses, found)["submissions"]
    waiting = sum(any(one["met"] is None for one in submission["criteria"]) for submission in data)
    if waiting:
        console.print(say(words("waiting", count=waiting)), markup=False)
    flagged = [graded for graded in found if graded.flags]
    if flagged:
        console.print(say(words("flagged", count=len(flagged))), markup=False)
        for graded in flagged[:_SHOWN]:
            line = f"  {graded.handed.student}: {'; '.join(graded.flags)}"
            console.print(line, markup=False, no_wrap=True, overflow="ellipsis", soft_wrap=not console.is_terminal)
        if len(flagged) > _SHOWN:
            console.print(say(words("more", count=len(flagged) - _SHOWN)), markup=False)
    if run.wishes.pages:
        console.print(say(words("pages", path=run.folders.feedback)), markup=False, soft_wrap=True)


def _table(run: _Run, found: Sequence[Graded]) -> Table:
    table = Table(box=None, padding=(0, 1))
    table.add_column(say(words("column.criterion")))
    for key in ("met", "partly", "not", "waits", "mean"):
        table.add_column(say(words(f"column.{key}")), justify="right")
    for course in run.courses:
        for name, most in course.graded.items():
            each = [_criterion(graded, course, name) for graded in found]
            settled = [one for one in each if one["met"] is not None]
            full = sum(one["met"] for one in settled)
            partly = sum(0 < one["points"] < most for one in settled)
            mean = f"{sum(one['points'] for one in settled) / len(settled):.1f}" if settled else "-"
            counts = (full, partly, len(settled) - full - partly, len(each) - len(settled))
            table.add_row(name, *(str(count) for count in counts), f"{mean}/{most:g}")
    return table
