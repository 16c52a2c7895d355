"""Every attack of the catalogue, in one class: no point gained, the instructor told, nobody else touched."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path

import pytest
from attack import CANARY, EVERYTHING, LEFT, Attack
from attacked_class import ATTACKS, FIRST, LAST, LEVELS, SANDBOXED, WAYS, Graded, student_of

from grader.criteria import of_exercise

STUMBLES = {"links beside it", "pipes beside it", "another name", "a timestamp of markup"}
"""What nbgrader's own copying of a folder may stumble over before any step of ours: then nothing is graded."""


PAIRS = [pytest.param(way, attack, id=f"{way}-{attack.name}") for way, attacks in WAYS.items() for attack in attacks]


@pytest.mark.parametrize(("graded", "attack"), PAIRS, indirect=["graded"])
def test_an_attack_earns_what_is_honest_in_it_and_no_more(graded: Graded, attack: Attack) -> None:
    student = student_of(attack)
    if not graded.taken(attack.level, student):
        assert attack.name in STUMBLES, graded.refused.get(student)
        assert student in graded.refused or not any(
            score for score, _, _ in graded.marks(attack.level, student).values()
        )
        return
    marks = graded.marks(attack.level, student)
    names = [criterion.id.removeprefix(f"{attack.level}-") for criterion in of_exercise(attack.level)]
    if attack.waits == EVERYTHING:
        assert marks == {name: (0.0, None, True) for name in names}
        return
    for name in names:
        if name in attack.waits:
            assert marks.pop(name)[0] == 0.0
    earned = {name: attack.earns.get(name, 0.0) for name in marks}
    assert marks == {name: (points, points, False) for name, points in earned.items()}


@pytest.mark.parametrize(("graded", "attack"), PAIRS, indirect=["graded"])
def test_the_instructor_is_told(graded: Graded, attack: Attack) -> None:
    if not graded.taken(attack.level, student_of(attack)):
        return  # of those it is told by ``crash-course grade``
    flags = graded.flags(attack.level, student_of(attack))
    assert not attack.flag or any(attack.flag in flag for flag in flags), flags
    assert not any(flag.startswith("the judge failed") for flag in flags), flags


@pytest.mark.parametrize(("graded", "attack"), PAIRS, indirect=["graded"])
def test_nothing_was_read_and_nothing_acts_on_a_page(graded: Graded, attack: Attack) -> None:
    student = student_of(attack)
    if not graded.taken(attack.level, student):
        return
    page = graded.page(attack.level, student)
    text = graded.autograded(attack.level, student)
    assert CANARY not in page and CANARY not in text
    markup = re.sub(r"<pre.*?</pre>|http://www\.w3\.org/2000/svg", "", page, flags=re.S)
    assert not re.search(r"<(script|img|iframe|form|link)\b|<[^>]*\b(src|on[a-z]+)=|href=.?javascript:|\x1b", markup)
    assert "<script" not in page
    assert len(page) < 3_000_000


@pytest.mark.parametrize("level", LEVELS)
def test_the_batch_goes_on_and_others_keep_their_marks(graded: Graded, level: str) -> None:
    if level not in graded.levels:
        pytest.skip("graded by the command, in the same way")
    assert all(score == most for score, most in _scores(graded, level, FIRST))
    assert all(score == most for score, most in _scores(graded, level, LAST))
    first, last = (json.loads(graded.autograded(level, student)) for student in (FIRST, LAST))
    for one in (first, last):
        assert one["metadata"]["crash_course"].pop("fingerprint")
        assert one["metadata"]["crash_course"]["flags"] == []
    if level != "level1":  # its figures vary by learner
        assert first == last


def _scores(graded: Graded, level: str, student: str) -> list[tuple[float, float]]:
    marks = graded.marks(level, student)
    return [(marks[c.id.removeprefix(f"{level}-")][0], c.points) for c in of_exercise(level)]


def test_nothing_in_the_course_was_changed(graded: Graded) -> None:
    assert graded.after == graded.before != {}


def test_nothing_is_left_behind(graded: Graded) -> None:
    places = [graded.folder, Path(tempfile.gettempdir()), Path.home(), Path.cwd(), Path("/dev/shm"), Path("/")]
    assert [str(path) for place in places if place.is_dir() for path in place.glob(f"*{LEFT}*")] == []
    assert not [path for path in graded.folder.rglob(f"*{LEFT}*")]
    if Path("/proc").is_dir():
        commands = []
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    commands.append(Path(entry.path, "comm").read_text())
                except OSError:
                    continue
        assert not [one for one in commands if one.startswith(LEFT[:12])]


def test_there_are_enough_of_them() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= (100 if SANDBOXED else 40)
