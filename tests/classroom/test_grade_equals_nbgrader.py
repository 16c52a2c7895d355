"""``crash-course grade`` leaves what ``nbgrader autograde`` and ``generate_feedback`` leave, byte by byte."""

import json
from pathlib import Path

import pytest
from class_to_grade import CHECKOUT, Class
from whole_class import cell, gradebook, make_class, marked_by_a_person, read, same, twin, write

from grader.classroom.course import Course
from grader.classroom.grade_command import Wishes, grade

LATE = "\nc.LateSubmissionPlugin.penalty_method = 'zero'\n"


def by_nbgrader(folder: Path, students: list[str], pages: list[str], level: str = "level2") -> None:
    course = Course(folder)
    for student in students:
        course.autograde(level, student)
    for student in pages:
        course.generate_feedback(level, student)


def everybody(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "classroom/submitted").iterdir())


@pytest.fixture
def pair(a_class: Class, tmp_path: Path) -> tuple[Path, Path]:
    ours = a_class.folder
    with (ours / "nbgrader_config.py").open("a") as config:
        config.write(LATE)
    make_class(ours)
    with a_class.course.gradebook() as book:
        book.update_or_create_assignment("level2", duedate="2026-03-01 12:00:00")
        book.update_or_create_student("emil", first_name="Emil")
        book.update_or_create_submission("level2", "emil")
        book.grant_extension("level2", "emil", days=2)
    for student, when in (("ada", "2026-02-28 12:00:00 UTC"), ("dana", "2026-03-01 12:00:01 UTC")):
        (ours / "classroom/submitted" / student / "level2/timestamp.txt").write_text(when)
    (ours / "classroom/submitted/emil/level2/timestamp.txt").write_text("2026-03-02 12:00:00 +0100")
    (ours / "classroom/submitted/goran/level2/timestamp.txt").write_text("2026-04-01T12:00:00")
    return ours, twin(ours, tmp_path / "stock")


def test_a_whole_class(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    ours, theirs = pair
    monkeypatch.chdir(ours)
    by_nbgrader(theirs, everybody(theirs), everybody(theirs))
    assert grade("level2", Wishes()) == 0
    same(ours, theirs)

    # A person marks; three hand in again, one of them something that can't be read, one without its check cells.
    for folder in pair:
        marked_by_a_person(folder)
        write(folder, "ada", b'{"nbformat": 4')
        (folder / "classroom/submitted/ada/level2/timestamp.txt").write_text("2026-03-05 12:00:00 UTC")
        solved = read(CHECKOUT / "solutions/level2/level2.ipynb")
        write(folder, "goran", solved)
        bare = read(folder / "exercises/level2/level2.ipynb")
        bare["cells"] = [each for each in bare["cells"] if not each["metadata"].get("nbgrader", {}).get("grade")]
        cell(bare, "level2-code")["source"] = cell(solved, "level2-code")["source"]
        write(folder, "tagged", bare)
        (folder / "classroom/submitted/tagged/level2/timestamp.txt").write_text("2026-02-28 12:00:00 UTC")
    by_nbgrader(theirs, ["ada", "goran", "tagged"], everybody(theirs))
    assert grade("level2", Wishes()) == 0
    same(ours, theirs)

    if request.config.getoption("--thorough"):
        by_nbgrader(theirs, everybody(theirs), everybody(theirs))
        assert grade("level2", Wishes(force=True)) == 0
        same(ours, theirs)


@pytest.mark.thorough
def test_verdicts_that_wait(a_class: Class, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "level 1"
    (folder / "solutions").mkdir(parents=True)
    (folder / "nbgrader_config.py").write_bytes((CHECKOUT / "nbgrader_config.py").read_bytes())
    (folder / "solutions/level1").mkdir()
    solved = "solutions/level1/level1.ipynb"
    (folder / solved).write_bytes((CHECKOUT / solved).read_bytes())
    Course(folder).generate_assignment("level1")
    make_class(folder, ("ada", "bo", "fatou", "goran", "hana"), "level1")
    theirs = twin(folder, tmp_path / "stock")
    by_nbgrader(theirs, everybody(theirs), everybody(theirs), "level1")
    monkeypatch.chdir(folder)
    assert grade("level1", Wishes()) == 0
    same(folder, theirs)
    waits = [
        row for row in gradebook(folder)["comment"] if (row["auto_comment"] or "").startswith("level1-task: waits")
    ]
    assert len(waits) == 1


@pytest.mark.thorough
def test_what_nbgrader_graded_is_not_judged_again(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, _ = pair
    monkeypatch.chdir(ours)
    by_nbgrader(ours, everybody(ours), everybody(ours))
    before = gradebook(ours)
    pages = {path: path.stat().st_mtime_ns for path in (ours / "classroom/feedback").rglob("*.html")}
    assert grade("level2", Wishes()) == 0
    assert "0 judged now" in capsys.readouterr().out
    assert gradebook(ours) == before
    assert {path: path.stat().st_mtime_ns for path in (ours / "classroom/feedback").rglob("*.html")} == pages


def test_the_json_has_what_the_gradebook_has(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, _ = pair
    monkeypatch.chdir(ours)
    assert grade("level2", Wishes(students=("ada", "dana", "nour", "no check"), pages=False), as_json=True) == 0
    data = json.loads(capsys.readouterr().out)
    assert sorted(data) == ["exercise", "submissions"] and data["exercise"] == "level2"
    by_name = {one["student"]: one for one in data["submissions"]}
    assert list(by_name) == sorted(["ada", "dana", "nour", "no check"])
    for one in data["submissions"]:
        assert sorted(one) == ["criteria", "flags", "max_score", "score", "student"]
        assert [each["id"] for each in one["criteria"]][2:] == ["level2-atomic", "level2-point-a", "level2-runs"]
        for each in one["criteria"]:
            assert sorted(each) == ["id", "max_points", "message", "met", "points"]
    assert by_name["ada"]["score"] == by_name["ada"]["max_score"] == 14
    assert all(each["met"] is True for each in by_name["ada"]["criteria"])
    assert by_name["dana"]["score"] == 0  # a second late, and coming late costs everything here
    assert by_name["nour"]["flags"] == ["unreadable"]
    assert all(each["met"] is None and each["points"] == 0 for each in by_name["nour"]["criteria"])
    deleted = next(each for each in by_name["no check"]["criteria"] if each["id"] == "level2-atomic")
    assert deleted["met"] is False and deleted["points"] == 0 and "deleted" in deleted["message"]
    assert len(gradebook(ours)["submitted_assignment"]) == 5  # and emil's, who has an extension
    assert not (ours / "classroom/feedback").exists()
