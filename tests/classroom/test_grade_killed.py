"""Killed at any moment and started again, grading ends in the same gradebook and the same files."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from class_to_grade import CHECKOUT, Class, SayingJudge
from inline import Inline
from sqlalchemy import Engine, event
from whole_class import make_class, marked_by_a_person, read, same, twin, write

from grader.classroom import grade_command
from grader.classroom.course_cells import kit
from grader.classroom.grade_command import Wishes, grade

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
SEQUENCES, MORE_SEQUENCES, KILLS = 5, 40, 3
"""How often a class is graded with kills, and how often with --thorough; and how many kills each time."""


def handed_in_again(folder: Path) -> None:
    """A class that was graded; a person marked some; some handed in again, and somebody new came."""
    marked_by_a_person(folder)
    write(folder, "ada", b'{"nbformat": 4')
    (folder / "classroom/submitted/ada/level2/timestamp.txt").write_text("2026-03-05 12:00:00 UTC")
    for student in ("nour", "goran", "yusuf"):
        write(folder, student, read(CHECKOUT / "solutions/level2/level2.ipynb"))


def in_a_child(step: Callable[[], Any], kill_at: int | None, folder: Path) -> int:
    """Run ``step`` in a fork; kill it at a step of its writing. Return how many steps it took, -1 when killed."""
    kit()  # once for all forks
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        taken = 0

        def count(*_: object) -> None:
            nonlocal taken
            taken += 1
            if taken == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

        def audit(name: str, arguments: tuple[Any, ...]) -> None:
            if name.startswith(("os.", "open", "sqlite3.")) and any(str(folder) in str(each) for each in arguments):
                count()

        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.chdir(folder)
        event.listen(Engine, "before_cursor_execute", count)
        event.listen(Engine, "commit", count)
        sys.addaudithook(audit)
        code = 99
        try:
            code = step()
        finally:
            os.write(writes, str(taken).encode() if code == 0 else b"0")
            os._exit(0)
    os.close(writes)
    said = os.read(reads, 100)
    os.close(reads)
    os.waitpid(child, 0)
    return int(said) if said else -1


def test_killed_at_any_step_it_ends_the_same(
    a_class: Class,
    judge: SayingJudge,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    sequences = MORE_SEQUENCES if request.config.getoption("--thorough") else SEQUENCES
    monkeypatch.setattr(grade_command, "Crew", Inline)
    make_class(a_class.folder, ("ada", "dana", "goran", "lena", "nour"))

    def step() -> int:
        return grade("level2", Wishes())

    assert in_a_child(step, None, a_class.folder) > 0
    handed_in_again(a_class.folder)
    whole = twin(a_class.folder, tmp_path / "whole")
    steps = in_a_child(step, None, whole)
    assert steps > 100
    killed = 0
    for seed in range(sequences):
        rng = random.Random(seed)
        folder = twin(a_class.folder, tmp_path / f"killed {seed}")
        for _ in range(KILLS):
            killed += in_a_child(step, rng.randint(1, steps), folder) == -1
        assert in_a_child(step, None, folder) > 0
        same(folder, whole)
    assert killed > sequences * KILLS / 2


@pytest.mark.parametrize(
    "there",
    [pytest.param(False, id="no gradebook", marks=pytest.mark.thorough), pytest.param(True, id="an empty gradebook")],
)
@pytest.mark.thorough
def test_the_first_grading_killed_before_the_exercise_is_in_the_gradebook(
    a_class: Class, judge: SayingJudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    monkeypatch.setattr(grade_command, "Crew", Inline)
    make_class(a_class.folder, ("ada", "nour"))
    (a_class.folder / "classroom/gradebook.db").unlink()
    if there:
        with a_class.course.gradebook():
            pass
    whole = twin(a_class.folder, tmp_path / "whole")

    def step() -> int:
        return grade("level2", Wishes())

    steps = in_a_child(step, None, whole)
    rng = random.Random(7)
    for number in range(3):
        folder = twin(a_class.folder, tmp_path / f"killed {number}")
        in_a_child(step, rng.randint(1, steps // 2), folder)
        assert in_a_child(step, None, folder) > 0
        same(folder, whole)


def test_kill_9_in_a_loop(a_class: Class, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The real command with its worker processes, killed at moments that only the seed knows."""
    make_class(a_class.folder, ("ada", "nour"))
    whole = twin(a_class.folder, tmp_path / "whole")
    command = [sys.executable, "-c", "from grader.cli import main; main()", "grade", "level2"]

    def start(folder: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    begun = time.monotonic()
    assert start(whole).wait() == 0
    longest = time.monotonic() - begun
    rng = random.Random(11)
    for _ in range(12 if request.config.getoption("--thorough") else 2):
        process = start(a_class.folder)
        try:
            process.wait(rng.uniform(0.2, 1.0) * longest)
        except subprocess.TimeoutExpired:
            family = psutil.Process(process.pid).children(recursive=True)
            process.kill()
            process.wait()
            for _ in range(60):  # a dead one may have nobody who buries it
                _, left = psutil.wait_procs(family, timeout=1)
                family = [one for one in left if one.status() != psutil.STATUS_ZOMBIE]
                if not family:
                    break
            assert family == []
    assert start(a_class.folder).wait() == 0
    same(a_class.folder, whole, digests=False)
