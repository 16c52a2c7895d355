"""Level 2 judged: the labelled programs, many styles, and what learners are told."""

import json
import os
import re
import time
from pathlib import Path

import pytest
from level2_variants import RIGHT, WRONG, A, P, R, Variant

from grader.answers.cells import Cell
from grader.answers.judge import judge_cells
from grader.levels.starts import starts
from grader.verdict import Verdict

PROGRAMS = Path(__file__).parent / "programs" / "level2"
LABELS = json.loads((PROGRAMS / "labels.json").read_text(encoding="utf-8"))
CODE = (A, P, R)


def judged(*sources: str) -> dict[str, Verdict]:
    cells = [
        Cell("level2-code" if number == len(sources) - 1 else f"cell-{number}", source)
        for number, source in enumerate(sources)
    ]
    return {verdict.criterion: verdict for verdict in judge_cells(cells, CODE)}


@pytest.mark.parametrize("name", LABELS)
def test_the_labelled_programs_are_judged_as_labelled(name: str) -> None:
    begun = time.monotonic()
    verdicts = judged((PROGRAMS / name).read_text(encoding="utf-8"))
    label = LABELS[name]
    assert {criterion: verdict.met for criterion, verdict in verdicts.items()} == {
        A: label["atomic"],
        P: label["point_a"],
        R: label["runs"],
    }
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    assert time.monotonic() - begun < 5 * max(1.0, 2 * busy)
    if label["atomic"]:
        assert (verdicts[A].advice is None) == label["durable"]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_gets_full_points_in_any_style(name: str) -> None:
    for verdict in judged(*RIGHT[name].cells).values():
        assert verdict.met is True, verdict.message.en
        assert verdict.points == verdict.max_points
        assert verdict.flags == ()


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_fails_just_its_criterion_and_hears_why(name: str) -> None:
    variant: Variant = WRONG[name]
    verdicts = judged(*variant.cells)
    assert tuple(key for key, verdict in verdicts.items() if verdict.met is not True) == variant.fails
    for criterion, verdict in verdicts.items():
        assert verdict.flags == ()
        if criterion in variant.fails:
            assert verdict.met is False
            assert verdict.points == 0
            assert variant.says.get(criterion, "") in verdict.message.en
            assert re.search(r"[\u4e00-\u9fff]", verdict.message.zh)


def test_the_message_names_disk_line_and_remedy() -> None:
    message = judged((PROGRAMS / "17_single_write_in_place.py").read_text(encoding="utf-8"))[A].message
    assert re.match(r"Killed at line \d+ \(`with open\(.*`\), .* with [\d,]+ of the [\d,]+ bytes", message.en)
    assert "holds" in message.en and "os.replace" in message.en
    assert "被杀掉" in message.zh and "os.replace" in message.zh


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sqlite3\nsqlite3.connect('a.db')", "sqlite3"),
        ("import subprocess\nsubprocess.run(['cp', 'a', 'b'])", "subprocess"),
        ("import os\nos.system('true')", "os.system"),
    ],
)
def test_code_past_the_fake_disk_waits_for_a_person(code: str, reason: str) -> None:
    save, loop = RIGHT["save_pathlib"].cells
    lines = "".join(f"\n    {line}" for line in code.split("\n"))
    verdicts = judged(save.replace("(state):", f"(state):{lines}", 1), loop)
    for verdict in verdicts.values():
        assert verdict.met is None
        assert "Can't judge" in verdict.message.en and reason in verdict.message.en


def test_what_other_cells_do_past_the_fake_disk_does_not_count() -> None:
    cells = RIGHT["save_pathlib"].cells
    beside = "import sqlite3, subprocess\nsqlite3.connect(':memory:')\nsubprocess.run(['true'])"
    assert [verdict.met for verdict in judged(beside, *cells).values()] == [True, True, True]


def test_the_code_as_it_was_found_does_not_run_for_points() -> None:
    found = Cell("level2-code", "# my notes\n" + starts()["level2-code"])
    assert [verdict.met for verdict in judge_cells([found], CODE)] == [False, False, False]
    elsewhere = [found, Cell("mine", "\n".join(RIGHT["save_pathlib"].cells))]
    assert [verdict.met for verdict in judge_cells(elsewhere, CODE)] == [True, True, True]
