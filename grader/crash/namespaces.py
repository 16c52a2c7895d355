"""Namespaces that pyfakefs does not see: of executed source that is no module, or filled after it last looked.

pyfakefs replaces ``os``, ``open`` and their like in every module it finds in ``sys.modules``, and looks at each module
once. Functions made by ``exec`` live in no module, and a notebook imports more from cell to cell.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.crash.disk import Disk


@contextmanager
def faked(disk: Disk, *callables: Callable[..., Any]) -> Iterator[None]:
    """Give the namespaces of ``callables`` the fake disk's modules and functions while the context is open."""
    undo: list[tuple[dict[str, Any], str, Any]] = []
    seen: set[int] = set()
    try:
        for function in callables:
            for namespace in _namespaces(function, 0):
                if id(namespace) not in seen:
                    seen.add(id(namespace))
                    undo += _swap(disk, namespace)
        yield
    finally:
        for namespace, name, original in reversed(undo):
            namespace[name] = original


def _swap(disk: Disk, namespace: dict[str, Any]) -> list[tuple[dict[str, Any], str, Any]]:
    """Replace what pyfakefs would replace in a module; the names as they were are returned."""
    patcher = disk.patcher
    undo = []
    for name, value in list(namespace.items()):
        fake: Any = None
        if patcher._is_fs_module(value, name, [*patcher._fake_module_classes, "posixpath", "ntpath"]):
            fake = patcher.fake_modules.get(name if inspect.isclass(value) else value.__name__)
        elif patcher._is_fs_function(value):
            method, module = patcher._fake_module_functions[value.__name__][value.__module__]
            faker = patcher.fake_modules[module]
            fake = method.__get__(faker, type(faker))
        if fake is not None:
            namespace[name] = fake
            undo.append((namespace, name, value))
    return undo


def _namespaces(function: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The globals that a callable's code runs in, and those of functions it holds on to."""
    if depth > 4:
        return
    if isinstance(function, functools.partial):
        yield from _namespaces(function.func, depth + 1)
    elif isinstance(function, MethodType):
        yield from _namespaces(function.__func__, depth + 1)
    elif isinstance(function, FunctionType):
        yield function.__globals__
        for cell in function.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:
                continue
            if isinstance(held, (FunctionType, MethodType, functools.partial)):
                yield from _namespaces(held, depth + 1)
        if hasattr(function, "__wrapped__"):
            yield from _namespaces(function.__wrapped__, depth + 1)
    elif not inspect.isclass(function) and not inspect.isbuiltin(function):
        call = vars(type(function)).get("__call__")
        if isinstance(call, FunctionType):
            yield call.__globals__
