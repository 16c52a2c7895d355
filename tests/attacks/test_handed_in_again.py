"""Who hands in again something that crashes keeps nothing of the old mark; who mends it gets the new one."""

from pathlib import Path

import pytest
from attack import Work
from attacked_class import Graded, course, notebook

from grader.classroom.grade_command import Wishes, grade


@pytest.mark.parametrize(
    ("crash", "waits"),
    [("import os\nos._exit(0)", False), ("while True: pass", False), ("", True)],
    ids=["a process that ends", "a cell that never ends", "a file that is none"],
)
def test_a_crash_keeps_no_old_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crash: str, waits: bool) -> None:
    course(tmp_path, ("level2",))
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "classroom/submitted/ann/level2"
    place.mkdir(parents=True)
    graded = Graded(tmp_path)
    scores = []
    for source in ("good", crash, "good"):
        work = Work(tmp_path, place, "level2", notebook("level2", solved=True))
        if source != "good":
            work.cell("level2-code")["source"] = crash
            work.raw = b'{"nbformat": 4' if waits else None
        work.hand_in()
        assert grade("level2", Wishes()) == 0
        marks = graded.marks("level2", "ann")
        scores.append(sum(score for score, _, _ in marks.values()))
        assert all(waiting for _, _, waiting in marks.values()) == (waits and source != "good")
        assert f"{scores[-1]:g} / 14" in graded.page("level2", "ann")
    assert scores[0] == scores[2] == 14.0
    assert scores[1] <= 4.0  # what is written in words is still there
