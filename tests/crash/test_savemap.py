"""The crash map of a save whose moments are known already."""

import json
import os

import pytest

from grader.crash import Disk, Image, Moment, Recording, savemap
from grader.crash.operations import Link, Truncate, Write


def recorded() -> Recording:
    with Disk(Image.of({"c.json": b"{}"}, cwd="/crash-disk/work")) as disk:
        with open("c.json", "w") as file:
            file.write(json.dumps({"n": list(range(40))}))
        os.sync()
        disk.mark("save-end")
    return disk.recording()


OUTCOMES = [
    (Moment(0), "O", 1),
    (Moment(1), "R", 1),
    (Moment(1, 1), "R", 150),
    (Moment(2), "N", 1),
    (Moment(3), "N", 1),
    (Moment(4), "N", 1),
]


def test_text_is_narrow_and_points_at_the_worst() -> None:
    recording = recorded()
    assert [type(op) for op in recording.operations[:2]] == [Truncate, Write]
    lines = savemap.as_text(recording, OUTCOMES, Moment(1, 75), lang="en", width=60).split("\n")
    assert lines[1].split() == ["kill", "O", "R", "RN", "N", "N"]
    assert lines[2].index("^") == lines[1].index("RN")
    assert max(map(len, lines)) <= 60


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_html_is_one_fragment(lang: str) -> None:
    shown = savemap.as_html(recorded(), OUTCOMES, None, lang=lang)
    assert shown.startswith('<div class="ccmap"') and shown.endswith("</div>")
    assert "<script" not in shown and "http" not in shown.replace("http://www.w3.org/2000/svg", "")
    assert not any(isinstance(op, Link) for op in recorded().operations)
