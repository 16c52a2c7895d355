"""Worker processes for the pure step: each judges one submission after the other; one that dies takes none with it."""

from __future__ import annotations

import contextlib
import gc
import signal
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from grader.answers.sandbox import NoSandbox
from grader.classroom import fork_server
from grader.classroom.grading import Job, Judged, PageJob, Setting, attempt
from grader.verdict import Text
from grader.words import catalogue

words = catalogue("classroom/grade.toml")

LONGEST = 900.0
"""Seconds one submission may take in all; far above what its runs may take together."""
TRIES = 2


@dataclass(frozen=True)
class Done:
    """A job and what came of it: its result, or the reason why it has none."""

    job: Job
    result: Judged | str | None
    failure: str = ""
    sentence: Text | None = None
    """The reason for people, where there is a better one than that a process ended."""


class Hands(Protocol):
    """Whoever does the jobs: processes here, or a cluster."""

    @property
    def busy(self) -> bool:
        """Whether jobs are under way."""

    @property
    def room(self) -> bool:
        """Whether one more job would soon be begun."""

    def put(self, job: Job) -> None:
        """Take a job on."""

    def take(self) -> list[Done]:
        """Wait for jobs to end and return those that have; none when one has to be done again."""

    def close(self) -> None:
        """Let everybody go."""


class Crew:
    """As many processes as asked for on this machine, started when there is something to do."""

    def __init__(self, size: int, setting: Setting) -> None:
        self._context = fork_server.context()
        self._setting = setting
        self._waiting: deque[tuple[Job, int]] = deque()
        self._size = size
        self._members: list[_Member] = []

    @property
    def busy(self) -> bool:
        """Whether jobs are under way."""
        return bool(self._waiting) or any(member.job is not None for member in self._members)

    @property
    def room(self) -> bool:
        """Whether one more job would soon be begun."""
        return len(self._waiting) < 2 * self._size  # nobody is idle while the gradebook is written

    def put(self, job: Job) -> None:
        """Take a job on. A page goes first: its notebook is graded, and it is quickly made."""
        if isinstance(job, PageJob):
            self._waiting.appendleft((job, 0))
        else:
            self._waiting.append((job, 0))
        self._begin()

    def take(self) -> list[Done]:
        """Wait for jobs to end and return those that have; none when one has to be done again."""
        busy = [member for member in self._members if member.job is not None]
        rest = min(member.deadline for member in busy) - time.monotonic()
        ready = wait([member.pipe for member in busy], max(0.0, rest))
        found = []
        for member in busy:
            if member.pipe in ready or member.deadline <= time.monotonic():
                done = self._finish(member, member.pipe in ready)
                found += [] if done is None else [done]
        self._begin()
        return found

    def close(self) -> None:
        """End every process."""
        for member in self._members:
            member.end()

    def _begin(self) -> None:
        for member in self._members:
            if member.job is None and self._waiting:
                member.begin(*self._waiting.popleft())
        while self._waiting and len(self._members) < self._size:  # nobody is called for a class that has not changed
            self._members.append(_Member(self._context, self._setting))
            self._members[-1].begin(*self._waiting.popleft())

    def _finish(self, member: _Member, spoke: bool) -> Done | None:
        job, tries = member.job, member.tries
        assert job is not None
        member.job = None
        try:
            if not spoke:
                raise TimeoutError
            result, failure = member.pipe.recv()
        except (EOFError, OSError) as problem:
            slow = isinstance(problem, TimeoutError)
            member.replace(self._context, self._setting)
            if tries + 1 < TRIES:
                self._waiting.append((job, tries + 1))
                return None
            reason = "judging it took too long, twice" if slow else "the process that judged it ended, twice"
            return Done(job, None, reason, words("wait.slow" if slow else "wait.crashed"))
        if isinstance(failure, Text):
            raise NoSandbox(failure)
        sentence = words("wait.failed") if failure else None
        return Done(job, result, failure, sentence)


class _Member:
    """One process, the pipe to it, and what it is at."""

    process: BaseProcess
    pipe: Connection

    def __init__(self, context: Any, setting: Setting) -> None:
        self.job: Job | None = None
        self.tries = 0
        self.deadline = 0.0
        self._start(context, setting)

    def _start(self, context: Any, setting: Setting) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, setting), daemon=True)
        self.process.start()
        theirs.close()

    def begin(self, job: Job, tries: int) -> None:
        self.job, self.tries = job, tries
        self.deadline = time.monotonic() + LONGEST
        with contextlib.suppress(OSError):  # it has died while it waited: told when the answer is read
            self.pipe.send(job)

    def replace(self, context: Any, setting: Setting) -> None:
        self.end(0.0)
        self._start(context, setting)

    def end(self, patience: float = 2.0) -> None:
        self.pipe.close()
        self.process.join(patience)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _serve(pipe: Connection, setting: Setting) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it closes the pipe
    gc.freeze()  # all that has been imported stays
    gc.set_threshold(20_000, 20, 20)  # a recording is tens of thousands of objects, and no garbage until it is judged
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        answer = attempt(job, setting)
        try:
            pipe.send(answer)
        except OSError:
            return
