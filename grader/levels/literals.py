"""Cells read without running anything: their syntax trees, and the values they assign as plain literals."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from functools import lru_cache

from grader.levels.values import plain

_TAKES_ALL = re.compile(r"import[\s\\(]*\*")


def parsed(source: str, flags: int = 0) -> ast.Module:
    """Parse a cell, and say nothing of it: Python's warnings (of "\\d", since 3.12) are for whoever runs the cell.

    Args:
        source: a cell's source.
        flags: more of the compiler's flags, such as the one for ``await`` at the top level.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it does not parse.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree: ast.Module = compile(source, "<cell>", "exec", ast.PyCF_ONLY_AST | flags, dont_inherit=True)
    return tree


@lru_cache(maxsize=64)
def tree_of(source: str) -> ast.Module | None:
    """Return a cell's syntax tree, None when it does not parse. Whoever asks is given the same: nobody changes it."""
    try:
        return parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=64)
def nodes_of(source: str) -> tuple[ast.AST, ...]:
    """Return every node of a cell's syntax tree, none when it does not parse."""
    tree = tree_of(source)
    return () if tree is None else tuple(ast.walk(tree))


def literal(sources: Iterable[str], name: str) -> tuple[object] | None:
    """Return the value that cells, run one after the other, leave in ``name``, in a tuple of its own.

    None when it takes more than reading: the name is bound in any other way than by assigning a literal to it at the
    top level of a cell, or not at all. A cell that does not parse binds nothing.
    """
    found: tuple[object] | None = None
    for source in sources:
        if name not in source and not _TAKES_ALL.search(source):
            continue
        tree = tree_of(source)
        if tree is None:
            continue
        plainly = 0
        for statement in tree.body:
            value = _assigned(statement, name)
            if value is not None:
                plainly += 1
                try:
                    found = (plain(ast.literal_eval(value)),)
                except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                    return None
        if sum(_binds(node, name) for node in nodes_of(source)) != plainly:
            return None
    return found


def _assigned(statement: ast.stmt, name: str) -> ast.expr | None:
    if isinstance(statement, ast.AnnAssign):
        targets: list[ast.expr] = [statement.target]
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    else:
        return None
    return statement.value if any(isinstance(t, ast.Name) and t.id == name for t in targets) else None


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.alias):
        return name == (node.asname or node.name) or node.name == "*"
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    return False


def last_cell_with(cells: Iterable[tuple[str, str]], names: Iterable[str], usual: str) -> str:
    """Return the id of the cell after which the names are there: ``usual``, or the last cell that speaks of one."""
    cells, names = list(cells), list(names)
    if any(cell == usual for cell, _ in cells):
        return usual
    return next((cell for cell, source in reversed(cells) if any(name in source for name in names)), usual)
