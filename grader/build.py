"""From the text sources to the notebooks, and from the solved notebooks to the release.

People edit the MyST Markdown sources. The notebooks beside them, and everything in ``exercises/``, are made
here.
"""

import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.classroom.course import Course
from grader.translations import FOLDER, OutOfStep, lay_over, translations

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
STARTS = "grader/levels/starts.json"
TRANSLATED = "grader/classroom/translated.json"
STRAY = "is not part of the release"
NBGRADER_DEFAULTS = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}


@dataclass(frozen=True)
class Difference:
    """One file that is not what its source makes of it."""

    path: str
    """Relative to the checkout, with forward slashes."""
    reason: str


def find_checkout(start: Path | None = None) -> Path | None:
    """Return the root of the course checkout around ``start``, around this package, or None."""
    for place in (start or Path.cwd(), Path(__file__).resolve().parent):
        for folder in (place, *place.parents):
            if (folder / "nbgrader_config.py").is_file() and (folder / "solutions").is_dir():
                return folder
    return None


def sources(root: Path) -> list[Path]:
    """Return every text source of a notebook: those that open with a jupytext header."""
    found = [*root.glob("lessons/*.md"), *root.glob("solutions/level*/*.md")]
    return sorted(path for path in found if _is_source(path))


def _is_source(path: Path) -> bool:
    head = path.read_text(encoding="utf-8")[:600]
    return head.startswith("---") and "jupytext:" in head


def notebook_text(source: Path) -> str:
    """Return the notebook that ``source`` makes, as the text of its ``.ipynb`` file.

    Raises:
        ValueError: it makes none; the message says what stopped it, on which line.
    """
    import jupytext
    import nbformat

    try:
        notebook = jupytext.reads(source.read_text(encoding="utf-8"), fmt="md:myst")
    except Exception as problem:  # jupytext's own, of several lines
        why = " ".join(str(problem).split(' in "<unicode string>"')[0].split())
        raise ValueError(why) from None
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    taken: set[str] = set()
    for number, cell in enumerate(notebook.cells, start=1):
        marks = cell.metadata.get("nbgrader")
        if marks is not None:
            cell.metadata["nbgrader"] = nbformat.from_dict({**NBGRADER_DEFAULTS, **marks})
            if marks.get("grade") and not marks.get("solution"):
                cell.metadata["nbgrader"]["locked"] = True
        cell.id = _cell_id(source.stem, number, marks)
        if cell.id in taken:
            raise ValueError(f"the cell id {cell.id} is used twice")
        taken.add(cell.id)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook)) + "\n"


def _cell_id(stem: str, number: int, marks: Any) -> str:
    if marks and marks.get("grade_id"):
        return str(marks["grade_id"])
    return re.sub(r"[^A-Za-z0-9_-]", "-", f"{stem}-{number:02d}")[-64:]


def release_files(root: Path, solved: dict[str, str]) -> dict[str, bytes]:
    """Return what nbgrader releases of the exercises in ``root``, by path relative to the checkout.

    ``solved`` gives the text of each solved notebook by its path. nbgrader runs in a scratch folder with the
    checkout's own configuration; whatever else lies in an exercise's folder is copied there too, so that a
    stray file would show up in the release.
    """
    with tempfile.TemporaryDirectory(prefix="crash-course-build-") as scratch:
        copy = Path(scratch).resolve()
        shutil.copy(root / "nbgrader_config.py", copy)
        levels = sorted({Path(path).parts[1] for path in solved if path.startswith("solutions/")})
        for level in levels:
            shutil.copytree(root / "solutions" / level, copy / "solutions" / level)
        for path, text in solved.items():
            if path.startswith("solutions/"):
                (copy / path).write_text(text, encoding="utf-8")
        course = Course(copy)
        for level in levels:
            course.generate_assignment(level)
        return {
            file.relative_to(copy).as_posix(): file.read_bytes()
            for file in sorted((copy / "exercises").rglob("*"))
            if file.is_file()
        }


