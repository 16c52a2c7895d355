"""Writer threads, made to behave alike every time.

On a real machine a thread's write lands whenever the scheduler likes. Here a thread may change the disk only while
the main thread waits for somebody (``join``, a lock, a queue, a future, a sleep): what a save hands to a thread and
does not wait for has not reached the disk when the save returns, in every run. A loop that does nothing but look
whether a flag is set is a way of waiting too; it is known by the processor time it burns without touching the disk.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import queue
import selectors
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any


class _Dead(SystemExit):
    """Ends a thread whose process is dead."""


SPINNING, AGAIN = 0.5, 0.01
"""Processor seconds without a change to the disk after which the code under judgement counts as waiting in a loop, for
the first time and once it is known to wait like that."""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Gate:
    """While entered, holds back changes by threads other than the one that entered.

    Args:
        own: tells the code under judgement by file name.
    """

    def __init__(self, own: Callable[[str], bool]) -> None:
        self._own = own
        self._steps = 0
        self._spinning_at = -1
        self._patience = SPINNING
        self._main = _thread.get_ident()
        self._open = threading.Condition()
        self._waiting = 0
        self._starting = 0
        self._life = 0
        self._lives: weakref.WeakKeyDictionary[threading.Thread, int] = weakref.WeakKeyDictionary()
        self._over = False
        self._undo: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> Gate:
        gate = self
        self._before = set(threading.enumerate())
        self._join = threading.Thread.join

        def waiting(original: Callable[..., Any]) -> Callable[..., Any]:
            def wait(*args: Any, **kwargs: Any) -> Any:
                if _thread.get_ident() != gate._main or gate._starting:
                    return original(*args, **kwargs)
                gate._let_go()
                try:
                    return original(*args, **kwargs)
                finally:
                    gate._hold()

            return wait

        class Lock:
            """``threading.Lock`` that opens the gate while the main thread waits for it."""

            def __init__(self) -> None:
                self._lock = real_lock()
                self.release = self._lock.release
                self.locked = self._lock.locked
                if hasattr(self._lock, "_at_fork_reinit"):
                    self._at_fork_reinit = self._lock._at_fork_reinit

            def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
                if self._lock.acquire(False):
                    return True
                if not blocking:
                    return False
                return bool(wait_for(self._lock, blocking, timeout))

            def __enter__(self) -> bool:
                return self.acquire()

            def __exit__(self, *exc: object) -> None:
                self.release()

        def ending(run: Callable[[], None]) -> Callable[[], None]:
            def run_until_dead() -> None:
                with contextlib.suppress(_Dead):  # a hook for uncaught exceptions must not hear of it
                    run()

            return run_until_dead

        def starting(original: Callable[..., None]) -> Callable[..., None]:
            def start(thread: threading.Thread) -> None:
                gate._lives[thread] = gate._life
                thread.run = ending(thread.run)  # type: ignore[method-assign]
                main = _thread.get_ident() == gate._main
                gate._starting += main  # start waits until the thread is alive, not until it has done anything
                try:
                    original(thread)
                finally:
                    gate._starting -= main

            return start

        real_lock = _thread.allocate_lock
        wait_for = waiting(lambda lock, blocking, timeout: lock.acquire(blocking, timeout))

        def swap(owner: Any, name: str, new: Any) -> None:
            self._undo.append((owner, name, getattr(owner, name)))
            setattr(owner, name, new)

        swap(threading, "Lock", Lock)
        swap(threading, "_allocate_lock", Lock)
        swap(threading, "RLock", threading._PyRLock)  # type: ignore[attr-defined]
        swap(threading.Thread, "start", starting(threading.Thread.start))
        swap(threading.Thread, "join", waiting(threading.Thread.join))
        swap(threading.Thread, "is_alive", waiting_briefly(self, threading.Thread.is_alive))
        swap(time, "sleep", waiting(time.sleep))
        swap(selectors.DefaultSelector, "select", waiting(selectors.DefaultSelector.select))
        swap(queue, "SimpleQueue", queue._PySimpleQueue)  # type: ignore[attr-defined]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.drain()
        while self._undo:
            owner, name, original = self._undo.pop()
            setattr(owner, name, original)
        self._over = True
        self._let_go()

    def follows(self) -> bool:
        """Whether this thread runs the code under judgement: the one that entered, or one begun since."""
        thread = threading.current_thread()
        if _thread.get_ident() == self._main or thread in self._lives:
            return True
        return _is_bare(thread) and thread not in self._before

    def new_life(self) -> None:
        """The process has died and another begins: its threads are gone with it."""
        with self._open:
            self._life += 1
            self._open.notify_all()

    def drain(self, patience: float = 0.5) -> None:
        """Let the threads begun since ``__enter__`` go on until they end or have been idle for ``patience`` seconds."""
        mine = [
            t for t in threading.enumerate() if t not in self._before and t.ident != self._main and not _is_bare(t)
        ]
        if not mine:
            return
        self._let_go()
        try:
            deadline = time.monotonic() + patience
            for thread in mine:
                self._join(thread, max(0.0, deadline - time.monotonic()))
        finally:
            self._hold()

    def pass_through(self) -> None:
        """Return at once on the main thread; on another, when the main thread waits."""
        if _thread.get_ident() == self._main:
            self._steps += 1
            return
        life = self._lives.get(threading.current_thread(), self._life)
        since, steps = time.process_time(), self._steps
        with self._open:
            while not self._waiting and not self._over and life == self._life and self._spinning_at != self._steps:
                self._open.wait(0.01)
                if steps != self._steps:
                    since, steps = time.process_time(), self._steps
                elif time.process_time() - since > self._patience and self._main_is_own():
                    self._spinning_at, self._patience = steps, AGAIN
            if self._over or life != self._life:
                raise _Dead  # the process this thread belonged to is dead, and so is its disk

    def step(self) -> None:
        """The program that drives the code under judgement got on: nobody is waiting in a loop."""
        self._steps += 1

    def _main_is_own(self) -> bool:
        """Whether the main thread is in the code under judgement, not in the program that drives it."""
        frame = sys._current_frames().get(self._main)
        while frame is not None:
            if self._own(frame.f_code.co_filename):
                return True
            if frame.f_code.co_filename.startswith(_PACKAGE):
                return False
            frame = frame.f_back
        return False

    def _let_go(self) -> None:
        with self._open:
            self._waiting += 1
            self._open.notify_all()

    def _hold(self) -> None:
        with self._open:
            self._waiting -= 1


def _is_bare(thread: threading.Thread) -> bool:
    """Whether it was begun by ``_thread.start_new_thread``: such a thread can't be waited for."""
    return isinstance(thread, threading._DummyThread)


def waiting_briefly(gate: Gate, original: Callable[..., bool]) -> Callable[..., bool]:
    """``is_alive`` in a loop is a way of waiting too."""

    def is_alive(thread: threading.Thread) -> bool:
        alive = original(thread)
        if alive and _thread.get_ident() == gate._main:
            gate._let_go()
            try:
                thread.join(0.001)
            finally:
                gate._hold()
            return original(thread)
        return alive

    return is_alive
