"""What goes past the fake disk gets no verdict, and does no harm to the real one."""

from __future__ import annotations

import ctypes
import json
import mmap
import multiprocessing
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from os import replace
from pathlib import Path

import pytest

from grader.crash import Disk, explore


def load():
    return json.loads(Path("checkpoint.json").read_text())


def plain(new):
    Path("checkpoint.json.tmp").write_text(json.dumps(new))
    os.replace("checkpoint.json.tmp", "checkpoint.json")


def by_sqlite(new):
    with sqlite3.connect("state.db") as base:
        base.execute("create table if not exists t (x)")
    plain(new)


def by_subprocess(new):
    subprocess.run(["touch", "checkpoint.json"], check=True)
    plain(new)


def by_shell(new):
    os.system("touch checkpoint.json")
    plain(new)


def by_fork(new):
    plain(new)
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def by_spawned_process(new):
    plain(new)
    process = multiprocessing.get_context("spawn").Process(target=print)
    process.start()


def by_mmap(new):
    plain(new)
    descriptor = os.open("checkpoint.json", os.O_RDWR)
    try:
        with mmap.mmap(descriptor, 0) as view:
            view[0:1] = b"{"
    finally:
        os.close(descriptor)


def by_ctypes(new):
    plain(new)
    ctypes.CDLL(None).sync()


def by_a_socket(new):
    plain(new)
    with socket.socket() as client:
        client.connect_ex(("127.0.0.1", 9))


def by_fwalk(new):
    plain(new)
    for _ in os.fwalk("."):
        pass


class Kept:
    """Where nobody looks for a real function."""

    replace = staticmethod(replace)
    open = staticmethod(open)


def by_a_kept_rename(new):
    Path("checkpoint.json.tmp").write_text(json.dumps(new))
    Kept.__dict__["replace"].__func__("checkpoint.json.tmp", "checkpoint.json")


def by_a_kept_open(new):
    with Kept.__dict__["open"].__func__("checkpoint.json", "w") as file:
        json.dump(new, file)


SAYS = {
    by_sqlite: "sqlite3",
    by_subprocess: "subprocess",
    by_shell: "process",
    by_fork: "forked",
    by_spawned_process: "spawned",
    by_mmap: "mmap",
    by_ctypes: "ctypes",
    by_a_socket: "network",
    by_fwalk: "os.fwalk",
    by_a_kept_rename: "real os.rename",
    by_a_kept_open: "real disk",
}


@pytest.mark.parametrize("save", SAYS, ids=lambda save: save.__name__)
def test_no_verdict_but_a_reason(save, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoint.json").write_text("a real file of the user")
    (tmp_path / "checkpoint.json.tmp").write_text("another")
    found = explore(save, load, old={"turn": 1}, new={"turn": 2})
    assert found.cant_judge is not None and SAYS[save] in found.cant_judge
    assert save.__name__ in found.cant_judge and "line" in found.cant_judge
    verdicts = (found.survives_kill, found.survives_power_loss, found.durable_on_return, found.next_save_works)
    assert verdicts == (None, None, None, None)
    assert found.kill is None and found.power is None and found.counterexample() is None
    with pytest.raises(AssertionError):
        found.check()
    assert sorted(os.listdir(tmp_path)) == ["checkpoint.json", "checkpoint.json.tmp"]
    assert (tmp_path / "checkpoint.json").read_text() == "a real file of the user"


def test_a_load_that_goes_past_the_disk():
    def load_by_subprocess():
        state = load()
        if state["turn"] == 2:
            subprocess.run(["true"], check=True)
        return state

    def forgiving():
        try:
            return load_by_subprocess()
        except OSError:
            return {"turn": 2}

    found = explore(plain, forgiving, old={"turn": 1}, new={"turn": 2})
    assert found.cant_judge is not None and "subprocess" in found.cant_judge


def test_a_database_in_memory_is_judged():
    def save(new):
        with sqlite3.connect(":memory:") as base:
            base.execute("create table t (x)")
        plain(new)

    assert explore(save, load, old={"turn": 1}, new={"turn": 2}).survives_kill is True


def test_the_program_around_it_is_left_alone(tmp_path):
    """A thread of the host, begun before, may write real files by functions of its own meanwhile."""
    real_open, go, done = open, threading.Event(), threading.Event()

    def host():
        go.wait(5)
        sys.modules["posix"].mkdir(tmp_path / "made by the host")
        done.set()

    thread = threading.Thread(target=host)
    thread.start()
    with Disk() as disk:
        plain({"turn": 1})
        go.set()
        done.wait(5)
        recording = disk.recording()
    thread.join()
    assert recording.escapes == () and real_open is open
    assert (tmp_path / "made by the host").is_dir()


def test_reading_a_module_is_no_escape():
    """An import inside the save reads real files; that is the interpreter's business."""

    def save(new):
        sys.modules.pop("this_is_imported_late", None)
        import colorsys  # noqa: F401

        plain(new)

    sys.modules.pop("colorsys", None)
    assert explore(save, load, old={"turn": 1}, new={"turn": 2}).cant_judge is None


def test_standard_streams_stay_real(capfd):
    with Disk() as disk:
        print("seen", flush=True)
        os.write(2, b"and this\n")
        with open(os.devnull, "w") as nowhere:
            nowhere.write("x")
        assert disk.recording().operations == () and disk.recording().escapes == ()
    out, err = capfd.readouterr()
    assert "seen" in out and "and this" in err


def test_a_disk_left_by_an_error_can_be_entered_again():
    for _ in range(2):
        with pytest.raises(RuntimeError), Disk():
            shutil.copyfile(__file__, "never") if os.path.exists(__file__) else None
            raise RuntimeError
    with Disk() as disk:
        Path("a").write_text("x")
        assert disk.image().read("a") == b"x"


def test_a_file_under_the_number_of_a_real_descriptor_cant_be_judged() -> None:
    def save(state: dict[str, int]) -> None:
        fd = os.open("checkpoint.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(fd, 60)
        os.write(60, json.dumps(state).encode())

    found = explore(save, load, old={"a": 1}, new={"a": 2})
    assert found.cant_judge is not None
    assert found.cant_judge.startswith("os.dup2 gives a file the number of a real descriptor")


@pytest.mark.skipif(not hasattr(os, "splice"), reason="no os.splice here")
def test_splice_cant_be_judged() -> None:
    def save(state: dict[str, int]) -> None:
        read, write = os.pipe()
        os.write(write, json.dumps(state).encode())
        fd = os.open("checkpoint.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.splice(read, fd, 100)

    found = explore(save, load, old={"a": 1}, new={"a": 2})
    assert found.cant_judge is not None and "os.splice" in found.cant_judge


def test_an_open_file_opened_again_by_its_number_is_followed() -> None:
    def save(state: dict[str, int]) -> None:
        with open("new.tmp", "w", encoding="utf-8") as file, open(f"/proc/self/fd/{file.fileno()}", "w") as again:
            again.write(json.dumps(state))
        os.replace("new.tmp", "checkpoint.json")

    found = explore(save, load, old={"a": 1}, new={"a": 2})
    assert found.cant_judge is None
    assert found.survives_kill is True
    assert found.survives_power_loss is False
