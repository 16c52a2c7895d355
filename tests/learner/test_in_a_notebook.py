"""What a notebook imports: the same as the commands, shown as HTML and as text."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.answers import session
from grader.learner.comparing import compare_solution
from grader.learner.state import read
from grader.verdict import Text, Verdict
from tests.learner.conftest import Command, hand_in


def html(shown: Any) -> str:
    return str(shown._repr_html_())


def test_a_hint_is_asked_for_by_its_number_so_that_running_a_cell_again_shows_no_more(folder: Path) -> None:
    assert "1/3" in repr(grader.hint("level2-atomic"))
    for _ in range(3):
        second = grader.hint("level2-atomic", 2)
    assert html(second).count("<li>") == 2
    assert 'hint("level2-atomic", 3)' in repr(second)
    assert html(grader.hint("level2-atomic")).count("<li>") == 2, "what was seen stays in sight"
    assert "do you mean level2-atomic?" in repr(grader.hint("level2-atomc"))


def test_progress_shows_the_way_as_a_table(folder: Path, command: Command) -> None:
    command("note", "5", "<b>fsync</b>", "--hard")
    page = html(grader.progress())
    assert page.count("<tr>") == 14 and "<b>" not in page and "&lt;b&gt;fsync" in page


def test_the_solution_stands_beside_the_cells_as_they_are_now(folder: Path, command: Command) -> None:
    assert "level2-hazard-overwrite" in repr(grader.solution("level2"))
    hand_in(folder, "level2")
    command("check", "level2")
    page = html(compare_solution("level2", {"level2-code": "my = '<newer>'"}))
    assert "my = &#x27;&lt;newer&gt;&#x27;" in page and page.count("<strong>") == 2


def test_a_lessons_cell_is_remembered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from minagent.course import Answer

    monkeypatch.setattr(session, "check", lambda *names, mine=None: Answer(True, "Right.", "对。"))
    grader.check("lesson05-order")
    assert read(folder).state.turns["lesson05-order"].passed
    assert "1 of 3 cells" in repr(grader.progress())


def test_what_could_not_be_run_is_not_remembered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = Verdict("level2-runs", None, 0.0, 3.0, Text("Busy.", "忙。"), flags=("not run",))
    monkeypatch.setattr(session, "check", lambda *names, mine=None: session.Report([busy]))
    grader.check("level2-runs")
    assert not read(folder).state.criteria


def test_a_folder_that_cannot_be_written_stops_no_check(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".crash-course.json").unlink()
    (folder / ".crash-course.json").mkdir()
    (folder / ".crash-course.json.prev").write_text("{}")
    wrong = Verdict("level2-runs", False, 0.0, 3.0, Text("Not yet.", "还没有。"))
    monkeypatch.setattr(session, "check", lambda *names, mine=None: session.Report([wrong]))
    shown = repr(grader.check("level2-runs"))
    assert "Not yet." in shown and "can't be written" in shown


def test_nothing_heavy_is_loaded_for_a_learners_command() -> None:
    heavy = "{'nbgrader', 'jupyter_client', 'matplotlib'}"
    code = f"import grader.learner.commands, sys; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"


def test_the_button_validate_says_what_is_not_met_and_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbgrader.validator import Validator

    monkeypatch.setenv("CRASH_COURSE_LANG", "en")
    root = Path(grader.__file__).parents[1]
    found = {}
    for kind in ("exercises", "solutions"):
        mine = tmp_path / f"{kind}.ipynb"
        mine.write_bytes((root / kind / "level1" / "level1.ipynb").read_bytes())
        found[kind] = Validator().validate(str(mine)).get("failed", [])
    assert len(found["exercises"]) == 6 and found["solutions"] == []
    assert all("not met" in failed["error"] for failed in found["exercises"])


@pytest.mark.parametrize(
    ("met", "points", "returned", "is_a_reason"),
    [(True, 3.0, 3.0, False), (False, 1.0, 1.0, True), (None, 0.0, 3.0, False)],
)
def test_nbgrader_is_given_points(
    met: bool | None,
    points: float,
    returned: float,
    is_a_reason: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    verdict = Verdict("level2-runs", met, points, 3.0, Text("So it is.", "就这样。"))
    monkeypatch.setattr(session, "check", lambda *names, mine=None: session.Report([verdict]))
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert grader.check("level2-runs") == returned
    said = capsys.readouterr()
    assert ("So it is." in said.err) == is_a_reason and ("So it is." in said.out) != is_a_reason
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert grader.check("level2-runs") == points
    assert capsys.readouterr().err == ""
