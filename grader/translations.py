"""Editions in other languages: translated cells laid over the English notebooks.

A translation is a text source in MyST Markdown like the English one, at
``translations/<language>/lessons/…`` or ``translations/<language>/exercises/<level>/…``. It holds only what it
changes. Each of its cells says in its header which English cell it stands for (``of``) and the fingerprint of
the English text it was made from (``english``), so that a later change there is noticed. In code, only comments
and strings may differ. Cells that are not in the translation stay as they are; only prose must be there.
"""

import ast
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.criteria import criteria

FOLDER = "translations"
NAMES = {"zh": "Simplified Chinese"}
_SPEAK = {"zh": "从这里起，检查和图都说中文"}
_HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3 (ipykernel)
  language: python
  name: python3
---
"""


class OutOfStep(ValueError):
    """A translation does not fit its English notebook; the message names each cell and what to do."""


@dataclass(frozen=True)
class Translated:
    """One cell of a translation."""

    of: str
    english: str
    source: str
    todo: bool
    """Put in by ``crash-course translate``; a translator takes the mark away."""


def fingerprint(source: str) -> str:
    """Return eight hex digits that stand for a cell's English text."""
    return hashlib.sha256(source.encode()).hexdigest()[:8]


def translations(root: Path) -> dict[Path, tuple[str, str]]:
    """Return every translation in the checkout: its source, the language, and the English notebook's path."""
    found = {}
    for language in NAMES:
        folder = root / FOLDER / language
        for source in sorted(folder.rglob("*.md")):
            found[source] = (language, source.relative_to(folder).with_suffix(".ipynb").as_posix())
    return found


def read(source: Path) -> list[Translated]:
    """Return the cells of a translation, in order.

    Raises:
        OutOfStep: a cell does not say which English cell it stands for.
    """
    import jupytext

    cells = []
    for number, cell in enumerate(jupytext.reads(source.read_text(encoding="utf-8"), fmt="md:myst").cells, start=1):
        of, english = cell.metadata.get("of"), cell.metadata.get("english")
        if not isinstance(of, str):
            raise OutOfStep(f"{source.name}: cell {number} does not say in its header which cell it translates (of)")
        cells.append(Translated(of, str(english), cell.source, bool(cell.metadata.get("todo"))))
    return cells


def lay_over(english: str, source: Path, language: str) -> str:
    """Return the notebook that a translation makes of an English one, as the text of its ``.ipynb`` file.

    Args:
        english: the text of the English notebook, without outputs.
        source: the translation.
        language: its language, ``"zh"``.

    Raises:
        OutOfStep: prose without a translation, an English text that has changed, or code that does something else.
    """
    if not english:
        raise OutOfStep(f"there is no English notebook that {source.name} could translate")
    notebook = json.loads(english)
    theirs = {cell.of: cell for cell in read(source)}
    ids = {cell["id"] for cell in notebook["cells"]}
    faults = [f"there is no cell {name} in English any more" for name in theirs if name not in ids]
    for cell in notebook["cells"]:
        before = "".join(cell["source"])
        own = theirs.get(cell["id"])
        if own is None:
            if cell["cell_type"] == "markdown":
                faults.append(f"cell {cell['id']} is not translated")
            after = _docstring(cell, before, language)
        else:
            if own.todo or own.english != fingerprint(before):
                faults.append(f"the English text of cell {cell['id']} is new or has changed")
            if cell["cell_type"] == "code" and not same_code(before, own.source):
                faults.append(f"cell {cell['id']} changes more than comments and strings")
            after = own.source
        cell["source"] = after.splitlines(keepends=True)
    if faults:
        raise OutOfStep("; ".join(faults))
    notebook["cells"].insert(1, _speaks(source.stem, language))
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _speaks(stem: str, language: str) -> dict[str, Any]:
    """Return the one cell that a translation has besides: from it on, checks and pictures speak its language."""
    name = "CRASH_COURSE_LANG"
    lines = ["import os\n", "\n", f'os.environ.setdefault("{name}", "{language}")  # {_SPEAK[language]}']
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"{stem}-language",
        "metadata": {},
        "outputs": [],
        "source": lines,
    }


def _docstring(cell: Mapping[str, Any], source: str, language: str) -> str:
    """Return a check cell's text with the criterion's statement in the language; any other cell's as it is."""
    name = cell["metadata"].get("nbgrader", {}).get("grade_id")
    criterion = criteria().get(name)
    if criterion is None or not cell["metadata"]["nbgrader"].get("grade"):
        return source
    statement = criterion.statement
    return source.replace(f'"""{statement.en}"""', f'"""{getattr(statement, language)}"""')


def same_code(one: str, other: str) -> bool:
    """Tell whether two sources do the same, strings and comments aside."""
    try:
        return _shape(one) == _shape(other)
    except SyntaxError:  # a cell magic: its text is a program's, or none of Python
        return one == other


def _shape(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):  # another language may name the values in another order
            values = [part for part in node.values if isinstance(part, ast.FormattedValue)]
            node.values = sorted(values, key=ast.dump)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def skeleton(english: str, source: Path) -> tuple[str, list[str]]:
    """Return the text of a translation with every cell that it lacks, and the ids of the cells to work on.

    What is translated already stays. A cell that is new, or whose English text has changed, is marked ``todo``.
    """
    theirs = {cell.of: cell for cell in read(source)} if source.is_file() else {}
    parts, todo = [_HEADER], []
    for cell in json.loads(english)["cells"]:
        before = "".join(cell["source"])
        own = theirs.get(cell["id"])
        if own is None and cell["cell_type"] != "markdown":
            continue
        stale = own is None or own.todo or own.english != fingerprint(before)
        if stale:
            todo.append(cell["id"])
        text = before if own is None else own.source
        parts.append(_cell(cell["cell_type"], cell["id"], fingerprint(before), stale, text))
    return "\n".join(parts), todo


def _cell(kind: str, of: str, english: str, todo: bool, text: str) -> str:
    if kind == "markdown":
        mark = ', "todo": true' if todo else ""
        return f'+++ {{"of": "{of}", "english": "{english}"{mark}}}\n\n{text}\n'
    mark = "todo: true\n" if todo else ""
    return f"```{{code-cell}} ipython3\n---\nof: {of}\nenglish: '{english}'\n{mark}---\n{text}\n```\n"
