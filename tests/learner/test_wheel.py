"""The wheel carries the course: installed into a fresh environment, far from any clone, a learner has everything."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.learner.conftest import ROOT, hand_in

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built from this checkout."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Return the command of an environment with the wheel in it; what it depends on is lent by this one."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    (packages,) = place.glob("lib/python3*/site-packages")
    # A path in a .pth file is searched last, and the .pth files in it are not read: this checkout stays out of sight.
    (packages / "lent.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")

    def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        command = [str(place / "bin" / "crash-course"), *arguments]
        environment = {**os.environ, "CRASH_COURSE_LANG": "en"}
        environment.pop("PYTHONPATH", None)
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)

    seen = subprocess.run(
        [str(python), "-c", "import grader, minagent; print(grader.__file__, minagent.__file__)"],
        cwd=place,
        capture_output=True,
        text=True,
    )
    assert all(path.startswith(str(packages)) for path in seen.stdout.split()), seen
    return run


def test_it_carries_each_notebook_and_no_text_source(wheel: Path) -> None:
    names = {
        name.removeprefix("grader/learner/packed/")
        for name in zipfile.ZipFile(wheel).namelist()
        if name.startswith("grader/learner/packed/")
    }
    places = ("lessons/*.ipynb", "exercises/*/*.ipynb", "solutions/*/*.ipynb", "translations/**/*.ipynb")
    assert names == {path.relative_to(ROOT).as_posix() for place in places for path in ROOT.glob(place)}


def test_a_learner_gets_on_with_nothing_but_the_wheel(installed: Shell, tmp_path: Path) -> None:
    begun = installed("init", "mine", cwd=tmp_path)
    assert begun.returncode == 0, begun.stderr
    folder = tmp_path / "mine"
    for given in (*ROOT.glob("lessons/*.ipynb"), *ROOT.glob("exercises/*/*.ipynb")):
        assert (folder / given.relative_to(ROOT)).read_bytes() == given.read_bytes()
    assert "1/3" in installed("hint", "level2-atomic", cwd=folder).stdout
    hand_in(folder, "level2")
    checked = installed("check", "level2", "--json", cwd=folder)
    assert checked.returncode == 0, checked
    assert all(one["met"] for one in json.loads(checked.stdout)["criteria"])
    assert "-- level2-code: reference" in installed("solution", "level2", cwd=folder).stdout
    assert installed("reset", "level2", cwd=folder).returncode == 0
    assert installed("check", "level2", cwd=folder).returncode == 1
    assert installed("doctor", cwd=folder).returncode == 0
