"""A released Level 2 notebook to put answers into."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RELEASED = Path(__file__).parents[2] / "exercises" / "level2" / "level2.ipynb"
PROGRAMS = Path(__file__).parents[1] / "levels" / "programs" / "level2"


@pytest.fixture
def hand_in(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that puts sources into solution cells of the release, by id, and saves the notebook."""

    def make(name: str = "level2.ipynb", **answers: str) -> Path:
        notebook: dict[str, Any] = json.loads(RELEASED.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "").replace("-", "_")
            if grade_id in answers:
                cell["source"] = answers.pop(grade_id)
        assert not answers
        path = tmp_path / name
        path.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")
        return path

    return make
