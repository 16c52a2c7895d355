"""What a learner handed in, made safe to grade: anything at all comes in, a well-formed notebook goes out.

Of a submitted notebook only the cells' kind, id, source and grade_id are believed. Everything else (points,
tags, locks, outputs, the text of check cells) comes from the gradebook, where nbgrader keeps the course's own
cells.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.classroom.course_cells import CourseCell, CourseNotebook, course_notebook, fingerprint, translated
from grader.classroom.markup import disarm
from grader.classroom.signs import learners_code, signs
from grader.classroom.tampering import KEPT, kept, metadata_of, remarks
from grader.verdict import Text
from grader.words import catalogue

words = catalogue("classroom/words.toml")

LARGEST = 20_000_000
MOST_CODE = 200_000
"""Characters of code in all; no answer is as long, and reading it would take a grader's memory and time."""
_EMPTY: dict[str, dict[str, Any]] = {
    "code": {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []},
    "markdown": {"cell_type": "markdown", "metadata": {}},
    "raw": {"cell_type": "raw", "metadata": {}},
}
"""The kinds of cells, as nbformat makes them; nbformat validates each one, which takes longer than all else here."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CHECK = re.compile(r"^\s*check\(\s*['\"]([A-Za-z0-9_-]+)['\"]", re.MULTILINE)


class Unreadable(Exception):
    """The file can't be taken as a notebook; ``text`` says why, to the learner and the instructor."""

    def __init__(self, key: str, **values: object) -> None:
        self.text = words(f"unreadable.{key}", **values)
        super().__init__(self.text.en)


def read_notebook(path: Path) -> Any:
    """Return the notebook in ``path``, built anew from what can be believed of it.

    Raises:
        Unreadable: when the file is not a notebook that can be graded.
    """
    return _rebuilt(read_file(path))


def read_file(path: Path) -> bytes:
    """Return what is in ``path``, or raise :class:`Unreadable`; a link or a pipe is not followed."""
    if path.is_symlink() or not path.is_file():
        raise Unreadable("link")
    size = path.stat().st_size
    if size > LARGEST:
        raise Unreadable("large", size=f"{size:,}", limit=f"{LARGEST:,}")
    return path.read_bytes()


def _rebuilt(data: bytes) -> Any:
    notebook = nbformat.v4.new_notebook()
    used: set[str] = set()
    content = _load(data)
    for number, raw in enumerate(_raw_cells(content), start=1):
        notebook.cells.append(_clean_cell(raw, number, used))
    if not notebook.cells:
        raise Unreadable("none")
    if (size := sum(len(cell.source) for cell in notebook.cells if cell.cell_type == "code")) > MOST_CODE:
        raise Unreadable("long", size=f"{size:,}", limit=f"{MOST_CODE:,}")
    return notebook


def _load(content: bytes) -> dict[str, Any]:
    if not content:
        raise Unreadable("empty")
    try:
        data = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise Unreadable("bytes", place=problem.start + 1) from None
    except json.JSONDecodeError as problem:
        raise Unreadable("json", line=problem.lineno, column=problem.colno) from None
    except (RecursionError, ValueError):
        raise Unreadable("depth") from None
    if not isinstance(data, dict):
        raise Unreadable("object")
    return data


def _raw_cells(data: dict[str, Any]) -> list[Any]:
    version = data.get("nbformat")
    if type(version) is not int:
        raise Unreadable("format")
    if version > 4:
        raise Unreadable("newer", version=version)
    if version < 4:
        try:
            data = nbformat.convert(nbformat.from_dict(data), 4)
        except Exception:
            raise Unreadable("older", version=version) from None
    cells = data.get("cells")
    if not isinstance(cells, list):
        raise Unreadable("list")
    return cells


def _clean_cell(raw: Any, number: int, used: set[str]) -> Any:
    kind = raw.get("cell_type") if isinstance(raw, dict) else None
    source = raw.get("source") if isinstance(raw, dict) else None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(kind, str) or kind not in _EMPTY or not isinstance(source, str):
        raise Unreadable("cell", number=number)
    source = source.encode("utf-8", "replace").decode("utf-8")
    cell = nbformat.from_dict({**_EMPTY[kind], "source": source})
    name = raw.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name) or name in used:
        name = next(wanted for wanted in _names(number) if wanted not in used)
    used.add(name)
    cell.id = name
    marks = metadata_of(raw).get("nbgrader")
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    if isinstance(grade_id, str) and _ID.fullmatch(grade_id):
        cell.metadata["nbgrader"] = nbformat.from_dict({"grade_id": grade_id})
    if said := kept(raw):
        cell.metadata[KEPT] = said
    return cell


