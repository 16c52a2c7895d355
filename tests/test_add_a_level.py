"""A level is new files and one table of criteria: the guide's example is added to a copy of the course, and runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
NEW = Path(__file__).parent / "new_level"
GUIDE = CHECKOUT / "docs" / "instructors.md"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the course with Level 5 in it, and nothing else changed."""
    root = tmp_path_factory.mktemp("course")
    passing = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for name in ("grader", "solutions", "exercises", "lessons"):
        shutil.copytree(CHECKOUT / name, root / name, ignore=passing)
    shutil.copy(CHECKOUT / "nbgrader_config.py", root)
    for name in ("grader", "solutions"):
        shutil.copytree(NEW / name, root / name, dirs_exist_ok=True, ignore=passing)
    with (root / "grader/criteria.toml").open("a", encoding="utf-8") as file:
        file.write((NEW / "criteria.toml").read_text(encoding="utf-8"))
    crash_course(root, "build")
    return root


def crash_course(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command with the copy's own grader and minagent."""
    paths = os.pathsep.join([str(root), str(root / "lessons")])
    return subprocess.run(
        [sys.executable, "-c", "from grader.cli import main; main()", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": paths, "CRASH_COURSE_LANG": "en", "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )


def solve(root: Path, notebook: str) -> str:
    """Return a notebook's text with the reference solution's answer in it."""
    solved = json.loads((root / "solutions/level5/level5.ipynb").read_text(encoding="utf-8"))
    answer = next(cell["source"] for cell in solved["cells"] if cell["id"] == "level5-code")
    data = json.loads(notebook)
    for cell in data["cells"]:
        if cell["id"] == "level5-code":
            cell["source"] = answer
    return json.dumps(data)


@pytest.mark.thorough
def test_the_course_holds_with_it(course: Path) -> None:
    done = crash_course(course, "build", "--check")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.thorough
def test_the_type_checker_has_nothing_to_say(course: Path) -> None:
    shutil.copy(CHECKOUT / "pyproject.toml", course)
    files = [str(path.relative_to(NEW)) for path in NEW.rglob("*.py")]
    done = subprocess.run([sys.executable, "-m", "mypy", *files], cwd=course, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_learner_checks_it(course: Path, tmp_path: Path) -> None:
    release = course / "exercises/level5/level5.ipynb"
    unsolved = crash_course(course, "check", str(release))
    assert unsolved.returncode == 1
    assert "Killed at line 2, count.txt holds b''" in " ".join(unsolved.stdout.split())
    mine = tmp_path / "level5.ipynb"
    mine.write_text(solve(course, release.read_text(encoding="utf-8")), encoding="utf-8")
    done = crash_course(course, "check", str(mine))
    assert done.returncode == 0, done.stdout + done.stderr
    chinese = crash_course(course, "check", str(mine), "--lang", "zh")
    assert "全都成立" in chinese.stdout


def test_a_class_is_graded_on_it(course: Path) -> None:
    release = (course / "exercises/level5/level5.ipynb").read_text(encoding="utf-8")
    for student, work in (("ada", solve(course, release)), ("bo", release)):
        place = course / "classroom/submitted" / student / "level5"
        place.mkdir(parents=True)
        (place / "level5.ipynb").write_text(work, encoding="utf-8")
    done = crash_course(course, "grade", "level5", "--json", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    marks = {one["student"]: one["score"] for one in json.loads(done.stdout)["submissions"]}
    assert marks == {"ada": 3.0, "bo": 0.0}


FILES = [path.relative_to(NEW).as_posix() for path in sorted(NEW.rglob("*")) if path.suffix in (".py", ".md", ".toml")]


@pytest.mark.parametrize("path", FILES)
def test_the_guide_shows_these_files(path: str) -> None:
    text = (NEW / path).read_text(encoding="utf-8").strip()
    assert text in GUIDE.read_text(encoding="utf-8"), f"docs/instructors.md shows another {path}"
