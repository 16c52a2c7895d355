"""What lies in the folder of submissions: who handed in an exercise, and what is odd. No file stops the others."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from grader.classroom.course_cells import CourseNotebook
from grader.classroom.submission import take
from grader.verdict import Text
from grader.words import catalogue

words = catalogue("classroom/grade.toml")

TIMESTAMP = "timestamp.txt"
SECRET = "submission_secret.txt"
"""What nbgrader's exchange puts beside a submission, and asks for when feedback is released."""
_SHOWN = 5


@dataclass(frozen=True)
class HandedIn:
    """One learner's folder for the exercise."""

    student: str
    folder: Path

    def contents(self, notebooks: Collection[CourseNotebook]) -> dict[str, bytes | Text]:
        """Return what was handed in for each notebook that is there.

        Where none is there at all, each counts as unreadable, so that a person looks at what was handed in instead.
        """
        names = [notebook.name for notebook in notebooks]
        there = [name for name in names if os.path.lexists(self.folder / f"{name}.ipynb")]
        if there:
            return {name: take(self.folder / f"{name}.ipynb") for name in there}
        return {name: words("handed_in.missing", name=f"{name}.ipynb", found=self._found()) for name in names}

    def _found(self) -> Text:
        try:
            found = sorted(_printable(entry.name) for entry in os.scandir(self.folder))
        except OSError as problem:
            return words("handed_in.closed", reason=problem.strerror or type(problem).__name__)
        shown = ", ".join(found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
        return words("handed_in.found", names=shown) if found else words("handed_in.nothing")

    def timestamp(self) -> tuple[datetime | None, bool]:
        """Return when it was handed in, if that is on file, and whether the file can be understood."""
        path = self.folder / TIMESTAMP
        if not os.path.lexists(path):
            return None, True
        content = take(path)
        try:
            if isinstance(content, Text) or len(content) > 200:
                return None, False
            text = content.decode("utf-8").strip()
            return (parse_utc(text), True) if text else (None, True)
        except Exception:  # dateutil raises what it likes
            return None, False


def handed_in(folder: Path, exercise: str) -> tuple[list[HandedIn], list[Text]]:
    """Return who handed in ``exercise``, by name, and what was left aside.

    Args:
        folder: where a folder for each learner lies.
        exercise: the exercise.
    """
    found, aside = [], []
    for entry in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)) if folder.is_dir() else []:
        if entry.name.startswith("."):
            continue
        place = entry / exercise
        try:
            if not entry.is_dir():
                aside.append(words("handed_in.no_folder", name=_printable(entry.name)))
            elif place.is_dir():
                entry.name.encode("utf-8")
                found.append(HandedIn(entry.name, place))
            elif os.path.lexists(place):
                aside.append(words("handed_in.no_folder", name=_printable(f"{entry.name}/{exercise}")))
        except UnicodeEncodeError:
            aside.append(words("handed_in.name", name=_printable(entry.name)))
        except OSError as problem:
            aside.append(words("handed_in.unread", name=_printable(entry.name), reason=problem.strerror or "?"))
    return found, aside


def _printable(name: str) -> str:
    text = name.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)[:80]
