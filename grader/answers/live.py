"""A learner's program on a real disk: run without any recorder, watched from outside, and really killed.

Its zygote has never imported a fake disk, so that nothing in the process tells this run from life. The *host* (see
``zygote``) answers what the program asks for, looks at the checkpoint while the program waits, and kills further runs
at a byte of a write (``RLIMIT_FSIZE`` and its signal) and at a moment in the middle of a save.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
import shutil
import signal
import stat
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

import msgspec

from grader.answers import fence, given, inotify, zygote
from grader.answers.frames import FRAME, Limits, Order, Reply, framed, write_all
from grader.answers.play import Play, brief_sleep, failure_of, hide_grader
from grader.answers.talk import Ended, Ending, Say, Talk
from grader.levels import level2_live, level3_live, level4_live, sightings
from grader.levels.failures import Failure
from grader.levels.sightings import Ask, Event, Look, Played, Sightings

HOME = "/tmp/learner"
FOLDER = f"{HOME}/work"
"""The working directory; on the same file system as ``/tmp``, as on the fake disk."""
FILE_SIZE = 16 * 1024 * 1024
KILLED_AT_BYTES = 3
LONGEST = 0.4
"""Seconds of processor time that a play may take if it is to be played again, to be killed."""


class Answers(Protocol):
    """Gives a program what it asks for."""

    def answer(self, kind: str, data: Any) -> Any:
        """Return the answer; ``StopIteration`` ends the program."""

    def with_call(self, kind: str, data: Any) -> Any:
        """Return what was asked, as a driver's mark would say it."""


Drive = Callable[[Played, Ask], None]
PARTS: dict[str, tuple[Drive, Callable[[Any], Answers]]] = {
    "level2": (level2_live.drive, level2_live.Answers),
    "level3": (level3_live.drive, level3_live.Answers),
}
"""For each driver, the side that runs the learner's functions and the side that answers."""
GIVEN: dict[str, tuple[Drive, given.Answering]] = {"level4": (level4_live.drive, level4_live.Answers)}
"""The same for drivers of lives on disks that are given."""


class LiveJob(msgspec.Struct, frozen=True):
    """One program to watch: the learner's cells as (id, source), what to run, and the checkpoint's path."""

    cells: list[tuple[str, str]]
    driver: str
    arguments: Any
    path: str
    limits: Limits = Limits()
    seconds: float = 3.0
    kills: bool = True
    """Whether it is run again, to be killed."""
    processes: int = 0
    """Lives on disks that are given, in so many processes; what is to be done follows in a frame of its own."""


_WRITES_SYNC = re.compile(r"O_D?SYNC")
_encoder = msgspec.msgpack.Encoder()
_jobs = msgspec.msgpack.Decoder(LiveJob)
_any = msgspec.msgpack.Decoder()
_read, _write, _leave = os.read, os.write, os._exit


def encode_job(job: LiveJob) -> bytes:
    """Return a job as bytes."""
    return _encoder.encode(job)


# ------------------------------------------------------------------------------------------ the learner's process


def _child(job: LiveJob, play: Play, out_of: int, into: int, file_size: int) -> NoReturn:
    """Be the learner's process: run the cells and the driver, and ask for everything else."""
    own_user = fence.counts_by_namespace()
    fence.limit(job.limits, job.seconds, own_user=own_user, file_size=file_size)
    fence.forbid()
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.chdir(FOLDER)
    drive = GIVEN[job.driver][0] if job.processes else PARTS[job.driver][0]

    def ask(kind: str, data: Any) -> Any:
        write_all(into, framed(_encoder.encode(Say(kind, data))), _write)
        answer = bytearray()
        while len(answer) < FRAME.size or len(answer) < FRAME.size + FRAME.unpack_from(answer)[0]:
            piece = _read(out_of, 1 << 20)
            if not piece:
                _leave(0)
            answer += piece
        return _any.decode(bytes(answer[FRAME.size :]))

    failures: list[Failure] = []
    play.run_cells(play.sources, failures)
    try:
        drive(play, ask)
    except BaseException as error:
        failure = failure_of(error)
        with contextlib.suppress(BaseException):
            ask("raised", {"type": failure.type, "message": failure.message})
    ask("end", None)
    _leave(0)


# ------------------------------------------------------------------------------------------ the host


