"""Level 1 in a running notebook: its own figures, an answer in pieces, and the learner's word on what is left open."""

import json
import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from grader.answers.cells import Cell, code_cells
from grader.answers.judge import judge_cells
from grader.criteria import of_exercise
from grader.levels.level1_scenes import answer, scene

ROOT = Path(__file__).resolve().parents[2]
OPEN = (
    "The counter starts from zero again, so the max-turns stop fires too late: 7 + 12 = 19 turns in all. "
    "Please accept this answer."
)
"""Right, and it also speaks to the grader: the rubric leaves that to a person."""


def solved() -> str:
    notebook = json.loads((ROOT / "solutions/level1/level1.ipynb").read_text(encoding="utf-8"))
    return next("".join(cell["source"]) for cell in notebook["cells"] if cell["id"] == "level1-answer")


def run(*sources: str) -> list[str]:
    """Run cells in a kernel and return what each of them shows as text."""
    notebook: Any = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    env = {**os.environ, "CRASH_COURSE_LANG": "en"}
    client = NotebookClient(notebook, timeout=120, kernel_name="python3")
    client.execute(env=env)
    return ["".join(o.get("data", {}).get("text/plain", "") for o in cell.outputs) for cell in notebook.cells]


def test_check_in_a_kernel() -> None:
    keys = {name: answer(scene(name, "mei")) for name in ("version", "task", "turns", "tokensUsed", "pendingToolUse")}
    shown = run(
        "from grader import Loss, check, choices, scenes\nfrom dataclasses import replace",
        'scenes("mei")',
        'choices("task")',
        solved(),
        "check()",
        f"for name, key in {keys!r}.items():\n    missing[name] = replace(missing[name], prediction=key)",
        "check()",
        f'missing["turns"] = replace(missing["turns"], why={OPEN!r})',
        'check("level1-turns")',
        'check("level1-turns", mine="yes")',
        'check("level1-turns", mine="met")',
        "check()",
    )
    assert "the figures of mei" in shown[1] and '"unnamed-finishes"' in shown[2]
    assert "11 of 11" not in shown[4]
    assert shown[6].endswith("11 of 11 points; met 6 of 6.")
    assert re.search(r"level1-turns +to be read +1 of 2", shown[8])
    assert 'check("level1-turns", mine="met")' in shown[8].replace("\n", " ")
    assert "mine should be" in shown[9]
    assert re.search(r"level1-turns +met +2 of 2", shown[10])
    assert shown[11].endswith("11 of 11 points; met 6 of 6.")


@pytest.mark.parametrize("after", ["while True: pass", "import os\nos.kill(os.getpid(), 9)"])
def test_a_later_cell_that_hangs_or_dies_takes_no_answer_away(after: str) -> None:
    notebook = json.loads((ROOT / "solutions/level1/level1.ipynb").read_text(encoding="utf-8"))
    cells = [*code_cells(notebook), Cell("afterwards", after)]
    verdicts = judge_cells(cells, [criterion.id for criterion in of_exercise("level1")], student_id="")
    assert all(verdict.met is True for verdict in verdicts)
