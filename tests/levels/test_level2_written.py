"""The two written criteria of Level 2: what is found in the cell, and what is said until a person has read it."""

import pytest

from grader.answers.cells import Cell
from grader.answers.judge import judge_cells

WRITTEN = ("level2-hazard-overwrite", "level2-hazard-no-point-a")


def judged(source: str) -> list[tuple[bool | None, str]]:
    return [(v.met, v.message.en) for v in judge_cells([Cell("level2-hazards", source)], WRITTEN)]


def test_an_answer_waits_with_the_points_to_compare() -> None:
    parts = "hazard_1 = 'A torn file ' + 'and no old one.'\nhazard_2 = f'{1}. Nothing is saved before the tool.'"
    for met, message in judged(parts):
        assert met is None
        assert "(1)" in message and "(2)" in message


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
