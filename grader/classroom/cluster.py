"""The pure step on a Dask cluster: jobs go out as plain data, a worker that dies loses none of them."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from grader.answers.sandbox import NoSandbox
from grader.classroom.course_cells import kit
from grader.classroom.crew import Done
from grader.classroom.folders import Refused
from grader.classroom.grading import Job, Setting, attempt
from grader.verdict import Text
from grader.words import catalogue, plain

words = catalogue("classroom/grade.toml")

PATIENCE = 30
"""Seconds to wait for the scheduler, and for its first worker."""


class Cluster:
    """Every worker of a Dask scheduler.

    Raises:
        Refused: the package or the scheduler is missing, or a worker has another version of the kit.
    """

    def __init__(self, address: str, setting: Setting) -> None:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            raise Refused(words("no_distributed")) from None
        self._killed: type[Exception] = distributed.scheduler.KilledWorker
        self._setting = setting
        try:
            self._client: Any = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, ValueError, TimeoutError) as problem:
            reason = plain(str(problem).splitlines()[0][:120] if str(problem) else type(problem).__name__)
            raise Refused(words("no_scheduler", address=plain(address), reason=reason)) from problem
        self._jobs: dict[Any, Job] = {}
        self._completed: Any = distributed.as_completed(loop=self._client.loop, raise_errors=False)
        mine = kit()
        for worker, theirs in self._client.run(kit).items():
            if theirs != mine:
                self.close()
                raise Refused(words("other_kit", address=plain(worker)))

    @property
    def busy(self) -> bool:
        """Whether jobs are under way."""
        return bool(self._jobs)

    @property
    def room(self) -> bool:
        """Whether one more job would soon be begun."""
        threads: int = sum(self._client.nthreads().values())
        return len(self._jobs) < 4 * max(1, threads)

    def put(self, job: Job) -> None:
        """Send a job out."""
        future = self._client.submit(attempt, job, self._setting, pure=False)
        self._jobs[future] = job
        self._completed.add(future)

    def take(self) -> list[Done]:
        """Wait for a job to end."""
        future = next(self._completed)
        job = self._jobs.pop(future)
        try:
            result, failure = future.result()
        except self._killed:
            return [Done(job, None, "the process that judged it ended several times", words("wait.crashed"))]
        except Exception as problem:
            return [Done(job, None, f"{problem!r}"[:500], words("wait.failed"))]
        finally:
            future.release()
        if isinstance(failure, Text):
            raise NoSandbox(failure)
        return [Done(job, result, failure, words("wait.failed") if failure else None)]

    def close(self) -> None:
        """Leave the cluster; its workers stay."""
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)
