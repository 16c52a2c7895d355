"""A right answer stays right whatever lies around it in the notebook: other cells, their order, packages, magics."""

import importlib.util

import pytest

from grader.answers.cells import Cell
from grader.answers.judge import judge_cells
from grader.levels.level2 import CODE

RIGHT = """
def save_checkpoint(state):
    with open("checkpoint.json.tmp", "w", encoding="utf-8") as f:
        json.dump(state, f, ensure_ascii=False)
    os.replace("checkpoint.json.tmp", "checkpoint.json")

def run_agent(task, tools, call_model, execute_tool):
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
             "messages": [{"role": "user", "content": task}], "pendingToolUse": None}
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        state["tokensUsed"] += response.usage.input_tokens + response.usage.output_tokens
        if response.stop_reason != "tool_use":
            return state
        state["messages"].append({"role": "assistant", "content": response.content})
        block = next(b for b in response.content if b["type"] == "tool_use")
        state["pendingToolUse"] = {key: block[key] for key in ("id", "name", "input")}
        save_checkpoint(state)
        result = execute_tool(block["name"], block["input"])
        state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": block["id"], "content": result}]})
        state["turns"] += 1
        state["pendingToolUse"] = None
        save_checkpoint(state)
"""
ANSWER = "import json, os\n" + RIGHT


def met(*cells: Cell) -> list[bool | None]:
    return [verdict.met for verdict in judge_cells(cells, CODE)]


@pytest.mark.parametrize(
    ("before", "answer", "after"),
    [
        ("", RIGHT, "import json\nimport os"),
        ("from os import replace, path\nimport json", RIGHT, "import os"),
        ("%load_ext autoreload\n%autoreload 2\n!pip install nothing\nimport json, os", RIGHT, "%matplotlib inline"),
        ("", "%%time\n" + ANSWER, "x = %time 1"),
        ("def broken(:", ANSWER, "if True"),
        ("1 / 0", ANSWER, "undefined_name"),
        ("while False: pass", ANSWER, "raise SystemExit"),
        ("def save_checkpoint(state): pass\ndef run_agent(*a): pass", ANSWER, ""),
        (
            "import sys\nprint('hm', file=sys.stderr)\nimport warnings\nwarnings.warn('hm')",
            ANSWER,
            "input('Your name?')",
        ),
        (
            "open('notes.txt', 'w').write('mine')\nimport os\nos.makedirs('old/runs')",
            ANSWER,
            "import os\nos.remove('notes.txt')",
        ),
        ("import logging\nlogging.basicConfig(level='DEBUG')", ANSWER, "await __import__('asyncio').sleep(0)"),
        ("import zoneinfo, datetime\nnow = datetime.datetime.now(zoneinfo.ZoneInfo('Europe/Berlin'))", ANSWER, ""),
    ],
)
def test_other_cells_take_nothing_away(before: str, answer: str, after: str) -> None:
    around = [Cell("level2-01", before), Cell("level2-code", answer), Cell("level2-09", after)]
    assert met(*around) == [True, True, True]


def test_a_run_in_the_cell_itself_and_a_checkpoint_of_an_older_one() -> None:
    tried = ANSWER + 'save_checkpoint({"version": 1, "task": "try", "turns": 0, "messages": []})\n'
    assert met(Cell("level2-code", tried), Cell("x", "print(open('checkpoint.json').read())")) == [True, True, True]


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("numpy", "import numpy as np\nx = np.arange(3).sum()"),
        ("requests", "import requests, certifi\nx = len(open(certifi.where()).read())"),
        (
            "matplotlib",
            "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.title('x')\nplt.savefig('a.png')\nx = 1",
        ),
        ("pandas", "import pandas as pd\npd.DataFrame({'a': [1]}).to_csv('a.csv')\nx = len(pd.read_csv('a.csv'))"),
    ],
)
def test_packages_work_on_the_fake_disk(package: str, source: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    uses = ANSWER.replace("def save_checkpoint(state):\n", "def save_checkpoint(state):\n    assert x > 0\n")
    assert met(Cell("level2-00", source), Cell("level2-code", uses)) == [True, True, True]
