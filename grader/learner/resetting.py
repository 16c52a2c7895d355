"""``crash-course reset``: a notebook, or one cell of it, as it was given out; what was there is kept as a copy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from minagent.files import write_atomically

from grader.answers.cells import BadNotebook, code_cells, exercise_of, grade_id_of, read_notebook
from grader.learner.folder import find_folder, named, notebook_of
from grader.learner.material import Item, course, fresh, source_of
from grader.words import LANGUAGES, catalogue, language, plain

_words = catalogue("learner/words.toml")
COPIES = "copies"


@dataclass(frozen=True)
class Done:
    """What ``reset`` did: to which notebook, and where the copy is (None: there was nothing to keep)."""

    path: Path
    copy: Path | None
    cell: str | None
    changed: bool


def reset(word: str, cell: str | None = None) -> Done:
    """Give a notebook, or one of its cells, the text it was given out with, after keeping a copy of the file.

    Args:
        word: a notebook's path, a level or a lesson.
        cell: the id of the cell to give back; the whole notebook when None.

    Raises:
        BadNotebook: the notebook or the cell is none of the course's, or can't be written.
    """
    path, item = _target(word)
    try:
        before = path.read_bytes() if path.exists() else None
        after = _whole(item, before) if cell is None else _one_cell(path, item, cell)
        if before is not None and _same(before, after):
            return Done(path, None, cell, changed=False)
        kept = _keep(path, before) if before is not None else None
        write_atomically(path, after)
    except OSError as error:
        why = plain(error.strerror or type(error).__name__)
        raise BadNotebook(_words("reset.failed", path=plain(str(path)), why=why)) from None
    return Done(path, kept, cell, changed=True)


def _target(word: str) -> tuple[Path, Item]:
    item = named(word)
    try:
        path = notebook_of(word)
    except BadNotebook:
        folder = find_folder()
        if item is None or folder is None:
            raise
        path = folder / item.path  # the learner has deleted it
    if path.is_file() and (found := _what_it_is(path)) is not None:
        item = found
    if item is None:
        raise BadNotebook(_words("reset.unknown", path=plain(str(path))))
    return path, item


def _what_it_is(path: Path) -> Item | None:
    """Return the exercise that a notebook is by its cells, whatever its file is called; a lesson goes by its name."""
    try:
        exercise = exercise_of(code_cells(read_notebook(path)))
    except BadNotebook:
        return None
    return next((item for item in course() if item.name == exercise), None)


def _language_of(before: bytes | None) -> str:
    """Return the language of a learner's notebook: a translation says it in a cell of its own."""
    if before is None:
        return language()
    return next((name for name in LANGUAGES if f'\\"CRASH_COURSE_LANG\\", \\"{name}\\"'.encode() in before), "en")


def _whole(item: Item, before: bytes | None) -> bytes:
    return fresh(item, _language_of(before))


def _one_cell(path: Path, item: Item, name: str) -> bytes:
    notebook: Any = read_notebook(path)
    given = {_id(cell): cell for cell in json.loads(fresh(item, _language_of(path.read_bytes())))["cells"]}
    own = [cell for cell in notebook["cells"] if _id(cell) == name]
    if name not in given or not own:
        keys = [key for key in given if key]
        some = [key for key in keys if given[key]["cell_type"] == "code" and grade_id_of(given[key])]
        known = ", ".join(some or keys)
        raise BadNotebook(_words("reset.no_cell", cell=plain(name[:60]), path=plain(path.name), known=plain(known)))
    for cell in own:
        cell["source"] = source_of(given[name])
        if cell.get("cell_type") == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "surrogatepass")


def _id(cell: Any) -> str | None:
    own = cell.get("id")
    return grade_id_of(cell) or (own if isinstance(own, str) else None)


def _same(before: bytes, after: bytes) -> bool:
    """Tell whether two notebook files hold the same cells; outputs don't count as work."""
    try:
        one, other = (json.loads(data)["cells"] for data in (before, after))
        return [(c["cell_type"], source_of(c)) for c in one] == [(c["cell_type"], source_of(c)) for c in other]
    except (ValueError, RecursionError, TypeError, KeyError):
        return before == after


def _keep(path: Path, data: bytes) -> Path:
    """Put a copy where no later one gets its name, and return where it is."""
    folder = (find_folder(path.parent) or path.parent) / COPIES
    stem = f"{path.stem}_{datetime.now():%Y-%m-%d_%H%M%S}"
    number, copy = 1, folder / f"{stem}.ipynb"
    while copy.exists():
        number += 1
        copy = folder / f"{stem}_{number}.ipynb"
    write_atomically(copy, data)
    return copy
