"""Verdicts as text: what one copies stays in one piece, and no line is empty twice."""

import re

from grader.answers.show import text_report, wrap
from grader.verdict import Text, Verdict


def test_a_command_is_not_broken_over_two_lines() -> None:
    for before in range(40, 80):
        lines = wrap(f"{'x' * before} then: `crash-course solution level2`. Go on.", 80, "")
        assert any("`crash-course solution level2`" in line for line in lines)
        assert all(len(line) <= 80 for line in lines)
    assert any("`crash-course hint a`" in line for line in wrap("字" * 35 + "：`crash-course hint a`。", 80, ""))


def test_a_picture_is_set_off_by_one_empty_line() -> None:
    told = Text("Killed.", "被杀。")
    verdicts = [
        Verdict("level2-atomic", None, 0, 4, told, picture_text="a map\n  \n  of it\n", advice=advice)
        for advice in (None, told)
    ]
    text = text_report(verdicts, lang="en")
    assert "a map" in text and "\n\n\n" not in text and not re.search(r"[ \t]$", text, re.M)
