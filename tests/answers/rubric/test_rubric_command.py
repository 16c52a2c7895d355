"""The command crash-course rubric."""

import json
from pathlib import Path

from typer.testing import CliRunner

from grader.cli import main

HERE = Path(__file__).parent
run = CliRunner()


def test_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    answers = [
        {"id": "a", "answer": {"version": "", "task": "", "turns": "", "tokens_used": "", "pending_tool_use": ""}},
        {"id": "b", "hazard_1": "nothing", "hazard_2": 5},
    ]
    file.write_text("\n".join(json.dumps(a) for a in answers) + "\n\n", encoding="utf-8")
    result = run.invoke(main, ["rubric", str(file), "--json"])
    assert result.exit_code == 0, result.output
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert first["id"] == "a"
    assert list(first["verdicts"]) == ["fields", "version", "task", "turns", "tokensUsed", "pendingToolUse"]
    assert first["verdicts"]["fields"] == "accept" and first["verdicts"]["task"] == "reject"
    assert second == {"id": "b", "verdicts": {"hazard_overwrite": "reject", "hazard_no_point_a": "reject"}}


def test_malformed_lines_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    lines = ["{broken", "[1, 2]", '{"id": "x"}', '{"id": "y", "answer": ["version"]}', '{"id": "z", "hazard_1": ""}']
    file.write_text("\n".join(lines), encoding="utf-8")
    result = run.invoke(main, ["rubric", str(file), "--json"], env={"CRASH_COURSE_LANG": "en"})
    assert result.exit_code == 1
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["z"]
    complaints = result.stderr.splitlines()
    assert [c.split(":")[0] for c in complaints] == ["line 1", "line 2", "line 3", "line 4"]


def test_labels_give_figures() -> None:
    result = run.invoke(main, ["rubric", str(HERE / "open_level2.jsonl")], env={"CRASH_COURSE_LANG": "en"})
    assert result.exit_code == 0
    assert "80 labels" in result.stdout and "abstained" in result.stdout


def test_the_answers_kept_for_the_tests_are_all_read_in_one_call() -> None:
    files = [str(HERE / name) for name in ("open_level2.jsonl", "own.jsonl")]
    result = run.invoke(main, ["rubric", *files], env={"CRASH_COURSE_LANG": "en"})
    assert result.exit_code == 0 and result.stderr == ""
    kept = len((HERE / "own.jsonl").read_text(encoding="utf-8").splitlines())
    assert f"{80 + kept} labels" in result.stdout and " 0 wrong ones accepted" in result.stdout


def test_with_several_files_a_malformed_line_is_named_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"id": "x", "criterion": "speed", "text": "It is slow."}', encoding="utf-8")
    result = run.invoke(main, ["rubric", str(HERE / "own.jsonl"), str(file)], env={"CRASH_COURSE_LANG": "en"})
    assert result.exit_code == 1 and f"{file}, line 1: " in result.stderr


def test_without_labels_each_reading_is_told(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"id": "q", "hazard_1": "It is slow.", "hazard_2": ""}', encoding="utf-8")
    result = run.invoke(main, ["rubric", str(file)], env={"CRASH_COURSE_LANG": "zh"})
    assert result.exit_code == 0 and "q hazard_overwrite: reject" in result.stdout


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    result = run.invoke(main, ["rubric", str(tmp_path / "none.jsonl")], env={"CRASH_COURSE_LANG": "en"})
    assert result.exit_code == 2 and "Traceback" not in result.output
    assert len(result.stderr.strip().splitlines()) == 1


def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b"\xff\xfe\x00{}\n" + b'{"id": 1, "hazard_1": "", "hazard_2": ""}\n')
    result = run.invoke(main, ["rubric", str(file), "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["id"] == "1"
