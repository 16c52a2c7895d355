"""The class report: counted from the gradebook and the autograded notebooks, safe to open and to import."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from class_to_grade import Class, SayingJudge, saying_judge
from typer.testing import CliRunner

from grader.classroom.folders import Folders, Refused
from grader.classroom.judging import picture_of, verdict_html
from grader.classroom.report import Report, as_data, report_on
from grader.classroom.report_command import as_lines, as_table, reported
from grader.classroom.report_page import report_page, write_report
from grader.cli import main
from grader.crash.report import width_of
from grader.verdict import Text, Verdict
from grader.words import use_language

ATTACK = "<script>alert(1)</script>"


def not_met(name: str, most: float, what: str, kind: str, picture: str | None = None) -> Verdict:
    return Verdict(name, False, 0.0, most, Text(what, f"没有：{what}", kind), picture=picture)


@pytest.fixture(scope="module")
def graded_once(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ann has all, Bob and Cy the same fault at different lines, Di waits, Eve's file can't be read, Fay is new."""
    folder = Path(shutil.copytree(released, tmp_path_factory.mktemp("report") / "my class"))
    with pytest.MonkeyPatch.context() as patched:
        return _graded(Class(folder), saying_judge(patched)).folder


@pytest.fixture
def graded(graded_once: Path, tmp_path: Path) -> Class:
    """A copy of that class, to change."""
    return Class(Path(shutil.copytree(graded_once, tmp_path / "my class")))


def _graded(a_class: Class, judge: SayingJudge) -> Class:
    fault = '<figure class="ccmap">map of {}</figure>'
    work = {
        "ann": {},
        "bob": {"level2-atomic": not_met("level2-atomic", 4, "Killed at line 3.", "in_place", fault.format("bob"))},
        "cy": {
            "level2-atomic": not_met("level2-atomic", 4, "Killed at line 12.", "in_place", fault.format("cy")),
            "level2-runs": not_met("level2-runs", 3, f"It {ATTACK} stopped.", "stopped"),
        },
        "di": {
            "level2-hazard-overwrite": Verdict(
                "level2-hazard-overwrite", None, 0.0, 2.0, Text("Unsure.", "拿不准。"), suggested=1.0, flags=("odd",)
            )
        },
    }
    for student, special in work.items():
        judge.special = dict(special)
        a_class.hand_in(student, a_class.release())
        a_class.grade(student)
    a_class.hand_in("eve", b"{")
    a_class.grade("eve")
    a_class.hand_in("fay", a_class.release())
    return a_class


@pytest.fixture
def report(graded: Class) -> Report:
    return report_on(Folders(graded.folder), "level2")


def test_each_criterion_is_counted_by_state(report: Report) -> None:
    counts = {spread.criterion: dict(spread.counts) for spread in report.spreads}
    assert next(iter(counts)) == "level2-hazard-overwrite"
    assert counts["level2-atomic"] == {"met": 2, "partly": 0, "not": 2, "waits": 1}
    assert counts["level2-hazard-overwrite"] == {"met": 3, "partly": 0, "not": 0, "waits": 2}
    assert report.ungraded == ("fay",)


def test_faults_of_one_kind_are_one_whatever_their_lines(report: Report) -> None:
    first, second = report.faults
    assert (first.kind, first.students, first.example) == ("in_place", ("bob", "cy"), "bob")
    assert first.picture.endswith("map of bob</figure></div>")
    assert (second.kind, second.students) == ("stopped", ("cy",))


def test_the_instructor_is_told_whom_to_look_at_and_why(report: Report) -> None:
    reasons = {look.student: " ".join(reason.en for reason in look.reasons) for look in report.looks}
    assert list(reasons) == ["di", "eve", "bob"]
    assert "level2-hazard-overwrite waits for your mark; suggested: 1 of 2." in reasons["di"] and "odd" in reasons["di"]
    assert "can't be read" in reasons["eve"]
    assert reasons["bob"] == "One criterion short: level2-atomic (0 of 4)."


def test_a_persons_mark_counts(graded: Class) -> None:
    with graded.course.gradebook() as gradebook:
        grade = gradebook.find_grade("level2-hazard-overwrite", "level2", "level2", "di")
        grade.manual_score, grade.needs_manual_grade = 2.0, False
        gradebook.db.commit()
    report = report_on(Folders(graded.folder), "level2")
    assert next(one for one in report.submissions if one.student == "di").score == 14.0
    assert "di" not in [look.student for look in report.looks if "waits" in look.reasons[0].en]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_terminals_report_fits_its_columns(report: Report, lang: str) -> None:
    use_language(lang)
    try:
        lines = as_lines(report)
    finally:
        use_language(None)
    assert max(map(width_of, lines)) <= 80
    assert any("2 × level2-atomic" in line for line in lines)


