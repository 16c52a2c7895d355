"""Lives on real disks that are given, each in a process that was there before anything of its life was known.

All processes of a job are forked from a host that has read the learner's cells and nothing else; they stand still. Only
then the host reads what is to be done. Before it lets a process go it lays its disk out (files of its own, or those
that an earlier process left, perhaps with one byte turned over); so no learner's code sees it done, and nothing in a
process's memory tells what was there before, or what is expected.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn, Protocol

import msgspec

from grader.answers import fence, syncs, zygote
from grader.answers.frames import Limits, read_frame
from grader.answers.scratch import Scratch
from grader.answers.talk import Ended, Talk
from grader.levels.sightings import Entry, Flip, Look, Play, Sightings, Step

LONGEST, LONGEST_WALL = 12.0, 30.0
"""Seconds for all lives together, of processor time and by the clock; a right answer takes a fraction of one."""

_decoder = msgspec.msgpack.Decoder(list[Step])
_leave, _read = os._exit, os.read

Be = Callable[[int, int], NoReturn]
"""Is the learner's process from its first line on, given the pipe it reads answers from and the one it asks through."""


class Answers(Protocol):
    """Gives one process what it asks for."""

    def answer(self, kind: str, data: Any) -> Any:
        """Return the answer; ``StopIteration`` ends the process."""

    def with_call(self, kind: str, data: Any) -> Any:
        """Return what was asked, as the judge is to know it."""


Answering = Callable[[Any, Callable[[Any], str]], Answers]
"""Makes the answers to one ask, given what lets another process live beside this one."""


def encode_steps(steps: list[Step]) -> bytes:
    """Return what is to be done as bytes."""
    return msgspec.msgpack.encode(steps)


@dataclass
class _Process:
    """A learner's process that stands still until it is let go."""

    pid: int
    says: int
    out: int
    channel: socket.socket
    listener: int | None = None
    ends: list[int] = field(default_factory=list)

    @classmethod
    def forked(cls, be: Be, writes: bool) -> _Process:
        ours, theirs = socket.socketpair()
        pid, says, out = zygote.start(lambda into, _: _stand_by(be, into, writes), theirs.fileno())
        theirs.close()
        return cls(pid, says, out, ours)

    def ready(self) -> None:
        """Wait until it stands by, and take where its syncs are told."""
        said, listeners, _, _ = socket.recv_fds(self.channel, 1, 1)
        if said != b"+":
            raise ChildProcessError("a process never came to stand by")
        self.listener = listeners[0] if listeners else None

    def close(self) -> None:
        for end in (self.says, self.out, *([self.listener] if self.listener is not None else [])):
            os.close(end)
        self.channel.close()


def _stand_by(be: Be, into: int, writes: bool) -> NoReturn:
    fence.show(False)  # the ones that are let go before can't look into it
    listener = fence.tell_syncs(writes)
    channel = socket.socket(fileno=4)
    socket.send_fds(channel, [b"+"], [listener] if listener is not None else [])
    channel.detach()
    if listener is not None:
        os.close(listener)
    if not _read(4, 1):
        _leave(0)
    fence.show(True)
    be(4, into)


