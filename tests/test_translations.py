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
        ("n = 3", "n = 4", "cell a-02 is changed in more than comments and strings"),
        ("{n + 1} 个文件里的 {n} 个", "{n} 个文件", "cell a-02 is changed in more than comments and strings"),
        ('"of": "a-01"', '"of": "a-09"', "cell a-09 is named otherwise in English now"),
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
    with pytest.raises(translations.OutOfStep, match="cell a-01 is still marked todo"):
        translations.lay_over(changed, source, "zh")


def english(*cells: str) -> str:
    """Return a notebook whose cells have ids by their place, as a lesson's have."""
    made = [
        {"cell_type": "code" if text.startswith("x") else "markdown", "id": f"a-{number:02d}", "source": [text]}
        for number, text in enumerate(cells, 1)
    ]
    return json.dumps({"cells": [{**cell, "metadata": {}} for cell in made], "metadata": {}})


def begun(source: Path, *cells: str) -> None:
    """Write a finished translation of English cells, each in small letters after 译."""
    text, _ = translations.skeleton(english(*cells), source)
    text = text.replace(', "todo": true', "")
    for cell in cells:
        if not cell.startswith("x"):
            text = text.replace(f"\n{cell}\n", f"\n译 {cell.lower()}\n")
    source.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("now", "todo", "kept", "said"),
    [
        (("One.", "New.", "x = 1", "Two.", "Three."), ["a-02"], 3, "cell a-02 is not translated"),
        (("One.", "Three."), ["a-03"], 3, "cell a-03 is no longer in English"),
        (("Two.", "One.", "x = 1", "Three."), [], 3, "cells a-03, a-01 are named otherwise in English now"),
        (("New.", "One.", "x = 1", "Two!", "Three."), ["a-01", "a-04"], 3, "the English text of cell a-04"),
        (("New.", "x = 2", "x = 3", "One."), ["a-01", "a-03", "a-04"], 3, "cells a-03, a-04 are no longer in English"),
    ],
)
def test_a_cell_put_in_or_taken_out_leaves_the_others_their_translation(
    tmp_path: Path, now: tuple[str, ...], todo: list[str], kept: int, said: str
) -> None:
    source = tmp_path / "a.md"
    begun(source, "One.", "x = 1", "Two.", "Three.")
    with pytest.raises(translations.OutOfStep, match=said):
        translations.lay_over(english(*now), source, "zh")
    text, marked = translations.skeleton(english(*now), source)
    assert marked == todo and text.count("译 ") == kept
    for name, cell in enumerate(now, 1):
        if f"译 {cell.lower()}" in text:
            before = text.split(f"译 {cell.lower()}")[0]
            assert f'"of": "a-{name:02d}"' in before.splitlines()[-2]


def test_a_new_code_cell_gets_its_fingerprint_and_no_mark(tmp_path: Path) -> None:
    old = translations.fingerprint('n = 3  # three\nprint(f"{n} of {n + 1} files")')
    source = written(tmp_path, (f"english: '{old}'", "english: ''"))
    with pytest.raises(translations.OutOfStep, match="cell a-02 is without a fingerprint"):
        translations.lay_over(ENGLISH, source, "zh")
    text, todo = translations.skeleton(ENGLISH, source)
    assert todo == [] and f"english: '{old}'" in text and "todo" not in text


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


@pytest.mark.thorough
def test_the_command_begins_a_translation_and_says_what_is_to_do(clone: Path) -> None:
    path = "translations/zh/lessons/06_two_save_points.md"
    first = command(clone, "translate", path)
    assert first.returncode == 1 and "marked todo" in first.stdout and "06_two_save_points-01" in first.stdout
    assert "# 6 · Two save points" in (clone / path).read_text(encoding="utf-8")
    check = command(clone, "build", "--check")
    assert check.returncode == 1 and f"`crash-course translate {path}`" in check.stderr
    lesson = clone / "lessons/06_two_save_points.md"
    text = lesson.read_text(encoding="utf-8")
    lesson.write_text(text.replace("## Your turn", "## Now you"), encoding="utf-8")
    unbuilt = command(clone, "translate", path)
    assert unbuilt.returncode == 2 and unbuilt.stderr.startswith("lessons/06_two_save_points.md has changed since")
    lesson.write_text(text, encoding="utf-8")
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