def _names(number: int) -> Iterator[str]:
    yield f"cell-{number:02d}"
    again = 1
    while True:
        again += 1
        yield f"cell-{number:02d}-{again}"


@dataclass
class Restored:
    """A submission with the course's cells in place, and what had to be done for it."""

    notebook: Any
    missing_checks: list[str] = field(default_factory=list)
    missing_answers: list[str] = field(default_factory=list)
    repeated_answers: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)

    def problem(self) -> Text | None:
        """Say why a person has to look at the submission, or return None."""
        if self.missing_answers:
            return words("problem.missing", names=", ".join(self.missing_answers))
        if self.repeated_answers:
            return words("problem.repeated", names=", ".join(self.repeated_answers))
        return None


def restore(notebook: Any, course: Sequence[CourseCell]) -> Restored:
    """Put the course's cells back into ``notebook``, in place, and say what was missing or repeated."""
    by_name = {cell.name: cell for cell in course}
    result = Restored(notebook)
    places = _recognise(notebook, by_name)
    owner = {index: name for name, found in places.items() for index in found}
    result.flags += remarks(
        [
            (cell.metadata.pop(KEPT, {}), cell.id, by_name.get(owner.get(index, "")))
            for index, cell in enumerate(notebook.cells)
        ]
    )
    for index, cell in enumerate(notebook.cells):
        cell.metadata.pop("nbgrader", None)
        name = owner.get(index)
        if name is None:
            continue
        mine, found = by_name[name], places[name]
        kept = found[-1] if mine.solution else found[0]
        if index != kept:
            result.flags.append(f"repeated cell {name}")
            if mine.solution and name not in result.repeated_answers:
                result.repeated_answers.append(name)
            continue
        if not mine.solution and cell.source not in (mine.source, *translated().get(name, ())):
            result.flags.append(f"changed cell {name}")
        _become(cell, mine)
    # An id belongs to the course's cell of that name, so that a copy can't take it.
    for cell in notebook.cells:
        if cell.id in by_name and cell.metadata.get("nbgrader", {}).get("grade_id") != cell.id:
            cell.id = f"copy-of-{cell.id}"[:64]
    _unique_ids(notebook)
    before: str | None = None
    for mine in course:
        if mine.name not in places:
            _insert(notebook, mine, before)
            result.flags.append(f"missing cell {mine.name}")
            if mine.solution:
                result.missing_answers.append(mine.name)
            elif mine.points is not None:
                result.missing_checks.append(mine.name)
        before = mine.name
    return result


def _recognise(notebook: Any, by_name: dict[str, CourseCell]) -> dict[str, list[int]]:
    """Return where each of the course's cells stands.

    A cell is known by its grade_id, else by its cell id, else by its check call.
    """
    places: dict[str, list[int]] = {}
    rest = []
    for index, cell in enumerate(notebook.cells):
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in by_name:
            places.setdefault(name, []).append(index)
        else:
            rest.append(index)
    for index in list(rest):
        name = notebook.cells[index].id
        if name in by_name and name not in places:
            places[name] = [index]
            rest.remove(index)
    for index in rest:
        call = _CHECK.search(notebook.cells[index].source)
        if call and call[1] in by_name and call[1] not in places and not by_name[call[1]].solution:
            places[call[1]] = [index]
    return places


def _become(cell: Any, mine: CourseCell) -> None:
    if cell.cell_type != mine.kind:
        cell.cell_type = mine.kind
        for name in ("outputs", "execution_count"):
            cell.pop(name, None)
        if mine.kind == "code":
            cell.outputs, cell.execution_count = [], None
    if not mine.solution:
        cell.source = mine.source
    cell.metadata["nbgrader"] = mine.marks()
    cell.metadata["deletable"] = False
    if mine.locked:
        cell.metadata["editable"] = False


