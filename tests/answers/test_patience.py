"""A run's limit is processor time, so that a busy machine fails nobody; and what only waits ends all the same."""

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from grader.answers import frames, wire
from grader.answers.cells import Cell
from grader.answers.judge import judge_cells
from grader.answers.patience import Clock, Spent
from grader.answers.runner import Worker
from grader.levels.trial import Failure, Outcome, Trial

COUNTING = "import time\nbegun = time.process_time()\nwhile time.process_time() - begun < {seconds}: pass\n"


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("spent", "over"),
    [
        (Spent(2.9, 2.9, 0.0), None),
        (Spent(3.0, 3.0, 0.0), "cpu"),
        (Spent(25.0, 2.9, 20.0), None),
        (Spent(6.0, 0.1, 0.0), None),
        (Spent(6.2, 0.1, 0.0), "idle"),
        (Spent(6.2, 0.1, None), None),
        (Spent(12.2, 0.1, None), "idle"),
        (Spent(30.0, 2.9, 25.0), "starved"),
    ],
)
def test_queueing_for_a_processor_counts_for_nothing(spent: Spent, over: str | None) -> None:
    assert spent.over(3.0) == over


def test_a_clock_tells_work_from_waiting() -> None:
    code = "import sys, time; time.sleep(0.4); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as child:
        clock = Clock(child.pid)
        time.sleep(0.6)
        spent = clock.read()
    assert spent.wall >= 0.6
    assert spent.cpu < 0.5


def burn(end: float) -> None:
    while time.monotonic() < end:
        pass


def test_a_right_answer_is_not_stopped_on_a_busy_machine(worker: Worker) -> None:
    """Eight processes for every core; what takes 0.4 s of processor time with a limit of 0.8 s takes far longer."""
    end = time.monotonic() + 12
    busy = [multiprocessing.Process(target=burn, args=(end,), daemon=True) for _ in range(8 * (os.cpu_count() or 1))]
    for process in busy:
        process.start()
    try:
        trial = Trial("level2", {"scripts": []}, seconds=0.8)
        outcome = worker.run([("level2-code", COUNTING.format(seconds=0.4))], trial)
    finally:
        for process in busy:
            process.kill()
    assert outcome.failure is None


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("while True: pass", "cpu"),
        ("import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()", "idle"),
        ("import queue\nqueue.Queue().get()", "idle"),
    ],
)
def test_why_a_run_was_stopped_is_told(worker: Worker, code: str, why: str) -> None:
    outcome = worker.run([("level2-code", code)], Trial("level2", {"scripts": []}, seconds=0.6))
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.type) == ("time", why)
    assert outcome.failure.place is not None


class Busy(Worker):
    """A worker on a machine that is too busy the first ``times`` times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        asked = self.fake.ask

        def ask(order: frames.Order, job: bytes) -> frames.Reply:
            nonlocal times
            times -= 1
            return frames.Reply("time", starved=True) if times >= 0 else asked(order, job)

        self.fake.ask = ask  # type: ignore[method-assign]


def test_a_starved_run_is_made_again() -> None:
    busy = Busy(1)
    assert busy.run([("level2-code", "x = 1")], Trial("level2", {"scripts": []})).failure is None
    busy.close()


def test_a_run_starved_twice_is_not_judged() -> None:
    verdicts = judge_cells([Cell("level2-code", "x = 1")], ["level2-atomic", "level2-runs"], worker=Busy(2))
    assert [verdict.met for verdict in verdicts] == [None, None]
    assert "too busy" in verdicts[0].message.en


def test_a_run_can_not_say_of_itself_that_it_was_not_run() -> None:
    from grader.answers.runner import read

    payload = wire.encode_outcome(Outcome(None, failure=Failure("broken", "busy")))
    failure = read(frames.Reply("result", payload)).failure
    assert failure is not None and failure.kind == "damaged"
