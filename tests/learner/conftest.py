"""A learner's folder, made by the real command, and the command itself."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from grader import words
from grader.cli import main

ROOT = Path(__file__).resolve().parents[2]
Command = Callable[..., Result]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return the command: words in, exit code and output out."""
    monkeypatch.setenv("CRASH_COURSE_LANG", "en")
    monkeypatch.delenv("CRASH_COURSE_NOTES", raising=False)
    monkeypatch.setattr(words, "_chosen", None)

    def run(*arguments: str) -> Result:
        words.use_language(None)
        return CliRunner().invoke(main, list(arguments), catch_exceptions=False)

    return run


@pytest.fixture
def folder(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a learner's folder; it is the current one."""
    place = tmp_path / "my course"
    assert command("init", str(place)).exit_code == 0
    monkeypatch.chdir(place)
    return place


def solved(level: str) -> dict[str, Any]:
    """Return an exercise with the reference solution in it."""
    notebook: dict[str, Any] = json.loads((ROOT / f"solutions/{level}/{level}.ipynb").read_text(encoding="utf-8"))
    return notebook


def hand_in(folder: Path, level: str) -> Path:
    """Put the reference solution into the learner's notebook."""
    path = folder / f"exercises/{level}/{level}.ipynb"
    path.write_text(json.dumps(solved(level), ensure_ascii=False), encoding="utf-8")
    return path