def made_files(root: Path) -> dict[str, bytes]:
    """Return every generated file of the checkout, by its path, as it ought to be now.

    Raises:
        ValueError: a source makes no notebook; the message names it.
    """
    notebooks = {}
    for source in sources(root):
        try:
            notebooks[source.with_suffix(".ipynb").relative_to(root).as_posix()] = notebook_text(source)
        except ValueError as problem:
            raise ValueError(f"{source.relative_to(root).as_posix()}: {problem}") from None
    made = {path: text.encode("utf-8") for path, text in notebooks.items()}
    release = release_files(root, notebooks)
    made.update(release)
    made[STARTS] = starts_text(release).encode("utf-8")
    for source, (language, english) in translations(root).items():
        notebook = source.with_suffix(".ipynb")
        try:
            data = lay_over(made.get(english, b"").decode("utf-8"), source, language).encode("utf-8")
        except OutOfStep:  # a translator's work, which does not stop the rest: the edition stays as it was
            if not notebook.is_file():
                continue
            data = notebook.read_bytes()
        made[notebook.relative_to(root).as_posix()] = data
    made[TRANSLATED] = translated_text(made).encode("utf-8")
    return made


def untranslated(root: Path, made: dict[str, bytes]) -> list[Difference]:
    """Return the translations that do not fit the English notebooks, and what is the matter.

    ``made`` is what :func:`made_files` gives. A translation of no notebook is :func:`unlisted`'s.
    """
    found = []
    for source, (language, english) in translations(root).items():
        text = made.get(english, b"").decode("utf-8")
        if not text:
            continue
        try:
            lay_over(text, source, language)
        except OutOfStep as problem:
            found.append(Difference(source.relative_to(root).as_posix(), f"is out of step: {problem}"))
    return found


def unlisted(root: Path) -> list[Difference]:
    """Return the files that look like a part of the course and are none."""
    known = {source.with_suffix(".ipynb") for source in sources(root)}
    found = []
    for file in sorted([*root.glob("lessons/[0-9][0-9]_*.md"), *root.glob("solutions/level*/level*.md")]):
        if file.with_suffix(".ipynb") not in known:
            found.append((file, "makes no notebook: it lacks the jupytext header that the others begin with"))
    for file in sorted(root.glob("lessons/*.ipynb")):
        if file not in known and not file.with_suffix(".md").is_file():
            found.append((file, "has no text source: write its .md, or take it away"))
    for file, (_, english) in translations(root).items():
        if not (root / english).is_file():
            found.append((file, f"translates nothing, for there is no {english}: rename it, or take it away"))
    return [Difference(file.relative_to(root).as_posix(), reason) for file, reason in found]


def starts_text(release: dict[str, bytes]) -> str:
    """Return what every answer cell of the release holds before any work is done, as JSON by grade_id."""
    starts = {}
    for path, data in sorted(release.items()):
        if path.endswith(".ipynb"):
            for cell in json.loads(data)["cells"]:
                marks = cell["metadata"].get("nbgrader", {})
                if marks.get("solution"):
                    starts[marks["grade_id"]] = "".join(cell["source"])
    return json.dumps(starts, ensure_ascii=False, indent=1) + "\n"


def translated_text(made: dict[str, bytes]) -> str:
    """Return the course's own cells as translated exercises have them, as JSON: a list for each grade_id.

    Who hands one of these in has changed nothing.
    """
    texts: dict[str, list[str]] = {}
    for path, data in sorted(made.items()):
        if path.startswith(f"{FOLDER}/") and "/exercises/" in path:
            for cell in json.loads(data)["cells"]:
                marks = cell["metadata"].get("nbgrader", {})
                if marks and not marks.get("solution"):
                    texts.setdefault(marks["grade_id"], []).append("".join(cell["source"]))
    return json.dumps(texts, ensure_ascii=False, indent=1) + "\n"


def differences(root: Path, made: dict[str, bytes] | None = None) -> list[Difference]:
    """Return what in the checkout is out of step with its sources."""
    made = made_files(root) if made is None else made
    found = []
    for path, data in made.items():
        file = root / path
        if not file.is_file():
            found.append(Difference(path, "is missing"))
        elif file.read_bytes() != data:
            found.append(Difference(path, "is not what its source makes"))
    strays = [*sorted((root / "exercises").rglob("*")), *sorted((root / FOLDER).rglob("*.ipynb"))]
    for file in strays:
        path = file.relative_to(root).as_posix()
        if file.is_file() and ".ipynb_checkpoints" not in path and path not in made:
            found.append(Difference(path, STRAY))
    return found


def build(root: Path, made: dict[str, bytes] | None = None) -> list[str]:
    """Bring every generated file into step and return the paths that were written or removed."""
    made = made_files(root) if made is None else made
    changed = []
    for difference in differences(root, made):
        file = root / difference.path
        if difference.path in made:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(made[difference.path])
        else:
            file.unlink()
        changed.append(difference.path)
    return changed
