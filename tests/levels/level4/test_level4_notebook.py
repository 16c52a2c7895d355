"""Level 4 as a learner has it: the notebook checked from the command line, solved and unsolved, and what it prints."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from level4_variants import WRONG, reference

from grader.answers.cells import Cell
from grader.answers.judge import judge_cells
from grader.levels.level4.judge import seed

ROOT = Path(__file__).parents[3]


def checked(notebook: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-c", "from grader.cli import main; main()", "check", str(notebook), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=notebook.parent)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout


def test_the_release_fails_and_the_solution_passes(tmp_path: Path) -> None:
    for folder, code, met in (("exercises", 1, False), ("solutions", 0, True)):
        notebook = tmp_path / folder / "level4.ipynb"
        notebook.parent.mkdir()
        shutil.copy(ROOT / folder / "level4" / "level4.ipynb", notebook)
        ended, said = checked(notebook, "--json")
        (criterion,) = json.loads(said)["criteria"]
        assert (ended, criterion["id"], criterion["met"]) == (code, "level4-code", met)
        assert criterion["points"] == (10 if met else 0) and criterion["max_points"] == 10


def test_an_answer_in_the_criterion_cell_counts() -> None:
    cells = [Cell("level4-code-answer", "# below"), Cell("level4-code", reference())]
    (verdict,) = judge_cells(cells, ["level4-code"])
    assert verdict.met, verdict.message.en


def test_an_answer_in_two_cells_counts() -> None:
    source = reference()
    cut = source.index("def new_state")
    (verdict,) = judge_cells([Cell("mine", source[:cut]), Cell("level4-code-answer", source[cut:])], ["level4-code"])
    assert verdict.met, verdict.message.en


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "No cell defines save, load and resume"),
        ("def save(state): pass\ndef load(): pass\ndef resume(task, world): pass", "load` gave None"),
        ("import os\ndef save(state): os._exit(3)\ndef load(): pass\ndef resume(task, world): pass", "os._exit"),
        ("import sqlite3\ndef save(s): sqlite3.connect('a.db')\ndef load(): 0\ndef resume(t, w): 0", "Can't judge"),
    ],
)
def test_what_can_not_be_judged_is_said(source: str, said: str) -> None:
    (verdict,) = judge_cells([Cell("level4-code-answer", source)], ["level4-code"])
    assert not verdict.met and said in verdict.message.en, verdict.message.en


def test_a_failed_save_comes_with_its_crash_map() -> None:
    (verdict,) = judge_cells([Cell("level4-code-answer", WRONG["no fsync of the file"][0])], ["level4-code"])
    assert verdict.picture is not None and "<svg" in verdict.picture
    assert "<script" not in verdict.picture and "os.replace(DRAFT, CURRENT)" in verdict.picture
    assert verdict.picture_text is not None and "^ crash here" in verdict.picture_text
    assert max(map(len, verdict.picture_text.splitlines())) <= 78


def test_a_second_resumer_comes_with_both_lives() -> None:
    (verdict,) = judge_cells([Cell("level4-code-answer", WRONG["goes on without a claim"][0])], ["level4-code"])
    assert verdict.picture_text is not None
    assert "2  " in verdict.picture_text and "<< call_model >>" in verdict.picture_text


def test_the_seed_is_printed_and_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRASH_COURSE_SEED", "7")
    assert seed() == 7
    (verdict,) = judge_cells([Cell("level4-code-answer", reference())], ["level4-code"])
    assert verdict.met and "seed 7" in verdict.message.en


def test_the_drills_show_what_the_start_does_wrong_and_the_solution_right(tmp_path: Path) -> None:
    said = {}
    for folder in ("exercises", "solutions"):
        notebook = nbformat.read(ROOT / folder / "level4" / "level4.ipynb", as_version=4)
        cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        script = tmp_path / f"{folder}.py"
        script.write_text("\n\n".join(cell for cell in cells if "check(" not in cell))
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        said[folder] = done.stdout
    assert said["solutions"].count("---") == 5
    assert said["solutions"].count("c1 1 times, c2 1 times, c3 1 times") == 5
    assert "2 times" in said["exercises"]
