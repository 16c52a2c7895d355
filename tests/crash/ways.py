"""Every way Python code writes files on Linux, one small function each.

They run in a directory that holds ``old.txt`` and ``folder/inner.txt``. What each sends to the kernel is compared with
what the fake disk records of it.
"""

from __future__ import annotations

import asyncio
import bz2
import contextlib
import csv
import dbm.dumb
import fileinput
import glob
import gzip
import io
import json
import logging
import logging.handlers
import lzma
import os
import pickle
import queue
import shelve
import shutil
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from os import fsync as kept_fsync
from os import rename as kept_rename
from os import replace as kept_replace
from os import unlink as kept_unlink
from pathlib import Path

BEFORE = {"old.txt": b"old line\n" * 3, "folder/inner.txt": b"inner"}
WAYS: dict[str, Callable[[], object]] = {}
KEPT: list[object] = []
BIG = "".join(chr(97 + i % 26) for i in range(100)) * 300  # 30,000 characters


def way(function: Callable[[], object]) -> Callable[[], object]:
    WAYS[function.__name__] = function
    return function


# -- open -----------------------------------------------------------------------------------------------------


@way
def text() -> None:
    with open("a", "w") as file:
        file.write("hello\n")
        file.write("world\n")


@way
def text_big_in_one_piece() -> None:
    with open("a", "w") as file:
        file.write(BIG)


@way
def text_big_in_small_pieces() -> None:
    with open("a", "w") as file:
        for start in range(0, len(BIG), 77):
            file.write(BIG[start : start + 77])


@way
def text_of_many_bytes_a_letter() -> None:
    with open("a", "w", encoding="utf-16") as file:
        for start in range(0, 6000, 50):
            file.write("数据" * 25 + BIG[start : start + 50])


@way
def text_with_newline_translation() -> None:
    with open("a", "w", newline="\r\n") as file:
        file.write("one\ntwo\n")


@way
def text_line_buffered() -> None:
    with open("a", "w", buffering=1) as file:
        file.write("one\ntwo")
        file.write(" and\nthree")


@way
def text_buffer_of_100() -> None:
    with open("a", "w", buffering=100) as file:
        for start in range(0, 9000, 70):
            file.write(BIG[start : start + 70])


@way
def binary() -> None:
    with open("a", "wb") as file:
        file.write(b"hello")


@way
def binary_big_in_one_piece() -> None:
    with open("a", "wb") as file:
        file.write(b"head")
        file.write(BIG.encode())
        file.write(b"tail")


@way
def binary_big_in_small_pieces() -> None:
    with open("a", "wb") as file:
        for start in range(0, len(BIG), 999):
            file.write(BIG[start : start + 999].encode())


@way
def binary_buffer_of_10() -> None:
    with open("a", "wb", buffering=10) as file:
        for piece in (b"1234", b"5678", b"90", b"x" * 25, b"yz"):
            file.write(piece)


@way
def unbuffered() -> None:
    with open("a", "wb", buffering=0) as file:
        file.write(b"one")
        file.write(BIG.encode())


@way
def exclusive() -> None:
    with open("a", "x") as file:
        file.write("x")
    with contextlib.suppress(FileExistsError):
        open("old.txt", "x")  # noqa: SIM115


@way
def overwritten() -> None:
    with open("old.txt", "w") as file:
        file.write("new")


@way
def appended() -> None:
    with open("old.txt", "a") as file:
        file.write("more\n")


@way
def appended_to_nothing() -> None:
    with open("a", "ab") as file:
        file.write(b"more\n")


@way
def updated() -> None:
    with open("old.txt", "r+") as file:
        file.write("NEW")


@way
def updated_and_cut() -> None:
    with open("old.txt", "r+b") as file:
        file.write(b"short")
        file.truncate()


@way
def read_then_written() -> None:
    with open("old.txt", "r+b") as file:
        file.read(4)
        file.seek(9)
        file.write(b"LINE")
        file.seek(0)
        file.read()


@way
def written_and_read_back() -> None:
    with open("a", "w+") as file:
        file.write("hello")
        file.seek(0)
        file.read()
        file.seek(0, 2)
        file.write(" again")


