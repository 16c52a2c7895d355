"""Runs a learner's cells: in order, as a notebook would, in a namespace that looks like one.

It knows no disk, fake or real, and imports nothing that would tell one from the other.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import contextlib
import functools
import inspect
import linecache
import sys
import time
import types
from typing import Any

from grader.levels import level1_drive
from grader.levels.failures import Failure, Kind, Place
from grader.levels.literals import parsed

CELL = "<cell "

PRELOAD = [
    "abc",
    "base64",
    "collections",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "enum",
    "errno",
    "fcntl",
    "functools",
    "glob",
    "gzip",
    "hashlib",
    "inspect",
    "io",
    "itertools",
    "json",
    "logging",
    "math",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "platform",
    "pprint",
    "queue",
    "random",
    "re",
    "secrets",
    "shutil",
    "signal",
    "stat",
    "string",
    "struct",
    "subprocess",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "traceback",
    "types",
    "typing",
    "uuid",
    "warnings",
    "zlib",
    "asyncio",
    "concurrent.futures.thread",
]
"""What learners usually import; it is there before their code is."""


_sleep = time.sleep


def brief_sleep(seconds: float) -> None:
    """``time.sleep`` for learners: a pause is kept short, so that waiting costs a right answer no time."""
    if not seconds >= 0:
        raise ValueError("sleep length must be non-negative")
    _sleep(min(seconds, 0.01))


class Finished(BaseException):
    """Ends an in-place run (a browser has no process to leave)."""


def place_of(frame: types.FrameType | None) -> Place | None:
    """Return the innermost line of a cell that ``frame`` is in or was called from."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(CELL):
            return Place(name[len(CELL) : -1], frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
    return None


def _place_of_error(error: BaseException) -> Place | None:
    found = None
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith(CELL):
            found = Place(name[len(CELL) : -1], trace.tb_lineno, trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return found


def failure_of(error: BaseException, cell: str = "") -> Failure:
    """Return what a learner's exception says, without calling much of theirs."""
    kind: Kind = "exception"
    if isinstance(error, SystemExit):
        kind = "exit"
    elif isinstance(error, MemoryError):
        kind = "memory"
    elif isinstance(error, EOFError) and "EOF when reading a line" in str(error.args[:1]):
        kind = "input"
    place = _place_of_error(error)
    if isinstance(error, SyntaxError) and (error.filename or "").startswith(CELL):
        place = Place(str(error.filename)[len(CELL) : -1], error.lineno or 0, "")
    try:
        message = str(error.msg if isinstance(error, SyntaxError) else error)[:300]
    except BaseException:
        message = ""
    message = message.encode("utf-8", "replace").decode("utf-8")
    return Failure(kind, type(error).__name__[:80], message, place, cell)


class Play:
    """One play of a learner's cells."""

    def __init__(self, cells: list[tuple[str, str]], until: str = "") -> None:
        self.sources = cells
        self.until = until
        self.module = types.ModuleType("__main__")
        self.namespace: dict[str, Any] = self.module.__dict__
        self.current = ""
        self._codes: dict[tuple[str, str], types.CodeType] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def fresh(self) -> dict[str, Any]:
        """Run the cells again in a namespace of their own, as a new process would, and return it.

        Cells that only try things out are left out.
        """
        self.module = types.ModuleType("__main__")
        self.namespace = self.module.__dict__
        self.run_cells([cell for cell in self.sources if not _only_tries(cell[1])], [])
        return self.namespace

    def run_cells(self, cells: list[tuple[str, str]], failures: list[Failure]) -> None:
        """Run these cells; one that raises stops none of the others."""
        sys.modules["__main__"] = self.module
        self.namespace.update(_surroundings())
        for name, source in cells:
            self.current = name
            try:
                self._cell(name, source)
            except Finished:
                raise
            except BaseException as error:
                failures.append(failure_of(error, name))
            if name == self.until:
                break
        self.current = ""

    def compile(self) -> None:
        """Compile the cells, and run none of them: what forks processes that all run them does it once for all."""
        for name, source in self.sources:
            with contextlib.suppress(Exception):  # it is raised where the cell is run
                self._code(name, source)

    def _code(self, name: str, source: str) -> types.CodeType:
        code = self._codes.get((name, source))
        if code is None:
            filename = f"{CELL}{name}>"
            linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
            code = compile(source, filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            self._codes[name, source] = code
        return code

    def _cell(self, name: str, source: str) -> None:
        code = self._code(name, source)
        if code.co_flags & inspect.CO_COROUTINE:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
            self._loop.run_until_complete(eval(code, self.namespace))
        else:
            exec(code, self.namespace)


_TRIES = {"print", "display", "help", "try_it"}


@functools.cache
def _only_tries(source: str) -> bool:
    """Tell whether a cell does nothing but try things out: it calls what an exercise gives for that, and prints."""

    def tries(one: ast.stmt) -> bool:
        if isinstance(one, ast.For):
            return all(map(tries, one.body))
        call = one.value if isinstance(one, ast.Expr) else None
        return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _TRIES

    try:
        return all(map(tries, parsed(source).body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


class _Shell:
    """Stands for IPython's shell in the cells; whatever is asked of it does nothing."""

    def __getattr__(self, name: str) -> Any:
        return _nothing


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _surroundings() -> dict[str, Any]:
    """Return the names a cell finds without having defined them."""
    shell = _Shell()
    return {
        "__name__": "__main__",
        "__builtins__": builtins,
        "display": _nothing,
        "get_ipython": lambda: shell,
    }


def hide_grader(kept: str = "") -> None:
    """Leave the learner's code nothing of the grader but what notebooks import; its ``check`` does nothing.

    Args:
        kept: modules whose names begin so stay; the run itself still needs them.
    """
    stub = types.ModuleType("grader")
    for name in ("check", "hint", "progress", "solution"):
        setattr(stub, name, _nothing)
    level1_drive.furnish(stub)
    for name in [name for name in sys.modules if name == "grader" or name.startswith("grader.")]:
        if not kept or not name.startswith(kept):
            del sys.modules[name]
    sys.modules["grader"] = stub
