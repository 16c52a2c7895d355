"""nbgrader's exchange, as JupyterHub uses it: what is released reaches a learner, comes back, and so does feedback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from class_to_grade import Class, SayingJudge

COURSE = "--CourseDirectory.course_id=crash101"


def nbgrader(where: Path, exchange: Path, home: Path, *arguments: str) -> None:
    """Run nbgrader in a folder, as somebody whose home directory is ``home``."""
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments, f"--Exchange.root={exchange}"],
        cwd=where,
        env={**os.environ, "HOME": str(home), "JUPYTER_DATA_DIR": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_a_submission_goes_out_and_back_and_its_feedback_too(
    a_class: Class, judge: SayingJudge, tmp_path: Path
) -> None:
    exchange, learner, home = tmp_path / "exchange", tmp_path / "learner", tmp_path / "home"
    for folder in (exchange, learner, home):
        folder.mkdir()
    exchange.chmod(0o777)
    teacher = a_class.folder
    nbgrader(teacher, exchange, home, "release_assignment", "level2", COURSE)
    nbgrader(learner, exchange, home, "fetch_assignment", "level2", "--course", "crash101")
    assert [path.name for path in (learner / "level2").iterdir()] == ["level2.ipynb"]
    nbgrader(learner, exchange, home, "submit", "level2", "--course", "crash101")
    nbgrader(teacher, exchange, home, "collect", "level2", COURSE)
    (collected,) = (teacher / "classroom/submitted").iterdir()
    assert (collected / "level2/level2.ipynb").is_file()
    a_class.grade(collected.name)
    a_class.page(collected.name)
    nbgrader(teacher, exchange, home, "release_feedback", "level2", COURSE)
    assert list((exchange / "crash101/feedback").rglob("*.html"))
