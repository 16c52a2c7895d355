"""A program run, and killed, inside this process: for a browser, where there is no other.

Killing can't be real here, so what it leaves has to be right: the program's folder is copied at the moment of the kill,
before any ``except``, ``finally`` or closing of files can run, and put back when the program is gone.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import io
import os
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

KILLED = -9


class _Kill(BaseException):
    """Takes the program off the stack; what it does on its way is undone."""


class _Screen(io.TextIOBase):
    """The program's standard output: kept line by line, and the place where a kill may begin."""

    def __init__(self, death: _Death) -> None:
        self.lines = [""]
        self.death = death

    def write(self, text: str) -> int:
        for piece in text.splitlines(keepends=True):
            self.lines[-1] += piece.rstrip("\n")
            if piece.endswith("\n"):
                self.lines.append("")
                self.death.said(self.lines[-2])
        return len(text)


class _Death:
    """When the program is to die, and what its folder held then."""

    def __init__(self, folder: Path, when: str | None, after: float) -> None:
        self.folder, self.when, self.after = folder, when, after
        self.left: dict[Path, bytes] | None = None
        self._at = 0.0

    def said(self, line: str) -> None:
        if self.left is None and not self._at and self.when is not None and self.when in line:
            if not self.after:
                self.strike()
            self._at = time.monotonic() + self.after
            sys.setprofile(self._look)

    def _look(self, _frame: types.FrameType, _event: str, _argument: Any) -> None:
        if time.monotonic() >= self._at:
            sys.setprofile(None)
            self.strike()

    def strike(self) -> None:
        self.left = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        raise _Kill

    def undo_what_followed(self) -> None:
        if self.left is None:
            return
        for path in self.folder.rglob("*"):
            if path.is_file():
                path.unlink()
        for path, data in self.left.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def run(
    program: str | os.PathLike[str], *arguments: str, when: str | None = None, after: float = 0.0
) -> tuple[list[str], int]:
    """Run a Python program in this process; kill it when it prints a line with `when`, or `after` seconds later.

    Returns the lines it printed, and its exit code: -9 when it was killed.
    """
    path = Path(program).resolve()
    death = _Death(path.parent, when, after)
    screen = _Screen(death)
    main = types.ModuleType("__main__")
    main.__file__ = str(path)
    kept = sys.argv, os.getcwd(), dict(os.environ), sys.modules["__main__"], sys.stdin
    sys.argv, sys.modules["__main__"], sys.stdin = [str(path), *arguments], main, io.StringIO()
    os.chdir(path.parent)
    try:
        code = _exit_code(main, path, screen)
    finally:
        sys.setprofile(None)
        sys.argv, folder, environment, sys.modules["__main__"], sys.stdin = kept
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        main.__dict__.clear()
        gc.collect()  # files that the program left open are closed, and what that wrote is undone as well
        death.undo_what_followed()
    return [*screen.lines[:-1], *filter(None, screen.lines[-1:])], code


def _exit_code(main: types.ModuleType, path: Path, screen: _Screen) -> int:
    code = 0
    at_exit: list[Callable[[], object]] = []
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen), _registering(at_exit):
        try:
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), main.__dict__)
        except _Kill:
            return KILLED
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException:
            traceback.print_exc(file=screen)
            code = 1
        for last in reversed(at_exit):
            last()
    return code


@contextlib.contextmanager
def _registering(at_exit: list[Callable[[], object]]) -> Iterator[None]:
    """Keep what the program registers with `atexit`: its end is not this process's."""
    register = atexit.register

    def keep(function: Callable[..., object], *arguments: Any, **named: Any) -> Callable[..., object]:
        at_exit.append(functools.partial(function, *arguments, **named))
        return function

    atexit.register = keep  # type: ignore[assignment]
    try:
        yield
    finally:
        atexit.register = register
