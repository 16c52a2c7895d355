"""The fixture for suites of one's own, in a project of somebody else's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

STORE = '''"""Somebody's project."""

import json
from pathlib import Path

CHECKPOINT = Path("state/checkpoint.json")


def save(state):
    CHECKPOINT.parent.mkdir(exist_ok=True)
    temp = CHECKPOINT.with_suffix(".tmp")
    temp.write_text(json.dumps(state))
    temp.replace(CHECKPOINT)


def load():
    return json.loads(CHECKPOINT.read_text())
'''

TEST = """from store import load, save


def test_a_crash_cannot_hurt_it(explore_save):
    explore_save(save, load, old={"turn": 1}, new={"turn": 2, "done": ["a", "b"]})


def test_a_kill_cannot_hurt_it(explore_save):
    assert explore_save(save, load, old=1, new=2, power_loss=False).survives_kill
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """pytest in a project of its own."""
    (folder / "store.py").write_text(STORE)
    (folder / "test_store.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def test_the_fixture_fails_with_the_whole_report(tmp_path: Path) -> None:
    done = run(tmp_path, "--crash-maps", "maps")
    assert "1 failed, 1 passed" in done.stdout
    assert "fsync of state/checkpoint.tmp must come before replace, line 13" in done.stdout.replace(
        "\n" + "E" + " " * 14, " "
    )
    assert "store.py, line 13:  temp.replace(CHECKPOINT)" in done.stdout
    assert "pytest_plugin.py" not in done.stdout, "the traceback ends at the person's own line"
    pages = sorted(path.name for path in (tmp_path / "maps").iterdir())
    assert pages == ["test_store.py_test_a_crash_cannot_hurt_it.html", "test_store.py_test_a_kill_cannot_hurt_it.html"]
    assert all("<svg" in path.read_text(encoding="utf-8") for path in (tmp_path / "maps").iterdir())


def test_the_readme_shows_what_really_comes_out(tmp_path: Path) -> None:
    """The README quotes this project and the report that pytest prints."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    done = run(tmp_path)
    report = [line[2:].strip() for line in done.stdout.splitlines() if line.startswith("E ")]
    start = report.index("survives a kill: yes; survives power loss: NO")
    for line in [line for line in report[start:] if line]:
        assert line in readme, f"the README does not show {line!r}"
    assert STORE.split('"""\n', 1)[1].strip() in readme


def test_nothing_heavy_is_imported_before_use() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import grader.pytest_plugin;"
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith(('grader', 're'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr
    assert "grader.crash" not in done.stdout


def test_pytest_finds_it_by_itself() -> None:
    from importlib.metadata import entry_points

    assert [e.value for e in entry_points(group="pytest11") if e.name == "crash-course"] == ["grader.pytest_plugin"]


def test_options_are_passed_on(explore_save: object) -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        explore_save(print, input, old=1, new=2, nothing=3)  # type: ignore[operator]
