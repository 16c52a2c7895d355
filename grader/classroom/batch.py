"""Grading a whole class: submissions out to many hands, verdicts back to one writer.

The order keeps every kill harmless. The autograded notebook, which says what it was made from, is put in place only
after the gradebook has its scores; until then the submission counts as not graded and is judged again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.classroom import FAILED
from grader.classroom.course_cells import CourseNotebook, fingerprint
from grader.classroom.crew import Done, Hands
from grader.classroom.folders import Folders, text_of
from grader.classroom.grading import Judged, JudgeJob, PageJob, crashed, judged_before
from grader.classroom.handed_in import SECRET, TIMESTAMP, HandedIn
from grader.classroom.rows import Piece
from grader.classroom.sheet import Sheet, made_from
from grader.classroom.submission import digest
from grader.classroom.writer import Entry, Writer
from grader.words import catalogue, say

words = catalogue("classroom/grade.toml")

MANY, OFTEN = 25, 1.0
"""How many submissions go into the gradebook at once, and after how many seconds fewer do."""
_MADE_FROM = re.compile(r'<meta name="made-from" content="([0-9a-f]{64})">')


@dataclass
class Graded:
    """One submission on its way through."""

    handed: HandedIn
    missing: int = 0
    """Notebooks still to be judged."""
    fresh: bool = False
    dated: bool = False
    """Whether there is a timestamp."""
    judged: dict[str, Judged] = field(default_factory=dict)
    sheets: dict[str, Sheet] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    pages: int = 0
    """Feedback pages still to be made."""


class Batch:
    """The grading of one exercise.

    Args:
        folders: the course.
        courses: the exercise's notebooks.
        writer: the open gradebook.
        hands: who judges.
        pages: whether feedback pages are made as well.
        force: whether what has not changed is judged all the same.
        tell: called with each submission that is done.
    """

    def __init__(
        self,
        folders: Folders,
        exercise: str,
        courses: Sequence[CourseNotebook],
        writer: Writer,
        hands: Hands,
        *,
        pages: bool = True,
        force: bool = False,
        tell: Callable[[Graded], None] = lambda graded: None,
    ) -> None:
        self._folders, self._exercise, self._writer, self._hands = folders, exercise, writer, hands
        self._courses = {course.name: course for course in courses}
        self._pages, self._force, self._tell = pages, force, tell
        self._open: dict[str, Graded] = {}
        self._ready: list[Graded] = []
        self._since = 0.0

    def run(self, submissions: Iterable[HandedIn]) -> list[Graded]:
        """Grade them all and return them in the order given.

        Raises:
            Refused, GradebookLocked, GradebookFull, GradebookBroken, NoSandbox: what is graded by then is whole.
        """
        waiting = iter(submissions)
        everybody: list[Graded] = []
        more = True
        while more or self._hands.busy or self._ready:
            while more and self._hands.room and len(self._ready) < MANY:
                handed = next(waiting, None)
                more = handed is not None
                if handed is not None:
                    everybody.append(self._begin(handed))
            idle = not self._hands.busy
            if self._ready and (idle or len(self._ready) >= MANY or time.monotonic() - self._since > OFTEN):
                self._enter()
            elif not idle:
                for done in self._hands.take():
                    self._take(done)
        return everybody

    def _begin(self, handed: HandedIn) -> Graded:
        graded = Graded(handed)
        self._open[handed.student] = graded
        contents = handed.contents(list(self._courses.values()))
        old = {} if self._force else {name: text_of(self._place(handed, name)) for name in contents}
        for name, content in contents.items():
            course, text = self._courses[name], old.get(name)
            mark = fingerprint(course, handed.student, digest(content))
            before = None if text is None else judged_before(text, mark)
            if before is not None:
                graded.judged[name] = before
            else:
                graded.fresh = True
                graded.missing += 1
                self._hands.put(JudgeJob(handed.student, course, content, mark))
        self._judged(graded)
        return graded

    def _place(self, handed: HandedIn, notebook: str) -> Path:
        return self._folders.autograded / handed.student / self._exercise / f"{notebook}.ipynb"

    def _page(self, handed: HandedIn, notebook: str) -> Path:
        return self._folders.feedback / handed.student / self._exercise / f"{notebook}.html"

    def _carried(self, graded: Graded) -> list[Path]:
        secret = graded.handed.folder / SECRET
        carried = [secret] if secret.is_file() and not secret.is_symlink() else []
        return [graded.handed.folder / TIMESTAMP, *carried] if graded.dated else carried

    def _take(self, done: Done) -> None:
        job = done.job
        graded = self._open[job.student]
        if isinstance(job, JudgeJob):
            if isinstance(done.result, Judged):
                graded.judged[job.course.name] = done.result
            else:
                sentence = done.sentence or words("wait.crashed")
                graded.judged[job.course.name] = crashed(job.course, job.student, sentence, done.failure)
            graded.missing -= 1
            self._judged(graded)
            return
        if isinstance(done.result, str):
            path = self._page(graded.handed, job.course.name)
            self._folders.settle(self._folders.prepare(path, done.result), path)
        else:
            graded.flags.append(FAILED + say(words("page_failed", reason=done.failure), "en"))
        graded.pages -= 1
        self._finish(graded)

    def _judged(self, graded: Graded) -> None:
        if graded.missing:
            return
        if not self._ready:
            self._since = time.monotonic()
        self._ready.append(graded)

    def _enter(self) -> None:
        """Write what is ready: beside its place, into the gradebook, then into its place."""
        ready, self._ready = self._ready, []
        parts: list[tuple[Path, Path]] = []
        entries = []
        for graded in ready:
            stamp, understood = graded.handed.timestamp()
            graded.dated = understood and (graded.handed.folder / TIMESTAMP).is_file()
            if not understood:
                graded.flags.append("timestamp can't be read")
            if graded.fresh:
                for name, judged in graded.judged.items():
                    place = self._place(graded.handed, name)
                    parts.append((self._folders.prepare(place, judged.text), place))
            pieces = tuple(
                Piece(name, graded.judged[name].records if name in graded.judged else None) for name in self._courses
            )
            entries.append(Entry(graded.handed.student, stamp, pieces, graded.fresh))
        sheets = self._writer.enter(entries)
        for part, place in parts:
            self._folders.settle(part, place)
        for graded in ready:
            student = graded.handed.student
            kept = {f"{name}.ipynb" for name in graded.judged}
            self._folders.tidy(self._folders.autograded / student / self._exercise, kept, self._carried(graded))
            graded.sheets = sheets[student]
            graded.flags[:0] = [flag for judged in graded.judged.values() for flag in judged.flags]
            self._ask_for_pages(graded)
            self._finish(graded)

    def _ask_for_pages(self, graded: Graded) -> None:
        for name, judged in graded.judged.items() if self._pages else ():
            sheet = graded.sheets[name]
            text = text_of(self._page(graded.handed, name))
            found = None if text is None else _MADE_FROM.search(text[:2000])
            mark = made_from(judged.text, sheet)
            if found is None or found[1] != mark:
                graded.pages += 1
                self._hands.put(PageJob(graded.handed.student, self._courses[name], judged.text, sheet, mark))

    def _finish(self, graded: Graded) -> None:
        if not graded.pages:
            student = graded.handed.student
            if self._pages:
                kept = {f"{name}.html" for name in graded.judged}
                self._folders.tidy(self._folders.feedback / student / self._exercise, kept, self._carried(graded))
            del self._open[student]
            for name, judged in graded.judged.items():  # a class's notebooks need not be kept in memory
                graded.judged[name] = Judged("", judged.records, judged.verdicts, judged.flags)
            self._tell(graded)
