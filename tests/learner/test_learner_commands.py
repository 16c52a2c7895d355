"""A learner at the command line: begin, check, see how far, get hints, start again, keep notes, compare."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from grader.criteria import criteria
from grader.learner.folder import named
from tests.learner.conftest import ROOT, Command, hand_in


def test_init_gives_everything_but_solutions(folder: Path) -> None:
    lessons = sorted(path.stem for path in folder.glob("lessons/*.ipynb"))
    assert len(lessons) == 10 and lessons[0] == "01_what_a_crash_takes"
    assert sorted(path.stem for path in folder.glob("exercises/*/*.ipynb")) == ["level1", "level2", "level3", "level4"]
    text = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.ipynb"))
    assert '"consequence=\\"format-unknown' not in text and not list(folder.rglob("*solution*"))
    assert "crash-course progress" in (folder / "README.md").read_text(encoding="utf-8")


def test_init_again_adds_what_is_missing_and_keeps_what_is_there(folder: Path, command: Command) -> None:
    mine = folder / "exercises/level1/level1.ipynb"
    mine.write_text("my work")
    (folder / "lessons/03_one_step_at_a_time.ipynb").unlink()
    again = command("init", str(folder))
    assert again.exit_code == 0 and "Added: lessons/03_one_step_at_a_time.ipynb." in again.stdout
    assert mine.read_text() == "my work" and (folder / "lessons/03_one_step_at_a_time.ipynb").is_file()


def test_init_speaks_chinese_and_gives_the_chinese_notebooks(tmp_path: Path, command: Command) -> None:
    done = command("init", str(tmp_path / "zh"), "--lang", "zh")
    assert "放好了" in done.stdout
    assert "存档" in (tmp_path / "zh/exercises/level2/level2.ipynb").read_text(encoding="utf-8")
    assert "我的 agent" in (tmp_path / "zh/README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("where", ["a file", "the clone"])
def test_init_refuses_in_one_sentence(tmp_path: Path, command: Command, where: str) -> None:
    place = tmp_path / "here"
    if where == "a file":
        place.write_text("")
    else:
        (place / "solutions").mkdir(parents=True)
        (place / "nbgrader_config.py").touch()
    done = command("init", str(place))
    assert done.exit_code == 2 and len(done.stderr.strip().splitlines()) == 1


def test_check_remembers_and_progress_shows_it(folder: Path, command: Command) -> None:
    before = command("progress")
    assert before.exit_code == 1 and "[ ] level2" in before.stdout
    assert "Next: lessons/01_what_a_crash_takes.ipynb, What a crash takes." in before.stdout
    hand_in(folder, "level2")
    checked = command("check", "level2")
    assert checked.exit_code == 0 and "crash-course solution level2" in re.sub(r"\s+", " ", checked.stdout)
    after = command("progress")
    assert "[x] level2" in after.stdout and "[x] level2-atomic" in after.stdout
    rows = {row["name"]: row for row in json.loads(command("progress", "--json").stdout)["items"]}
    assert (rows["level2"]["done"], rows["level2"]["of"]) == (5, 5) and rows["level1"]["done"] == 0
    assert all(len(line) <= 80 for line in after.stdout.splitlines())


def test_what_comes_next_is_where_the_learner_left_off(folder: Path, command: Command) -> None:
    command("check", "level2")
    assert "Next: level2-hazard-overwrite" in command("progress").stdout
    assert "level2-hazard-overwrite" in command("hint").stdout
    hand_in(folder, "level2")
    assert command("check").exit_code == 0, "with nothing named, the level that the learner is at is checked"
    assert "Next: lessons/07_resume.ipynb, Resume." in command("progress").stdout
    assert "level3-design" in command("hint").stdout


def test_progress_shows_points_hints_and_what_was_hard(folder: Path, command: Command) -> None:
    command("hint", "level2-atomic", "--more")
    hand_in(folder, "level2")
    command("check", "level2")
    command("note", "5", "fsync the directory", "--hard")
    shown = command("progress").stdout
    assert "0 of 31 cells, 14 of 47 points" in shown
    (line,) = [line for line in shown.splitlines() if "level2-atomic" in line]
    assert line.endswith("hints 2 of 3, 4 of 4 points")
    assert re.search(r"What was hard:\n  05 +fsync the directory", shown)
    (row,) = [row for row in json.loads(command("progress", "--json").stdout)["items"] if row["name"] == "level2"]
    assert row["criteria"][2] == {"id": "level2-atomic", "met": True, "points": 4.0, "max_points": 4.0, "hints": 2}


def test_an_open_criterion_comes_with_the_way_to_its_hint(folder: Path, command: Command) -> None:
    done = command("check", "level1")
    assert done.exit_code == 1 and "crash-course hint level1-fields" in re.sub(r"\s+", " ", done.stdout)


def test_hints_come_one_at_a_time_and_are_remembered(folder: Path, command: Command) -> None:
    first = command("hint", "level2-atomic").stdout
    assert "1/3" in first and "2/3" not in first
    assert command("hint", "level2-atomic").stdout == first
    second = command("hint", "level2-atomic", "--more").stdout
    assert "2/3" in second and "3/3" not in second
    command("hint", "level2-atomic", "--more")
    last = command("hint", "level2-atomic", "--more").stdout
    assert "3/3" in last and "the last one" in last


def test_without_a_folder_hints_can_still_be_had_one_by_one(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.learner import hints

    monkeypatch.chdir(tmp_path)
    for asked, last in (((), "1/3"), (("--more",), "2/3"), (("--more", "--more"), "3/3")):
        monkeypatch.setattr(hints, "_shown", {})  # each command is a process of its own
        shown = command("hint", "level2-atomic", *asked).stdout
        assert re.findall(r"\d/3", shown)[-1] == last


def test_no_first_hint_gives_an_answer_away() -> None:
    for criterion in criteria().values():
        for hint in criterion.hints[:1]:
            assert "os.replace" not in hint.en and "pendingToolUse = " not in hint.en, criterion.id


@pytest.mark.parametrize(
    ("word", "meant"), [("level2", "level2"), ("5", "05_writes_that_survive"), ("lesson05", "05_writes_that_survive")]
)
def test_a_word_means_a_lesson_or_a_level(word: str, meant: str) -> None:
    item = named(word)
    assert item is not None and item.name == meant


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("hint", "level2-atomc"), "do you mean level2-atomic?"),
        (("hint", "zzz"), "There is no criterion zzz"),
        (("note", "77", "x"), "There is no lesson or level 77"),
        (("note", "5", "  "), "The note is empty"),
        (("reset", "nothing.ipynb"), "is no notebook of the course"),
        (("reset", "level2", "--cell", "zzz"), "has no cell zzz to give back: it has level2-hazards"),
        (("solution", "5"), "is a lesson and has no solution"),
        (("solution", "level2"), "once all its criteria are met; missing: level2-hazard-overwrite"),
        (("progress", "--lang", "fr"), "There is no language fr"),
        (("check", "nothing.ipynb"), "There is no file nothing.ipynb"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(folder: Path, command: Command, words: tuple[str, ...], says: str) -> None:
    done = command(*words)
    assert done.exit_code == 2 and says in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.output


@pytest.mark.parametrize("words", [("progress",), ("notes",), ("watch",), ("note", "5", "x"), ("solution", "level1")])
def test_outside_a_learners_folder_init_is_named(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command(*words)
    assert done.exit_code == 2 and "crash-course init" in done.stderr


def test_reset_keeps_a_copy_of_every_byte(folder: Path, command: Command) -> None:
    path = hand_in(folder, "level2")
    mine = path.read_bytes()
    given = (folder / "exercises/level1/level1.ipynb").read_bytes()
    done = command("reset", "level2")
    assert done.exit_code == 0
    (copy,) = (folder / "copies").iterdir()
    assert copy.read_bytes() == mine and path.read_bytes() != mine
    assert command("check", "level2").exit_code == 1
    assert (folder / "exercises/level1/level1.ipynb").read_bytes() == given
    assert "nothing was changed" in re.sub(r"\s+", " ", command("reset", "level2").stdout)
    path.write_text("not json at all")
    command("reset", "level2")
    assert sorted(copy.read_text()[:3] for copy in (folder / "copies").iterdir()) == ["not", mine[:3].decode()]
    path.unlink()
    assert command("reset", "level2").exit_code == 0 and path.is_file()


def test_reset_of_one_cell_leaves_the_others(folder: Path, command: Command) -> None:
    path = hand_in(folder, "level2")
    assert command("reset", "level2", "--cell", "level2-code").exit_code == 0
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}
    assert "os.replace" not in cells["level2-code"] and "overwrites checkpoint.json" in cells["level2-hazards"]


def test_notes_go_into_a_file_of_their_own_and_hard_is_remembered(folder: Path, command: Command) -> None:
    lesson = folder / "lessons/05_writes_that_survive.ipynb"
    before = lesson.read_bytes()
    command("note", "5", "fsync the directory too", "--hard")
    command("note", "lesson02", "the cursor is absolute")
    assert lesson.read_bytes() == before
    shown = command("notes").stdout
    assert shown.index("the cursor is absolute") < shown.index("(hard) fsync the directory too")
    assert "the cursor" not in command("notes", "5").stdout
    (line,) = [line for line in command("progress").stdout.splitlines() if "Writes that survive" in line]
    assert line.endswith("(hard)")


def test_the_notebooks_note_and_the_commands_are_one_store(folder: Path, command: Command) -> None:
    from minagent.course import note

    assert note("05_writes_that_survive", "from the notebook").passed
    command("note", "5", "from the shell")
    shown = command("notes", "5").stdout
    assert "from the notebook" in shown and "from the shell" in shown


def test_the_solution_stands_beside_ones_own(folder: Path, command: Command) -> None:
    path = hand_in(folder, "level1")
    path.write_text(path.read_text(encoding="utf-8").replace("by luck", "by sheer luck"), encoding="utf-8")
    if command("check", "level1").exit_code != 0:
        pytest.fail("the answer should be met")
    shown = command("solution", "level1").stdout
    yours, reference = shown.split("-- level1-answer: reference")
    assert "by sheer luck" in yours and "by luck" in reference and "by sheer luck" not in reference


def test_progress_is_whole_after_the_state_is_damaged(folder: Path, command: Command) -> None:
    hand_in(folder, "level2")
    command("check", "level2")
    command("hint", "level1-turns")
    state = folder / ".crash-course.json"
    state.write_bytes(state.read_bytes()[:40])
    shown = command("progress")
    assert "[x] level2" in shown.stdout and "was damaged" in shown.stdout
    again = command("progress")
    assert "[x] level2" in again.stdout and "was damaged" not in again.stdout
    for path in folder.glob(".crash-course.json*"):
        path.write_text("{}")
    assert command("check", "level2").exit_code == 0
    shutil.rmtree(folder / "notes", ignore_errors=True)
    assert command("progress").exit_code == 1


def test_doctor_names_what_is_missing_and_how_to_get_it(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.learner import doctor

    assert command("doctor").exit_code == 0
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    without = command("doctor")
    assert without.exit_code == 0 and "apt install bubblewrap" in without.stdout
    monkeypatch.setattr(doctor, "NEEDED", ("no_such_package",))
    broken = command("doctor")
    assert broken.exit_code == 1 and "missing   the Python package no_such_package" in broken.stdout
    found = json.loads(command("doctor", "--json").stdout)["findings"]
    assert any(not one["there"] and one["needed"] for one in found)


def test_every_command_shows_an_example() -> None:
    from typer.main import get_command

    from grader.cli import main

    for name, one in get_command(main).commands.items():  # type: ignore[attr-defined]
        assert f"crash-course {name}" in (one.help or ""), name


def test_init_says_what_to_type_next_from_an_environment_that_is_not_active(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    place = tmp_path / "my course"
    lines = [line.strip() for line in command("init", str(place)).stdout.splitlines()]
    at = lines.index(f"cd '{place}'")
    assert lines[at - 1].startswith("source ") and lines[at - 1].rstrip("'").endswith("activate")
    assert lines[at + 1] == "jupyter lab"
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert "source" not in command("init", str(tmp_path / "other")).stdout


def test_init_says_which_notebooks_are_not_translated_yet(tmp_path: Path, command: Command) -> None:
    said = command("init", str(tmp_path / "zh"), "--lang", "zh").stdout
    if len(list((ROOT / "translations/zh/lessons").glob("*.ipynb"))) < 10:
        assert "05_writes_that_survive" in said and "其余的课还是英文" in re.sub(r"\s+", "", said)
    assert "译" not in command("init", str(tmp_path / "en")).stdout


@pytest.mark.parametrize("word", ["1", "lesson01", "lessons/01_what_a_crash_takes.ipynb"])
def test_a_lesson_is_checked_in_its_notebook(folder: Path, command: Command, word: str) -> None:
    done = command("check", word)
    assert done.exit_code == 2 and "01_what_a_crash_takes is a lesson" in done.stderr


def test_check_of_an_unknown_level_names_those_that_there_are(folder: Path, command: Command) -> None:
    done = command("check", "level9")
    assert done.exit_code == 2 and "level9: name a notebook that is there, or one of level1, level2" in done.stderr


def test_a_notebook_that_is_gone_or_broken_can_be_given_back(folder: Path, command: Command) -> None:
    path = folder / "exercises/level2/level2.ipynb"
    path.write_text('{"half')
    assert "`crash-course reset level2`" in command("check", "level2").stderr
    path.unlink()
    for words in (("check", "level2"), ("watch", "level2")):
        done = command(*words)
        assert done.exit_code == 2 and "`crash-course reset level2`" in done.stderr and "init" not in done.stderr


def test_from_the_folder_above_the_way_is_named(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    done = command("progress")
    assert done.exit_code == 2 and "cd 'my course'" in done.stderr and "init" not in done.stderr


def test_a_note_that_is_kept_again_is_kept_once(folder: Path, command: Command) -> None:
    from minagent.course import note

    command("note", "5", "fsync the directory")
    assert "has this note already" in re.sub(r"\s+", " ", command("note", "5", "fsync the directory").stdout)
    assert note("5", "fsync the directory").passed, "the notebook's 5 is the shell's"
    assert note("05_writes_that_survive", "two\nlines").passed and note("5", "two\n lines").passed
    command("note", "5", "fsync the directory", "--hard")
    shown = command("notes", "5").stdout
    assert shown.count("fsync the directory") == 2 and shown.count("(hard)") == 1 and shown.count("two") == 1
    assert "no notes on level3 yet" in command("notes", "3").stdout + command("notes", "level3").stdout


def test_the_solution_is_written_as_a_page_that_fetches_nothing(folder: Path, command: Command) -> None:
    path = hand_in(folder, "level1")
    path.write_text(path.read_text(encoding="utf-8").replace("by luck", "by <sheer> luck"), encoding="utf-8")
    command("check", "level1")
    (folder / "mine.html").write_text("my own")
    refused = command("solution", "level1", "--page", "mine.html")
    assert refused.exit_code == 2 and (folder / "mine.html").read_text() == "my own"
    for _ in range(2):  # its own page may be written again
        assert command("solution", "level1", "--page", "level1.html").exit_code == 0
    page = (folder / "level1.html").read_text(encoding="utf-8")
    marked = re.findall(r'<div style="[^"]*inset[^"]*">(.*?)</div>', page)
    assert len(marked) == 2 and "by &lt;sheer&gt; luck" in marked[0] and "by luck" in marked[1]
    assert not re.search(r"(src|href)=|url\(|@import|<script", page)


def test_doctor_tells_versions_and_what_is_too_old(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib import metadata

    from grader.learner import doctor

    shown = command("doctor").stdout
    assert f"the Python package nbgrader {metadata.version('nbgrader')}" in shown
    assert "the Python package alembic" in shown
    asked = ["nbgrader>=0.9.5", "langgraph>=1.0; extra == 'frameworks'", 'langgraph-x>=3.0; extra == "frameworks"']
    monkeypatch.setattr(doctor, "_requirements", lambda: asked)
    monkeypatch.setattr(doctor, "_version", lambda name: "0.1" if name == "nbgrader" else "99.0")
    old = command("doctor")
    assert (
        old.exit_code == 1
        and f"nbgrader: {doctor.lowest('nbgrader')} or newer is needed, and 0.1 is here" in old.stdout
    )
    assert f"pip install 'nbgrader>={doctor.lowest('nbgrader')}'" in old.stdout
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    gone = command("doctor").stdout
    assert "pip install 'langgraph>=1.0' 'langgraph-x>=3.0'\n" in gone and "pip install redis\n" in gone
    assert "pip install 'crash-course" not in gone, "what pip finds under that name is not this kit"


@pytest.mark.parametrize(
    ("found", "wanted", "enough"),
    [("0.9.5", "0.9.5", True), ("0.10", "0.9.5", True), ("0.9.4", "0.9.5", False), ("8.0rc1", "8.0", True)],
)
def test_versions_are_compared_by_their_numbers(found: str, wanted: str, enough: bool) -> None:
    from grader.learner.doctor import _numbers

    assert (_numbers(found) >= _numbers(wanted)) is enough


def test_doctor_says_who_chose_the_language(folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "English (chosen by CRASH_COURSE_LANG)" in command("doctor").stdout
    assert "中文（由 --lang 指定）" in command("doctor", "--lang", "zh").stdout
    monkeypatch.delenv("CRASH_COURSE_LANG")
    assert "English (this folder was made in it" in command("doctor").stdout
