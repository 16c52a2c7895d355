"""Code that goes past the fake disk, noticed by Python's audit events, so that it is never judged by what it hid."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import os
import sys
from collections.abc import Iterator
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
    "os.fwalk": "os.fwalk walks the real disk",
    "socket.connect": "a network connection leaves the disk",
}
_REFUSED = {"sqlite3.connect", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn"}
"""Not only noted but refused: they would change the real disk."""
_REAL_CALLS = {
    "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.utime",
}  # fmt: skip
_CTYPES = str(getattr(importlib.util.find_spec("ctypes"), "origin", ""))
_REAL_LOOKS = {"os.listdir", "os.scandir"}
_PAST_PYTHON = {
    "dbm.gnu": ("open", "dbm.gnu opens its database on the real disk"),
    "dbm.ndbm": ("open", "dbm.ndbm opens its database on the real disk"),
    "_posixsubprocess": ("fork_exec", "a spawned process works on the real disk"),
}
"""Functions without an audit event."""
for _name in _PAST_PYTHON:
    with contextlib.suppress(ImportError):
        importlib.import_module(_name)  # now, so that what the code under judgement imports is what is watched


class PastTheDisk(PermissionError):
    """Raised in code that would change the real disk while a fake one is in use."""


@contextlib.contextmanager
def watch(disk: Disk) -> Iterator[None]:
    """Report to ``disk`` what goes past it while the context is open."""
    global _installed
    if not _installed:
        sys.addaudithook(_hook)  # for the life of the process: audit hooks can't be removed
        _installed = True
    undo = []
    for name, (attribute, reason) in _PAST_PYTHON.items():
        module = sys.modules.get(name)
        if module is not None:
            undo.append((module, attribute, getattr(module, attribute)))
            setattr(module, attribute, _refusing(disk, getattr(module, attribute), reason))
    _active.append(disk)
    try:
        yield
    finally:
        _active.remove(disk)
        for module, attribute, original in undo:
            setattr(module, attribute, original)


def _refusing(disk: Disk, original: Any, reason: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        if not disk.follows():
            return original(*args, **kwargs)
        _note(reason)
        raise PastTheDisk(errno.EPERM, f"the fake disk refuses this: {reason}")

    return refuse


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _active or not _active[-1].follows():
        return
    if event == "open":
        _opened(args)
    elif event in _REASONS:
        if event == "sqlite3.connect" and args[0] == ":memory:":
            return
        _note(_REASONS[event])
        if event in _REFUSED:
            raise PastTheDisk(errno.EPERM, f"the fake disk refuses this: {_REASONS[event]}")
    elif event in _REAL_CALLS:
        _refuse(f"the real {event} was called, perhaps kept from before the run began")
    elif event in _REAL_LOOKS:
        if _called_by_own():
            _note(f"the real {event} was called, perhaps kept from before the run began")
    elif event == "mmap.__new__" and args and args[0] != -1:
        _note("mmap writes to a file without a system call that can be seen")
    elif event in ("ctypes.dlopen", "ctypes.dlsym") and _called_by_own(past=_CTYPES):
        _note("ctypes calls the system past Python")


def _opened(args: tuple[Any, ...]) -> None:
    path, mode, flags = args[0], args[1], args[2]
    if isinstance(path, int) or str(path).startswith(("/dev/", "/proc/")):
        return
    writing = any(letter in (mode or "") for letter in "wax+") or bool((flags or 0) & _WRITING & ~os.O_CLOEXEC)
    if writing:
        _refuse("a file of the real disk was opened for writing by a function that is not faked")
    elif _called_by_own() and not _active[-1].installed.shows(os.path.normpath(os.fsdecode(path))):
        _note("a file of the real disk was opened by a function that is not faked")


def _refuse(reason: str) -> None:
    _note(reason)
    raise PastTheDisk(errno.EPERM, f"the fake disk refuses this: {reason}")


def _frame() -> FrameType:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame or sys._getframe()


def _called_by_own(past: str = "") -> bool:
    """Whether the innermost Python code, that of the file ``past`` aside, is the code under judgement."""
    frame: FrameType | None = _frame()
    while frame is not None and frame.f_code.co_filename == past:
        frame = frame.f_back
    return frame is not None and _active[-1].own(frame.f_code.co_filename)


def _note(reason: str) -> None:
    _active[-1].escape(reason, _frame())
