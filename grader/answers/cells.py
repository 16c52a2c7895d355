"""From a notebook to its code cells, as Python source with their ids."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.criteria import criteria, exercises, of_exercise
from grader.levels.literals import parsed, tree_of
from grader.verdict import Text
from grader.words import catalogue

_words = catalogue()
_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_KEEP_BODY = {"time", "timeit", "capture", "prun", "python", "python3", "debug", "px"}
_MAGIC = re.compile(r"^(\s*)(%|!|\?|.*\?\s*$)")
_ASSIGNED = re.compile(r"^(\s*)([A-Za-z_][\w, ]*?)\s*=\s*(%|!)")
_CHECKS = re.compile(r"\bcheck\s*\(")
_STATEMENT = re.compile(r"^(\s*)%(?:time|timeit|prun)\s+(?:-\S+(?:\s+\d+)?\s+)*(?P<rest>[^-\s].*)$")


class BadNotebook(Exception):
    """The notebook can't be judged as it is; ``text`` says what is wrong and what to do."""

    def __init__(self, text: Text) -> None:
        super().__init__(text.en)
        self.text = text


@dataclass(frozen=True)
class Cell:
    """One code cell: its id (nbgrader's ``grade_id`` where there is one) and its source."""

    id: str
    source: str


def read_notebook(source: str | Path | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a notebook as a mapping, from a path or from one that is in memory already.

    Raises:
        BadNotebook: it is missing, empty, not JSON, no notebook, or in a format other than nbformat 4.
    """
    if isinstance(source, Mapping):
        return _checked(source, "notebook")
    path = Path(source)
    name = path.name
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise BadNotebook(_words("notebook.missing", name=str(source))) from None
    except IsADirectoryError:
        raise BadNotebook(_words("notebook.folder", name=str(source))) from None
    except OSError as error:
        raise BadNotebook(_words("notebook.unreadable", name=name, why=error.strerror or "?")) from None
    if not raw.strip():
        raise BadNotebook(_words("notebook.empty", name=name))
    try:
        notebook = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise BadNotebook(_words("notebook.not_json", name=name)) from None
    if not isinstance(notebook, dict):
        raise BadNotebook(_words("notebook.no_notebook", name=name))
    return _checked(notebook, name)


def _checked(notebook: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    major = notebook.get("nbformat")
    if "nbformat" not in notebook and "cells" not in notebook:
        raise BadNotebook(_words("notebook.no_notebook", name=name))
    if type(major) is not int or major != 4:
        raise BadNotebook(_words("notebook.format", name=name, found=json.dumps(major)[:20]))
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, Mapping) for cell in cells):
        raise BadNotebook(_words("notebook.no_notebook", name=name))
    if not cells:
        raise BadNotebook(_words("notebook.no_cells", name=name))
    return notebook


def grade_id_of(cell: Mapping[str, Any]) -> str | None:
    """Return the id that nbgrader knows a cell by, if it has one."""
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, Mapping) else None
    return grade_id if isinstance(grade_id, str) and grade_id else None


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def code_cells(notebook: Mapping[str, Any]) -> list[Cell]:
    """Return the code cells in order; the id is nbgrader's grade_id, else the cell's id, else its number."""
    found = []
    for number, cell in enumerate(notebook["cells"], start=1):
        if cell.get("cell_type") != "code":
            continue
        own = cell.get("id")
        name = grade_id_of(cell) or (own if isinstance(own, str) and own else f"cell-{number}")
        found.append(Cell(re.sub(r"[<>\n\r]", "", name)[:80], _source(cell)))
    return found


def exercise_of(cells: Iterable[Cell]) -> str | None:
    """Return the exercise whose solution cells or criteria are among the cells' ids, if any."""
    ids = {cell.id for cell in cells}
    best: tuple[int, str] | None = None
    for exercise in exercises():
        known = {name for criterion in of_exercise(exercise) for name in (criterion.id, criterion.cell)}
        count = len(known & ids)
        if count and (best is None or count > best[0]):
            best = (count, exercise)
    return best[1] if best else None


def check_complete(cells: Iterable[Cell], exercise: str) -> None:
    """Raise :class:`BadNotebook` when a solution cell of the exercise is missing or there twice."""
    ids = [cell.id for cell in cells]
    for name in dict.fromkeys(criterion.cell for criterion in of_exercise(exercise)):
        if name not in ids:
            raise BadNotebook(_words("notebook.cell_lost", cell=name, exercise=exercise))
        if ids.count(name) > 1:
            raise BadNotebook(_words("notebook.cell_twice", cell=name, count=ids.count(name)))


def context_cells(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells to run, as plain Python: without criterion cells and what only checks or tries the answer.

    A criterion cell in which no ``check`` is left holds an answer that was put into the wrong cell: it is run.
    """
    known = criteria()
    return [
        Cell(cell.id, to_python(cell.source))
        for cell in cells
        if cell.source.strip()
        and not only_checks(cell.source)
        and not _only_tries(cell.source)
        and not (cell.id in known and _CHECKS.search(cell.source))
    ]


def _only_tries(source: str) -> bool:
    """Tell whether a cell only shows the answer at work, ``try_it(run_agent);``.

    It changes directories and leaves what an answer remembers, and a loop without an end hangs in it; the judge runs
    the answer itself.
    """
    tree = tree_of(source)
    return tree is not None and bool(tree.body) and all(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "try_it"
        and all(isinstance(given, ast.Name) for given in node.value.args)
        for node in tree.body
    )


def only_checks(source: str) -> bool:
    """Tell whether a cell does nothing but call ``check`` (importing it first is fine)."""
    tree = tree_of(source)
    if tree is None:
        return False
    calls = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "grader":
            continue
        if isinstance(node, ast.Import) and all(alias.name == "grader" for alias in node.names):
            continue
        if not isinstance(node, ast.Expr):
            return False
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            continue
        if not (isinstance(node.value, ast.Call) and _is_check(node.value.func)):
            return False
        calls += 1
    return calls > 0


def decisions(cells: Iterable[Cell]) -> dict[str, object]:
    """Return what the learner decided about their own answers: the ``mine`` of each ``check("...", mine="...")``."""
    found: dict[str, object] = {}
    for cell in cells:
        if not only_checks(cell.source):
            continue
        tree = tree_of(cell.source)
        assert tree is not None  # it only checks
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_check(node.func)):
            given = {word.arg: word.value for word in call.keywords}
            if isinstance(mine := given.get("mine"), ast.Constant):
                names = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                found |= dict.fromkeys(names, mine.value)
    return found


def _is_check(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        return function.attr == "check" and isinstance(function.value, ast.Name) and function.value.id == "grader"
    return isinstance(function, ast.Name) and function.id == "check"


def to_python(source: str) -> str:
    """Return a cell's source as Python that compiles, if leaving out IPython's magics makes it so.

    A cell that is Python already is returned as it is. Line numbers stay what they are.
    """
    if _parses(source) is None:
        return source
    lines = source.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return source
    if lines[first].startswith("%%"):
        word = lines[first][2:].split()
        if not word or word[0] not in _KEEP_BODY:
            return ""
        lines[first] = "pass"
    for _ in range(len(lines) + 1):
        line = _parses("\n".join(lines))
        if line is None:
            return "\n".join(lines)
        if not (0 < line <= len(lines)):
            break
        plain = _without_magic(lines[line - 1])
        if plain is None:
            break
        lines[line - 1] = plain
    everywhere = [plain if (plain := _without_magic(line)) is not None else line for line in lines]
    return "\n".join(everywhere) if _parses("\n".join(everywhere)) is None else source


def _parses(source: str) -> int | None:
    """Return None when the source compiles, else the line of the first error (0: unknown)."""
    if tree_of(source) is not None:
        return None
    try:
        parsed(source, _AWAIT)
    except SyntaxError as error:
        return error.lineno or 0
    except (ValueError, RecursionError, MemoryError):
        return 0
    return None


def _without_magic(line: str) -> str | None:
    """Return a line of IPython's as Python, or None when it is no magic."""
    if (assigned := _ASSIGNED.match(line)) is not None:
        return f"{assigned[1]}{assigned[2]} = None"
    if (statement := _STATEMENT.match(line)) is not None:
        return f"{statement[1]}{statement['rest']}"
    if (magic := _MAGIC.match(line)) is not None and not line.strip().startswith("#"):
        return f"{magic[1]}pass"
    return None
