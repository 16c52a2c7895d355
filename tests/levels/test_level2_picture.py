"""The picture on the atomic verdict: one save, what lies on disk at each moment a kill can hit it."""

import linecache
from pathlib import Path

import pytest

from grader.answers.cells import Cell
from grader.answers.judge import judge_cells
from grader.answers.show import columns, html_report, text_report
from grader.verdict import Verdict
from grader.words import use_language

PROGRAMS = Path(__file__).parent / "programs" / "level2"


def judged(name: str) -> Verdict:
    return judge_cells([Cell("level2-code", (PROGRAMS / name).read_text(encoding="utf-8"))], ["level2-atomic"])[0]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("17_single_write_in_place.py", ["O", "R", "RN", "N"]),
        ("28_bak_then_write_in_place.py", ["O", "R", "R", "RN", "N", "N"]),
        ("14_pathlib_write_text_replace.py", ["O", "O", "O", "N", "N"]),
    ],
)
def test_the_map_shows_what_each_moment_leaves(name: str, row: list[str]) -> None:
    verdict = judged(name)
    assert verdict.picture is not None and verdict.picture_text is not None
    lines = verdict.picture_text.split("\n")
    assert lines[1].split()[1:] == row
    assert any("line " in line for line in lines)
    assert ("crash here" in verdict.picture_text) == (verdict.met is False)
    assert not any(file.startswith("<cell") for file in linecache.cache)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_it_is_shown_in_both_languages_in_80_columns(lang: str) -> None:
    use_language(lang)
    try:
        verdict = judged("28_bak_then_write_in_place.py")
        assert all(columns(line) <= 80 for line in text_report([verdict], lang=lang).split("\n"))
        assert verdict.picture is not None and verdict.picture in html_report([verdict], lang=lang)
        assert f'lang="{"zh-Hans" if lang == "zh" else "en"}"' in verdict.picture
    finally:
        use_language(None)


def test_a_program_that_never_saves_has_no_picture() -> None:
    code = "def save_checkpoint(state): pass\ndef run_agent(task, tools, call_model, execute_tool): return {}"
    verdict = judge_cells([Cell("level2-code", code)], ["level2-atomic"])[0]
    assert verdict.met is False and verdict.picture is None