@way
def gap_left() -> None:
    with open("a", "wb") as file:
        file.seek(100)
        file.write(b"end")


@way
def flushed_and_synced() -> None:
    with open("a", "w") as file:
        file.write("one")
        file.flush()
        os.fsync(file.fileno())
        file.write("two")


@way
def synced_by_file_object() -> None:
    with open("a", "w") as file:
        file.write("one")
        file.flush()
        os.fsync(file)  # type: ignore[arg-type]
        os.fdatasync(file.fileno())


@way
def never_closed() -> None:
    file = open("a", "w")  # noqa: SIM115
    file.write("never seen")
    KEPT.append(file)


@way
def never_closed_but_big() -> None:
    file = open("a", "wb")  # noqa: SIM115
    for start in range(0, len(BIG), 1000):
        file.write(BIG[start : start + 1000].encode())
    KEPT.append(file)


@way
def closed_by_garbage_collection() -> None:
    open("a", "w").write("seen")  # noqa: SIM115


@way
def writelines() -> None:
    with open("a", "w") as file:
        file.writelines(f"{number}\n" for number in range(5))


@way
def printed() -> None:
    with open("a", "w") as file:
        print("hello", 1, 2, file=file)
        print("flushed", file=file, flush=True)
        print("end", end="", file=file)


@way
def printed_by_redirection() -> None:
    kept = sys.stdout
    with open("a", "w") as file:
        sys.stdout = file
        try:
            print("redirected")
        finally:
            sys.stdout = kept


