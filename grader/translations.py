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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.criteria import criteria

FOLDER = "translations"
NAMES = {"zh": "Simplified Chinese"}
NAMED = 3
"""Cells of one fault that are named before "and so many more"."""
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
    kind: str
    """``markdown`` or ``code``."""
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
        todo = bool(cell.metadata.get("todo"))
        cells.append(Translated(of, str(english or ""), cell.cell_type, cell.source, todo))
    return cells


def paired(cells: Sequence[Mapping[str, Any]], own: Sequence[Translated]) -> dict[str, Translated]:
    """Return which cell of a translation belongs to which English cell, by the English cell's id.

    A cell put in or taken out of the English changes the ids of those after it, and a fingerprint tells them all the
    same. One whose English text has changed too goes by its id, or by what stands before and after it.
    """
    place = {cell["id"]: number for number, cell in enumerate(cells)}
    kinds = {cell["id"]: cell["cell_type"] for cell in cells}
    prints = {cell["id"]: fingerprint("".join(cell["source"])) for cell in cells}
    found: dict[str, int] = {}
    for number, one in enumerate(own):
        if prints.get(one.of) == one.english and one.of not in found:
            found[one.of] = number
    for number, one in enumerate(own):
        if number not in found.values():
            same = [name for name in prints if prints[name] == one.english and name not in found]
            found.update({name: number for name in same[:1]})
    for number, one in enumerate(own):
        if number in found.values():
            continue
        before = max((place[name] for name, other in found.items() if other < number), default=-1)
        after = min((place[name] for name, other in found.items() if other > number), default=len(cells))
        free = [name for name in place if name not in found and kinds[name] == one.kind]
        between = [name for name in free if before < place[name] < after]
        likely = [one.of] if one.of in free else between
        found.update({name: number for name in likely[:1]})
    return {name: own[number] for name, number in found.items()}


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
    own = read(source)
    theirs = paired(notebook["cells"], own)
    kept = {id(one) for one in theirs.values()}
    faults: dict[str, list[str]] = {}

    def fault(what: str, name: str) -> None:
        faults.setdefault(what, []).append(name)

    for one in own:
        if id(one) not in kept:
            fault("{} no longer in English", one.of)
    for cell in notebook["cells"]:
        name, before = cell["id"], "".join(cell["source"])
        mine = theirs.get(name)
        if mine is None:
            if cell["cell_type"] == "markdown":
                fault("{} not translated", name)
            after = _docstring(cell, before, language)
        else:
            if not mine.english:
                fault("{} without a fingerprint of the English text", name)
            elif mine.english != fingerprint(before):
                fault("the English text of {} is new or has changed", name)
            elif mine.of != name:
                fault("{} named otherwise in English now", mine.of)
            elif mine.todo:
                fault("{} still marked todo", name)
            if cell["cell_type"] == "code" and not same_code(before, mine.source):
                fault("{} changed in more than comments and strings", name)
            after = mine.source
        cell["source"] = after.splitlines(keepends=True)
    if faults:
        raise OutOfStep("; ".join(what.format(_cells(names, what)) for what, names in faults.items()))
    notebook["cells"].insert(1, _speaks(source.stem, language))
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _cells(names: list[str], what: str) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    verb = {True: " is" if len(names) == 1 else " are", False: ""}[what.startswith("{}")]
    return f"cell{'s' if len(names) > 1 else ''} {', '.join(names[:NAMED])}{more}{verb}"


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

    What is translated already stays. A cell that is new, or whose English text has changed, is marked ``todo``; so is
    one that has no English any more, at the end.
    """
    cells = json.loads(english)["cells"]
    own = read(source) if source.is_file() else []
    theirs = paired(cells, own)
    parts, todo = [_HEADER], []
    for cell in cells:
        before = "".join(cell["source"])
        mine = theirs.get(cell["id"])
        if mine is None and cell["cell_type"] != "markdown":
            continue
        stale = mine is None or mine.todo or mine.english not in ("", fingerprint(before))
        if stale:
            todo.append(cell["id"])
        text = before if mine is None else mine.source
        parts.append(_cell(cell["cell_type"], cell["id"], fingerprint(before), stale, text))
    kept = {id(one) for one in theirs.values()}
    for one in own:
        if id(one) not in kept:
            todo.append(one.of)
            parts.append(_cell(one.kind, one.of, one.english, True, one.source))
    return "\n".join(parts), todo


def _cell(kind: str, of: str, english: str, todo: bool, text: str) -> str:
    if kind == "markdown":
        mark = ', "todo": true' if todo else ""
        return f'+++ {{"of": "{of}", "english": "{english}"{mark}}}\n\n{text}\n'
    mark = "todo: true\n" if todo else ""
    return f"```{{code-cell}} ipython3\n---\nof: {of}\nenglish: '{english}'\n{mark}---\n{text}\n```\n"
