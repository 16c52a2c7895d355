"""Where a course's grading lies on disk, as its own configuration says; files are replaced whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from grader.classroom.course import Course, NbgraderFailed
from grader.classroom.course_cells import CourseNotebook
from grader.verdict import Text
from grader.words import catalogue, plain

words = catalogue("classroom/grade.toml")

LOCK = ".grading.lock"
_STEPS = {
    ("Autograde", "sanitize_preprocessors"): (
        "RestoreCells", "OverwriteKernelspec", "OverwriteCells", "CheckCellMetadata",
    ),
    ("Autograde", "autograde_preprocessors"): (
        "JudgeCriteria", "LimitOutput", "SaveGrades", "AssignLatePenalties", "CheckCellMetadata",
    ),
    ("Autograde", "exporter_class"): ("SubmissionReader",),
    ("GenerateFeedback", "preprocessors"): ("FeedbackGrades",),
    ("GenerateFeedback", "exporter_class"): ("FeedbackPage",),
    ("CourseDirectory", "directory_structure"): (os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}"),),
}  # fmt: skip


class Refused(Exception):
    """Grading can't go on; ``text`` is one sentence that says why and what to do."""

    def __init__(self, text: Text) -> None:
        super().__init__(text.en)
        self.text = text


def course_root() -> Path | None:
    """Return the course's folder that the current one is or lies in."""
    here = Path.cwd()
    return next((place for place in (here, *here.parents) if (place / "nbgrader_config.py").is_file()), None)


