"""A class with every kind of work, graded by the command, and gradebooks compared by what they say."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from class_to_grade import CHECKOUT

from grader.classroom.demo import demo_class, hand_in

Change = Callable[[dict[str, Any]], None]
KINDS = ("ada", "dana", "emil", "goran", "hana", "lena", "nour", "olga")
"""Of the demo class: right, partly right, wrong in three ways, an empty file, no notebook."""


def write(folder: Path, student: str, notebook: bytes | dict[str, Any], level: str = "level2") -> Path:
    """Hand in a notebook and return its path."""
    place = folder / "classroom/submitted" / student / level / f"{level}.ipynb"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode())
    return place


def read(path: Path) -> dict[str, Any]:
    """Return a notebook as plain data."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def cell(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the cell with this id."""
    found: dict[str, Any] = next(each for each in notebook["cells"] if each["id"] == name)
    return found


def without(name: str) -> Change:
    """Return a change that deletes a cell."""

    def change(notebook: dict[str, Any]) -> None:
        notebook["cells"].remove(cell(notebook, name))

    return change


def tagged(notebook: dict[str, Any]) -> None:
    """Mark everything to be skipped, give a check more points and rewrite it."""
    for each in notebook["cells"]:
        each["metadata"]["tags"] = ["skip-execution"]
    check = cell(notebook, "level2-atomic")
    check["metadata"]["nbgrader"]["points"] = 1000
    check["source"] = "4.0"


def copied(notebook: dict[str, Any]) -> None:
    """Hand in the answer twice."""
    notebook["cells"].append({**cell(notebook, "level2-code"), "id": "again"})


TAMPERED: dict[str, Change] = {
    "no check": without("level2-atomic"),
    "no answer": without("level2-code"),
    "tagged": tagged,
    "copied": copied,
}


def make_class(folder: Path, kinds: tuple[str, ...] = KINDS, level: str = "level2") -> None:
    """Hand in the work of the demo class and the same tampered with; ``folder`` has the release."""
    for one in demo_class():
        if one.level == level and one.student in kinds:
            hand_in(folder, one)
    if level == "level2":
        solved = CHECKOUT / "solutions/level2/level2.ipynb"
        released = read(folder / "exercises/level2/level2.ipynb")
        answers = {each["id"]: each["source"] for each in read(solved)["cells"]}
        for student, change in TAMPERED.items():
            notebook = json.loads(json.dumps(released))
            for each in notebook["cells"]:
                if each["metadata"].get("nbgrader", {}).get("solution"):
                    each["source"] = answers[each["id"]]
            change(notebook)
            write(folder, student, notebook)


def twin(folder: Path, other: Path) -> Path:
    """Copy a course, gradebook and all."""
    shutil.copytree(folder, other)
    return other


def database(folder: Path) -> sqlite3.Connection:
    """Open the gradebook."""
    return sqlite3.connect(folder / "classroom/gradebook.db")


def gradebook(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return every table of the gradebook, ids replaced by what they stand for, rows in order."""
    with database(folder) as connection:
        connection.row_factory = sqlite3.Row
        names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        tables = {name: [dict(row) for row in connection.execute(f"select * from {name}")] for name in names}
    connection.close()
    label: dict[str, str] = {}
    for table, parts in (
        ("assignment", ("name",)),
        ("notebook", ("assignment_id", "name")),
        ("base_cell", ("notebook_id", "name", "type")),
        ("source_cell", ("notebook_id", "name")),
        ("submitted_assignment", ("assignment_id", "student_id")),
        ("submitted_notebook", ("assignment_id", "notebook_id")),
        ("grade", ("notebook_id", "cell_id")),
        ("comment", ("notebook_id", "cell_id")),
    ):
        for row in tables[table]:
            label[row["id"]] = f"{table}({', '.join(label.get(row[part], row[part]) for part in parts)})"
    for rows in tables.values():
        for row in rows:
            for column, value in row.items():
                row[column] = label.get(value, value) if isinstance(value, str) else value
        rows.sort(key=repr)
    return tables


def same(ours: Path, theirs: Path, digests: bool = True) -> None:
    """Compare all that two courses' grading left; without ``digests``, but for the marks of what it was made from."""
    assert gradebook(ours) == gradebook(theirs)
    for part in ("autograded", "feedback"):
        mine, stock = files(ours / "classroom" / part), files(theirs / "classroom" / part)
        assert sorted(mine) == sorted(stock)
        for name in stock:
            assert mine[name][0] == stock[name][0], name
            assert _text(mine[name][1], digests) == _text(stock[name][1], digests), name


def _text(content: bytes, digests: bool) -> bytes:
    return content if digests else re.sub(rb'"[0-9a-f]{64}"', b'"digest"', content)


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file below a folder, with its permissions; hidden ones left out."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mode & 0o777, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def marked_by_a_person(folder: Path) -> None:
    """A person gives marks, extra credit and comments: to work that waits, and to work that does not."""
    cells = "(select id from base_cell where name = ?)"
    of_student = """(select submitted_notebook.id from submitted_notebook join submitted_assignment
        on submitted_assignment.id = submitted_notebook.assignment_id where student_id = ?)"""
    with database(folder) as connection:
        for student, name, score, extra in (
            ("nour", "level2-atomic", 3.0, None),
            ("ada", "level2-runs", 1.5, None),
            ("lena", "level2-atomic", None, 1.0),
            ("goran", "level2-point-a", 2.0, 0.5),
        ):
            connection.execute(
                f"update grade set manual_score = ?, extra_credit = ?, needs_manual_grade = 0 "
                f"where cell_id = {cells} and notebook_id = {of_student}",
                (score, extra, name, student),
            )
        connection.execute(
            f"update comment set manual_comment = 'Well done.' where cell_id = {cells} and notebook_id = {of_student}",
            ("level2-code", "ada"),
        )
    connection.close()
