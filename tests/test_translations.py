"""The editions in other languages: a translation can't fall behind, drift, or break what it translates."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from grader import translations
from grader.answers.judge import judge_notebook

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(translations.translations(ROOT))

ENGLISH = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "id": "a-01", "metadata": {}, "source": ["# A question\n", "\n", "It is asked."]},
            {
                "cell_type": "code",
                "id": "a-02",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": ["n = 3  # three\n", 'print(f"{n} of {n + 1} files")'],
            },
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)


def written(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """Return a finished translation of ENGLISH, with some of its text replaced."""
    source = tmp_path / "a.md"
    text, _ = translations.skeleton(ENGLISH, source)
    text = text.replace(', "todo": true', "")
    text = text.replace("# A question", "# 一个问题").replace("It is asked.", "在这里提出。")
    code = "n = 3  # 三\nprint(f'{n + 1} 个文件里的 {n} 个')"
    made = translations.fingerprint('n = 3  # three\nprint(f"{n} of {n + 1} files")')
    text += f"\n```{{code-cell}} ipython3\n---\nof: a-02\nenglish: '{made}'\n---\n{code}\n```\n"
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    source.write_text(text, encoding="utf-8")
    return source


def test_a_translation_changes_prose_comments_and_strings(tmp_path: Path) -> None:
    made = json.loads(translations.lay_over(ENGLISH, written(tmp_path), "zh"))
    assert ["".join(cell["source"]) for cell in made["cells"]] == [
        "# 一个问题\n\n在这里提出。",
        'import os\n\nos.environ.setdefault("CRASH_COURSE_LANG", "zh")  # 从这里起，检查和图都说中文',
        "n = 3  # 三\nprint(f'{n + 1} 个文件里的 {n} 个')",
    ]
    assert [cell["id"] for cell in made["cells"]] == ["a-01", "a-language", "a-02"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("n = 3", "n = 4", "cell a-02 changes more than comments and strings"),
        ("{n + 1} 个文件里的 {n} 个", "{n} 个文件", "cell a-02 changes more than comments and strings"),
        ('"of": "a-01"', '"of": "a-09"', "there is no cell a-09 in English any more; cell a-01 is not translated"),
        ('"english": "', '"english": "0', "the English text of cell a-01 is new or has changed"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(translations.OutOfStep, match=reason):
        translations.lay_over(ENGLISH, written(tmp_path, (old, new)), "zh")


def test_a_change_in_english_keeps_what_is_translated_and_marks_the_cell(tmp_path: Path) -> None:
    source = written(tmp_path)
    changed = ENGLISH.replace("It is asked.", "It is asked twice.")
    text, todo = translations.skeleton(changed, source)
    assert todo == ["a-01"]
    assert "在这里提出。" in text and "n = 3  # 三" in text
    source.write_text(text, encoding="utf-8")
    with pytest.raises(translations.OutOfStep, match="a-01 is new or has changed"):
        translations.lay_over(changed, source, "zh")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("a clone")
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for folder in ("solutions", "exercises", "translations"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    shutil.copytree(ROOT / "lessons", root / "lessons", ignore=shutil.ignore_patterns("minagent", "__pycache__"))
    return root


def command(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from grader.cli import main; main()", *words],
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "CRASH_COURSE_LANG": "en"},
    )


def test_the_command_begins_a_translation_and_says_what_is_to_do(clone: Path) -> None:
    path = "translations/zh/lessons/06_two_save_points.md"
    first = command(clone, "translate", path)
    assert first.returncode == 1 and "marked todo: 06_two_save_points-01" in first.stdout
    assert "# 6 · Two save points" in (clone / path).read_text(encoding="utf-8")
    check = command(clone, "build", "--check")
    assert check.returncode == 1 and f"`crash-course translate {path}`" in check.stderr
    (clone / path).unlink()
    wrong = command(clone, "translate", "lessons/06_two_save_points.md")
    assert wrong.returncode == 2 and "translations/zh/lessons/06_two_save_points.md" in wrong.stderr


@pytest.mark.parametrize("source", [s for s in SOURCES if "lessons" in s.parts], ids=lambda path: path.stem)
def test_a_translated_lesson_runs_from_top_to_bottom(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRASH_COURSE_LANG", raising=False)
    notebook = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = json.dumps([cell.get("outputs", []) for cell in notebook.cells], ensure_ascii=False)
    assert "还没有作答" in said and "Not tried yet" not in said
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip())


@pytest.mark.parametrize("source", [s for s in SOURCES if "exercises" in s.parts], ids=lambda path: path.stem)
def test_a_translated_exercise_is_judged_like_the_english_one(source: Path) -> None:
    level = source.stem
    released = json.loads(source.with_suffix(".ipynb").read_text(encoding="utf-8"))
    assert not any(verdict.met for verdict in judge_notebook(released))
    solved = json.loads((ROOT / f"solutions/{level}/{level}.ipynb").read_text(encoding="utf-8"))
    answers = {cell["id"]: cell["source"] for cell in solved["cells"]}
    for cell in released["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = answers[cell["id"]]
    assert all(verdict.met for verdict in judge_notebook(released))
