"""``crash-course watch``: whenever a notebook of the learner's is saved with another answer, it is checked again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from grader.answers.cells import BadNotebook, Cell, code_cells, read_notebook
from grader.learner.material import course


def exercises_in(folder: Path) -> list[Path]:
    """Return the learner's copies of the exercises."""
    return [path for item in course() if not item.is_lesson and (path := folder / item.path).is_file()]


def saved(folder: Path) -> Iterator[object]:
    """Yield whenever something in the folder may have been saved, and at least once a second, for ever.

    Events within 0.2 s are one. The second is for what no event tells: a save while the watch begins, or on a disk of
    the network.
    """
    from watchfiles import watch

    yield from watch(folder, step=50, debounce=200, rust_timeout=1000, yield_on_timeout=True, raise_interrupt=True)


def on_save(paths: Iterable[Path], check: Callable[[Path], None], moments: Iterable[object]) -> None:
    """Check each notebook whose code differs from when it was last looked at, as the moments come.

    Outputs and prose make no difference. A notebook that can't be read is left for a moment, since a save may be under
    way; when it is the same at the next, it is checked too, which says what is wrong with it.
    """
    seen: dict[Path, object] = {path: _code(path) for path in paths}
    broken: dict[Path, bytes] = {}
    for _ in moments:
        for path, before in seen.items():
            try:
                code = _code(path)
                data = path.read_bytes() if code is None else b""
            except OSError:  # between two names, or deleted
                continue
            if code is None and broken.get(path) != data:
                broken[path] = data
                continue
            found: object = data if code is None else code
            if found != before:
                seen[path] = found
                check(path)


def _code(path: Path) -> list[Cell] | None:
    """Return a notebook's code cells, or None when it can't be read as it is."""
    try:
        return code_cells(read_notebook(path))
    except BadNotebook:
        return None
