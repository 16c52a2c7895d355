"""From notebooks of every kind to cells: magics, ids, and one sentence for what can't be read."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.answers.cells import (
    BadNotebook,
    Cell,
    check_complete,
    code_cells,
    context_cells,
    exercise_of,
    only_checks,
    read_notebook,
    to_python,
)


def test_python_is_left_alone() -> None:
    source = 'x = """\n%time\n!ls\n"""\ny = 10 % 3\nawait z'
    assert to_python(source) == source


@pytest.mark.parametrize(
    ("source", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if True:\n    !ls -l\nx = 2", "if True:\n    pass\nx = 2"),
        ("files = !ls\nx", "files = None\nx"),
        ("os?\nx", "pass\nx"),
        ("?os\nx", "pass\nx"),
        ("%time run()\nx", "run()\nx"),
        ("%%time\nx = 1\ny = 2", "pass\nx = 1\ny = 2"),
        ("\n%%capture out\nx = 1", "\npass\nx = 1"),
        ("%%bash\nrm -rf /", ""),
        ("%%writefile a.py\nx = 1", ""),
        ("%cd x\ns = '''\n%keep\n'''", "pass\ns = '''\n%keep\n'''"),
    ],
)
def test_magics_go_and_lines_stay(source: str, python: str) -> None:
    assert to_python(source) == python


def test_a_cell_that_is_wrong_anyway_is_left_as_it_is() -> None:
    assert to_python("def f(:\n    pass") == "def f(:\n    pass"


@pytest.mark.parametrize(
    ("source", "only"),
    [
        ('check("level2-atomic")', True),
        ('"""What it asks."""\ncheck("level2-atomic")', True),
        ("from grader import check\ncheck()", True),
        ("import grader\ngrader.check('x')", True),
        ("from grader import check", False),
        ("check('x')\nx = 1", False),
        ("def f(): pass", False),
        ("broken(", False),
    ],
)
def test_cells_that_only_check_are_recognised(source: str, only: bool) -> None:
    assert only_checks(source) is only


def notebook(*cells: Any) -> Any:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)}


def graded(source: str, name: str) -> Any:
    cell = nbformat.v4.new_code_cell(source)
    cell.metadata["nbgrader"] = {"grade_id": name}
    return cell


def test_ids_are_nbgraders_first() -> None:
    found = code_cells(
        notebook(
            nbformat.v4.new_markdown_cell("text"),
            graded("x = 1", "level2-code"),
            nbformat.v4.new_code_cell("y = 2", id="other"),
            {"cell_type": "code", "source": ["z = ", "3"], "metadata": {"nbgrader": "odd"}},
        )
    )
    assert found == [Cell("level2-code", "x = 1"), Cell("other", "y = 2"), Cell("cell-4", "z = 3")]
    assert exercise_of(found) == "level2"
    assert exercise_of(found[1:]) is None


def test_criterion_cells_are_no_context() -> None:
    asks = 'y = 1\ncheck("level2-atomic")'
    cells = [Cell("level2-atomic", asks), Cell("a", "check()"), Cell("b", "  "), Cell("c", "%cd x")]
    assert context_cells(cells) == [Cell("c", "pass")]


def test_an_answer_put_into_a_criterion_cell_is_run() -> None:
    cells = [Cell("level2-atomic", "x = 1"), Cell("level2-code", "")]
    assert context_cells(cells) == [Cell("level2-atomic", "x = 1")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"not json", "not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[1, 2]", "no list of cells"),
        (b"{}", "no list of cells"),
        (b'{"nbformat": 3, "worksheets": []}', "format 3"),
        (b'{"nbformat": 5, "cells": [{}]}', "format 5"),
        (b'{"nbformat": "4", "cells": [{}]}', 'format "4"'),
        (b'{"nbformat": 4, "cells": {}}', "no list of cells"),
        (b'{"nbformat": 4, "cells": [1]}', "no list of cells"),
        (b'{"nbformat": 4, "cells": []}', "no cells"),
    ],
)
def test_what_is_no_notebook_is_named_in_one_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "work.ipynb"
    path.write_bytes(content)
    with pytest.raises(BadNotebook) as problem:
        read_notebook(path)
    assert said in problem.value.text.en and "work.ipynb" in problem.value.text.en
    assert "work.ipynb" in problem.value.text.zh


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(BadNotebook, match="There is no file"):
        read_notebook(tmp_path / "gone.ipynb")
    with pytest.raises(BadNotebook, match="is a folder"):
        read_notebook(tmp_path)


def test_solution_cells_must_be_there_once() -> None:
    both = [Cell("level2-hazards", ""), Cell("level2-code", "")]
    check_complete(both, "level2")
    with pytest.raises(BadNotebook, match="level2-code is missing"):
        check_complete(both[:1], "level2")
    with pytest.raises(BadNotebook, match="there 2 times"):
        check_complete([*both, both[1]], "level2")


def test_a_notebook_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "work.ipynb"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(notebook(graded("x", "level2-code"))).encode())
    assert code_cells(read_notebook(path)) == [Cell("level2-code", "x")]
