"""The pure step on a real Dask cluster: a scheduler and two worker processes on loopback, one of them killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from class_to_grade import Class
from whole_class import make_class, same, twin

from grader.classroom import cluster, grade_command
from grader.classroom.crew import Done
from grader.classroom.folders import Refused
from grader.classroom.grade_command import Wishes, grade
from grader.classroom.grading import Setting

distributed = pytest.importorskip("distributed")


class Loopback:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scheduler.json"
        self._folder = folder
        self.scheduler = self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        self.workers = [self._start("dask_worker", "--nthreads", "1", "--no-nanny") for _ in range(2)]
        with distributed.Client(scheduler_file=str(self._file), timeout=120, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
            self.address: str = client.scheduler.address

    def _start(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        shared = ("--scheduler-file", str(self._file), "--no-dashboard")
        command = [sys.executable, "-m", f"distributed.cli.{program}", *shared, *options]
        return subprocess.Popen(command, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def loopback(tmp_path: Path) -> Iterator[Loopback]:
    folder = tmp_path / "dask"
    folder.mkdir()
    made = Loopback(folder)
    yield made
    made.close()


def test_a_worker_killed_in_the_middle_changes_nothing(
    a_class: Class, loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_class(a_class.folder)
    here = twin(a_class.folder, tmp_path / "here")
    monkeypatch.chdir(here)
    assert grade("level2", Wishes()) == 0
    seen: list[Done] = []
    take = cluster.Cluster.take

    def with_a_death(self: cluster.Cluster) -> list[Done]:
        done = take(self)
        seen.extend(done)
        if len(seen) == 2:
            os.kill(loopback.workers[0].pid, signal.SIGKILL)
        return done

    monkeypatch.setattr(cluster.Cluster, "take", with_a_death)
    monkeypatch.chdir(a_class.folder)
    assert grade("level2", Wishes(scheduler=loopback.address)) == 0
    assert len(seen) > 4 and loopback.workers[0].wait() == -signal.SIGKILL
    same(a_class.folder, here, digests=False)


def test_no_scheduler_there(
    a_class: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_class(a_class.folder, ("ada",))
    monkeypatch.chdir(a_class.folder)
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    monkeypatch.setattr(grade_command.sandbox, "notice", lambda: None)
    assert grade("level2", Wishes(scheduler="tcp://127.0.0.1:9")) == 2
    said = capsys.readouterr().err
    assert "No Dask scheduler with a worker answers at tcp://127.0.0.1:9" in said and "Traceback" not in said


def test_another_version_of_the_kit_is_refused(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed.Client, "run", lambda client, step: {"tcp://10.0.0.9:4711": "another"})
    with pytest.raises(Refused, match="another version of this kit"):
        cluster.Cluster(loopback.address, Setting("en", "auto"))
