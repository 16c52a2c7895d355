"""The demo: its marks are the gradebook's, and it leaves the checkout as it was."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from class_to_grade import CHECKOUT

from grader.classroom import commands
from grader.classroom.commands import print_demo
from grader.classroom.demo import Demo, demo_class, run_demo
from grader.classroom.folders import Folders
from grader.classroom.report import report_on
from grader.criteria import of_exercise
from grader.verdict import Text

# atomic, point-a, runs: what each kind of work earns for its code at level 2
CODE = {
    "ada": (4, 3, 3),
    "bo": (4, 3, 3),
    "chen": (4, 3, 3),
    "dana": (4, 3, 3),
    "emil": (0, 3, 3),
    "fatou": (0, 3, 3),
    "goran": (0, None, 3),
    "hana": (4, 0, 3),
    "ivo": (4, 0, 3),
    "jun": (4, None, 0),
    "kofi": (4, 3, 0),
    "lena": (0, 0, None),
    "mateo": (0, 0, 0),
    "pia": (4, 3, 3),
}


def untidy() -> str:
    """What git says of the course's folders; nothing where the checkout is no repository."""
    folders = ("classroom", "exercises", "solutions", "gradebook.db")
    command = ["git", "status", "--porcelain", "--ignored", "--", *folders]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def lying_about() -> str:
    """What lay in the checkout before the demo: somebody may have worked in it."""
    return untidy()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, lying_about: str) -> Demo:
    return run_demo(CHECKOUT, tmp_path_factory.mktemp("the demo") / "kept")


def test_the_class_has_every_kind_of_work() -> None:
    assert len(demo_class()) >= 10
    assert all(one.about for one in demo_class())


def test_the_marks_are_those_of_the_gradebook(demo: Demo) -> None:
    query = """
        select student.id, assignment.name, base_cell.name, grade.auto_score, grade.manual_score,
               grade.needs_manual_grade, grade_cells.max_score
        from grade
        join submitted_notebook on submitted_notebook.id = grade.notebook_id
        join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
        join assignment on assignment.id = submitted_assignment.assignment_id
        join student on student.id = submitted_assignment.student_id
        join base_cell on base_cell.id = grade.cell_id
        join grade_cells on grade_cells.id = base_cell.id
    """
    with sqlite3.connect(demo.folder / "classroom" / "gradebook.db") as database:
        rows = database.execute(query).fetchall()
    kept = {(row[0], row[1], row[2]): (row[3], bool(row[5]), row[6]) for row in rows}
    shown = {
        (one.student, one.level, mark.id): (None if mark.waits else mark.points, mark.waits, mark.max_points)
        for one in demo.submissions
        for mark in one.criteria
    }
    assert shown == kept
    assert len(shown) == sum(len(of_exercise(one.level)) for one in demo.submissions)
    for one in demo.submissions:
        assert one.score == sum(mark.points for mark in one.criteria)


def test_each_submission_earns_what_its_code_does(demo: Demo) -> None:
    for one in demo.submissions:
        if one.level == "level2" and one.student in CODE:
            points = [
                mark.points for mark in one.criteria if mark.id in ("level2-atomic", "level2-point-a", "level2-runs")
            ]
            for earned, expected in zip(points, CODE[one.student], strict=True):
                assert expected is None or earned == expected, (one.student, points)


LEVEL4 = {"ada": 10, "bo": 10, "chen": 0, "dana": 0, "emil": 0, "fatou": 0, "goran": 0}


def test_level_4_earns_all_or_nothing(demo: Demo) -> None:
    assert {one.student: one.score for one in demo.submissions if one.level == "level4"} == LEVEL4


LEVEL1 = {
    "ada": (1, 2, 2, 2, 2, 2),
    "bo": (1, 2, 2, 2, 2, 2),
    "chen": (1, 2, 2, 1, 2, 1),
    "dana": (0, 2, 2, 2, 1, 2),
    "emil": (0, 2, 2, 1, 1, 0),
    "fatou": (1, 2, None, 2, 2, 2),
    "goran": (0, 0, 0, 0, 0, 0),
    "hana": (0, 0, 0, 0, 0, 0),
}
"""Level 1: fields, version, task, turns, tokensUsed, pendingToolUse; None waits for a person."""


