"""Watching: what is saved is checked, once for each answer, in whatever way it was saved."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from grader.learner.watching import exercises_in, on_save
from tests.learner.conftest import hand_in


def checked_while(folder: Path, moments: Iterator[None]) -> list[str]:
    found: list[str] = []
    on_save(exercises_in(folder), lambda path: found.append(path.stem), moments)
    return found


def test_each_new_answer_is_checked_once_however_it_was_saved(folder: Path) -> None:
    path = folder / "exercises/level2/level2.ipynb"
    whole = path.read_text(encoding="utf-8")

    def moments() -> Iterator[None]:
        yield  # nothing new
        path.write_text(whole[: len(whole) // 2], encoding="utf-8")
        yield  # half a notebook: a save is under way
        hand_in(folder, "level2")
        yield
        yield  # the same again
        temp = path.with_suffix(".new")
        temp.write_text(whole, encoding="utf-8")
        path.unlink()
        yield  # between two names
        os.replace(temp, path)
        yield
        (folder / "notes").mkdir()
        yield

    assert checked_while(folder, moments()) == ["level2", "level2"]


def test_new_outputs_and_prose_are_no_new_answer(folder: Path) -> None:
    path = folder / "exercises/level1/level1.ipynb"

    def moments() -> Iterator[None]:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell["outputs"], cell["execution_count"] = [], 7
        notebook["cells"][0]["source"] += "\nMy own words."
        path.write_text(json.dumps(notebook), encoding="utf-8")
        yield

    assert checked_while(folder, moments()) == []


def test_a_notebook_that_stays_broken_is_told_of_once(folder: Path) -> None:
    path = folder / "exercises/level1/level1.ipynb"

    def moments() -> Iterator[None]:
        path.write_text("{", encoding="utf-8")
        yield
        yield
        yield

    assert checked_while(folder, moments()) == ["level1"]


def test_the_command_checks_on_save_and_ends_on_ctrl_c(folder: Path) -> None:
    watching = subprocess.Popen(
        [sys.executable, "-u", "-c", "from grader.cli import main; main()", "watch", "level2"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "CRASH_COURSE_LANG": "en"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # as in a terminal
    )
    assert watching.stdout is not None
    assert "exercises/level2/level2.ipynb" in watching.stdout.readline()
    hand_in(folder, "level2")
    assert any("met 5 of 5" in line for line in iter(watching.stdout.readline, ""))
    watching.send_signal(signal.SIGINT)
    rest, _ = watching.communicate(timeout=60)
    assert "No longer watching." in rest and "Traceback" not in rest and watching.returncode == 0
