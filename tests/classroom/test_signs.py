"""Flags for the instructor: what was tampered with is told, honest work is not suspected."""

import json
from pathlib import Path

import pytest
from class_to_grade import CHECKOUT
from nbconvert.filters import markdown2html

from grader.classroom.course_cells import CourseCell
from grader.classroom.markup import acts, harmless
from grader.classroom.signs import signs
from grader.classroom.tampering import kept, remarks

PROGRAMS = sorted(
    path for path in (CHECKOUT / "tests/levels").rglob("*.py") if any("programs" in part for part in path.parent.parts)
)
LOOKED_AT = {"r08_o_tmpfile_linkat", "w59_o_tmpfile_link_without_dir_fd", "x02_atexit_save"}
"""Honest, and rightly looked at: they name /proc, or save when the process ends."""


def test_honest_programs_are_not_suspected() -> None:
    assert len(PROGRAMS) > 250
    suspected = {path.stem for path in PROGRAMS if signs([("answer", path.read_text(encoding="utf-8"))])}
    assert {name for name in suspected if "signal" not in name} - LOOKED_AT == set()
    assert len(suspected) <= 6


@pytest.mark.parametrize(
    "path", sorted(CHECKOUT.glob("*/level*/*.ipynb")), ids=lambda path: "-".join(path.parts[-3:-1])
)
def test_neither_release_nor_solution_is_suspected(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert signs([(cell["id"], "".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"]) == []
    if path.parts[-3] == "exercises":
        assert remarks([(kept(cell), cell["id"], None) for cell in cells if not kept(cell).get("grade_id")]) == []


def test_a_sign_names_the_cell_the_line_and_what_stands_there() -> None:
    source = "import os, sys\nx = 1\nos.replace = print\nsys._getframe(1).f_locals\n"
    assert signs([("mine", source)]) == [
        "look at cell mine, line 3: replaces os.replace",
        "look at cell mine, line 4: uses _getframe",
        "look at cell mine, line 4: uses f_locals",
    ]


@pytest.mark.parametrize("source", ["def broken(:", "x = " + "(" * 50_000, "x = " + "-" * 50_000 + "1", "\x00"])
def test_code_that_cannot_be_read_has_no_sign(source: str) -> None:
    assert signs([("mine", source)]) == []


def test_marks_are_held_against_the_courses_own() -> None:
    mine = CourseCell("check", "code", "check()", True, False, 4.0, "abc")
    raw = {"metadata": {"nbgrader": dict(mine.marks())}}
    assert remarks([(kept(raw), "check", mine)]) == []
    raw["metadata"]["nbgrader"] |= {"points": float("nan"), "schema_version": "3", "extra": 1}
    assert remarks([(kept(raw), "check", mine)]) == ["changed marks of cell check: schema_version, points"]
    assert remarks([(kept({"metadata": {}}), "check", mine)]) == []  # lost, not changed


@pytest.mark.parametrize(
    "source",
    [
        "<script>x()</script>",
        "a <img src=x onerror=y()> b",
        "![p](http://t/x.png) ![a][r]\n\n[r]: http://t/x.png",
        "[c](javascript:alert(1)) <javascript:alert(1)> [c](data:text/html,x)",
        "[c](&#106;avascript:alert(1)) [c](javascript&colon;alert(1)) [c](javascript\\:alert(1))",
        "`a`<script>`b`",
        "$$<img src=x onerror=y()>$$",
        "![x](attachment:missing.png)",
    ],
)
def test_markdown_loses_what_acts_and_keeps_its_text(source: str) -> None:
    page = markdown2html(harmless(source)).lower()
    for sign in ("<script", "<img", 'href="javascript:', 'href="data:', "<iframe"):
        assert sign not in page
    assert harmless(source).replace("\u2060", "") == source


def test_plain_markdown_stays_as_it_is() -> None:
    text = "# Notes\n\n- if `a < b`: *yes*\n- [link](https://example.org), 2 > 1 & so on\n"
    assert harmless(text) == text and not acts(text)
