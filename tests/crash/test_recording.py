"""What the fake disk records: every way of writing, each operation with its line, the way CPython sends it."""

from __future__ import annotations

import errno
import inspect
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import kernel
import pytest
import ways

from grader.crash import ROOT, Disk, Image, Mark
from grader.crash.operations import Link, Meta, Rename, Truncate, Write
from grader.crash.replay import replay


def recorded(run, before=ways.BEFORE):
    with Disk(Image.of(before, cwd=ROOT), tmp_elsewhere=False) as disk:
        run()
        return disk.recording(), disk.image()


# -- against the kernel ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def really(tmp_path_factory):
    """What each way of writing asks of the kernel, in a process of its own, read from strace."""
    if kernel.STRACE is None:
        pytest.skip("strace is not installed: the recording is not compared with real system calls")
    scratch = tmp_path_factory.mktemp("ways").resolve()
    status = kernel.run_under_strace(
        [str(kernel.HERE / "real_ways.py"), str(scratch)], scratch / "log", calls=kernel.FOLLOWED
    )
    if status:
        pytest.skip("strace can't trace here: the recording is not compared with real system calls")
    return kernel.lines_of(scratch / "log", str(scratch), {name: len(data) for name, data in ways.BEFORE.items()})


@pytest.mark.parametrize("name", ways.WAYS)
def test_the_operations_are_those_the_kernel_gets(name, really):
    recording, _ = recorded(ways.WAYS[name])
    assert kernel.of_recording(recording.initial, recording.operations) == really[name]


@pytest.mark.parametrize("name", ways.WAYS)
def test_every_operation_has_its_line(name):
    recording, image = recorded(ways.WAYS[name])
    assert recording.escapes == ()
    lines, start = Path(ways.__file__).read_text().splitlines(), ways.WAYS[name].__code__.co_firstlineno
    end = next((n for n in range(start + 2, len(lines)) if lines[n].startswith(("@way", "def ", "# --"))), len(lines))
    for op in recording.operations:
        assert op.where is not None and op.where.file == ways.__file__
        in_helper = op.where.function == "write_a"
        assert in_helper or start < op.where.line <= end, (op, start, end)
    assert replay(recording).image().fingerprint() == image.fingerprint()


@pytest.mark.parametrize("name", [n for n in ways.WAYS if n.startswith("thread")])
def test_threads_are_recorded_alike_every_time(name):
    first = None
    for _ in range(50):
        recording, _ = recorded(ways.WAYS[name])
        lines = kernel.of_recording(recording.initial, recording.operations)
        first = first or lines
        assert lines == first


def test_pieces_are_those_of_a_real_raw_file(tmp_path):
    """The sizes in which CPython's buffers pass data on, without strace: counted by a raw file of our own."""

    class Counting(io.FileIO):
        pieces: list[int]

        def write(self, data):
            self.pieces.append(len(data))
            return super().write(data)

    def write(stream):
        for start in range(0, 40_000, 137):
            stream.write(ways.BIG[start % 9_000 : start % 9_000 + 137])

    raw = Counting(tmp_path / "a", "w")
    raw.pieces = []
    size = os.stat(tmp_path).st_blksize
    if sys.version_info >= (3, 14):
        size = max(min(size, 8 << 20), io.DEFAULT_BUFFER_SIZE)
    with io.TextIOWrapper(io.BufferedWriter(raw, size), encoding="utf-8") as stream:
        write(stream)

    def save():
        with open("a", "w", encoding="utf-8") as stream:
            write(stream)

    recording, _ = recorded(save)
    assert [len(op.data) for op in recording.operations if isinstance(op, Write)] == raw.pieces


# -- each trap of the pilot --------------------------------------------------------------------------------------------


def test_a_handle_never_closed_is_never_written():
    recording, image = recorded(ways.never_closed)
    assert [type(op) for op in recording.operations] == [Link]
    assert image.read("a") == b""


def test_a_rename_is_one_operation():
    recording, _ = recorded(lambda: os.replace("old.txt", "folder/inner.txt"))
    (op,) = recording.operations
    assert isinstance(op, Rename) and op.replaced is not None