def _unique_ids(notebook: Any) -> None:
    # First the course's cells take their own names, then no two others share one.
    used = set()
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name:
            cell.id = name
            used.add(name)
    for number, cell in enumerate(notebook.cells, start=1):
        if "nbgrader" not in cell.metadata:
            if cell.id in used:
                cell.id = next(wanted for wanted in _names(number) if wanted not in used)
            used.add(cell.id)


def _insert(notebook: Any, mine: CourseCell, after: str | None) -> None:
    # An answer cell comes back empty: its starting code would run after what the learner wrote elsewhere.
    source = "# This answer cell was missing." if mine.solution and mine.kind == "code" else mine.source
    cell = nbformat.from_dict({**_EMPTY[mine.kind], "id": mine.name, "source": source})
    _become(cell, mine)
    where = next((i + 1 for i, other in enumerate(notebook.cells) if other.id == after), 0)
    notebook.cells.insert(where, cell)


def take(path: Path) -> bytes | Text:
    """Return the bytes of the file handed in, or why there are none to be had."""
    try:
        return read_file(path)
    except Exception as caught:
        return _reason(caught)


def opened(content: bytes | Text) -> Any:
    """Return the notebook in what was handed in; when it is none, an empty one that says why in its metadata."""
    try:
        if isinstance(content, Text):
            notebook, why = nbformat.v4.new_notebook(), content
        else:
            notebook, why = _rebuilt(content), None
    except Exception as caught:  # whatever is in the file, the other submissions go on
        notebook, why = nbformat.v4.new_notebook(), _reason(caught)
    note: dict[str, Any] = {"submission": digest(content)}
    if why is not None:
        note["unreadable"] = {"en": why.en, "zh": why.zh}
    notebook.metadata["crash_course"] = nbformat.from_dict(note)
    return notebook


def digest(content: bytes | Text) -> str:
    """Return a digest of what was handed in."""
    return hashlib.sha256(content.en.encode() if isinstance(content, Text) else content).hexdigest()


def _reason(caught: Exception) -> Text:
    return caught.text if isinstance(caught, Unreadable) else words("unreadable.other", kind=type(caught).__name__)


def put_back(nb: Any, course: CourseNotebook, made_from: str) -> list[str]:
    """Put the course's cells into an opened submission, in place, and note in its metadata what a person should know.

    Args:
        nb: the submission.
        course: the course's cells.
        made_from: the fingerprint of all that the verdicts will depend on.

    Returns:
        the flags for the instructor.
    """
    note = dict(nb.metadata["crash_course"])
    note.pop("submission", None)
    restored = restore(nb, course.cells)
    note["fingerprint"] = made_from
    if "unreadable" in note:
        note["flags"] = ["unreadable"]
    else:
        problem = restored.problem()
        if problem is not None:
            note["problem"] = {"en": problem.en, "zh": problem.zh}
        note["missing_checks"] = restored.missing_checks
        note["flags"] = sorted({*restored.flags, *disarm(nb), *signs(learners_code(nb))})
    nb.metadata["crash_course"] = nbformat.from_dict(note)
    if kernelspec := json.loads(course.kernelspec or "{}"):
        nb.metadata["kernelspec"] = nbformat.from_dict(kernelspec)
    return list(note["flags"])


class SubmissionReader(NotebookExporter):  # type: ignore[misc]
    """nbgrader's way into a submission: a file that is no notebook becomes an empty one that says so."""

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> tuple[Any, Any]:
        """Read a submission, whatever it is; in nbgrader's second pass, read what the first one wrote."""
        if not getattr(self.parent, "_sanitizing", True):
            notebook, resources = super().from_filename(filename, resources=resources, **kw)
            return notebook, resources
        notebook, resources = self.from_notebook_node(opened(take(Path(filename))), resources=resources, **kw)
        return notebook, resources


class RestoreCells(NbGraderPreprocessor):  # type: ignore[misc]
    """The first preprocessor of a submission: the course's own cells come from the gradebook."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Restore the notebook."""
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            course = course_notebook(gradebook.find_notebook(where["notebook"], where["assignment"]))
        made_from = fingerprint(course, where["student"], nb.metadata["crash_course"]["submission"])
        for flag in put_back(nb, course, made_from):
            self.log.warning("%s: %s", where["student"], flag)
        return nb, resources
