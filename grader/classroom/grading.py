"""The pure step of grading: a submission's bytes and the course's cells in, the autograded notebook and records out.

No database and no course folder are needed, so it runs anywhere: in this process, in a worker process, on a cluster.
nbgrader's ``autograde`` with our configuration goes through the same functions, one preprocessor at a time.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import nbformat

from grader.answers.runner import Worker
from grader.answers.sandbox import Isolation, NoSandbox
from grader.classroom import FAILED
from grader.classroom.course_cells import CourseNotebook
from grader.classroom.judging import judge_into, needs_kernel
from grader.classroom.records import Records, records_of
from grader.classroom.sheet import Sheet
from grader.classroom.submission import opened, put_back
from grader.verdict import Text
from grader.words import use_language


@dataclass(frozen=True)
class Judged:
    """One submitted notebook after judging."""

    text: str
    """The autograded notebook, as the file's text."""
    records: Records
    verdicts: dict[str, dict[str, Any]]
    """What the notebook's metadata says of each criterion: met, message in both languages."""
    flags: tuple[str, ...]
    """Remarks for the instructor."""


def judge_submission(
    content: bytes | Text,
    course: CourseNotebook,
    student: str,
    made_from: str,
    worker: Worker | None = None,
    flags: tuple[str, ...] = (),
) -> Judged:
    """Judge what one learner handed in for one notebook.

    Args:
        content: the file's bytes, or why they could not be had.
        course: the course's own cells.
        student: whose it is.
        made_from: the fingerprint of all this; the autograded notebook carries it.
        worker: where the learner's code runs; this process's own when None.
        flags: what else the instructor should know.
    """
    notebook = opened(content)
    put_back(notebook, course, made_from)
    notebook.metadata["crash_course"]["flags"].extend(flags)
    if needs_kernel(notebook):
        from nbgrader.preprocessors import Execute, LimitOutput

        notebook, _ = Execute().preprocess(notebook, {})
        judge_into(notebook, student, worker)
        notebook, _ = LimitOutput().preprocess(notebook, {})
    else:
        judge_into(notebook, student, worker)
    return _judged(notebook)


def judged_before(text: str, made_from: str) -> Judged | None:
    """Return what an autograded notebook says, if it carries this fingerprint; else None."""
    try:
        notebook = nbformat.v4.reads(text)
        return _judged(notebook) if notebook.metadata["crash_course"]["fingerprint"] == made_from else None
    except Exception:  # torn, emptied or edited: whatever it is, it is judged again
        return None


def _judged(notebook: Any) -> Judged:
    notes = {cell.id: cell.metadata.get("crash_course") for cell in notebook.cells}
    return Judged(
        text=nbformat.v4.writes(notebook) + "\n",
        records=records_of(notebook),
        verdicts={name: dict(note) for name, note in notes.items() if note is not None},
        flags=tuple(notebook.metadata["crash_course"].get("flags", ())),
    )


def crashed(course: CourseNotebook, student: str, sentence: Text, reason: str) -> Judged:
    """Return what stands for a submission that twice took the process down that judged it; a person decides."""
    return judge_submission(sentence, course, student, "", flags=(f"{FAILED}{reason}",))


def feedback_page(text: str, course: CourseNotebook, student: str, sheet: Sheet, made_from: str) -> str:
    """Return the feedback page of an autograded notebook; it carries what it was made from."""
    from grader.classroom.feedback import page

    notebook = nbformat.v4.reads(text)
    sheet.into(notebook)
    about = {"notebook": course.name, "student": student, "made_from": made_from, **sheet.about()}
    return page(notebook, about)


@dataclass(frozen=True)
class Setting:
    """What every job needs to know."""

    language: str
    isolation: Isolation
    """How learners' code is kept apart: see :class:`~grader.answers.runner.Worker`."""


@dataclass(frozen=True)
class JudgeJob:
    """Judge one submitted notebook."""

    student: str
    course: CourseNotebook
    content: bytes | Text
    made_from: str


@dataclass(frozen=True)
class PageJob:
    """Make the feedback page of one autograded notebook."""

    student: str
    course: CourseNotebook
    text: str
    sheet: Sheet
    made_from: str


Job = JudgeJob | PageJob
_workers: dict[Isolation, Worker] = {}
_one_at_a_time = threading.Lock()


def do(job: Job, setting: Setting) -> Judged | str:
    """Do one job in this process, which keeps a warm worker for the next ones.

    Raises:
        NoSandbox: isolation is required and can't be had here.
    """
    with _one_at_a_time:  # a cluster's workers may have several threads
        use_language(setting.language)
        if isinstance(job, PageJob):
            return feedback_page(job.text, job.course, job.student, job.sheet, job.made_from)
        if setting.isolation not in _workers:
            _workers[setting.isolation] = Worker(isolation=setting.isolation)
            _workers[setting.isolation].warm()
        worker = _workers[setting.isolation]
        return judge_submission(job.content, job.course, job.student, job.made_from, worker)


def attempt(job: Job, setting: Setting) -> tuple[Judged | str | None, str | Text]:
    """Do one job; whatever goes wrong comes back as plain data.

    Returns:
        the result and "", or None and why there is none: a text when no job can be done here (no sandbox).
    """
    try:
        return do(job, setting), ""
    except NoSandbox as refusal:
        return None, refusal.text
    except Exception as problem:
        return None, f"{problem!r}"[:500]