class _Stage:
    """One run of the learner's program, and what is seen of it."""

    def __init__(self, job: LiveJob, cells: Play, source: int, queue: int | None, contents: dict[bytes, int]) -> None:
        self.job, self.cells, self.source, self.queue, self.contents = job, cells, source, queue, contents
        self.path = posixpath.normpath(posixpath.join(FOLDER, job.path))
        self.answers = PARTS[job.driver][1](job.arguments)
        self.looks: list[Look] = []
        self.events: list[Event] = []

    def play(self, file_size: int = FILE_SIZE, strike: int | None = None) -> sightings.Play:
        """Run the program in an empty folder.

        Args:
            file_size: how long a file may get; the kernel kills at this byte.
            strike: after how many looks it is killed, at the first thing it then does to the disk.
        """
        shutil.rmtree(HOME, ignore_errors=True)
        os.makedirs(FOLDER)
        top = FOLDER if self.path.startswith(FOLDER + "/") else posixpath.dirname(self.path)
        self.watch = None
        if self.queue is not None and os.path.isdir(top):
            self.watch = inotify.Watch(self.queue, top, self.path)
        answers, into = os.pipe()
        pid, says, out = zygote.start(lambda result, _: _child(self.job, self.cells, 4, result, file_size), answers)
        os.close(answers)
        try:
            talk = Talk(pid, says, out, into, self.source, self.job.seconds, self.job.limits)
            ended, detail = self._converse(talk, strike)
            status = zygote.end(pid)
            zygote.end_descendants()
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXFSZ, signal.SIGKILL)
            killed = killed and ended == "died"
            self._listen()
            if killed:
                self._look("killed", None)
        finally:
            for end in (says, out, into):
                os.close(end)
            if self.watch is not None:
                self.watch.close()
        told = self.watch is not None and self.watch.told
        kill: Any = "byte" if file_size != FILE_SIZE else "moment" if strike is not None else ""
        return sightings.Play(self.looks, self.events, ended, detail, told, kill, killed)

    def _converse(self, talk: Talk, strike: int | None) -> tuple[Ending, str]:
        def kill() -> NoReturn:
            with contextlib.suppress(OSError):
                os.kill(talk.pid, signal.SIGKILL)
            raise Ended("died")

        try:
            while True:
                striking = strike is not None and len(self.looks) >= strike and self.watch is not None
                say = talk.next({self.watch.descriptor: kill} if striking and self.watch is not None else {})
                self._listen()
                if say.kind == "raised":
                    found = say.data if isinstance(say.data, dict) else {}
                    return "raised", f"{found.get('type')}: {found.get('message')}"[:300]
                if say.kind == "end":
                    self._look(say.kind, None)
                    return "end", ""
                try:
                    answer = self.answers.answer(say.kind, say.data)
                except StopIteration:
                    self._look(say.kind, self.answers.with_call(say.kind, say.data))
                    return "stopped", "runaway"
                self._look(say.kind, self.answers.with_call(say.kind, say.data))
                talk.answer(answer)
        except Ended as end:
            return end.how, end.detail

    def _listen(self) -> None:
        if self.watch is not None:
            self.events += [Event(what, len(self.looks)) for what in self.watch.events()]

    def _look(self, kind: str, data: Any) -> None:
        content, inode, plain = -1, 0, True
        with contextlib.suppress(OSError):
            plain = not stat.S_ISLNK(os.lstat(self.path).st_mode)
            found = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                about = os.fstat(found)
                if stat.S_ISREG(about.st_mode):
                    inode = about.st_ino
                    data_there = os.read(found, FILE_SIZE)
                    content = self.contents.setdefault(data_there, len(self.contents))
            finally:
                os.close(found)
        self.looks.append(Look(kind, data, content, inode, plain))


def _watch(job: LiveJob, cells: Play, source: int, queue: int | None) -> Sightings:
    contents: dict[bytes, int] = {}
    begun = _used_by_children()
    first = _Stage(job, cells, source, queue, contents).play()
    plays = [first]
    saved = any(look.content >= 0 for look in first.looks)
    if job.kills and saved and first.ended == "end" and _used_by_children() - begun < LONGEST:
        sizes = [len(list(contents)[look.content]) if look.content >= 0 else 0 for look in first.looks]
        for limit in _bytes_to_die_at(sizes):
            plays.append(_Stage(job, cells, source, queue, contents).play(limit))
        plays.append(_Stage(job, cells, source, queue, contents).play(strike=len(first.looks) // 2))
    return Sightings(plays, list(contents))


def _used_by_children() -> float:
    used = os.times()
    return used.children_user + used.children_system


def _bytes_to_die_at(sizes: list[int]) -> list[int]:
    """Return lengths at which to kill: in the first save, in the one that adds most, and in the last."""
    steps = []
    most = 0
    for size in sizes:
        if size > most + 1:
            steps.append((most, size))
        most = max(most, size)
    if not steps:
        return []
    widest = max(steps, key=lambda step: step[1] - step[0])
    return list(dict.fromkeys((low + high) // 2 for low, high in (steps[0], widest, steps[-1])))[:KILLED_AT_BYTES]


def be_zygote(user: int | None = None, isolated: bool = True, sandboxed: bool = True) -> None:
    """Serve watched programs from standard input until it closes; only ever in a sandbox.

    Args:
        user: whom to become before the first run.
        isolated: as it must be.
        sandboxed: as it must be.
    """
    if not (isolated and sandboxed):
        sys.exit("a learner's program is run on a real disk in a sandbox only")

    queue = None
    with contextlib.suppress(OSError):
        queue = inotify.queue()

    def host(order: Order, data: bytes, source: int) -> Reply:
        job = _jobs.decode(data)
        cells = Play(job.cells)
        cells.compile()
        if not job.processes:
            return Reply("result", sightings.encode(_watch(job, cells, source, queue)))

        def be(out_of: int, into: int) -> NoReturn:
            _child(job, cells, out_of, into, FILE_SIZE)

        answering = GIVEN[job.driver][1]
        writes = any(_WRITES_SYNC.search(source) for _, source in job.cells)
        seen = given.watch(job.processes, be, answering, source, FOLDER, job.seconds, job.limits, writes)
        return Reply("result", sightings.encode(seen))

    def ready() -> contextlib.nullcontext[None]:
        time.sleep = brief_sleep  # type: ignore[assignment]
        hide_grader()
        return contextlib.nullcontext()

    zygote.serve(host, ready, user, sandboxed)
