"""What stands in the way of grading is one sentence; what a learner hands in never does."""

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from class_to_grade import CHECKOUT, Class, SayingJudge
from inline import Inline
from whole_class import database, files, gradebook, make_class, read, write

from grader.classroom import grade_command, writer
from grader.classroom.batch import Batch
from grader.classroom.crew import Crew, Done
from grader.classroom.folders import Folders
from grader.classroom.grade_command import Wishes, grade
from grader.classroom.grading import JudgeJob, Setting
from grader.classroom.handed_in import handed_in
from grader.verdict import Text, Verdict
from grader.words import use_language


@pytest.fixture
def course(
    a_class: Class, judge: SayingJudge, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Class:
    """A class to whom the judge gives every point, graded in this process."""
    monkeypatch.setattr(grade_command, "Crew", Inline)
    monkeypatch.setattr(grade_command.sandbox, "notice", lambda: None)
    monkeypatch.chdir(a_class.folder)
    return a_class


@pytest.fixture
def chinese() -> Iterator[None]:
    use_language("zh")
    yield
    use_language(None)


def one_sentence(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what the command said, which is one line and not a traceback."""
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.strip().splitlines()
    assert len(lines) == 1, said.err
    assert "Traceback" not in lines[0]
    return lines[0]


def marks(folder: Path, student: str) -> dict[str, Any]:
    """Return the automatic score of each criterion."""
    with database(folder) as connection:
        rows = connection.execute(
            """select base_cell.name, auto_score from grade join base_cell on base_cell.id = cell_id
            join submitted_notebook on submitted_notebook.id = grade.notebook_id join submitted_assignment
            on submitted_assignment.id = submitted_notebook.assignment_id where student_id = ?""",
            (student,),
        ).fetchall()
    connection.close()
    return dict(rows)


# ------------------------------------------------------------------------------------- in the way


def test_an_exercise_that_is_not_there(course: Class, capsys: pytest.CaptureFixture[str]) -> None:
    assert grade("level9", Wishes()) == 2
    assert one_sentence(capsys) == "There is no exercise level9 in this course; it has level2."


def test_nobody_has_handed_in(course: Class, capsys: pytest.CaptureFixture[str]) -> None:
    assert grade("level2", Wishes()) == 2
    assert "Nobody has handed in level2" in one_sentence(capsys)


def test_a_student_who_has_not(course: Class, capsys: pytest.CaptureFixture[str]) -> None:
    write(course.folder, "ada", course.release())
    assert grade("level2", Wishes(students=("ada", "zoe"))) == 2
    assert "zoe has not handed in level2" in one_sentence(capsys)


def test_not_in_a_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert grade("level2", Wishes()) == 2
    assert "nbgrader_config.py" in one_sentence(capsys)


def test_below_the_course_is_in_the_course(course: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    write(course.folder, "ada", course.release())
    monkeypatch.chdir(course.folder / "classroom/submitted/ada")
    assert grade("level2", Wishes()) == 0


def test_a_configuration_that_does_not_load(course: Class, capsys: pytest.CaptureFixture[str]) -> None:
    (course.folder / "nbgrader_config.py").write_text("c = get_config(\n")
    assert grade("level2", Wishes()) == 2
    assert "can't be loaded (SyntaxError" in one_sentence(capsys)


def test_steps_of_ones_own(course: Class, capsys: pytest.CaptureFixture[str]) -> None:
    with (course.folder / "nbgrader_config.py").open("a") as config:
        config.write("\nc.Autograde.autograde_preprocessors = [JudgeCriteria, SaveGrades]\n")
    assert grade("level2", Wishes()) == 2
    assert "Autograde.autograde_preprocessors" in one_sentence(capsys)


def test_a_locked_gradebook(
    course: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], chinese: None
) -> None:
    write(course.folder, "ada", course.release())
    monkeypatch.setattr(writer, "PATIENCE", 0.1)
    holder = database(course.folder)
    holder.execute("begin exclusive")
    assert grade("level2", Wishes()) == 2
    assert "占用着成绩册" in one_sentence(capsys)
    holder.rollback()
    holder.close()
    assert grade("level2", Wishes()) == 0


def test_a_gradebook_locked_in_the_middle(
    course: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(course.folder, "ada", course.release())
    monkeypatch.setattr(writer, "PATIENCE", 0.1)
    holder = database(course.folder)
    enter = writer.Writer.enter

    def locked(self: writer.Writer, entries: Any) -> Any:
        holder.execute("begin immediate")
        return enter(self, entries)

    monkeypatch.setattr(writer.Writer, "enter", locked)
    assert grade("level2", Wishes()) == 2
    assert "Another program holds the gradebook" in one_sentence(capsys)
    holder.close()
    monkeypatch.undo()
    assert marks(course.folder, "ada") == {}


def test_a_file_that_is_no_gradebook(course: Class, capsys: pytest.CaptureFixture[str]) -> None:
    write(course.folder, "ada", course.release())
    (course.folder / "classroom/gradebook.db").write_bytes(b"something else altogether" * 100)
    assert grade("level2", Wishes()) == 2
    assert "file is not a database" in one_sentence(capsys)


def test_a_full_disk_under_the_notebooks(
    course: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(course.folder, "ada", course.release())
    before = gradebook(course.folder)
    real = Path.write_text

    def full(self: Path, text: str, *rest: Any, **more: Any) -> int:
        real(self, text[: len(text) // 2], *rest, **more)
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        assert grade("level2", Wishes()) == 2
    assert "The disk is full" in one_sentence(capsys)
    assert gradebook(course.folder) == before
    assert grade("level2", Wishes()) == 0
    assert marks(course.folder, "ada")["level2-atomic"] == 4


def test_a_full_disk_under_the_gradebook(
    course: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(30):
        write(course.folder, f"student-{number:02}", course.release())
    before = gradebook(course.folder)
    real = writer._own_transactions

    def small(connection: Any, record: Any) -> None:
        real(connection, record)
        pages = connection.execute("pragma page_count").fetchone()[0]
        connection.execute(f"pragma max_page_count = {pages}")

    with monkeypatch.context() as patch:
        patch.setattr(writer, "_own_transactions", small)
        assert grade("level2", Wishes()) == 2
    assert "The disk is full" in one_sentence(capsys)
    assert gradebook(course.folder) == before
    assert grade("level2", Wishes()) == 0
    assert len(gradebook(course.folder)["submitted_assignment"]) == 30


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on the size of files")
def test_the_real_command_on_a_disk_that_takes_no_more(a_class: Class) -> None:
    write(a_class.folder, "ada", read(CHECKOUT / "solutions/level2/level2.ipynb"))
    before = gradebook(a_class.folder)
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)); from grader.cli import main; main()"
    )
    command = [sys.executable, "-c", limited, "grade", "level2"]
    done = subprocess.run(command, cwd=a_class.folder, capture_output=True, text=True)
    assert done.returncode == 2
    assert "The disk is full" in done.stderr and "Traceback" not in done.stderr
    assert gradebook(a_class.folder) == before


def test_two_at_once(course: Class, capsys: pytest.CaptureFixture[str]) -> None:
    write(course.folder, "ada", course.release())
    with Folders(course.folder).alone():
        assert grade("level2", Wishes()) == 2
    assert "Another `crash-course grade` is at work" in one_sentence(capsys)


def test_a_sandbox_required_and_not_there(
    course: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(course.folder, "ada", course.release())
    monkeypatch.setattr(grade_command.sandbox, "why_not", lambda: Text("bwrap is not here", "没有 bwrap"))
    assert grade("level2", Wishes(sandbox=True)) == 2
    assert "bwrap is not here" in one_sentence(capsys)


def test_a_gradebook_from_nothing(course: Class, capsys: pytest.CaptureFixture[str]) -> None:
    write(course.folder, "ada", course.release())
    (course.folder / "classroom/gradebook.db").unlink()
    release = files(course.folder / "exercises")
    assert grade("level2", Wishes()) == 0
    assert "level2 was not in the gradebook yet" in capsys.readouterr().err
    assert marks(course.folder, "ada")["level2-atomic"] == 4
    assert files(course.folder / "exercises") == release


# ----------------------------------------------------------------------------------- what comes in


def test_whatever_lies_among_the_submissions(course: Class, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    submitted = course.folder / "classroom/submitted"
    write(course.folder, "ada", course.release())
    (submitted / "notes.zip").write_bytes(b"PK")
    (submitted / ".DS_Store").write_bytes(b"")
    (submitted / "bo").mkdir()
    (submitted / "bo/level2").write_text("a file")
    (submitted / "chen/level2").mkdir(parents=True)
    (submitted / "dana/level2").mkdir(parents=True)
    (submitted / "dana/level2/my level2.ipynb").write_text("{}")
    (submitted / "emil/level2/level2.ipynb").mkdir(parents=True)
    (submitted / "fatou/level2").mkdir(parents=True)
    (submitted / "fatou/level2/level2.ipynb").symlink_to(submitted / "ada/level2/level2.ipynb")
    (submitted / "goran/level2").mkdir(parents=True)
    os.mkfifo(submitted / "goran/level2/level2.ipynb")
    (submitted / "loop").symlink_to(submitted / "loop")
    write(course.folder, "O'Brien; drop table grade --", course.release())
    write(course.folder, "[x]*(?P<a>", course.release())
    os.makedirs(os.fsencode(submitted) + b"/\xff\xfe/level2")
    write(course.folder, "hana", course.release())
    os.mkfifo(submitted / "hana/level2/timestamp.txt")
    write(course.folder, "ivo", course.release())
    (submitted / "ivo/level2/timestamp.txt").write_text("the day before yesterday")
    os.mkfifo(submitted / "ivo/level2/data")
    assert grade("level2", Wishes(), as_json=True) == 0
    said = capsys.readouterr()
    data = {one["student"]: one for one in grade_json(said.out)}
    full = {name for name, one in data.items() if one["score"] == one["max_score"]}
    assert full == {"ada", "hana", "ivo", "O'Brien; drop table grade --", "[x]*(?P<a>"}
    waits = {name for name, one in data.items() if all(each["met"] is None for each in one["criteria"])}
    assert waits == {"chen", "dana", "emil", "fatou", "goran"}
    assert "my level2.ipynb" in data["dana"]["criteria"][0]["message"]
    assert data["hana"]["flags"] == data["ivo"]["flags"] == ["timestamp can't be read"]
    aside = [line for line in said.err.splitlines() if line.startswith("Left aside")]
    assert len(aside) == 4, aside


def grade_json(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["submissions"]
    return found


def test_a_resubmission_that_takes_the_grader_down_keeps_no_old_score(
    course: Class, capsys: pytest.CaptureFixture[str]
) -> None:
    write(course.folder, "ada", course.release())
    assert grade("level2", Wishes(pages=False)) == 0
    assert marks(course.folder, "ada")["level2-atomic"] == 4

    class Dying(Inline):
        def take(self) -> list[Done]:
            job = self.waiting.popleft()
            return [Done(job, None, "the process that judged it ended, twice", Text("It ended.", "它结束了。"))]

    folders = Folders(course.folder)
    book = writer.Writer(folders.db_url, folders.penalty)
    courses = book.exercise("level2")
    write(course.folder, "ada", read(CHECKOUT / "solutions/level2/level2.ipynb"))
    batch = Batch(folders, "level2", courses, book, Dying(1, Setting("en", "auto")), pages=False)
    (graded,) = batch.run(handed_in(folders.submitted, "level2")[0])
    book.close()
    assert set(marks(course.folder, "ada").values()) == {None}
    assert any("the judge failed" in flag for flag in graded.flags)
    assert grade("level2", Wishes(pages=False)) == 0  # the grader repaired, it is judged again of itself
    assert marks(course.folder, "ada")["level2-atomic"] == 4


class Bomb:
    """Ends the process that opens it."""

    def __reduce__(self) -> Any:
        return os._exit, (7,)


def test_a_process_that_dies_takes_only_its_own_submission_along(a_class: Class) -> None:
    folders = Folders(a_class.folder)
    book = writer.Writer(folders.db_url, folders.penalty)
    (notebook,) = book.exercise("level2")
    book.close()
    crew = Crew(2, Setting("en", "auto"))
    jobs = [JudgeJob(f"student {number}", notebook, b"{}", "") for number in range(6)]
    bomb = JudgeJob("bomb", Bomb(), b"", "")  # type: ignore[arg-type]
    for job in (*jobs[:3], bomb, *jobs[3:]):
        crew.put(job)
    done = {}
    while crew.busy:
        done.update({each.job.student: each for each in crew.take()})
    crew.close()
    assert all(done[job.student].result is not None for job in jobs)
    assert done["bomb"].result is None and "twice" in done["bomb"].failure


# ------------------------------------------------------------------------- the gradebook was changed


def test_what_others_did_to_the_gradebook_and_the_files_is_put_right(
    course: Class, judge: SayingJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    make_class(course.folder, ("ada", "dana", "nour"))
    assert grade("level2", Wishes()) == 0
    whole, notebooks = gradebook(course.folder), files(course.folder / "classroom/autograded")
    judged = len(judge.seen)
    with database(course.folder) as connection:
        connection.execute("delete from grade where rowid % 3 = 0")
        connection.execute("update grade set auto_score = 1000 where rowid % 3 = 1")
        connection.execute("delete from comment where rowid % 2 = 0")
        connection.execute("update comment set auto_comment = 'No response.'")
    connection.close()
    assert grade("level2", Wishes()) == 0
    assert gradebook(course.folder) == whole
    assert len(judge.seen) == judged
    for name, change in (("ada", b""), ("dana", b"{"), ("tagged", None)):
        path = course.folder / f"classroom/autograded/{name}/level2/level2.ipynb"
        path.unlink()
        if change is not None:
            path.write_bytes(change)
    shutil.rmtree(course.folder / "classroom/feedback/ada")
    assert grade("level2", Wishes()) == 0
    assert gradebook(course.folder) == whole
    assert files(course.folder / "classroom/autograded") == notebooks
    assert (course.folder / "classroom/feedback/ada/level2/level2.html").is_file()
    assert len(judge.seen) == judged + 3


def test_a_person_s_mark_stays_and_makes_a_new_page(course: Class, judge: SayingJudge) -> None:
    write(course.folder, "ada", course.release())
    judge.special["level2-atomic"] = Verdict("level2-atomic", None, 0.0, 4.0, Text("See.", "看。"), suggested=3.0)
    assert grade("level2", Wishes()) == 0
    page = course.folder / "classroom/feedback/ada/level2/level2.html"
    before = page.read_text(encoding="utf-8")
    with database(course.folder) as connection:
        connection.execute("update grade set manual_score = 2.5, needs_manual_grade = 0 where auto_score is null")
    connection.close()
    assert grade("level2", Wishes()) == 0
    rows = [row for row in gradebook(course.folder)["grade"] if row["manual_score"] is not None]
    assert [(row["manual_score"], row["auto_score"], row["needs_manual_grade"]) for row in rows] == [(2.5, None, 0)]
    assert page.read_text(encoding="utf-8") != before


def test_a_deadline_set_afterwards_counts(course: Class) -> None:
    with (course.folder / "nbgrader_config.py").open("a") as config:
        config.write("\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    write(course.folder, "ada", course.release())
    (course.folder / "classroom/submitted/ada/level2/timestamp.txt").write_text("2026-03-02 12:00:00 UTC")
    assert grade("level2", Wishes()) == 0
    assert [row["late_submission_penalty"] for row in gradebook(course.folder)["submitted_notebook"]] == [None]
    with course.course.gradebook() as book:
        book.update_or_create_assignment("level2", duedate="2026-03-01 12:00:00")
    assert grade("level2", Wishes()) == 0
    assert [row["late_submission_penalty"] for row in gradebook(course.folder)["submitted_notebook"]] == [14]


def test_a_person_s_mark_that_is_to_be_confirmed_waits_as_in_formgrader(
    course: Class, judge: SayingJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    write(course.folder, "ada", course.release())
    write(course.folder, "bo", course.release())
    judge.special["level2-atomic"] = Verdict("level2-atomic", None, 0.0, 4.0, Text("See.", "看。"), suggested=3.0)
    assert grade("level2", Wishes(students=("ada",))) == 0
    with database(course.folder) as connection:
        connection.execute("update grade set manual_score = 2.5, needs_manual_grade = 0 where auto_score is null")
    connection.close()
    judge.special.clear()
    assert grade("level2", Wishes(students=("bo",))) == 0
    capsys.readouterr()
    assert grade("level2", Wishes()) == 0
    assert "level2-atomic               1       1        0      0  3.2/4" in capsys.readouterr().out
    judge.special["level2-atomic"] = Verdict("level2-atomic", None, 0.0, 4.0, Text("See.", "看。"), suggested=3.0)
    assert grade("level2", Wishes(students=("ada",), force=True)) == 0
    assert "level2-atomic               0       0        0      1    -/4" in capsys.readouterr().out
    assert grade("level2/", Wishes()) == 0
    said = capsys.readouterr()
    assert "level2-atomic               1       0        0      1  4.0/4" in said.out  # the mean of what is settled
    assert "wait for a person: 1." in said.out
    assert said.err == ""


def test_points_that_the_gradebook_does_not_know_yet(course: Class, capsys: pytest.CaptureFixture[str]) -> None:
    write(course.folder, "ada", course.release())
    assert grade("level2", Wishes()) == 0
    capsys.readouterr()
    with database(course.folder) as connection:
        connection.execute("update grade_cells set max_score = 9 where max_score = 4")
    connection.close()
    assert grade("level2", Wishes(force=True)) == 2
    said = one_sentence(capsys)
    assert "gives 9 points for level2-atomic and the course 4" in said and "generate_assignment level2 --force" in said


def test_the_language_of_the_command_and_the_pages_may_be_given(
    course: Class, capsys: pytest.CaptureFixture[str]
) -> None:
    write(course.folder, "ada", course.release())
    assert grade("level2", Wishes(), lang="fr") == 2
    assert "no language fr" in one_sentence(capsys)
    try:
        assert grade("level2", Wishes(), lang="zh") == 0
    finally:
        use_language(None)
    assert "反馈页" in capsys.readouterr().out
    page = course.folder / "classroom/feedback/ada/level2/level2.html"
    assert 'lang="zh' in page.read_text(encoding="utf-8")
