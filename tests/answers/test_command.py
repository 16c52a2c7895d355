"""``crash-course check``: JSON, exit codes, and what a learner reads in a terminal."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.answers import command
from grader.answers.show import columns

PROGRAMS = Path(__file__).parents[1] / "levels" / "programs" / "level2"
LABELS = json.loads((PROGRAMS / "labels.json").read_text(encoding="utf-8"))
GOOD = (PROGRAMS / "45_fsync_file_and_directory.py").read_text(encoding="utf-8")
BAD = (PROGRAMS / "17_single_write_in_place.py").read_text(encoding="utf-8")
HandIn = Callable[..., Path]


def shell(*arguments: str | Path, cwd: Path | None = None, lang: str = "en") -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", "from grader.cli import main; main()", *map(str, arguments)]
    environment = {**os.environ, "CRASH_COURSE_LANG": lang, "COLUMNS": "80", "PYTHONUTF8": "1"}
    return subprocess.run(
        program, capture_output=True, text=True, encoding="utf-8", cwd=cwd, env=environment, timeout=60
    )


@pytest.mark.parametrize("name", LABELS)
def test_labelled_programs_in_a_released_notebook(
    name: str, hand_in: HandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    path = hand_in(level2_code=(PROGRAMS / name).read_text(encoding="utf-8"))
    assert command.check(path, as_json=True) == 1
    met = {entry["id"]: entry["met"] for entry in json.loads(capsys.readouterr().out)["criteria"]}
    label = LABELS[name]
    assert met == {
        "level2-hazard-overwrite": False,
        "level2-hazard-no-point-a": False,
        "level2-atomic": label["atomic"],
        "level2-point-a": label["point_a"],
        "level2-runs": label["runs"],
    }


def test_json_through_the_real_command(hand_in: HandIn) -> None:
    done = shell("check", hand_in(level2_code=BAD, level2_hazards="hazard_1 = 'a'\nhazard_2 = ''"), "--json")
    assert done.returncode == 1
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert list(found) == ["exercise", "criteria"]
    assert found["exercise"] == "level2"
    for entry in found["criteria"]:
        assert list(entry) == ["id", "met", "points", "max_points", "message"]
    by_id = {entry["id"]: entry for entry in found["criteria"]}
    assert by_id["level2-hazard-overwrite"]["met"] is not True
    assert by_id["level2-point-a"] == {**by_id["level2-point-a"], "met": True, "points": 3.0, "max_points": 3.0}
    assert "checkpoint.json" in by_id["level2-atomic"]["message"]


def test_what_python_thinks_of_an_answer_is_not_printed(hand_in: HandIn) -> None:
    """Since 3.12, reading ``"\\d"`` prints a warning wherever nobody forbids it."""
    done = shell("check", hand_in(level2_code=GOOD + '\nPATTERN = "\\d+"\n'), "--json")
    assert done.stderr == ""
    assert [entry["met"] for entry in json.loads(done.stdout)["criteria"]][2:] == [True, True, True]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_terminal_of_80_columns_is_enough(lang: str, hand_in: HandIn) -> None:
    path = hand_in("my work.ipynb", level2_code=BAD)
    done = shell("check", path.name, "--lang", lang, cwd=path.parent)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert max(map(columns, lines)) <= 80
    assert "\x1b" not in done.stdout
    assert ("not met" if lang == "en" else "未达到") in done.stdout
    assert lines[-1].startswith("6 of 14 points" if lang == "en" else "共 6/14 分")


def test_the_only_exercise_of_a_folder_is_found(hand_in: HandIn, tmp_path: Path) -> None:
    hand_in(level2_code=GOOD)
    (tmp_path / "notes.ipynb").write_text("{}", encoding="utf-8")
    assert shell("check", cwd=tmp_path).stdout.splitlines()[-1].startswith("10 of 14")
    hand_in("second.ipynb")
    several = shell("check", cwd=tmp_path)
    assert several.returncode == 2
    assert "second.ipynb" in several.stderr
    (tmp_path / "empty").mkdir()
    assert shell("check", cwd=tmp_path / "empty").returncode == 2


@pytest.mark.parametrize(
    ("content", "said"), [("", "empty"), ("{", "not valid JSON"), ('{"nbformat": 3}', "format 3"), (None, "no file")]
)
def test_unusable_input_is_one_sentence(content: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "work.ipynb"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    done = shell("check", path, "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_notebook_without_its_ids_is_refused(hand_in: HandIn) -> None:
    path = hand_in(level2_code=GOOD)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    kept = [cell for cell in notebook["cells"] if cell["id"] != "level2-code"]
    path.write_text(json.dumps({**notebook, "cells": kept}), encoding="utf-8")
    assert "level2-code is missing" in shell("check", path).stderr
    for cell in notebook["cells"]:
        cell["metadata"].pop("nbgrader", None)
        cell.pop("id")
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert "none of the exercises" in shell("check", path).stderr


def test_the_unsolved_release_meets_nothing_and_says_what_to_do(
    hand_in: HandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.check(hand_in(), as_json=True) == 1
    assert [entry["met"] for entry in json.loads(capsys.readouterr().out)["criteria"]] == [False] * 5
