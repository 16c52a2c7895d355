"""Level 4: the reference and its like pass, and each way to be wrong fails at what is wrong with it."""

import pytest
from level4_variants import RIGHT, WRONG, reference
from thorough import one_in

from grader.answers.cells import Cell
from grader.answers.judge import judge_cells
from grader.levels.starts import starts
from grader.verdict import Verdict


def judged(source: str, cell: str = "level4-code-answer") -> Verdict:
    (verdict,) = judge_cells([Cell(cell, source)], ["level4-code"])
    return verdict


def test_the_reference_holds() -> None:
    verdict = judged(reference())
    assert verdict.met and verdict.points == 10, verdict.message.en


def test_the_code_as_it_was_found_does_not() -> None:
    verdict = judged(starts()["level4-code-answer"])
    assert verdict.met is False
    assert "os.replace" in verdict.message.en and "directory" in verdict.message.en


@pytest.mark.parametrize("name", one_in(2, RIGHT))
def test_other_styles_hold(name: str) -> None:
    verdict = judged(RIGHT[name])
    assert verdict.met, verdict.message.en


@pytest.mark.parametrize("name", one_in(3, WRONG))
def test_each_fault_is_found_and_named(name: str) -> None:
    source, word = WRONG[name]
    verdict = judged(source)
    assert verdict.met is False, verdict.message.en
    assert word in verdict.message.en, verdict.message.en
    assert "。" in verdict.message.zh


def test_a_fault_is_of_one_kind_however_it_came_about() -> None:
    names = ("no fsync of the file", "no fsync of the directory", "no checksum")
    kinds = [judged(WRONG[name][0]).message.key for name in names]
    assert len(set(kinds)) == 3
    assert not any(word in kind for kind in kinds for word in ("origin", "death", "left"))