def test_level_1_earns_its_parts_and_what_is_not_decided_waits(demo: Demo) -> None:
    found = {
        one.student: tuple(None if mark.waits else mark.points for mark in one.criteria)
        for one in demo.submissions
        if one.level == "level1"
    }
    assert found == LEVEL1
    with sqlite3.connect(demo.folder / "classroom" / "gradebook.db") as database:
        comments = [row[0] or "" for row in database.execute("select auto_comment from comment")]
    waits = [comment for comment in comments if comment.startswith("level1-task: waits for a person.")]
    assert len(waits) == 1
    assert " of 2 points." in waits[0] and "Explanation, not decided" in waits[0]
    assert "- 1: the prediction holds" in waits[0] and "- 0.5: " in waits[0]


def test_a_wrong_prediction_shows_a_timeline_on_the_feedback_page(demo: Demo) -> None:
    page = next(one.feedback for one in demo.submissions if (one.student, one.level) == ("chen", "level1"))
    assert page is not None
    text = page.read_text(encoding="utf-8")
    assert text.count("crash-course-timeline") == 2 and "<svg" in text and "<script" not in text


def test_level_3_is_judged_by_what_its_ticket_system_holds(demo: Demo) -> None:
    found = {
        one.student: tuple(mark.points for mark in one.criteria) for one in demo.submissions if one.level == "level3"
    }
    assert found == {"ada": (4, 8), "bo": (0, 0), "chen": (4, 0), "dana": (0, 0)}


def test_the_two_that_can_not_be_read_wait_for_a_person(demo: Demo) -> None:
    unread = {one.student: one for one in demo.submissions if one.problem is not None}
    assert set(unread) == {"nour", "olga"}
    for one in unread.values():
        assert all(mark.waits and mark.points == 0 for mark in one.criteria)


def test_the_grader_itself_did_not_fail(demo: Demo) -> None:
    assert demo.faults() == []


def test_everybody_has_a_feedback_page(demo: Demo) -> None:
    for one in demo.submissions:
        assert one.feedback is not None and one.feedback.stat().st_size > 1000


def test_the_table_fits_80_columns_and_says_where_to_look(demo: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    print_demo(demo, Console(width=80, no_color=True))
    lines = capsys.readouterr().out.splitlines()
    paths = ("Feedback pages", "Gradebook", "Class reports")  # a path is never broken, however long
    assert all(len(line) <= 80 for line in lines if not line.startswith(paths))
    text = "\n".join(lines)
    for one in demo.submissions:
        assert one.student in text
    assert "nour (level2): The file is empty (0 bytes)." in text
    assert f"Feedback pages: {demo.folder / 'classroom' / 'feedback'}" in lines
    assert f"Class reports: {demo.folder / 'classroom' / 'report'}" in lines


def run(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from grader.cli import main; main()", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**os.environ, **env})


def test_a_folder_in_use_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = run("demo", "--keep", str(tmp_path), cwd=CHECKOUT)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1 and "is not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_demo_leaves_the_checkout_as_it_was(demo: Demo, lying_about: str) -> None:
    assert untidy() == lying_about


def test_the_demo_speaks_json(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.classroom.commands import demo_json

    data: dict[str, Any] = json.loads(json.dumps(demo_json(demo)))
    submissions = [one for level in data["levels"] for one in level["submissions"]]
    assert [one["student"] for one in submissions] == [one.student for one in demo.submissions]
    assert all(Path(one["feedback"]).is_file() for one in submissions)
    assert [Path(path).stem for path in data["reports"]] == demo.levels()
    assert all(Path(path).is_file() for path in data["reports"])


def test_the_report_shows_the_two_programs_that_are_alike_and_no_others(demo: Demo) -> None:
    folders = Folders(demo.folder)
    pairs = {level: [pair.likeness for pair in report_on(folders, level).pairs] for level in demo.levels()}
    assert [(one.first, one.second) for one in pairs.pop("level2")] == [("chen", "pia")]
    assert not any(pairs.values())


def test_the_demo_says_once_that_there_is_no_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands.sandbox, "notice", lambda: Text("Install bubblewrap.", "请安装 bubblewrap。"))
    monkeypatch.setattr(commands, "run_demo", lambda *given: Demo(tmp_path, (), (), 1.0))
    assert commands.demo(None, True) == 0
    assert capsys.readouterr().err == "Install bubblewrap.\n"
