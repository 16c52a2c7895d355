"""nbgrader's pipeline with our configuration, on work that breaks stock nbgrader or cheats it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from class_to_grade import Class, SayingJudge

from grader.classroom.course import Course
from grader.verdict import Text, Verdict

Find = Callable[[dict[str, Any], str], dict[str, Any]]
MARK = "mark-of-the-learner"
WAITS = (0.0, None, True)
NOT_MET = Text("Not yet.", "还没有。")


@pytest.fixture
def strict(judge: SayingJudge) -> SayingJudge:
    """A judge to whom nothing is right, so that any point gained is a leak."""
    worth = {"hazard-overwrite": 2, "hazard-no-point-a": 2, "atomic": 4, "point-a": 3, "runs": 3}
    for name, points in worth.items():
        judge.special[f"level2-{name}"] = Verdict(f"level2-{name}", False, 0.0, float(points), NOT_MET)
    return judge


def mark(cell: dict[str, Any], **nbgrader: Any) -> None:
    cell["metadata"]["nbgrader"].update(nbgrader)


def tagged(work: dict[str, Any], find: Find) -> None:
    for cell in work["cells"]:
        cell["metadata"]["tags"] = ["skip-execution", "remove-cell"]


def own_points(work: dict[str, Any], find: Find) -> None:
    mark(find(work, "level2-atomic"), points=1000)


def not_graded(work: dict[str, Any], find: Find) -> None:
    mark(find(work, "level2-atomic"), grade=False, locked=False)


def a_solution_to_mark(work: dict[str, Any], find: Find) -> None:
    mark(find(work, "level2-atomic"), solution=True)


def newer_schema(work: dict[str, Any], find: Find) -> None:
    for cell in work["cells"]:
        if "nbgrader" in cell["metadata"]:
            mark(cell, schema_version=99)


def older_schema(work: dict[str, Any], find: Find) -> None:
    for cell in work["cells"]:
        if "nbgrader" in cell["metadata"]:
            mark(cell, schema_version=1)


def markdown(work: dict[str, Any], find: Find) -> None:
    cell = find(work, "level2-atomic")
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]


def own_outputs(work: dict[str, Any], find: Find) -> None:
    cell = find(work, "level2-atomic")
    data = {"text/plain": "4.0"}
    cell["outputs"] = [{"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}]
    cell["metadata"]["crash_course"] = {"met": True, "points": 4.0, "message": {"en": "", "zh": ""}}
    work["metadata"]["crash_course"] = {"unreadable": {"en": "x", "zh": "x"}}


def own_check(work: dict[str, Any], find: Find) -> None:
    find(work, "level2-atomic")["source"] = "4.0"


def copied_check(work: dict[str, Any], find: Find) -> None:
    copy = {**find(work, "level2-atomic"), "id": "copy", "source": "4.0"}
    work["cells"].append(copy)


def foreign_check(work: dict[str, Any], find: Find) -> None:
    cell = json.loads(json.dumps(find(work, "level2-atomic")))
    cell["id"] = "level2-bonus"
    mark(cell, grade_id="level2-bonus", points=50)
    work["cells"].append(cell)


def no_metadata(work: dict[str, Any], find: Find) -> None:
    for cell in work["cells"]:
        cell["metadata"] = {}


def another_kernel(work: dict[str, Any], find: Find) -> None:
    work["metadata"] = {"kernelspec": {"name": "evil", "display_name": "evil"}}


@pytest.mark.parametrize(
    "trick",
    [
        tagged,
        own_points,
        not_graded,
        a_solution_to_mark,
        newer_schema,
        older_schema,
        markdown,
        own_outputs,
        own_check,
        copied_check,
        foreign_check,
        no_metadata,
        another_kernel,
    ],
)
def test_no_trick_with_cells_gains_a_point_or_stops_the_batch(
    a_class: Class, strict: SayingJudge, cell_of: Find, trick: Callable[[dict[str, Any], Find], None]
) -> None:
    work = a_class.release()
    trick(work, cell_of)
    a_class.hand_in("mallory", work)
    grades = a_class.grade("mallory")
    assert len(grades) == 5
    assert set(grades.values()) == {(0.0, 0.0, False)}


def test_a_deleted_check_scores_nothing_and_says_so(a_class: Class, judge: SayingJudge, cell_of: Find) -> None:
    a_class.hand_in("ann", a_class.release())
    assert a_class.grade("ann")["level2-atomic"] == (4.0, 4.0, False)
    work = a_class.release()
    work["cells"].remove(cell_of(work, "level2-atomic"))
    a_class.hand_in("ann", work)
    grades = a_class.grade("ann")
    assert grades["level2-atomic"] == (0.0, 0.0, False)
    assert grades["level2-runs"] == (3.0, 3.0, False)
    assert "was deleted from the submission" in a_class.page("ann").read_text(encoding="utf-8")
    assert a_class.autograded("ann")["metadata"]["crash_course"]["flags"] == ["missing cell level2-atomic"]


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n", b"{", b"null", b'{"nbformat": 9}'])
def test_what_is_no_notebook_waits_for_a_person_and_keeps_no_old_score(
    a_class: Class, judge: SayingJudge, data: bytes
) -> None:
    a_class.hand_in("ann", a_class.release())
    assert sum(score for score, _, _ in a_class.grade("ann").values()) == 14.0
    a_class.hand_in("ann", data)
    assert set(a_class.grade("ann").values()) == {WAITS}
    page = a_class.page("ann").read_text(encoding="utf-8")
    assert "could not be read, and waits for a person" in page
    a_class.hand_in("ann", a_class.release())
    assert sum(score for score, _, _ in a_class.grade("ann").values()) == 14.0


def test_a_lost_answer_waits_with_the_judges_suggestion(a_class: Class, judge: SayingJudge, cell_of: Find) -> None:
    work = a_class.release()
    work["cells"].remove(cell_of(work, "level2-code"))
    a_class.hand_in("ann", work)
    assert set(a_class.grade("ann").values()) == {WAITS}
    notes = [cell["metadata"].get("crash_course") for cell in a_class.autograded("ann")["cells"]]
    assert [note["suggested"] for note in notes if note] == [2.0, 2.0, 4.0, 3.0, 3.0]


def test_no_cell_is_executed_while_grading(a_class: Class, judge: SayingJudge, cell_of: Find) -> None:
    trace = a_class.folder / "executed"
    work = a_class.release()
    cell_of(work, "level2-code")["source"] = f"open({str(trace)!r}, 'w').close()"
    a_class.hand_in("ann", work)
    a_class.grade("ann")
    assert not trace.exists()


def test_a_learners_markup_is_text_on_the_page(a_class: Class, judge: SayingJudge, cell_of: Find) -> None:
    attack = f"<script>{MARK}()</script><img src=x onerror={MARK}()>"
    work = a_class.release()
    cell_of(work, "level2-code")["source"] = f'"""{attack}"""'
    work["cells"].append({"cell_type": "markdown", "id": "md", "metadata": {}, "source": attack})
    work["cells"].append({**cell_of(work, "level2-05"), "id": "more", "source": f"# {attack}\n"})
    a_class.hand_in("ann", work)
    a_class.grade("ann")
    page = a_class.page("ann").read_text(encoding="utf-8")
    assert MARK in page
    assert "<script" not in page and "<img" not in page
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page


def test_the_page_fetches_nothing_and_shows_no_check_cell(a_class: Class, judge: SayingJudge) -> None:
    a_class.hand_in("ann", a_class.release())
    a_class.grade("ann")
    page = a_class.page("ann").read_text(encoding="utf-8")
    assert "http:" not in page and "https:" not in page and "src=" not in page
    assert "check(" not in page
    assert "14 / 14" in page


def test_nothing_but_notebooks_travels(a_class: Class, judge: SayingJudge) -> None:
    source = a_class.folder / "solutions/level2"
    for name in (
        "notes",
        "NOTES.txt",
        "answer.py",
        "solution",
        "level2.md",
        ".secret",
        "todo.org",
        "grader/x.py",
    ):
        stray = source / name
        stray.parent.mkdir(exist_ok=True)
        stray.write_text("the solution")
    Course(a_class.folder).generate_assignment("level2")
    release = a_class.folder / "exercises/level2"
    assert [path.name for path in release.rglob("*")] == ["level2.ipynb"]
    a_class.hand_in("ann", a_class.release())
    submitted = a_class.folder / "classroom/submitted/ann/level2"
    (submitted / "timestamp.txt").write_text("2026-11-30 10:00:00 UTC")
    (submitted / "grader").mkdir()
    (submitted / "grader/__init__.py").write_text("")
    (submitted / "nbformat.py").write_text("")
    a_class.grade("ann")
    autograded = a_class.folder / "classroom/autograded/ann/level2"
    assert sorted(path.name for path in autograded.rglob("*")) == ["level2.ipynb", "timestamp.txt"]


@pytest.mark.thorough
def test_the_nbgrader_command_works_without_an_activated_environment(tmp_path: Path, released: Path) -> None:
    folder = tmp_path / "by hand"
    folder.mkdir()
    shutil.copy(released / "nbgrader_config.py", folder)
    shutil.copytree(released / "solutions", folder / "solutions")
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", "level2"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == 0, done.stderr
    made = (folder / "exercises/level2/level2.ipynb").read_bytes()
    assert made == (released / "exercises/level2/level2.ipynb").read_bytes()
