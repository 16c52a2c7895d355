"""The two written criteria of Level 2: what is found in the cell, and what is no answer at all."""

import warnings

import pytest

from grader.answers.cells import Cell
from grader.answers.judge import judge_cells
from grader.levels.level2 import Judge
from grader.levels.literals import literal, tree_of
from grader.levels.trial import Outcome, Trial

WRITTEN = ("level2-hazard-overwrite", "level2-hazard-no-point-a")


def judged(source: str) -> list[tuple[bool | None, str]]:
    return [(v.met, v.message.en) for v in judge_cells([Cell("level2-hazards", source)], WRITTEN)]


FULL_1 = (
    "If the save is interrupted half way, checkpoint.json holds half a JSON document that can't be parsed, "
    "and the old version has been overwritten, so there is nothing to go back to."
)
FULL_2 = (
    "Between the moment the model names the tool and the moment the tool has finished nothing is saved, "
    "so a crash there leaves no trace of the call on disk."
)


@pytest.mark.parametrize(("one", "two"), [(FULL_1, FULL_2), (FULL_2, FULL_1)])
def test_either_string_may_name_either_hazard(one: str, two: str) -> None:
    parts = f"half = {one[:40]!r}\nhazard_1 = half + {one[40:]!r}\nhazard_2 = f{two!r}"
    assert [met for met, _ in judged(parts)] == [True, True]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("hazard_1 = ''\nhazard_2 = '  '", "Nothing is written yet"),
        ("x = 1", "hazard_1 is not there"),
        ("hazard_1 = 3\nhazard_2 = None", "type int"),
        ("hazard_1 = ['a']\nhazard_2 = {}", "type list"),
        ("class S(str):\n    pass\nclass T:\n    pass\nhazard_1 = T()\nhazard_2 = ''", "type T"),
    ],
)
def test_what_is_no_answer_is_named_and_gives_nothing_away(source: str, said: str) -> None:
    for met, message in judged(source):
        assert met is False
        assert said in message
        assert "(1)" not in message


HAZARDS = f"hazard_1 = {FULL_1!r}\nhazard_2 = {FULL_2!r}"
COMPUTED = f'hazard_1 = " ".join({FULL_1.split()!r})\nhazard_2 = " ".join({FULL_2.split()!r})'
HANGS = "def save_checkpoint(state):\n    while True: pass\ndef run_agent(task, *rest):\n    save_checkpoint({})"


@pytest.mark.parametrize("answer", [HAZARDS, COMPUTED])
@pytest.mark.parametrize(
    "code",
    [
        HANGS,
        "while True: pass",
        "import os\nos.kill(os.getpid(), 9)",
        "def save_checkpoint(state): 1 / 0\ndef run_agent(task, *rest):\n    save_checkpoint({})",
        "def run_agent(:",
    ],
)
def test_code_that_hangs_or_dies_takes_no_written_answer_away(answer: str, code: str) -> None:
    cells = [Cell("level2-hazards", answer), Cell("level2-code", code)]
    verdicts = judge_cells(cells, [*WRITTEN, "level2-atomic"])
    assert [verdict.met for verdict in verdicts] == [True, True, False]


def test_literals_are_read_without_a_run() -> None:
    def never(trial: Trial) -> Outcome:
        raise AssertionError("no run is needed")

    texts, why = Judge({"level2-hazards": HAZARDS, "level2-code": "while True: pass"}, never).texts()
    assert texts == {"hazard_1": FULL_1, "hazard_2": FULL_2} and why is None


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        (["x = 'a'"], ("a",)),
        (["x = 'a' 'b'", "x: str = ('c'\n  'd')"], ("cd",)),
        (["x = y = 3"], (3,)),
        (["x = 'a'", "def f(: x = 2"], ("a",)),
        (["x = 'a' + 'b'"], None),
        (["x = 'a'\nx += 'b'"], None),
        (["x = 'a'\nif True:\n    x = 'b'"], None),
        (["x = 'a'", "from y import *"], None),
        (["x = 'a'", "for x in 'ab': pass"], None),
        (["y = 'x'"], None),
    ],
)
def test_what_is_no_plain_literal_has_to_be_run(cells: list[str], value: tuple[object] | None) -> None:
    assert literal(cells, "x") == value


@pytest.mark.parametrize("source", [r'x = "\d"', "x = 1if y else 2", "x = y is 1"])
def test_a_cell_is_read_without_a_warning(source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tree_of(source) is not None


def test_a_written_cell_that_stops_says_why() -> None:
    (met, message), (other, _) = judged(f"hazard_2 = {FULL_2!r}\nhazard_1 = {FULL_1!r}.lowercase()")
    assert met is False and other is True
    assert "AttributeError" in message
    (met, message), _ = judged('hazard_1 = "no end\nhazard_2 = ""')
    assert met is False
    assert "A cell stopped on the way" in message and "SyntaxError" in message
