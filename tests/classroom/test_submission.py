"""Anything can be handed in: what is no notebook gets a sentence, a notebook gets the course's cells back."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.classroom.course_cells import CourseCell
from grader.classroom.submission import Unreadable, read_notebook, restore
from grader.words import catalogue

CODE = {
    "cell_type": "code",
    "id": "a",
    "metadata": {},
    "outputs": [],
    "execution_count": None,
    "source": "x = 1",
}


def notebook(*cells: Any, **more: Any) -> bytes:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **more}).encode()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"PK\x03\x04\xff\xfe", "no UTF-8"),
        (b"print(1)", "stops being JSON at line 1"),
        (notebook(CODE)[:-20], "stops being JSON"),
        (b"[1, 2]", "not an object"),
        (b"{}", "nbformat"),
        (b'{"nbformat": "4", "cells": []}', "nbformat"),
        (b'{"nbformat": true, "cells": []}', "nbformat"),
        (b'{"nbformat": 4}', "no list of cells"),
        (b'{"nbformat": 5, "cells": []}', "nbformat 5"),
        (b'{"nbformat": 3}', "nbformat 3"),
        (notebook(), "no cells"),
        (notebook(CODE, 7), "Cell 2 is damaged"),
        (notebook({**CODE, "source": 7}), "Cell 1 is damaged"),
        (notebook({**CODE, "cell_type": "video"}), "Cell 1 is damaged"),
        (notebook({**CODE, "cell_type": ["code"]}), "Cell 1 is damaged"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"nbformat": 4, "cells": [' + b"9" * 5000 + b"]}", "too long a number"),
    ],
)
def test_what_is_no_notebook_is_named_in_one_sentence(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "level2.ipynb"
    path.write_bytes(data)
    with pytest.raises(Unreadable, match=says) as caught:
        read_notebook(path)
    assert caught.value.text.zh and caught.value.text.zh != caught.value.text.en


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.ipynb").write_bytes(notebook(CODE))
    (tmp_path / "level2.ipynb").symlink_to(tmp_path / "secret.ipynb")
    with pytest.raises(Unreadable, match="link"):
        read_notebook(tmp_path / "level2.ipynb")


def test_only_source_kind_id_and_grade_id_are_believed(tmp_path: Path) -> None:
    output = {"output_type": "stream", "name": "stdout", "text": "4.0"}
    marks = {"grade_id": "t", "points": 1000, "schema_version": 99, "grade": True, "extra": 1}
    cell = {**CODE, "outputs": [output], "metadata": {"tags": ["skip-execution"], "nbgrader": marks}}
    path = tmp_path / "level2.ipynb"
    path.write_bytes(notebook(cell, {**CODE, "source": ["a\n", "b"]}, {**CODE, "id": 5, "source": "\ud800"}))
    first, second, third = read_notebook(path).cells
    assert first.metadata.pop("handed_in")["tags"] == ["skip-execution"]  # only to tell the instructor
    assert first.metadata == {"nbgrader": {"grade_id": "t"}}
    assert first.outputs == []
    assert second.source == "a\nb"
    assert len({first.id, second.id, third.id}) == 3
    third.source.encode("utf-8")


def test_an_old_notebook_is_brought_to_the_present_format(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "language": "python", "metadata": {}, "input": "x = 1", "outputs": []}
    path = tmp_path / "level2.ipynb"
    sheet = {"cells": [cell], "metadata": {}}
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [sheet]}
    path.write_text(json.dumps(old))
    assert [cell.source for cell in read_notebook(path).cells] == ["x = 1"]


def test_every_sentence_asks_for_the_same_values_in_both_languages() -> None:
    words = catalogue("classroom/words.toml")
    for key in words.entries:
        english, chinese = words.fields(key)
        assert english == chinese, key


COURSE = [
    CourseCell("answer", "code", "start", False, True, None, None),
    CourseCell("test", "code", 'check("test")', True, False, 3.0, None),
]


def submitted(*cells: tuple[str, str | None, str]) -> Any:
    made = nbformat.v4.new_notebook()
    for name, grade_id, source in cells:
        cell = nbformat.v4.new_code_cell(source, id=name)
        if grade_id is not None:
            cell.metadata["nbgrader"] = nbformat.from_dict({"grade_id": grade_id})
        made.cells.append(cell)
    return made


def grade_ids(made: Any) -> list[str | None]:
    return [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in made.cells]


def test_a_notebook_in_order_stays_as_it_is() -> None:
    made = submitted(("answer", "answer", "mine"), ("x", None, "other"), ("test", "test", 'check("test")'))
    result = restore(made, COURSE)
    assert grade_ids(made) == ["answer", None, "test"]
    assert made.cells[0].source == "mine"
    assert made.cells[2].metadata.nbgrader.points == 3.0
    assert (result.flags, result.problem()) == ([], None)


def test_a_changed_check_cell_gets_its_own_text_back() -> None:
    made = submitted(("answer", "answer", "mine"), ("test", "test", "4.0"))
    result = restore(made, COURSE)
    assert made.cells[1].source == 'check("test")'
    assert result.flags == ["changed cell test"]


def test_a_copied_check_cell_becomes_a_cell_like_any_other() -> None:
    made = submitted(("answer", "answer", "mine"), ("test", "test", 'check("test")'), ("copy", "test", "4.0"))
    result = restore(made, COURSE)
    assert grade_ids(made) == ["answer", "test", None]
    assert (result.flags, result.problem()) == (["repeated cell test"], None)


def test_a_deleted_check_cell_comes_back_after_its_answer() -> None:
    made = submitted(("answer", "answer", "mine"), ("x", None, "other"))
    result = restore(made, COURSE)
    assert grade_ids(made) == ["answer", "test", None]
    assert result.missing_checks == ["test"]


def test_cells_that_lost_their_grade_id_are_known_by_id_or_by_their_call() -> None:
    made = submitted(("answer", None, "mine"), ("x", None, '"""Says."""\ncheck("test")'))
    result = restore(made, COURSE)
    assert grade_ids(made) == ["answer", "test"]
    assert [cell.id for cell in made.cells] == ["answer", "test"]
    assert result.missing_checks == []


def test_a_missing_answer_waits_for_a_person_and_comes_back_empty() -> None:
    made = submitted(("x", None, "def save(): ..."), ("test", "test", 'check("test")'))
    result = restore(made, COURSE)
    assert made.cells[0].id == "answer"
    assert "start" not in made.cells[0].source
    problem = result.problem()
    assert problem is not None and "answer is missing" in problem.en


def test_a_copied_answer_waits_for_a_person() -> None:
    made = submitted(("answer", "answer", "first"), ("b", "answer", "second"), ("test", "test", ""))
    result = restore(made, COURSE)
    assert grade_ids(made) == [None, "answer", "test"]
    assert made.cells[1].id == "answer"
    assert len({cell.id for cell in made.cells}) == 3
    problem = result.problem()
    assert problem is not None and "more than once" in problem.en


def test_a_foreign_cell_can_not_take_the_id_of_a_course_cell() -> None:
    made = submitted(("test", "answer", "mine"), ("answer", "test", ""), ("z", "level9", "foreign"))
    restore(made, COURSE)
    assert [cell.id for cell in made.cells][:2] == ["answer", "test"]
    assert grade_ids(made) == ["answer", "test", None]