def test_fake_descriptors_never_equal_real_ones(tmp_path):
    with open(tmp_path / "real", "w") as real, Disk() as disk:
        held = [os.open(f"file{n}", os.O_CREAT | os.O_WRONLY) for n in range(40)]
        assert real.fileno() not in held
        for descriptor in held:
            with pytest.raises(OSError) as caught:
                sys.modules["posix"].fstat(descriptor)
            assert caught.value.errno == errno.EBADF
        real.write("still the real file")
        assert os.write(held[0], b"fake") == 4
        assert disk.image().read("file0") == b"fake"
    assert (tmp_path / "real").read_text() == "still the real file"


def test_file_times_never_go_back():
    def save():
        for number in range(50):
            Path(f"f{number % 5}").write_text(str(number))
            os.replace(f"f{number % 5}", "final")

    recording, _ = recorded(save)
    times = [op.time for op in recording.operations]
    assert times == sorted(times) and len(set(times)) == len(times)
    with Disk() as disk:
        Path("a").write_text("1")
        first = os.stat("a").st_mtime
        Path("b").write_text("2")
        assert first < os.stat("b").st_mtime
        assert os.stat("a").st_mtime == first
        assert disk.image().inodes[disk.image().find("a")].mtime == first


def test_no_pandas_is_imported():
    program = "import sys; from grader.crash import Disk\nwith Disk(): pass\nprint('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_fake_disk_is_seen_by_every_thread():
    seen = []
    with Disk():
        Path("a").write_text("x")
        thread = threading.Thread(target=lambda: seen.append(os.path.exists("a")))
        thread.start()
        thread.join()
    assert seen == [True]


def test_the_root_is_on_no_real_disk():
    assert not os.path.exists(ROOT) and not os.path.exists(os.path.dirname(ROOT))


def test_code_kept_from_before_the_run():
    """``from os import replace``, ``import os as system``, ``def f(op=open)``: in a module imported before."""
    recording, image = recorded(ways.os_functions_imported_by_name)
    assert isinstance(recording.operations[-2], Rename)
    assert not image.exists("old.txt")
    _, image = recorded(ways.open_as_a_default_argument)
    assert image.read("a") == b"by default"


