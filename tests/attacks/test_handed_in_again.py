"""Who hands in again something that crashes keeps nothing of the old mark; who mends it gets the new one."""

from pathlib import Path

import pytest
from attack import Work
from attacked_class import Graded, course, notebook

from grader.classroom.grade_command import Wishes, grade

CRASHES = {"ends": "import os\nos._exit(0)", "hangs": "while True: pass", "torn": ""}


def test_a_crash_keeps_no_old_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course(tmp_path, ("level2",))
    monkeypatch.chdir(tmp_path)
    graded = Graded(tmp_path)
    scores: dict[str, list[float]] = {student: [] for student in CRASHES}
    for good in (True, False, True):
        for student, crash in CRASHES.items():
            place = tmp_path / "classroom/submitted" / student / "level2"
            place.mkdir(parents=True, exist_ok=True)
            work = Work(tmp_path, place, "level2", notebook("level2", solved=True))
            if not good:
                work.cell("level2-code")["source"] = crash
                work.raw = None if crash else b'{"nbformat": 4'
            work.hand_in()
        assert grade("level2", Wishes()) == 0
        for student, crash in CRASHES.items():
            marks = graded.marks("level2", student)
            scores[student].append(sum(score for score, _, _ in marks.values()))
            assert all(waiting for _, _, waiting in marks.values()) == (not crash and not good)
            assert f"{scores[student][-1]:g} / 14" in graded.page("level2", student)
    for first, crashed, mended in scores.values():
        assert first == mended == 14.0
        assert crashed <= 4.0  # what is written in words is still there
