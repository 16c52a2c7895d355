"""The zygote: a warm process that runs no line of a learner's, and forks the processes that do.

For each run it forks a *host*, which reads the run's job and forks the *child* that runs the learner's code. The zygote
itself never holds a learner's code or data, so every child begins with the same clean memory; and the host, which does,
is gone with its child before the next run begins. What a child sends, prints or does not do, the host only measures
and passes on.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import shutil
import signal
import sys
from collections.abc import Callable
from typing import Literal, NoReturn

from grader.answers import fence
from grader.answers.frames import FRAME, HEAVY, Order, Reply, decode_order, encode, framed, read_frame, write_all
from grader.answers.patience import Clock
from grader.answers.play import PRELOAD

SCRATCH = ("/tmp", "/dev/shm")
"""Where a run in a sandbox may write; emptied after each."""

_leave = os._exit  # held: in a child, a learner's os._exit is another

Child = Callable[[int, int], NoReturn]
"""Is one run's process, given the pipes for its result and for what it prints."""
Host = Callable[[Order, bytes, int], Reply]
"""Sees one job through, given the order, the job and the pipe whose end means that the judge is gone."""


class JudgeGone(Exception):
    """Nobody waits for the run any more."""


def serve(host: Host, warm: Callable[[], None], user: int | None = None, sandboxed: bool = False) -> None:
    """Serve runs from standard input until it closes: an order and a job in, a reply out.

    Args:
        host: sees a job through, in a process of its own.
        warm: called when everything is imported, and again when more has been.
        user: whom to become before the first run; this process must be root.
        sandboxed: whether this process is the first of a process namespace, and ``SCRATCH`` its own.
    """
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    for name in PRELOAD:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    _ready(warm)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if user is not None:
        fence.become(user)
    fence.show(False)
    while (order := read_frame(source)) is not None:
        _import_heavy(decode_order(order), warm)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                _host(host, decode_order(order), source, sink)
                status = 0
            finally:
                _leave(status)
        status = os.waitpid(pid, 0)[1]
        if sandboxed:
            _sweep()
        if status != 0:
            return  # no reply, or half a reply: the judge sees the end and starts another zygote


def _ready(warm: Callable[[], None]) -> None:
    warm()
    gc.collect()
    gc.freeze()


def _import_heavy(order: Order, warm: Callable[[], None]) -> None:
    """Import the well-known packages that an order names: it costs no run its time."""
    named = [name for name in order.heavy if name in HEAVY]
    missing = [module for name in named for module in HEAVY[name] if module not in sys.modules]
    for module in missing:
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    if missing:
        _ready(warm)


def _host(host: Host, order: Order, source: int, sink: int) -> None:
    fence.adopt_orphans()
    job = read_frame(source)
    if job is None:
        return
    try:
        reply = host(order, job, source)
    except JudgeGone:
        return
    except Exception as error:
        reply = Reply("broken", detail=f"{type(error).__name__}: {error}"[:500])
    finally:
        end_descendants()
    write_all(sink, framed(encode(reply)))


def _sweep() -> None:
    """End every process but this one, which is the first here, and empty what can be written."""
    with contextlib.suppress(OSError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    for folder in SCRATCH:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)


def end_descendants() -> None:
    """Kill whatever this process's children have left behind, again and again: one of it may be forking just now."""
    children = f"/proc/self/task/{os.getpid()}/children"
    for _ in range(10_000):
        with contextlib.suppress(OSError), open(children) as listed:
            for pid in listed.read().split():
                with contextlib.suppress(OSError):
                    os.kill(int(pid), signal.SIGKILL)
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                select.select([], [], [], 0.001)
        except ChildProcessError:
            return


def start(child: Child, answers: int | None = None) -> tuple[int, int, int]:
    """Fork a child; return its process id and the ends of the pipes it sends its result and its output into.

    Args:
        child: what it is.
        answers: a pipe that it may read from, as number 4.
    """
    result, result_in = os.pipe()
    out, out_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _dress(result_in, out_in, answers)
            child(3, 1)
        finally:
            _leave(70)
    os.close(result_in)
    os.close(out_in)
    return pid, result, out


def _dress(result: int, out: int, answers: int | None) -> None:
    """Leave this process nothing but standard input, output and error, its result's pipe (3) and its answers' (4)."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.dup2(result, 3, inheritable=False)
    if answers is not None:
        os.dup2(answers, 4, inheritable=False)
    os.closerange(4 if answers is None else 5, 256)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False, buffering=1)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False, buffering=1)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    fence.show(True)


def run_to_its_end(order: Order, child: Child, source: int) -> Reply:
    """Fork a child and collect what it sends and prints until it ends or its limits do.

    Raises:
        JudgeGone: nobody waits for the reply any more.
    """
    pid, result, out = start(child)
    try:
        return _Supervision(pid, order, result, out, source).reply()
    finally:
        os.close(result)
        os.close(out)


class _Supervision:
    """Watches one child from outside."""

    def __init__(self, pid: int, order: Order, result: int, out: int, source: int) -> None:
        self.pid, self.result, self.out, self.source = pid, result, out, source
        self.order, self.limits = order, order.limits
        self.received, self.printed = bytearray(), bytearray()
        self.size: int | None = None

    def reply(self) -> Reply:
        """Wait for the end, make sure of it, and say what it was."""
        clock = Clock(self.pid)
        ended = self._wait(clock)
        spent = clock.read()
        status = end(self.pid)
        end_descendants()
        os.set_blocking(self.out, False)
        with contextlib.suppress(OSError):
            while self._print() and len(self.printed) <= 8 * self.limits.output:
                pass
        detail = ""
        if ended == "died":
            detail = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
                ended = "time"
        need = FRAME.size
        payload = bytes(self.received[need : need + (self.size or 0)]) if ended == "result" else b""
        starved = spent.over(self.order.seconds) == "starved"
        return Reply(ended, payload, bytes(self.printed[-self.limits.output :]), detail, starved)

    def _wait(self, clock: Clock) -> Literal["result", "time", "died", "large"]:
        pipes = {self.result, self.out, self.source}
        while clock.read().over(self.order.seconds + self.limits.grace) is None:
            ready, _, _ = select.select(list(pipes), [], [], 0.1)
            if self.source in ready:
                raise JudgeGone
            if self.out in ready and not self._print():
                pipes.discard(self.out)
            if self.result in ready:
                ended = self._receive()
                if ended is not None:
                    return ended
            elif not ready and os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return "died"
        return "time"

    def _print(self) -> bool:
        piece = os.read(self.out, 1 << 16)
        self.printed += piece
        if len(self.printed) > 4 * self.limits.output:
            del self.printed[: -self.limits.output]
        return bool(piece)

    def _receive(self) -> Literal["result", "died", "large"] | None:
        piece = os.read(self.result, 1 << 20)
        if not piece:
            return "died"
        self.received += piece
        if self.size is None and len(self.received) >= FRAME.size:
            (self.size,) = FRAME.unpack_from(self.received)
            if self.size > self.limits.result:
                return "large"
        return "result" if self.size is not None and len(self.received) >= FRAME.size + self.size else None


def end(pid: int) -> int:
    """Kill a child and return its status."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]