def test_the_page_runs_nothing_and_fetches_nothing(report: Report) -> None:
    page = report_page(report)
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "http:" not in page and "https:" not in page and "src=" not in page
    assert "default-src 'none'" in page
    assert "map of bob" in page and "map of cy" not in page


def test_the_page_lies_beside_the_graded_work_and_leads_to_the_feedback(graded: Class) -> None:
    graded.page("bob")
    folders = Folders(graded.folder)
    path = write_report(folders, report_on(folders, "level2"))
    assert path == graded.folder / "classroom" / "report" / "level2.html"
    assert 'href="../feedback/bob/level2/level2.html"' in path.read_text(encoding="utf-8")
    assert (path.parent / "../feedback/bob/level2/level2.html").is_file()
    assert [each.name for each in path.parent.iterdir()] == ["level2.html"]


def test_the_csv_is_safe_to_open_and_leaves_open_marks_empty(graded: Class, judge: SayingJudge) -> None:
    judge.special = {}
    for student in ("=cmd|calc", "+1", "@sum", "-2"):
        graded.hand_in(student, graded.release())
        graded.grade(student)
    rows = list(csv.reader(io.StringIO(as_table(report_on(Folders(graded.folder), "level2")))))
    assert rows[0][:4] == ["student", "score", "max_score", "level2-hazard-overwrite"]
    assert [row[0] for row in rows[1:5]] == ["'+1", "'-2", "'=cmd|calc", "'@sum"]
    di = next(row for row in rows if row[0] == "di")
    assert di == ["di", "12", "14", "", "2", "4", "3", "3"]
    eve = next(row for row in rows if row[0] == "eve")
    assert eve == ["eve", "", "14", "", "", "", "", ""]  # a 0 would be imported as a mark


def test_the_csv_takes_no_other_files_place(graded: Class, tmp_path: Path) -> None:
    table = tmp_path / "marks.csv"
    reported(graded.folder, "level2", table)
    reported(graded.folder, "level2", table)
    notes = tmp_path / "notes.csv"
    notes.write_text("mine")
    with pytest.raises(Refused, match="no table of marks"):
        reported(graded.folder, "level2", notes)
    assert notes.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["marks.csv", "notes.csv"]


def test_the_csv_says_whose_marks_are_not_all_in_it(graded: Class, tmp_path: Path) -> None:
    *_, said = " ".join(reported(graded.folder, "level2", tmp_path / "marks.csv")).split("CSV: ")
    assert "Marks wait for a person in the work of di, eve." in said
    with pytest.raises(Refused) as refusal:
        reported(graded.folder, "level2", tmp_path / "nowhere" / "marks.csv")
    assert refusal.value.text.en.startswith(f"{tmp_path}/nowhere/marks.csv can't be written (No such file")


def test_the_mean_score_is_of_those_whose_marks_are_settled(report: Report) -> None:
    assert report.summary.en == "5 submissions graded; 3 with all marks settled, mean score 10.3 of 14."


def test_a_timestamp_that_can_not_be_read_is_looked_at(graded: Class) -> None:
    (graded.folder / "classroom/submitted/ann/level2/timestamp.txt").write_text("yesterday")
    looks = report_on(Folders(graded.folder), "level2").looks
    (ann,) = [look for look in looks if look.student == "ann"]
    assert [reason.en for reason in ann.reasons] == ["Flag: timestamp can't be read"]


def test_json_says_the_same(graded: Class, report: Report) -> None:
    (text,) = reported(graded.folder, "level2", as_json=True)
    data = json.loads(text)
    assert Path(data.pop("page")).is_file()
    assert data == json.loads(json.dumps(as_data(report)))
    assert data["faults"][0]["students"] == ["bob", "cy"]
    assert data["criteria"][2]["not_met"] == 2


def test_what_stands_in_the_way_is_one_sentence(
    a_class: Class, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRASH_COURSE_LANG", "en")
    for folder, words, said in (
        (tmp_path, (), "nbgrader_config.py"),
        (a_class.folder, (), "No submission is in the gradebook"),
        (a_class.folder, ("level2",), "`crash-course grade level2` puts them there"),
        (a_class.folder, ("lvel2",), "There is no exercise lvel2 in this course; it has level2"),
        (a_class.folder, ("level2", "--lang", "fr"), "fr"),
    ):
        monkeypatch.chdir(folder)
        done = CliRunner().invoke(main, ["report", *words])
        assert done.exit_code == 2 and done.stdout == ""
        assert len(done.stderr.strip().splitlines()) == 1 and said in done.stderr



def test_a_picture_is_taken_out_of_a_verdict_whole() -> None:
    picture = '<div class="ccmap"><details lang="en"><summary>x</summary></details></div>'
    verdict = not_met("level2-runs", 3, "It stopped.", "stopped", picture)
    assert picture in picture_of(verdict_html(verdict))
    assert "It stopped" not in picture_of(verdict_html(verdict))
    assert "ccmap" not in picture_of(verdict_html(not_met("level2-runs", 3, "It stopped.", "stopped")))