def test_nothing_on_the_real_disk_is_touched(tmp_path, monkeypatch):
    for name, data in ways.BEFORE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    before = {str(p): p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
    temporary = set(os.listdir(tempfile.gettempdir()))
    for run in ways.WAYS.values():
        recorded(run)
    assert {str(p): p.stat().st_mtime_ns for p in tmp_path.rglob("*")} == before
    assert not [n for n in set(os.listdir(tempfile.gettempdir())) - temporary if n.startswith(("a", "old", "folder"))]
    assert os.getcwd() == str(tmp_path)


def test_the_process_is_as_it_was_afterwards(tmp_path):
    def state():
        import builtins
        import dbm.dumb
        import queue
        import selectors

        return {
            "open": builtins.open,
            "io": (io.open, io.FileIO, sys.modules["io"]),
            "os": {name: getattr(os, name) for name in dir(os) if callable(getattr(os, name))},
            "path": {name: getattr(os.path, name) for name in dir(os.path) if callable(getattr(os.path, name))},
            "pathlib": (pathlib.Path, pathlib.Path.touch, pathlib.PurePath),
            "shutil": {name: getattr(shutil, name) for name in dir(shutil) if callable(getattr(shutil, name))},
            "tempfile": (tempfile.mkstemp, tempfile.tempdir, tempfile._os if hasattr(tempfile, "_os") else None),
            "threading": (threading.Lock, threading.RLock, threading.Thread.start, threading.Thread.join),
            "alive": threading.Thread.is_alive,
            "queue": (queue.Queue, queue.SimpleQueue),
            "selectors": selectors.DefaultSelector.select,
            "time": (time.sleep, time.time),
            "dumb": (dbm.dumb._Database._os, dbm.dumb._Database._io),
            "mine": (ways.kept_replace, ways.os, ways.open_as_a_default_argument),
            "modules": sys.modules["os"],
            "cwd": os.getcwd(),
            "bytecode": sys.dont_write_bytecode,
            "stdout": sys.stdout,
        }

    before = state()
    for run in (ways.text, ways.thread_joined, ways.os_names, ways.tempfile_directory, ways.pathlib_all):
        recorded(run)
    with pytest.raises(ZeroDivisionError), Disk():
        Path("a").write_text("x")
        raise ZeroDivisionError
    after = state()
    assert {key for key in before if before[key] != after[key]} == set()
    (tmp_path / "real").write_text("works")
    assert (tmp_path / "real").read_text() == "works"


def test_hooks_leave_pyfakefs_as_it_was():
    from pyfakefs.fake_file import FakeDirectory
    from pyfakefs.fake_filesystem import FakeFilesystem
    from pyfakefs.fake_open import FakeFileOpen

    def hooks():
        return [*FakeDirectory.__dict__.items(), *FakeFilesystem.__dict__.items(), *FakeFileOpen.__dict__.items()]

    before = hooks()
    recorded(ways.text)
    assert [pair[0] for pair in before] == [pair[0] for pair in hooks()]
    assert all(old is new for (_, old), (_, new) in zip(before, hooks(), strict=True))


def test_a_path_takes_what_it_takes_in_this_python():
    """``read_text(newline=...)`` came with 3.13, as did ``owner(follow_symlinks=...)``."""

    def taken(kind):
        functions = {name: getattr(kind, name, None) for name in dir(pathlib.Path) if not name.startswith("_")}
        return {n: list(inspect.signature(f).parameters)[1:] for n, f in functions.items() if inspect.isfunction(f)}

    real = taken(pathlib.PosixPath)
    with Disk():
        fake = taken(type(pathlib.Path()))
    assert len(real) > 40
    assert {name: fake.get(name) for name in real} == real


def test_text_is_read_with_the_line_ends_it_has_where_python_can():
    def read():
        return Path("old.txt").read_text(encoding="ascii"), Path("old.txt").read_text("ascii", "strict", "")

    with Disk(Image.of({"old.txt": b"a\r\nb"}, cwd=ROOT)):
        if sys.version_info < (3, 13):
            with pytest.raises(TypeError):
                read()
        else:
            assert read() == ("a\nb", "a\r\nb")


# -- what is not in the table of ways ----------------------------------------------------------------------------------


def test_another_file_system_for_tmp():
    with Disk() as disk:
        Path("/tmp/a").write_text("a")
        with pytest.raises(OSError) as caught:
            os.replace("/tmp/a", "a")
        assert caught.value.errno == errno.EXDEV
        shutil.move("/tmp/a", "a")
        operations = disk.recording().operations
    assert [type(op) for op in operations if not isinstance(op, Meta)][-3:] != []
    assert any(isinstance(op, Write) and op.where.function == "test_another_file_system_for_tmp" for op in operations)
    assert not any(isinstance(op, Rename) for op in operations)


def test_appending_lands_at_the_end_whatever_the_position():
    recording, image = recorded(ways.os_append)
    assert [op.offset for op in recording.operations] == [27, 33, 40]
    assert image.read("old.txt").endswith(b"first\nsecond\nthird\n")


def test_truncating_an_empty_file_is_no_change():
    recording, _ = recorded(lambda: open("empty", "w").close(), {"empty": b""})
    assert recording.operations == ()


def test_truncating_a_full_one_is():
    recording, _ = recorded(lambda: open("old.txt", "w").close())
    (op,) = recording.operations
    assert isinstance(op, Truncate) and op.size == 0


def test_marks_stand_between_the_operations():
    with Disk() as disk:
        disk.mark("begin", {"turn": 1})
        Path("a").write_text("x")
        disk.mark("end")
        operations = disk.recording().operations
    assert [type(op) for op in operations] == [Mark, Link, Write, Mark]
    assert operations[0].data == {"turn": 1}


def test_the_line_is_of_the_code_under_judgement_not_of_the_library():
    def save():
        shutil.copytree("folder", "copy")

    recording, _ = recorded(save)
    assert {op.where.function for op in recording.operations} == {"save"}
    assert {op.where.file for op in recording.operations} == {__file__}


def test_an_image_put_back_is_the_same_disk():
    _, image = recorded(lambda: (os.symlink("old.txt", "s"), os.link("old.txt", "h"), os.mkdir("e")))
    with Disk(image) as disk:
        assert disk.image().fingerprint() == image.fingerprint()
        assert os.path.samefile("old.txt", "h") and os.readlink("s") == "old.txt"
        assert os.stat("old.txt").st_nlink == 2
