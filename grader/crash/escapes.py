"""Code that goes past the fake disk, noticed by Python's audit events, so that it is never judged by what it hid."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.crash.disk import Disk

_active: list[Disk] = []
_installed = False

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_REASONS = {
    "sqlite3.connect": "sqlite3 opens its database on the real disk",
    "subprocess.Popen": "a subprocess works on the real disk",
    "os.system": "os.system starts a process that works on the real disk",
    "os.exec": "os.exec replaces the process",
    "os.fork": "a forked process can't be followed",
    "os.forkpty": "a forked process can't be followed",
    "os.posix_spawn": "a spawned process works on the real disk",
    "os.spawn": "a spawned process works on the real disk",
    "ctypes.call_function": "ctypes calls the system past Python",
    "socket.connect": "a network connection leaves the disk",
}
_REAL_CALLS = {
    "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod",
}  # fmt: skip
_PAST_PYTHON = {"_gdbm": "dbm.gnu", "_dbm": "dbm.ndbm"}


@contextmanager
def watch(disk: Disk) -> Iterator[None]:
    """Report to ``disk`` what goes past it while the context is open."""
    global _installed
    if not _installed:
        sys.addaudithook(_hook)  # for the life of the process: audit hooks can't be removed
        _installed = True
    undo = []
    for name, shown in _PAST_PYTHON.items():
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "open"):
            undo.append((module, module.open))
            module.open = _noting(disk, module.open, shown)  # type: ignore[attr-defined]
    _active.append(disk)
    try:
        yield
    finally:
        _active.remove(disk)
        for module, original in undo:
            module.open = original  # type: ignore[attr-defined]


def _noting(disk: Disk, original: Any, shown: str) -> Any:
    def open_database(*args: Any, **kwargs: Any) -> Any:
        disk.escape(f"{shown} opens its database on the real disk", sys._getframe(1))
        return original(*args, **kwargs)

    return open_database


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _active:
        return
    if event == "open":
        _opened(args)
    elif event in _REASONS:
        _note(_REASONS[event])
    elif event in _REAL_CALLS:
        _note(f"the real {event} was called, perhaps kept from before the run began")
    elif event == "mmap.__new__" and args and args[0] != -1:
        _note("mmap writes to a file without a system call that can be seen")
    elif event == "ctypes.dlopen" and _called_by_own():
        _note("ctypes calls the system past Python")


def _opened(args: tuple[Any, ...]) -> None:
    path, mode, flags = args[0], args[1], args[2]
    if isinstance(path, int) or str(path).startswith(("/dev/", "/proc/")):
        return
    writing = any(letter in (mode or "") for letter in "wax+") or bool((flags or 0) & _WRITING & ~os.O_CLOEXEC)
    if writing:
        _note("a file of the real disk was opened for writing by a function that is not faked")
    elif _called_by_own():
        _note("a file of the real disk was opened by a function that is not faked")


def _frame() -> FrameType:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame or sys._getframe()


def _called_by_own() -> bool:
    return _active[-1].own(_frame().f_code.co_filename)


def _note(reason: str) -> None:
    _active[-1].escape(reason, _frame())
