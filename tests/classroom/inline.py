"""Hands that do every job at once, in this process: for tests of what happens around the judging."""

from collections import deque

from grader.classroom.crew import Done
from grader.classroom.grading import Job, Setting, attempt


class Inline:
    """Stands in for the crew of worker processes."""

    def __init__(self, size: int, setting: Setting) -> None:
        self.setting = setting
        self.waiting: deque[Job] = deque()

    @property
    def busy(self) -> bool:
        return bool(self.waiting)

    @property
    def room(self) -> bool:
        return len(self.waiting) < 2

    def put(self, job: Job) -> None:
        self.waiting.append(job)

    def take(self) -> list[Done]:
        job = self.waiting.popleft()
        result, failure = attempt(job, self.setting)
        assert isinstance(failure, str)
        return [Done(job, result, failure)]

    def close(self) -> None:
        pass
