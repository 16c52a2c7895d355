"""Programs written from the exercise's text alone, before their authors had seen a check: each is judged as it says.

A program says in its first line what it is: ``# right(level3-code): why`` or ``# wrong(level3-code): what is wrong``.
"""

import re
from pathlib import Path

import pytest
from thorough import one_in

from grader.answers.cells import Cell
from grader.answers.judge import judge_cells

HEADER = re.compile(r"# (?P<label>right|wrong)\((?P<criterion>level3-(?:code|design))\): \S.*")
PROGRAMS = sorted((Path(__file__).parent / "programs_apart").glob("*.py"))


def said(path: Path) -> tuple[bool, str]:
    """Return whether a program says that it is right, and the criterion it is about."""
    header = HEADER.match(path.read_text(encoding="utf-8"))
    assert header, f"{path.name} does not say what it is"
    return header["label"] == "right", header["criterion"]


@pytest.mark.parametrize("path", one_in(6, PROGRAMS), ids=lambda path: path.stem)
def test_a_program_is_judged_as_it_says(path: Path) -> None:
    right, criterion = said(path)
    verdict = judge_cells([Cell(f"{criterion}-answer", path.read_text(encoding="utf-8"))], [criterion])[0]
    assert verdict.criterion == criterion
    assert verdict.met is right, verdict.message.en
    assert verdict.points == (verdict.max_points if right else 0)


def test_there_are_enough_of_each() -> None:
    labels = [said(path) for path in PROGRAMS]
    assert labels.count((True, "level3-code")) >= 14 and labels.count((False, "level3-code")) >= 28
    assert labels.count((True, "level3-design")) >= 4 and labels.count((False, "level3-design")) >= 8