@way
def with_an_opener() -> None:
    with open("a", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("private")


@way
def io_open_and_fileio() -> None:
    with io.open("a", "w") as file:  # noqa: UP020
        file.write("a")
    with io.FileIO("b", "w") as raw:
        raw.write(b"b")
    with io.BufferedWriter(io.FileIO("c", "w"), 4) as buffered:
        buffered.write(b"cc")
        buffered.write(b"ccc")
    with io.TextIOWrapper(io.FileIO("d", "w")) as wrapper:
        wrapper.write("d")


# -- os -------------------------------------------------------------------------------------------------------


@way
def os_write() -> None:
    descriptor = os.open("a", os.O_WRONLY | os.O_CREAT, 0o640)
    os.write(descriptor, b"one")
    os.write(descriptor, memoryview(b"two"))
    os.write(descriptor, bytearray(b""))
    os.close(descriptor)


@way
def os_pwrite() -> None:
    descriptor = os.open("a", os.O_RDWR | os.O_CREAT)
    os.pwrite(descriptor, b"world", 6)
    os.pwrite(descriptor, b"hello ", 0)
    os.pread(descriptor, 3, 0)
    os.close(descriptor)


@way
def os_writev() -> None:
    descriptor = os.open("a", os.O_WRONLY | os.O_CREAT)
    os.writev(descriptor, [b"one", b"two", b"three"])
    os.pwritev(descriptor, [b"1", b"2"], 3)
    os.close(descriptor)


@way
def os_lseek() -> None:
    descriptor = os.open("old.txt", os.O_RDWR)
    os.lseek(descriptor, -4, os.SEEK_END)
    os.write(descriptor, b"LINE!")
    os.lseek(descriptor, 2, os.SEEK_SET)
    os.lseek(descriptor, 2, os.SEEK_CUR)
    os.write(descriptor, b"x")
    os.close(descriptor)


@way
def os_truncate() -> None:
    os.truncate("old.txt", 5)
    descriptor = os.open("old.txt", os.O_RDWR)
    os.ftruncate(descriptor, 50)
    os.ftruncate(descriptor, 50)
    os.ftruncate(descriptor, 0)
    os.close(descriptor)


@way
def os_append() -> None:
    first = os.open("old.txt", os.O_WRONLY | os.O_APPEND)
    second = os.open("old.txt", os.O_WRONLY | os.O_APPEND)
    os.write(first, b"first\n")
    os.write(second, b"second\n")
    os.lseek(first, 0, os.SEEK_SET)
    os.write(first, b"third\n")
    os.close(first)
    os.close(second)


@way
def os_dup() -> None:
    first = os.open("a", os.O_WRONLY | os.O_CREAT)
    second = os.dup(first)
    os.write(first, b"one")
    os.write(second, b"two")
    os.close(first)
    os.write(second, b"three")
    os.close(second)


@way
def os_dup2() -> None:
    first = os.open("a", os.O_WRONLY | os.O_CREAT)
    second = os.open("b", os.O_WRONLY | os.O_CREAT)
    os.dup2(first, second)
    os.write(second, b"into a")
    os.close(first)
    os.close(second)


@way
def os_fdopen() -> None:
    descriptor = os.open("a", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    with os.fdopen(descriptor, "w") as file:
        file.write("text")


@way
def os_names() -> None:
    os.mkdir("one")
    os.makedirs("two/three/four", exist_ok=True)
    os.rename("one", "uno")
    os.link("old.txt", "twin.txt")
    os.symlink("old.txt", "pointer")
    os.replace("twin.txt", "two/three/twin.txt")
    os.unlink("pointer")
    os.remove("two/three/twin.txt")
    os.removedirs("two/three/four")
    os.rmdir("uno")
    os.renames("old.txt", "new/place/old.txt")


@way
def os_directory_descriptor() -> None:
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    inside = os.open("folder", os.O_RDONLY)
    os.fsync(here)
    os.fsync(inside)
    descriptor = os.open("a", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=inside)
    os.write(descriptor, b"a")
    os.close(descriptor)
    os.rename("a", "b", src_dir_fd=inside, dst_dir_fd=here)
    os.link("b", "c", src_dir_fd=here, dst_dir_fd=inside)
    os.unlink("b", dir_fd=here)
    os.mkdir("new", dir_fd=inside)
    os.rmdir("new", dir_fd=inside)
    os.symlink("c", "s", dir_fd=inside)
    os.replace("c", "inner.txt", src_dir_fd=inside, dst_dir_fd=inside)
    os.close(here)
    os.close(inside)


@way
def os_nameless() -> None:
    descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(descriptor, b"nameless")
    os.fsync(descriptor)
    os.link(f"/proc/self/fd/{descriptor}", "a", src_dir_fd=0)  # with a dir_fd CPython calls linkat
    os.write(descriptor, b" no more")
    os.close(descriptor)


@way
def os_syncs() -> None:
    descriptor = os.open("old.txt", os.O_WRONLY)
    os.write(descriptor, b"new")
    os.fdatasync(descriptor)
    os.fsync(descriptor)
    os.sync()
    os.close(descriptor)


@way
def os_functions_imported_by_name() -> None:
    descriptor = os.open("a", os.O_WRONLY | os.O_CREAT)
    os.write(descriptor, b"a")
    kept_fsync(descriptor)
    os.close(descriptor)
    kept_rename("a", "b")
    kept_replace("b", "old.txt")
    kept_unlink("old.txt")


@way
def open_as_a_default_argument() -> None:
    def write(path: str, op: Callable[..., io.TextIOWrapper] = open) -> None:
        with op(path, "w") as file:
            file.write("by default")

    write("a")


@way
def os_modes_and_times() -> None:
    os.chmod("old.txt", 0o600)
    descriptor = os.open("old.txt", os.O_RDONLY)
    os.fchmod(descriptor, 0o640)
    os.close(descriptor)
    os.utime("old.txt", (1_000_000, 2_000_000))
    Path("old.txt").chmod(0o644)


@way
def os_copies_in_the_kernel() -> None:
    source = os.open("old.txt", os.O_RDONLY)
    target = os.open("a", os.O_WRONLY | os.O_CREAT)
    os.sendfile(target, source, 0, 9)
    os.copy_file_range(source, target, 9)
    os.close(source)
    os.close(target)


@way
def os_fallocate() -> None:
    descriptor = os.open("old.txt", os.O_RDWR)
    os.posix_fallocate(descriptor, 0, 100)
    os.posix_fallocate(descriptor, 0, 10)
    os.close(descriptor)


@way
def unlinked_while_open() -> None:
    with open("a", "w") as file:
        file.write("one")
        file.flush()
        os.unlink("a")
        file.write("two")


@way
def renamed_while_open() -> None:
    with open("a", "w") as file:
        file.write("one")
        os.rename("a", "old.txt")


@way
def errors_change_nothing() -> None:
    for call in (
        lambda: os.rename("missing", "a"),
        lambda: os.mkdir("folder"),
        lambda: os.rmdir("folder"),
        lambda: os.unlink("missing"),
        lambda: open("missing/a", "w"),  # noqa: SIM115
        lambda: os.link("old.txt", "folder"),
        lambda: os.replace("old.txt", "folder"),
        lambda: os.symlink("x", "old.txt"),
    ):
        try:
            call()
        except OSError:
            pass
        else:
            raise AssertionError("no error")


# -- pathlib, tempfile, shutil -----------------------------------------------------------------------------------


@way
def pathlib_all() -> None:
    Path("a").write_text("text")
    Path("a").write_bytes(b"bytes")
    Path("b").touch()
    Path("b").rename("c")
    Path("c").replace("a")
    Path("d").mkdir()
    Path("e/f").mkdir(parents=True)
    Path("s").symlink_to("a")
    Path("h").hardlink_to("a")
    with Path("d", "inner").open("a") as file:
        file.write("appended")
    Path("d", "inner").unlink()
    Path("missing").unlink(missing_ok=True)
    Path("d").rmdir()


@way
def tempfile_mkstemp() -> None:
    descriptor, name = tempfile.mkstemp(dir=".")
    os.write(descriptor, b"temporary")
    os.close(descriptor)
    os.replace(name, "old.txt")


@way
def tempfile_named() -> None:
    with tempfile.NamedTemporaryFile("w", dir=".") as file:
        file.write("goes away")
    with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as kept:
        kept.write("stays")
    os.replace(kept.name, "a")


if sys.version_info >= (3, 12):

    @way
    def tempfile_closed_before_it_goes() -> None:
        with tempfile.NamedTemporaryFile("w", dir=".", delete_on_close=False) as file:
            file.write("closed")
            file.close()
            shutil.copy(file.name, "a")
        with tempfile.TemporaryDirectory(dir=".", delete=False) as folder:
            Path(folder, "stays").write_text("b")
        for place, _, files in Path(folder).walk():
            for name in files:
                (place / name).replace("c")


@way
def tempfile_nameless() -> None:
    with tempfile.TemporaryFile(dir=".") as file:
        file.write(b"nobody sees it")


@way
def tempfile_spooled() -> None:
    with tempfile.SpooledTemporaryFile(max_size=10, mode="wb", dir=".") as file:
        file.write(b"12345")
        file.write(b"67890abc")
        file.write(b"def")


@way
def tempfile_directory() -> None:
    with tempfile.TemporaryDirectory(dir=".") as directory:
        Path(directory, "a").write_text("a")
        os.mkdir(Path(directory, "inner"))
        Path(directory, "inner", "b").write_text("b")
        os.replace(Path(directory, "a"), "a")
    made = tempfile.mkdtemp(dir=".")
    os.rmdir(made)


@way
def shutil_copies() -> None:
    shutil.copyfile("old.txt", "a")
    shutil.copy("old.txt", "b")
    shutil.copy2("old.txt", "c")
    shutil.copymode("old.txt", "a")
    with open("old.txt", "rb") as source, open("d", "wb") as target:
        shutil.copyfileobj(source, target)


@way
def shutil_moves() -> None:
    shutil.move("old.txt", "moved.txt")
    shutil.move("folder", "place")
    shutil.move("moved.txt", "place")


@way
def shutil_trees() -> None:
    shutil.copytree("folder", "copy")
    shutil.rmtree("folder")


@way
def listings() -> None:
    os.makedirs("d/e")
    Path("d/e/f").write_text("f")
    names = [entry.name for entry in os.scandir("d")] + glob.glob("d/**", recursive=True)
    names += [name for _, folders, files in os.walk("d") for name in folders + files]
    names += [str(path) for path in Path("d").rglob("*")] + os.listdir("d") + os.listdir()
    Path("names").write_text(" ".join(sorted(names)))


# -- formats -------------------------------------------------------------------------------------------------------


@way
def json_dump() -> None:
    with open("a", "w") as file:
        json.dump({"messages": [{"role": "user", "content": BIG[:40]} for _ in range(150)]}, file, indent=1)


@way
def pickle_dump() -> None:
    with open("a", "wb") as file:
        pickle.dump({"text": BIG, "numbers": list(range(100))}, file)
    with open("b", "wb") as file:
        pickle.dump({"text": "short"}, file, protocol=0)


@way
def csv_writer() -> None:
    with open("a", "w", newline="") as file:
        csv.DictWriter(file, ["a", "b"]).writeheader()
        csv.writer(file).writerows([[1, "two"], [3, "four, five"]])


@way
def gzip_file() -> None:
    with open("a", "wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        file.write(BIG.encode())
    with gzip.open("b", "wt") as text_file:
        text_file.write("text")


@way
def bz2_and_lzma() -> None:
    with bz2.open("a", "wb") as file:
        file.write(BIG.encode())
    with lzma.open("b", "wb", preset=0) as other:
        other.write(BIG.encode())


@way
def zip_file() -> None:
    with zipfile.ZipFile("a", "w") as archive:
        archive.writestr(zipfile.ZipInfo("one"), b"one" * 10)
        archive.writestr(zipfile.ZipInfo("two"), b"two" * 10, zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile("a", "a") as archive:
        archive.write("old.txt")


@way
def tar_file() -> None:
    with tarfile.open("a", "w") as archive:
        info = tarfile.TarInfo("one")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"one"))
    with tarfile.open("a") as archive:
        archive.extract("one", "out", filter="data")


@way
def dumb_database() -> None:
    with dbm.dumb.open("base", "c") as base:
        base["a"] = "one"
        base["b"] = "two"
        base["a"] = "three"


@way
def shelf() -> None:
    with shelve.Shelf(dbm.dumb.open("base", "c")) as base:
        base["state"] = {"turn": 1}


@way
def logs() -> None:
    log = logging.Logger("ways")
    handlers: list[logging.Handler] = [
        logging.FileHandler("plain.log"),
        logging.FileHandler("late.log", delay=True),
        logging.handlers.RotatingFileHandler("turn.log", maxBytes=20, backupCount=2),
        logging.handlers.WatchedFileHandler("watched.log"),
    ]
    for handler in handlers:
        log.addHandler(handler)
    for number in range(5):
        log.error("message %d", number)
    for handler in handlers:
        handler.close()


@way
def file_input() -> None:
    with fileinput.input("old.txt", inplace=True) as lines:
        for line in lines:
            print(line.upper(), end="")


@way
def file_input_with_backup() -> None:
    with fileinput.input("old.txt", inplace=True, backup=".orig") as lines:
        for line in lines:
            print(line.upper(), end="")


# -- threads -------------------------------------------------------------------------------------------------------


def write_a(text: str = "by a thread") -> None:
    with open("a", "w") as file:
        file.write(text)
    os.replace("a", "old.txt")


@way
def thread_joined() -> None:
    thread = threading.Thread(target=write_a)
    thread.start()
    thread.join()


@way
def thread_pool() -> None:
    with ThreadPoolExecutor(3) as pool:
        pool.submit(write_a).result()
        list(pool.map(lambda n: Path(f"n{n}").write_text("x"), range(1)))


@way
def thread_of_asyncio() -> None:
    async def main() -> None:
        await asyncio.to_thread(write_a)
        await asyncio.get_running_loop().run_in_executor(None, write_a, "again")

    asyncio.run(main())


@way
def thread_with_a_queue() -> None:
    jobs: queue.Queue[str | None] = queue.Queue()

    def work() -> None:
        while (job := jobs.get()) is not None:
            write_a(job)
            jobs.task_done()

    thread = threading.Thread(target=work)
    thread.start()
    for text in ("one", "two"):
        jobs.put(text)
    jobs.join()
    jobs.put(None)
    thread.join()


@way
def thread_with_an_event() -> None:
    done = threading.Event()

    def work() -> None:
        write_a()
        done.set()

    threading.Thread(target=work).start()
    done.wait()


@way
def thread_polled() -> None:
    thread = threading.Thread(target=write_a)
    thread.start()
    while thread.is_alive():
        time.sleep(0.001)
