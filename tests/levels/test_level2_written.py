"""The two written criteria of Level 2: what is found in the cell, and what is no answer at all."""

import pytest

from grader.answers.cells import Cell
from grader.answers.judge import judge_cells

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
