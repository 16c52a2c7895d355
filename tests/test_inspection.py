"""The maintainers' check: the course as it is has no fault, and each kind of fault is named."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader import inspection
from grader.criteria import criteria
from grader.verdict import Text

ROOT = Path(__file__).resolve().parent.parent
SOLVED, RELEASED = "solutions/level1/level1.ipynb", "exercises/level1/level1.ipynb"
EDITED = "solutions/level1/level1.md"


def test_solutions_pass_releases_fail_and_nothing_is_unlisted() -> None:
    assert inspection.inspect(ROOT) == []


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a course of Level 1 alone."""
    root = tmp_path / "a course"
    for folder in ("solutions/level1", "exercises/level1"):
        shutil.copytree(ROOT / folder, root / folder)
    mine = {name: one for name, one in criteria().items() if one.exercise == "level1"}
    monkeypatch.setattr(inspection, "criteria", lambda: mine)
    monkeypatch.setattr(inspection, "exercises", lambda: ("level1",))
    return root


def faults(root: Path) -> list[tuple[str, str]]:
    return [(fault.path, fault.reason) for fault in inspection.inspect(root)]


def changed(path: Path, name: str, **values: Any) -> None:
    """Change the cell that has this grade_id."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("grade_id") == name:
            cell["source"] = values.get("source", cell["source"])
            marks.update(values.get("marks", {}))
    path.write_text(json.dumps(notebook), encoding="utf-8")


def test_a_release_that_is_solved_already_is_named(course: Path) -> None:
    shutil.copy(course / SOLVED, course / RELEASED)
    assert (RELEASED, "passes unsolved: level1-fields") in faults(course)


def test_a_solution_that_does_not_pass_is_named(course: Path) -> None:
    changed(course / SOLVED, "level1-answer", source="missing = {}")
    ((path, reason),) = [one for one in faults(course) if "does not pass" in one[1]]
    assert path == EDITED and "level1-turns" in reason and f"`crash-course check {SOLVED}` says why" in reason


def test_a_missing_release_is_named(course: Path) -> None:
    (course / RELEASED).unlink()
    assert faults(course) == [(SOLVED, "is missing, or its release is")]


def test_an_exercise_without_criteria_is_named(course: Path) -> None:
    shutil.copytree(course / "solutions/level1", course / "solutions/extra")
    (course / "solutions/extra/level1.ipynb").rename(course / "solutions/extra/extra.ipynb")
    assert faults(course) == [("solutions/extra/extra.ipynb", "has no criteria in grader/criteria.toml")]


@pytest.mark.parametrize(
    ("cell", "change", "reason"),
    [
        ("level1-turns", {"marks": {"points": 3}}, "says 3 points for level1-turns in the cell's header; "),
        ("level1-turns", {"source": 'check("level1-task")'}, "has other words in the cell level1-turns"),
        ("level1-turns", {"marks": {"grade_id": "level1-trns"}}, "has a check cell level1-trns, which is no criterion"),
        ("level1-turns", {"marks": {"grade_id": "level1-trns"}}, "has no check cell level1-turns, which is"),
        ("level1-answer", {"marks": {"solution": False}}, "has no answer cell level1-answer"),
    ],
)
def test_a_check_cell_that_is_not_its_criterion_is_named(
    course: Path, cell: str, change: dict[str, Any], reason: str
) -> None:
    changed(course / SOLVED, cell, **change)
    assert any(path == EDITED and fault.startswith(reason) for path, fault in faults(course))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"statement": Text("A statement.", " ")}, "has an empty statement of level1-turns in Chinese"),
        ({"hints": (Text("One.", "一。"),)}, "gives 1 hints for level1-turns, not 3"),
        ({"hints": (Text("One.", "一。"), Text("", "二。"), Text("Three.", "三。"))}, "has an empty hint 2"),
        ({"hints": (Text("One.", "一。"),) * 3}, "gives one hint for level1-turns twice"),
        ({"hints": (Text("One.", "One."), Text("2", "二"), Text("3", "三"))}, "or the same in both languages"),
        ({"points": 0.0}, "gives no points for level1-turns"),
    ],
)
def test_a_criterion_without_its_words_is_named(
    course: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], reason: str
) -> None:
    mine = {**inspection.criteria(), "level1-turns": replace(criteria()["level1-turns"], **change)}
    monkeypatch.setattr(inspection, "criteria", lambda: mine)
    assert any(path == "grader/criteria.toml" and reason in fault for path, fault in faults(course))


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ('en = "It stopped."', "has a sentence [stopped] that lacks its zh"),
        (
            'en = "It stopped at {at}."\nzh = "在 {where} 停了。"',
            "has a sentence [stopped] that has {at}, {where} in one language and not in the other",
        ),
        ('en = "It stopped {."\nzh = "停了。"', "has a sentence [stopped] that has a brace out of place in en"),
        ('en = "It stopped.\nzh = "停了。"', "can't be read: "),
    ],
)
def test_a_sentence_that_can_not_be_said_is_named_and_no_verdict_blamed(
    course: Path, sentence: str, reason: str
) -> None:
    path = course / "grader/levels/level1.toml"
    path.parent.mkdir(parents=True)
    path.write_text(f'[met]\nen = "It holds {{n}} times."\nzh = "{{n}} 次都成立。"\n\n[stopped]\n{sentence}\n')
    (fault,) = faults(course)
    assert fault[0] == "grader/levels/level1.toml" and fault[1].startswith(reason)


def test_a_lessons_check_that_nobody_judges_is_named(course: Path) -> None:
    lesson = course / "lessons/06_two.md"
    lesson.parent.mkdir()
    lesson.write_text('check("lesson06-ask")\n\ncheck("lesson06-asked")\n')
    ((path, reason),) = faults(course)
    assert path == "lessons/06_two.md" and reason.startswith('has check("lesson06-asked"), which no @turn in')


def test_points_that_a_notebooks_table_still_names_are_named(course: Path) -> None:
    source = course / "translations/zh/exercises/level1/level1.md"
    source.parent.mkdir(parents=True)
    source.write_text("| `level1-task` | 2 | 说明 |\n| `level1-turns` | 5 | 说明 |\n")
    assert faults(course) == [
        (
            "translations/zh/exercises/level1/level1.md",
            "says 5 points for level1-turns in its table; grader/criteria.toml gives 2",
        )
    ]
