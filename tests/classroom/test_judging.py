"""A verdict becomes exactly its points: nbgrader's own reading of the cell, and the gradebook."""

import logging
import math
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from class_to_grade import Class, SayingJudge
from nbgrader.utils import determine_grade

from grader.classroom import FAILED, judging
from grader.classroom.judging import gradable, verdict_html, verdict_text, write_verdict
from grader.verdict import Text, Verdict

WORDS = Text("The file was torn at line 12.", "文件在第 12 行被撕裂。")


def cell(points: float) -> Any:
    made = nbformat.v4.new_code_cell('check("level2-atomic")', id="level2-atomic")
    marks = {"grade_id": "level2-atomic", "grade": True, "solution": False, "locked": True, "points": points}
    made.metadata["nbgrader"] = nbformat.from_dict({**marks, "schema_version": 3, "task": False})
    return made


@pytest.mark.parametrize(
    ("met", "points"), [(True, 4.0), (False, 0.0), (False, 1.0), (False, 2.5), (False, 1 / 3), (False, 1e-9)]
)
def test_nbgrader_reads_exactly_the_points_of_the_verdict(met: bool, points: float) -> None:
    made = cell(4)
    write_verdict(made, Verdict("level2-atomic", met, points, 4.0, WORDS))
    assert determine_grade(made) == (points, 4.0)


@pytest.mark.parametrize("points", [math.nan, math.inf, -1.0, 4.5, -math.inf])
@pytest.mark.parametrize("met", [True, False])
def test_points_that_make_no_sense_wait_for_a_person(met: bool, points: float) -> None:
    assert gradable(Verdict("level2-atomic", met, points, 4.0, WORDS), 4.0).met is None


def test_met_means_full_points() -> None:
    assert gradable(Verdict("level2-atomic", True, 3.0, 4.0, WORDS), 4.0).met is None


def test_a_verdict_reads_in_both_languages_and_escapes_what_a_learner_wrote() -> None:
    evil = Text("line <script>alert(1)</script>", "第 <script>alert(1)</script> 行")
    verdict = Verdict("level2-atomic", None, 0.0, 4.0, evil, suggested=2.0, picture_text="old | new")
    page = verdict_html(verdict)
    assert "<script" not in page
    assert "Suggested: 2 of 4 points." in page and "建议：2 / 4 分。" in page
    assert verdict_text(verdict).splitlines()[0] == "level2-atomic: waits for a person"
    assert "old | new" in verdict_text(verdict)


def test_each_kind_of_verdict_reaches_the_gradebook(a_class: Class, judge: SayingJudge) -> None:
    judge.special = {
        "level2-hazard-overwrite": Verdict("level2-hazard-overwrite", None, 0.0, 2.0, WORDS, suggested=2.0),
        "level2-hazard-no-point-a": Verdict("level2-hazard-no-point-a", False, 0.0, 2.0, WORDS),
        "level2-point-a": Verdict("level2-point-a", False, 1.5, 3.0, WORDS),
    }
    a_class.hand_in("ann", a_class.release())
    assert a_class.grade("ann") == {
        "level2-hazard-overwrite": (0.0, None, True),
        "level2-hazard-no-point-a": (0.0, 0.0, False),
        "level2-atomic": (4.0, 4.0, False),
        "level2-point-a": (1.5, 1.5, False),
        "level2-runs": (3.0, 3.0, False),
    }
    assert len(judge.seen) == 1
    with a_class.course.gradebook() as gradebook:
        comment = gradebook.find_comment("level2-hazards", "level2", "level2", "ann")
        assert "No response" in comment.auto_comment or "Suggested: 2 of 2" in comment.auto_comment


def test_the_suggested_mark_is_the_comment_on_a_written_answer(
    a_class: Class, judge: SayingJudge, cell_of: Callable[[dict[str, Any], str], dict[str, Any]]
) -> None:
    name = "level2-hazard-overwrite"
    judge.special = {name: Verdict(name, None, 0.0, 2.0, WORDS, suggested=2.0)}
    work = a_class.release()
    cell_of(work, "level2-hazards")["source"] = 'hazard_1 = "torn, and the old one gone"\nhazard_2 = ""'
    a_class.hand_in("ann", work)
    a_class.grade("ann")
    with a_class.course.gradebook() as gradebook:
        comment = gradebook.find_comment("level2-hazards", "level2", "level2", "ann")
        first, why, *scheme = comment.auto_comment.splitlines()
        assert first == f"{name}: waits for a person. Suggested: 2 of 2 points."
        assert why == WORDS.en
        assert scheme[0] == "Mark scheme:" and len(scheme) == 3 and all(line.startswith("- 1: ") for line in scheme[1:])
    page = a_class.page("ann").read_text(encoding="utf-8")
    assert "waits for a person" in page
    with a_class.course.gradebook() as gradebook:
        grade = gradebook.find_grade(name, "level2", "level2", "ann")
        grade.manual_score, grade.needs_manual_grade = 1.0, False
        gradebook.db.commit()
    page = a_class.page("ann").read_text(encoding="utf-8")
    assert "waits for a person" not in page and "Suggested" not in page
    assert "marked by a person: 1 / 2" in page


def test_a_judge_that_fails_leaves_the_submission_to_a_person(a_class: Class, judge: SayingJudge) -> None:
    judge.failure = RuntimeError("worker gone")
    a_class.hand_in("ann", a_class.release())
    assert set(a_class.grade("ann").values()) == {(0.0, None, True)}
    assert a_class.autograded("ann")["metadata"]["crash_course"]["flags"] == [f"{FAILED}RuntimeError: worker gone"]


def test_nbgrader_s_log_says_once_that_there_is_no_sandbox(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("grader.answers.sandbox.notice", lambda: Text("Install bubblewrap.", "请安装 bubblewrap。"))
    log = logging.getLogger("a run of nbgrader autograde")
    for _ in range(2):
        judging._warn(log)
    assert [record.getMessage() for record in caplog.records] == ["Install bubblewrap."]
