"""A library of saves: right ones, wrong ones, and what must be said of each.

Every save takes a state (a dict with ``turn`` and ``text``) and writes it below the working directory; its load reads
it back. They use plain names, so that the same function runs on the fake disk and, in a scratch directory, on the real
one. ``expected`` was worked out by hand from what POSIX promises, not copied from the explorer.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import dbm.dumb
import fileinput
import gzip
import hashlib
import io
import json
import logging
import lzma
import os
import pickle
import queue
import shutil
import tarfile
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import replace as replace_imported_by_name
from pathlib import Path
from typing import Any

State = dict[str, Any]
NAME = "checkpoint.json"
TEMP = "checkpoint.json.tmp"


@dataclass(frozen=True)
class Save:
    """One save, its load, and what holds of it.

    ``kill``: survives a kill at any moment. ``power``: survives a power loss while it runs. ``durable``: what it saved
    survives anything once it has returned. ``next_save``: works on whatever a kill leaves. ``real``: can be compared
    with a real kill in a scratch directory. ``threads``: uses threads.
    """

    name: str
    save: Callable[[State], object]
    load: Callable[[], State]
    kill: bool
    power: bool
    durable: bool
    next_save: bool = True
    residue: bool = False
    real: bool = True
    threads: bool = False


SAVES: list[Save] = []


def state(turn: int, size: int) -> State:
    """A state of about ``size`` bytes that doesn't compress to nothing and differs from turn to turn."""
    words, seed = [], str(turn)
    while len(words) * 65 < size:
        seed = hashlib.sha256(seed.encode()).hexdigest()
        words.append(seed)
    return {"turn": turn, "text": "\n".join(words)[:size]}


def load_json() -> State:
    with open(NAME, encoding="utf-8") as file:
        return json.load(file)


def known(load: Callable[[], State] = load_json, **expected: Any) -> Callable[[Any], Any]:
    def add(save: Callable[[State], object]) -> Callable[[State], object]:
        SAVES.append(Save(save.__name__, save, load, **expected))
        return save

    return add


NOTHING = {"kill": False, "power": False, "durable": False}
KILL_ONLY = {"kill": True, "power": False, "durable": False}
NOT_DURABLE = {"kill": True, "power": True, "durable": False}
ALL = {"kill": True, "power": True, "durable": True}


def sync_directory(path: str = ".") -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Of a save that a kill breaks, what the next one makes of the leftovers is not told apart: ``next_save`` is moot.

# -- over the old file -----------------------------------------------------------------------------------------


@known(**NOTHING)
def overwrite(new: State) -> None:
    with open(NAME, "w", encoding="utf-8") as file:
        json.dump(new, file)


@known(**NOTHING)
def overwrite_with_one_write(new: State) -> None:
    Path(NAME).write_text(json.dumps(new), encoding="utf-8")


@known(kill=False, power=False, durable=True)
def overwrite_and_fsync(new: State) -> None:
    with open(NAME, "w", encoding="utf-8") as file:
        json.dump(new, file)
        file.flush()
        os.fsync(file.fileno())


@known(**NOTHING)
def overwrite_unbuffered(new: State) -> None:
    with open(NAME, "wb", buffering=0) as file:
        file.write(json.dumps(new, indent=1).encode())


@known(**NOTHING)
def overwrite_line_buffered(new: State) -> None:
    with open(NAME, "w", buffering=1) as file:
        for line in json.dumps(new, indent=1).splitlines(True):
            file.write(line)


@known(**NOTHING)
def overwrite_small_buffer(new: State) -> None:
    with open(NAME, "wb", buffering=100) as file:
        for line in json.dumps(new, indent=1).encode().splitlines(True):
            file.write(line)


