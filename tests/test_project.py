"""The project as a whole: what the README promises, what is generated, and the linters."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from grader import build

ROOT = Path(__file__).resolve().parent.parent
SOLVED = sorted(ROOT.glob("solutions/level*/*.ipynb"))


def cells(path: Path) -> dict[str, dict[str, Any]]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return {cell["id"]: {**cell, "source": "".join(cell["source"])} for cell in notebook["cells"]}


def tool(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)


def test_the_readme_gives_the_two_commands_and_ci_runs_them_from_there() -> None:
    blocks = re.findall(r"^```bash\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 2
    assert "pip install" in blocks[0] and blocks[0].rstrip().endswith("crash-course demo")
    assert "-m pytest" in blocks[1]
    ci = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "command_of_readme 1" in ci and "command_of_readme 2" in ci
    assert "pip install" not in ci and "pytest" not in ci


def test_every_generated_file_is_in_step_with_its_source() -> None:
    assert build.differences(ROOT) == []


def test_a_stray_or_stale_file_is_named(tmp_path: Path) -> None:
    root = tmp_path / "a clone"
    root.mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for folder in ("solutions/level2", "exercises/level2"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    assert sorted(build.build(root)) == [build.TRANSLATED, build.STARTS]
    (root / "exercises/level2/answers.txt").write_text("stray")
    (root / "solutions/level2/notes.txt").write_text("stray, beside the source")
    release = root / "exercises/level2/level2.ipynb"
    release.write_text(release.read_text(encoding="utf-8").replace("Two hazards", "Three hazards"), encoding="utf-8")
    found = {one.path: one.reason for one in build.differences(root)}
    assert found == {
        "exercises/level2/level2.ipynb": "is not what its source makes",
        "exercises/level2/answers.txt": "is not part of the release",
    }
    assert sorted(build.build(root)) == sorted(found)
    assert release.read_bytes() == (ROOT / "exercises/level2/level2.ipynb").read_bytes()


def test_what_looks_like_a_part_of_the_course_and_is_none_is_named(tmp_path: Path) -> None:
    for name in ("lessons/01_a.md", "lessons/02_b.ipynb", "lessons/README.md", "translations/zh/lessons/03_c.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# No header\n", encoding="utf-8")
    assert {one.path: one.reason.split(":")[0] for one in build.unlisted(tmp_path)} == {
        "lessons/01_a.md": "makes no notebook",
        "lessons/02_b.ipynb": "has no text source",
        "translations/zh/lessons/03_c.md": "translates nothing, for there is no lessons/03_c.ipynb",
    }
    assert build.unlisted(ROOT) == []


def test_a_source_that_makes_no_notebook_is_named_in_one_line(tmp_path: Path) -> None:
    text = (ROOT / "solutions/level2/level2.md").read_text(encoding="utf-8")
    source = tmp_path / "solutions/level2/level2.md"
    source.parent.mkdir(parents=True)
    for old, new, said in (
        ("  grade_id: level2-runs", " grade_id level2-runs", "Code cell"),
        ("  grade_id: level2-runs", "  grade_id: level2-point-a", "the cell id level2-point-a is used twice"),
    ):
        source.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(ValueError, match=said) as caught:
            build.made_files(tmp_path)
        assert str(caught.value).startswith("solutions/level2/level2.md: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize("path", SOLVED, ids=lambda path: path.stem)
def test_no_line_of_a_solution_is_in_its_release(path: Path) -> None:
    solved, released = cells(path), cells(ROOT / "exercises" / path.parent.name / path.name)
    text = "\n".join(cell["source"] for cell in released.values())
    given = {line.strip() for line in text.splitlines()}
    checked = 0
    for name, cell in solved.items():
        if not cell["metadata"].get("nbgrader", {}).get("solution"):
            continue
        lines = [line.strip() for line in cell["source"].splitlines() if line.strip()]
        start = {line.strip() for line in released[name]["source"].splitlines()}
        own = [line for line in lines if line not in start]
        assert own, f"{name} is released solved"
        leaked = [line for line in own if line in given and len(line) > 3]
        assert leaked == [], f"{name}: {leaked}"
        checked += 1
    assert checked
    assert "SOLUTION" not in text and "crash_course" not in json.dumps(released)


@pytest.mark.parametrize("path", [*SOLVED, *sorted(ROOT.glob("exercises/*/*.ipynb"))], ids=str)
def test_notebooks_are_committed_without_outputs(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    for cell in notebook["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None


def test_no_two_test_modules_share_a_name() -> None:
    names = [path.name for path in ROOT.glob("tests/**/test_*.py")]
    assert sorted(names) == sorted(set(names))  # pytest imports them by that name


def test_ruff_has_nothing_to_say() -> None:
    done = tool("ruff", "check", ".")
    assert done.returncode == 0, done.stdout


def test_mypy_has_nothing_to_say() -> None:
    done = tool("mypy")
    assert done.returncode == 0, done.stdout


def test_no_sentence_names_a_command_that_does_not_exist() -> None:
    from typer.main import get_command

    from grader.cli import main

    known = set(get_command(main).commands)  # type: ignore[attr-defined]
    patterns = ("*.md", "docs/*.md", "solutions/*/*.md", "grader/**/*.toml")
    for path in (path for pattern in patterns for path in ROOT.glob(pattern)):
        for named in re.findall(r"crash-course ([a-z]+)\b", path.read_text(encoding="utf-8")):
            assert named in known, f"{path.name} names crash-course {named}"


def test_the_wheel_takes_every_lesson() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    there = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "lessons").glob("*.ipynb"))
    assert sorted(name for name in listed if name.startswith("lessons/")) == there
