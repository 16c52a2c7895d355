"""How the rubric's readings become verdicts at Level 2."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.answers.cells import Cell
from grader.answers.exercises import written
from grader.answers.judge import judge_cells
from grader.answers.rubric import Reading
from grader.verdict import Text

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = ("level2-hazard-overwrite", "level2-hazard-no-point-a")
ANSWERS = Cell("level2-hazards", "hazard_1 = 'A torn file.'\nhazard_2 = 'Nothing is saved before the tool.'")


def reads(monkeypatch: pytest.MonkeyPatch, decide: Callable[[str, str], Reading]) -> None:
    monkeypatch.setattr(written, "read", lambda criterion, text, others=None: decide(criterion, text))


def test_what_the_rubric_leaves_open_waits_with_the_points_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    reads(monkeypatch, lambda criterion, text: Reading("abstain", Text("Not sure.", "拿不准。"), (), 0.5))
    for verdict in judge_cells([ANSWERS], WRITTEN):
        assert verdict.met is None and verdict.points == 0 and verdict.suggested == 1.0
        assert verdict.message.en.startswith("Not sure. ")
        assert "(1)" in verdict.message.en and "（2）" in verdict.message.zh


def test_the_better_reading_of_the_two_strings_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def decide(criterion: str, text: str) -> Reading:
        if criterion == "level2-hazard-overwrite":
            return Reading("accept" if "torn" in text else "reject", Text("a", "a"))
        return Reading("reject", Text(text, text), ("one point",) if "tool" in text else ())

    reads(monkeypatch, decide)
    first, second = judge_cells([ANSWERS], WRITTEN)
    assert (first.met, first.points) == (True, 2.0)
    assert (second.met, second.points) == (False, 0.0)
    assert second.message.en == "Nothing is saved before the tool."


def test_the_solution_is_accepted() -> None:
    solved = json.loads((ROOT / "solutions/level2/level2.ipynb").read_text(encoding="utf-8"))
    source = next("".join(cell["source"]) for cell in solved["cells"] if cell["id"] == "level2-hazards")
    assert [verdict.met for verdict in judge_cells([Cell("level2-hazards", source)], WRITTEN)] == [True, True]


def test_the_solution_in_chinese_is_accepted() -> None:
    source = (
        'hazard_1 = "原地覆盖 checkpoint.json，写到一半被打断，文件里就只剩半截解析不了的 JSON，'
        '旧版本也已经被覆盖，没有退路。"\n'
        'hazard_2 = "缺少存档点 A：只在结果入账之后存盘，从模型点名工具到工具完成之间什么都没存，这段时间崩溃，'
        '磁盘上不留这次调用的任何痕迹。"'
    )
    assert [verdict.met for verdict in judge_cells([Cell("level2-hazards", source)], WRITTEN)] == [True, True]