@known(**NOTHING)
def overwrite_by_descriptor(new: State) -> None:
    descriptor = os.open(NAME, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(descriptor, json.dumps(new).encode())
    os.close(descriptor)


@known(**NOTHING)
def update_in_place(new: State) -> None:
    data = json.dumps(new).encode()
    if not os.path.exists(NAME):
        Path(NAME).write_bytes(data)
        return
    with open(NAME, "r+b") as file:
        file.write(data)
        file.truncate()


@known(**NOTHING)
def truncate_and_pwrite(new: State) -> None:
    descriptor = os.open(NAME, os.O_RDWR | os.O_CREAT, 0o644)
    os.ftruncate(descriptor, 0)
    data = json.dumps(new).encode()
    half = len(data) // 2
    os.pwrite(descriptor, data[half:], half)
    os.pwritev(descriptor, [data[:half]], 0)
    os.close(descriptor)


@known(**NOTHING)
def writev_in_place(new: State) -> None:
    descriptor = os.open(NAME, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.writev(descriptor, [b'{"turn": %d, ' % new["turn"], b'"text": ', json.dumps(new["text"]).encode(), b"}"])
    os.close(descriptor)


@known(**NOTHING)
def bak_then_in_place(new: State) -> None:
    if os.path.exists(NAME):
        shutil.copy(NAME, NAME + ".bak")
    with open(NAME, "w") as file:
        json.dump(new, file)


@known(**NOTHING)
def hard_link_then_in_place(new: State) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(NAME + ".bak")
    with contextlib.suppress(FileNotFoundError):
        os.link(NAME, NAME + ".bak")
    with open(NAME, "w") as file:
        json.dump(new, file)


@known(**NOTHING)
def copy_temp_over(new: State) -> None:
    with open(TEMP, "w") as file:
        json.dump(new, file)
    shutil.copyfile(TEMP, NAME)
    os.remove(TEMP)


def load_csv() -> State:
    with open("state.csv", newline="") as file:
        rows = dict(csv.reader(file))
    return {"turn": int(rows["turn"]), "text": rows["text"]}


@known(load_csv, **NOTHING)
def csv_in_place(new: State) -> None:
    with open("state.csv", "w", newline="") as file:
        csv.writer(file).writerows(new.items())


def load_zip(name: str = "state.zip") -> State:
    with zipfile.ZipFile(name) as archive:
        return json.loads(archive.read("state.json"))


@known(load_zip, **NOTHING)
def zip_in_place(new: State) -> None:
    with zipfile.ZipFile("state.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("state.json"), json.dumps(new))


def load_dumb() -> State:
    with dbm.dumb.open("state", "r") as base:
        return json.loads(base["state"])


@known(load_dumb, **NOTHING)
def dumb_database(new: State) -> None:
    with dbm.dumb.open("state", "c") as base:
        base["state"] = json.dumps(new)


@known(**NOTHING)
def in_place_by_fileinput(new: State) -> None:
    if not os.path.exists(NAME):
        Path(NAME).write_text(json.dumps(new))
        return
    with fileinput.input(NAME, inplace=True) as lines:
        for _ in lines:
            print(json.dumps(new))


# -- appended --------------------------------------------------------------------------------------------------


def load_last_line() -> State:
    with open("log.jsonl", encoding="utf-8") as file:
        return json.loads(file.read().splitlines()[-1])


@known(load_last_line, **NOTHING)
def append_a_line(new: State) -> None:
    with open("log.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(new) + "\n")


def load_last_whole_line() -> State:
    with open("log.jsonl", "rb") as file:
        lines = file.read().split(b"\n")
    for line in reversed(lines):
        with contextlib.suppress(ValueError):
            return json.loads(line)
    raise FileNotFoundError("no whole line")


@known(load_last_whole_line, **NOT_DURABLE)
def append_between_newlines(new: State) -> None:
    with open("log.jsonl", "ab") as file:
        file.write(b"\n" + json.dumps(new).encode() + b"\n")


@known(load_last_whole_line, **ALL)
def append_and_fsync(new: State) -> None:
    fresh = not os.path.exists("log.jsonl")
    descriptor = os.open("log.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, b"\n" + json.dumps(new).encode() + b"\n")
    os.fdatasync(descriptor)
    os.close(descriptor)
    if fresh:
        sync_directory()


@known(load_last_line, **NOTHING)
def append_by_logging(new: State) -> None:
    log = logging.Logger("saves")
    handler = logging.FileHandler("log.jsonl", delay=True)
    log.addHandler(handler)
    try:
        log.error("%s", json.dumps(new))
    finally:
        handler.close()


# -- a temp file and a rename ------------------------------------------------------------------------------------


@known(residue=False, **KILL_ONLY)
def temp_and_replace(new: State) -> None:
    with open(TEMP, "w", encoding="utf-8") as file:
        json.dump(new, file)
    os.replace(TEMP, NAME)


@known(**NOT_DURABLE)
def temp_fsync_replace(new: State) -> None:
    with open(TEMP, "w", encoding="utf-8") as file:
        json.dump(new, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(TEMP, NAME)


@known(**ALL)
def temp_fsync_replace_fsync(new: State) -> None:
    with open(TEMP, "w", encoding="utf-8") as file:
        json.dump(new, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(TEMP, NAME)
    sync_directory()


@known(**KILL_ONLY)
def fsync_without_flush(new: State) -> None:
    with open(TEMP, "w", encoding="utf-8") as file:
        json.dump(new, file)
        os.fsync(file.fileno())
    os.replace(TEMP, NAME)
    sync_directory()


@known(kill=True, power=False, durable=True)
def fsync_after_replace(new: State) -> None:
    with open(TEMP, "w", encoding="utf-8") as file:
        json.dump(new, file)
    os.replace(TEMP, NAME)
    with open(NAME, "rb") as file:
        os.fsync(file.fileno())
    sync_directory()


@known(**NOT_DURABLE)
def directory_fsync_before_replace(new: State) -> None:
    with open(TEMP, "w", encoding="utf-8") as file:
        json.dump(new, file)
        file.flush()
        os.fsync(file.fileno())
    sync_directory()
    os.replace(TEMP, NAME)


@known(**NOTHING)
def replace_before_close(new: State) -> None:
    with open(TEMP, "w") as file:
        json.dump(new, file)
        os.replace(TEMP, NAME)


@known(kill=False, power=False, durable=True)
def unlink_and_rename(new: State) -> None:
    with open(TEMP, "w") as file:
        json.dump(new, file)
        file.flush()
        os.fsync(file.fileno())
    with contextlib.suppress(FileNotFoundError):
        os.unlink(NAME)
    os.rename(TEMP, NAME)
    sync_directory()


@known(**KILL_ONLY)
def move_in_directory(new: State) -> None:
    with open(TEMP, "w") as file:
        json.dump(new, file)
    shutil.move(TEMP, NAME)


@known(real=False, residue=True, **NOTHING)
def move_from_system_temp(new: State) -> None:
    with tempfile.NamedTemporaryFile("w", delete=False) as file:
        json.dump(new, file)
    shutil.move(file.name, NAME)


@known(residue=True, **ALL)
def mkstemp_and_replace(new: State) -> None:
    descriptor, name = tempfile.mkstemp(dir=".")
    try:
        with os.fdopen(descriptor, "w") as file:
            json.dump(new, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, NAME)
    except BaseException:
        os.unlink(name)
        raise
    sync_directory()


@known(residue=True, **KILL_ONLY)
def named_temporary_file(new: State) -> None:
    with tempfile.NamedTemporaryFile("w", dir=".", suffix=".part", delete=False) as file:
        json.dump(new, file)
    Path(file.name).replace(NAME)


@known(next_save=False, **KILL_ONLY)
def exclusive_temp(new: State) -> None:
    with open(TEMP, "x") as file:
        json.dump(new, file)
    os.replace(TEMP, NAME)


@known(**NOT_DURABLE)
def nameless_temp_file(new: State) -> None:
    descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(descriptor, json.dumps(new).encode())
    os.fsync(descriptor)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(TEMP)
    os.link(f"/proc/self/fd/{descriptor}", TEMP, src_dir_fd=0)  # with a dir_fd CPython calls linkat, which follows
    os.replace(TEMP, NAME)
    os.close(descriptor)


@known(**ALL)
def by_directory_descriptor(new: State) -> None:
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    descriptor = os.open(TEMP, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, dir_fd=here)
    os.write(descriptor, json.dumps(new).encode())
    os.fsync(descriptor)
    os.close(descriptor)
    os.replace(TEMP, NAME, src_dir_fd=here, dst_dir_fd=here)
    os.fsync(here)
    os.close(here)


@known(**ALL)
def sync_everything(new: State) -> None:
    Path(TEMP).write_text(json.dumps(new))
    os.sync()
    replace_imported_by_name(TEMP, NAME)
    os.sync()


@known(**ALL)
def keep_the_mode(new: State) -> None:
    with open(TEMP, "w") as file:
        json.dump(new, file)
        file.flush()
        os.fsync(file.fileno())
    if os.path.exists(NAME):
        shutil.copymode(NAME, TEMP)
    os.replace(TEMP, NAME)
    sync_directory()


@known(**KILL_ONLY)
def print_to_temp(new: State) -> None:
    with open(TEMP, "w") as file:
        print(json.dumps(new), file=file)
    os.rename(TEMP, NAME)


def load_pickle() -> State:
    with open("state.pickle", "rb") as file:
        return pickle.load(file)


@known(load_pickle, **KILL_ONLY)
def pickle_and_replace(new: State) -> None:
    with open("state.tmp", "wb") as file:
        pickle.dump(new, file)
    os.replace("state.tmp", "state.pickle")


def load_gzip() -> State:
    with gzip.open("state.gz", "rt") as file:
        return json.load(file)


@known(load_gzip, **KILL_ONLY)
def gzip_and_replace(new: State) -> None:
    with open("state.tmp", "wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        file.write(json.dumps(new).encode())
    os.replace("state.tmp", "state.gz")


def load_lzma() -> State:
    with lzma.open("state.xz", "rt") as file:
        return json.load(file)


@known(load_lzma, **KILL_ONLY)
def lzma_and_replace(new: State) -> None:
    with lzma.open("state.tmp", "wt", preset=0) as file:
        json.dump(new, file)
    os.replace("state.tmp", "state.xz")


def load_tar() -> State:
    with tarfile.open("state.tar") as archive:
        member = archive.extractfile("state.json")
        assert member is not None
        return json.load(member)


@known(load_tar, **KILL_ONLY)
def tar_and_replace(new: State) -> None:
    data = json.dumps(new).encode()
    info = tarfile.TarInfo("state.json")
    info.size = len(data)
    with tarfile.open("state.tmp", "w") as archive:
        archive.addfile(info, io.BytesIO(data))
    os.replace("state.tmp", "state.tar")


@known(**ALL)
def into_a_subdirectory(new: State) -> None:
    if not os.path.isdir("saves"):
        os.makedirs("saves", exist_ok=True)
        sync_directory()
    with open("saves/new", "w") as file:
        json.dump(new, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace("saves/new", NAME)
    sync_directory("saves")
    sync_directory()


# -- more than one file ------------------------------------------------------------------------------------------


def checked(new: State) -> bytes:
    body = json.dumps(new).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unchecked(data: bytes) -> State:
    digest, _, body = data.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError("checksum")
    return json.loads(body)


def newest(names: list[str]) -> State:
    found = []
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            found.append(unchecked(Path(name).read_bytes()))
    return max(found, key=lambda each: each["turn"])


def load_slots() -> State:
    return newest(["slot-0", "slot-1"])


@known(load_slots, **ALL)
def two_slots(new: State) -> None:
    slot = f"slot-{new['turn'] % 2}"
    fresh = not os.path.exists(slot)
    with open(slot, "wb") as file:
        file.write(checked(new))
        file.flush()
        os.fsync(file.fileno())
    if fresh:
        sync_directory()


def load_versions() -> State:
    return newest([f"versions/{name}" for name in sorted(os.listdir("versions"))])


@known(load_versions, **ALL)
def numbered_versions(new: State) -> None:
    if not os.path.isdir("versions"):
        os.mkdir("versions")
        sync_directory()
    with open(f"versions/{new['turn']:08}", "wb") as file:
        file.write(checked(new))
        file.flush()
        os.fsync(file.fileno())
    sync_directory("versions")
    with os.scandir("versions") as entries:
        old = sorted(entry.name for entry in entries)[:-2]
    for name in old:
        os.remove(f"versions/{name}")


@known(load_versions, **NOT_DURABLE)
def numbered_versions_unsynced(new: State) -> None:
    os.makedirs("versions", exist_ok=True)
    Path(f"versions/{new['turn']:08}").write_bytes(checked(new))


def load_previous() -> State:
    try:
        return unchecked(Path("state").read_bytes())
    except (OSError, ValueError):
        return unchecked(Path("state.prev").read_bytes())


@known(load_previous, next_save=False, **NOT_DURABLE)
def rename_old_then_write(new: State) -> None:
    if os.path.exists("state"):
        os.replace("state", "state.prev")
    Path("state").write_bytes(checked(new))


def load_linked() -> State:
    with open("current/state.json") as file:
        return json.load(file)


@known(load_linked, next_save=False, **ALL)  # the same turn saved again goes into the folder that is live
def swap_a_symbolic_link(new: State) -> None:
    folder = f"turn-{new['turn']}"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/state.json", "w") as file:
        json.dump(new, file)
        file.flush()
        os.fsync(file.fileno())
    sync_directory(folder)
    with contextlib.suppress(FileNotFoundError):
        os.unlink("next")
    os.symlink(folder, "next")
    os.replace("next", "current")
    sync_directory()


@known(load_linked, **NOTHING)
def directory_removed_and_copied(new: State) -> None:
    os.makedirs("building", exist_ok=True)
    Path("building/state.json").write_text(json.dumps(new))
    shutil.rmtree("current", ignore_errors=True)
    shutil.copytree("building", "current")


# -- threads -----------------------------------------------------------------------------------------------------


@known(threads=True, real=False, **ALL)
def joined_thread(new: State) -> None:
    thread = threading.Thread(target=temp_fsync_replace_fsync, args=(new,))
    thread.start()
    thread.join()


@known(threads=True, real=False, **ALL)
def thread_pool(new: State) -> None:
    with ThreadPoolExecutor(2) as pool:
        pool.submit(temp_fsync_replace_fsync, new).result()


@known(threads=True, real=False, **ALL)
def asyncio_to_thread(new: State) -> None:
    asyncio.run(asyncio.to_thread(temp_fsync_replace_fsync, new))


@known(threads=True, real=False, **ALL)
def queue_worker(new: State) -> None:
    jobs: queue.Queue[State | None] = queue.Queue()

    def work() -> None:
        while (job := jobs.get()) is not None:
            temp_fsync_replace_fsync(job)
            jobs.task_done()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    jobs.put(new)
    jobs.join()
    jobs.put(None)
    thread.join()


@known(threads=True, real=False, **NOTHING)
def thread_that_overwrites(new: State) -> None:
    thread = threading.Thread(target=overwrite, args=(new,))
    thread.start()
    while thread.is_alive():
        time.sleep(0.001)


@known(threads=True, real=False, kill=False, power=True, durable=False)
def thread_not_waited_for(new: State) -> None:
    threading.Thread(target=temp_fsync_replace_fsync, args=(new,)).start()


BY_NAME = {each.name: each for each in SAVES}