class Folders:
    """A course's folders, gradebook and rules.

    Raises:
        Refused: the configuration can't be loaded, or asks for other steps than these.
    """

    def __init__(self, root: Path) -> None:
        from nbgrader.converters import Autograde, GenerateFeedback

        self.root = root
        try:
            self.course = Course(root)
        except Exception as problem:
            reason = plain(f"{type(problem).__name__}: {problem}".splitlines()[0][:200])
            raise Refused(words("no_config", path=root / "nbgrader_config.py", reason=reason)) from problem
        api = self.course.api
        self._autograde = Autograde(coursedir=api.coursedir, parent=api)
        self._feedback = GenerateFeedback(coursedir=api.coursedir, parent=api)
        parts = {"Autograde": self._autograde, "GenerateFeedback": self._feedback, "CourseDirectory": api.coursedir}
        for (part, name), wanted in _STEPS.items():
            value = getattr(parts[part], name)
            found = [getattr(each, "__name__", each) for each in (value if isinstance(value, list) else [value])]
            if tuple(found) != wanted:
                raise Refused(words("other_steps", name=f"{part}.{name}"))
        place = api.coursedir
        self.solutions = root / str(place.source_directory)
        self.submitted = root / str(place.submitted_directory)
        self.autograded = root / str(place.autograded_directory)
        self.feedback = root / str(place.feedback_directory)
        self.db_url: str = place.db_url
        self._modes = {".ipynb": _mode(self._autograde), ".html": _mode(self._feedback)}
        self._penalties: Any = None

    @property
    def gradebook(self) -> Path:
        """The gradebook's file; where it is no file, its address."""
        return Path(self.db_url.removeprefix("sqlite:///"))

    def penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        """Return what coming late costs by the course's own rule (nbgrader's ``LateSubmissionPlugin``)."""
        from nbgrader.preprocessors import AssignLatePenalties

        if self._penalties is None:
            self._penalties = AssignLatePenalties(parent=self._autograde)
            self._penalties.init_plugin()
        points = self._penalties.plugin_inst.late_submission_penalty(student, score, seconds_late)
        checked = None if points is None else self._penalties._check_late_penalty(SimpleNamespace(score=score), points)
        return None if checked is None else float(checked)

    def known(self) -> list[str]:
        """Return the exercises that there are sources of."""
        return sorted(path.name for path in self.solutions.glob("*/") if any(path.glob("*.ipynb")))

    @property
    def has_gradebook(self) -> bool:
        """Whether there is a gradebook; a database elsewhere is taken to be there."""
        return not self.db_url.startswith("sqlite") or (self.gradebook.is_file() and self.gradebook.stat().st_size > 0)

    def enter(self, exercise: str) -> None:
        """Enter an exercise into the gradebook as ``nbgrader generate_assignment`` does; the release is left alone.

        Where there is no gradebook yet, one is made beside its place and put there whole: nbgrader takes several steps.
        """
        if self.has_gradebook:
            self._enter(exercise, self.db_url)
            return
        part = self.gradebook.with_name(f".{self.gradebook.name}.part")
        with writing(self.gradebook):
            part.parent.mkdir(parents=True, exist_ok=True)
            for left in (part, part.with_name(f"{part.name}-journal")):
                left.unlink(missing_ok=True)
            self._enter(exercise, f"sqlite:///{part}")
            os.replace(part, self.gradebook)

    def _enter(self, exercise: str, db_url: str) -> None:
        with tempfile.TemporaryDirectory(prefix="crash-course-enter-") as scratch:
            copy = Path(scratch).resolve()
            shutil.copy(self.root / "nbgrader_config.py", copy)
            for notebook in (self.solutions / exercise).glob("*.ipynb"):
                target = copy / self.course.api.coursedir.source_directory / exercise
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy(notebook, target)
            try:
                course = Course(copy)
                course.api.coursedir.db_url = db_url
                course.generate_assignment(exercise)
            except NbgraderFailed as problem:
                reason = (str(problem).splitlines() or ["?"])[-1][:200]
                raise Refused(words("not_entered", name=exercise, reason=reason)) from problem

    def is_entered(self, exercise: str, notebooks: list[CourseNotebook]) -> bool:
        """Whether the gradebook holds the exercise whole: entering it may have been cut off in the middle."""
        import nbformat

        there = {notebook.name: {cell.name for cell in notebook.cells} for notebook in notebooks}
        graded = {notebook.name: {*notebook.graded, *notebook.answers} for notebook in notebooks}
        for path in (self.solutions / exercise).glob("*.ipynb"):
            marks = [cell.metadata.get("nbgrader", {}) for cell in nbformat.read(path, as_version=4).cells]
            names = {
                mark["grade_id"] for mark in marks if mark.get("grade") or mark.get("solution") or mark.get("locked")
            }
            counted = {mark["grade_id"] for mark in marks if mark.get("grade") or mark.get("solution")}
            if not names <= there.get(path.stem, set()) or not counted <= graded.get(path.stem, set()):
                return False
        return bool(notebooks)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other run of this command out of the course for the length of a ``with`` statement."""
        path = self.autograded / LOCK
        with writing(path):
            self.autograded.mkdir(parents=True, exist_ok=True)
            lock = path.open("wb")
        with lock:
            try:
                import fcntl
            except ImportError:  # Windows: nobody is kept out
                yield
                return
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Refused(words("busy")) from None
            yield

    def prepare(self, path: Path, text: str) -> Path:
        """Write what is to become ``path`` beside it, and return where; a full disk shows here."""
        part = path.with_name(f".{path.name}.part")
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            part.unlink(missing_ok=True)
            part.write_text(text, encoding="utf-8")
            os.chmod(part, self._modes[path.suffix])
        return part

    def settle(self, part: Path, path: Path) -> None:
        """Put a prepared file in its place.

        It isn't synced: after a power failure a file may be empty, and one that is empty is made again.
        """
        with writing(path):
            if path.is_dir():
                shutil.rmtree(path)
            os.replace(part, path)

    def tidy(self, folder: Path, kept: set[str], carried: Collection[Path]) -> None:
        """Leave in a folder of graded work what is ``kept`` and copies of what is carried along, nothing earlier."""
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for entry in os.scandir(folder):
                if entry.name in kept or any(entry.name == path.name for path in carried):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)
            for path in carried:
                target = folder / path.name
                if (content := text_of(path)) is not None and text_of(target) != content:
                    target.unlink(missing_ok=True)
                    target.write_text(content, encoding="utf-8", newline="")
                    os.chmod(target, self._modes[".html" if folder.is_relative_to(self.feedback) else ".ipynb"])


def _mode(converter: Any) -> int:
    return int(str(converter.permissions), 8)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says while ``path`` is written into one sentence."""
    import errno

    try:
        yield
    except OSError as problem:
        where = problem.filename or path
        if problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise Refused(words("full", path=where)) from problem
        reason = problem.strerror or type(problem).__name__
        raise Refused(words("unwritable", path=where, reason=reason)) from problem


def text_of(path: Path) -> str | None:
    """Return the text of a file of ours; None when there is none that can be read."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8")
    return None