class _Lives:
    """Lets one process after the other live."""

    def __init__(self, waiting: list[_Process], answering: Answering, source: int, folder: str) -> None:
        self.waiting, self.answering, self.source, self.folder = waiting, answering, source, folder
        self.scratch = Scratch()
        self.living: set[int] = set()
        self.kept: dict[str, list[Entry]] = {}
        self.end = time.monotonic() + LONGEST_WALL

    def in_time(self) -> None:
        """Go on only as long as all lives may take, this process's own work for them included.

        Raises:
            Ended: they took longer.
        """
        if sum(os.times()[:4]) > LONGEST or time.monotonic() > self.end:
            raise Ended("time", "all lives together")

    def play(self, step: Step, seconds: float, limits: Limits) -> Play:
        """Lay out a disk and let a process live on it.

        Whatever a learner's process can do to the disk, so that it can't be laid out or read, is an end as well.
        """
        try:
            self.in_time()
            return self._played(step, seconds, limits)
        except zygote.JudgeGone:
            raise
        except Ended as end:
            return Play([], [], end.how, end.detail)
        except Exception as error:
            return Play([], [], "stopped", f"{type(error).__name__}: {error}"[:200])

    def _played(self, step: Step, seconds: float, limits: Limits) -> Play:
        flipped = ""
        if step.disk is not None:
            disk = step.disk
            if isinstance(disk, Flip):
                disk, flipped = _turned(self.kept.get(disk.kept, []), disk.where)
            self._lay_out(disk)

        def beside(answers: Any) -> str:
            return self._live(answers, seconds, limits).ended

        found = self._live(self.answering(step.ask, beside), seconds, limits)
        if step.keep:
            self.kept[step.keep] = _entries(self.folder)
        return msgspec.structs.replace(found, flipped=flipped)

    def _live(self, answers: Answers, seconds: float, limits: Limits) -> Play:
        process = self.waiting.pop()
        heard = syncs.Heard(process.listener, self.folder) if process.listener is not None else None
        beside = {heard.descriptor: partial(self._take, heard)} if heard is not None else {}
        looks: list[Look] = []
        ended: Any = "end"
        detail = ""
        self.living.add(process.pid)
        try:
            os.write(process.channel.fileno(), b"!")
            talk = Talk(process.pid, process.says, process.out, process.channel.fileno(), self.source, seconds, limits)
            while True:
                say = talk.next(beside)
                self.in_time()
                if heard is not None:
                    heard.settle(len(looks))
                if say.kind == "raised":
                    found = say.data if isinstance(say.data, dict) else {}
                    raise Ended("raised", f"{found.get('type')}: {found.get('message')}"[:300])
                if say.kind == "end":
                    break
                answer = answers.answer(say.kind, say.data)
                looks.append(Look(say.kind, answers.with_call(say.kind, say.data), -1, 0, True))
                talk.answer(answer)
        except Ended as end:
            ended, detail = end.how, end.detail
        except StopIteration:
            ended, detail = "stopped", "runaway"
        finally:
            zygote.end(process.pid)
            self.living.discard(process.pid)
            _end_others({one.pid for one in self.waiting} | self.living)
            process.close()
        return Play(looks, [], ended, detail, syncs=heard.syncs if heard is not None else None)

    def _take(self, heard: syncs.Heard) -> None:
        self.in_time()
        heard.take()

    def _lay_out(self, disk: list[Entry]) -> None:
        self.scratch.empty()  # nothing is carried from one life to the next but by the disk
        os.makedirs(self.folder)
        for entry in disk:
            path = os.path.join(self.folder, entry.path)
            if entry.kind == "folder":
                os.makedirs(path, exist_ok=True)
            elif entry.kind == "link":
                os.symlink(entry.data, os.fsencode(path))
                continue
            elif entry.kind == "same":
                os.link(os.path.join(self.folder, os.fsdecode(entry.data)), path)
                continue
            else:
                with open(path, "wb") as file:
                    file.write(entry.data)
        for entry in reversed(disk):
            if entry.kind in ("file", "folder"):
                path = os.path.join(self.folder, entry.path)
                os.chmod(path, entry.mode)
                os.utime(path, (entry.mtime, entry.mtime))


def _end_others(spared: set[int]) -> None:
    """Kill what a process left behind, where it could: all children of this one but some."""
    for _ in range(10_000):
        with contextlib.suppress(OSError), open(f"/proc/self/task/{os.getpid()}/children") as listed:
            others = [pid for pid in map(int, listed.read().split()) if pid not in spared]
            if not others:
                return
            for pid in others:
                zygote.end(pid)


def _entries(folder: str) -> list[Entry]:
    """Return what lies in a folder."""
    found: list[Entry] = []
    first: dict[int, str] = {}
    for path, entry in syncs.entries(folder):
        about = entry.stat(follow_symlinks=False)
        mode = about.st_mode & 0o7777
        if entry.is_symlink():
            found.append(Entry(path, "link", os.fsencode(os.readlink(entry.path))))
        elif entry.is_dir():
            found.append(Entry(path, "folder", b"", mode, about.st_mtime))
        elif about.st_ino in first:
            found.append(Entry(path, "same", os.fsencode(first[about.st_ino])))
        elif entry.is_file():
            first[about.st_ino] = path
            with contextlib.suppress(OSError), open(entry.path, "rb") as file:
                found.append(Entry(path, "file", file.read(syncs.LARGEST), mode, about.st_mtime))
    return found


def _turned(disk: list[Entry], where: float) -> tuple[list[Entry], str]:
    """Return a disk with the lowest bit of one byte turned over, and which one it was."""
    at = int(where * sum(len(entry.data) for entry in disk if entry.kind == "file"))
    turned: list[Entry] = []
    told = ""
    for entry in disk:
        if entry.kind == "file" and not told and at < len(entry.data):
            told = f"{entry.path}, byte {at + 1} of {len(entry.data)}"
            data = entry.data[:at] + bytes([entry.data[at] ^ 1]) + entry.data[at + 1 :]
            entry = msgspec.structs.replace(entry, data=data)
        elif entry.kind == "file":
            at -= len(entry.data)
        turned.append(entry)
    return turned, told


def watch(
    processes: int, be: Be, answering: Answering, source: int, folder: str, seconds: float, limits: Limits, writes: bool
) -> Sightings:
    """Fork processes, read what is to be done, and let them live; until one of them does not come to its end.

    Args:
        processes: how many there are to be.
        be: what each of them is.
        answering: the other side.
        source: where what is to be done is read from.
        folder: the working directory.
        seconds: of processor time, for each process.
        limits: of each process.
        writes: whether files may be open so that every write is a sync.
    """
    waiting = [_Process.forked(be, writes) for _ in range(processes)]
    for process in waiting:
        process.ready()
    steps = _decoder.decode(read_frame(source) or b"")
    lives = _Lives(waiting, answering, source, folder)
    plays: list[Play] = []
    for step in steps:
        plays.append(lives.play(step, seconds, limits))
        if plays[-1].ended != "end":
            break
    return Sightings(plays, [])
