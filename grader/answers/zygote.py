"""The zygote: a warm process that runs no line of a learner's, and forks the processes that do.

For each submission it forks a *host*, which reads the jobs of its runs and forks for each the *child* that runs the
learner's code. The zygote itself never holds a learner's code or data, so every child begins with the same clean
memory; and the host, which holds one learner's, is gone before the next one's first run. What a child sends, prints or
does not do, the host only measures and passes on.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal, NoReturn

from grader.answers import fence
from grader.answers.frames import FRAME, HEAVY, Order, Reply, decode_order, encode, framed, read_frame, write_all
from grader.answers.patience import Clock
from grader.answers.play import PRELOAD
from grader.answers.scratch import Scratch

_leave = os._exit  # held: in a child, a learner's os._exit is another
_open = open  # held: where runs are served on a fake disk, open is the fake one

Child = Callable[[int, int], NoReturn]
"""Is one run's process, given the pipes for its result and for what it prints."""
Host = Callable[[Order, bytes, int], Reply]
"""Sees one job through, given the order, the job and the pipe whose end means that the judge is gone."""


class JudgeGone(Exception):
    """Nobody waits for the run any more."""


def serve(
    host: Host,
    ready: Callable[[], AbstractContextManager[object]],
    user: int | None = None,
    sandboxed: bool = False,
) -> None:
    """Serve runs from standard input until it closes: an order and a job in, a reply out.

    Args:
        host: sees a job through, in a process of its own.
        ready: what the runs are served in; left while packages are imported, so that they meet the system as it is.
        user: whom to become before the first run; this process must be root.
        sandboxed: whether this process is the first of a process namespace, and the scratch its own.
    """
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    for name in PRELOAD:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    serving = contextlib.ExitStack()
    _get_ready(serving, ready)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if user is not None:
        fence.become(user)
    fence.show(False)
    scratch = Scratch() if sandboxed else None
    tried: set[str] = set()
    order = read_frame(source)
    while order is not None:
        missing = _missing(decode_order(order)) - tried
        if missing:
            tried |= missing
            serving.close()
            for module in sorted(missing):
                with contextlib.suppress(Exception):
                    importlib.import_module(module)
            _get_ready(serving, ready)
        given_back, giving_back = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(given_back)
                _host(host, order, source, sink, giving_back, scratch)
                status = 0
            finally:
                _leave(status)
        os.close(giving_back)
        next_order = read_frame(given_back)
        os.close(given_back)
        status = os.waitpid(pid, 0)[1]
        clean = _sweep(scratch) if scratch is not None else True
        if status != 0 or not clean:
            return  # no reply, or half of one, or something is left: the judge sees the end and starts another zygote
        order = next_order


def _get_ready(serving: contextlib.ExitStack, ready: Callable[[], AbstractContextManager[object]]) -> None:
    serving.enter_context(ready())
    gc.collect()
    gc.freeze()


def _missing(order: Order) -> set[str]:
    """Return the modules of well-known packages that an order names and that are not here yet."""
    named = [name for name in order.heavy if name in HEAVY]
    return {module for name in named for module in HEAVY[name] if module not in sys.modules}


def _host(host: Host, first: bytes, source: int, sink: int, back: int, scratch: Scratch | None) -> None:
    """Serve the runs of one submission; give the order back that is another's."""
    fence.adopt_orphans()
    order = decode_order(first)
    whose = order.submission
    while (job := read_frame(source)) is not None:
        try:
            reply = host(order, job, source)
        except JudgeGone:
            return
        except Exception as error:
            reply = Reply("broken", detail=f"{type(error).__name__}: {error}"[:500])
        finally:
            end_descendants()
        write_all(sink, framed(encode(reply)))
        following = read_frame(source)
        if following is None:
            return
        order = decode_order(following)
        if not whose or order.submission != whose:
            write_all(back, framed(following))
            return
        if scratch is not None and not _sweep(scratch):
            raise OSError("the sandbox can't be emptied")


def _sweep(scratch: Scratch) -> bool:
    """End every process but this one and the namespace's first, and empty the scratch; tell whether it is empty."""
    with contextlib.suppress(OSError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    return scratch.empty()


def end_descendants() -> None:
    """Kill whatever this process's children have left behind, again and again: one of it may be forking just now."""
    children = f"/proc/self/task/{os.getpid()}/children"
    for _ in range(10_000):
        with contextlib.suppress(OSError), _open(children) as listed:
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
    sys.stdin = _open(0, encoding="utf-8", closefd=False)
    sys.stdout = _open(1, "w", encoding="utf-8", errors="replace", closefd=False, buffering=1)
    sys.stderr = _open(2, "w", encoding="utf-8", errors="replace", closefd=False, buffering=1)
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
