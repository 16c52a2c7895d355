"""How the command explains itself, in both languages."""

import re
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import pytest
from typer.main import get_command

from grader import usage
from grader.answers.show import columns
from grader.cli import main
from tests.learner.conftest import Command

COMMANDS: dict[str, Any] = get_command(main).commands  # type: ignore[attr-defined]
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def texts() -> Iterator[tuple[str, str]]:
    for name, one in COMMANDS.items():
        if one.rich_help_panel != usage.CONTRIBUTORS:
            yield from ((name, paragraph) for paragraph in usage._told(one)[0])
            yield from ((name, parameter.help) for parameter in one.params)


@pytest.mark.parametrize(("name", "english"), list(texts()))
def test_the_help_of_a_command_for_learners_or_instructors_is_there_in_chinese(name: str, english: str) -> None:
    assert CHINESE.search(usage.spoken(english, "zh")), f"{name}: put it into usage_zh.toml: {english}"


def test_the_version_is_that_of_the_installed_package(command: Command) -> None:
    done = command("--version")
    assert (done.exit_code, done.stdout) == (0, f"crash-course {metadata.version('crash-course')}\n")
    assert CHINESE.search(usage.spoken("Print the version and exit.", "zh"))


@pytest.mark.parametrize("name", ["", *COMMANDS])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_is_plain_text_within_80_columns(
    command: Command, monkeypatch: pytest.MonkeyPatch, name: str, lang: str
) -> None:
    monkeypatch.setenv("CRASH_COURSE_LANG", lang)
    done = command(*filter(None, [name]), "--help")
    assert done.exit_code == 0 and done.stdout.startswith("用法：" if lang == "zh" else "Usage: ")
    assert [
        line for line in done.stdout.splitlines() if columns(line) > 80 and "crash-course translate" not in line
    ] == []
    assert "<bool>" not in done.stdout and "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("words", "english", "chinese"),
    [
        (("chek", "level2"), "There is no command chek; do you mean check?", "没有 chek 这个命令；是不是 check？"),
        (("frobnicate",), "There is no command frobnicate.", "没有 frobnicate 这个命令。"),
        (("check", "--jsn"), "There is no option --jsn here; do you mean --json?", "这里没有 --jsn 这个选项"),
        (("check", "level2", "level3"), "This is too much: level3.", "多出来的内容：level3。"),
        (("note", "5"), "WORDS is missing.", "缺少 WORDS。"),
    ],
)
def test_a_wrong_call_is_told_in_one_sentence(
    command: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], english: str, chinese: str
) -> None:
    for lang, said in (("en", english), ("zh", chinese)):
        monkeypatch.setenv("CRASH_COURSE_LANG", lang)
        done = command(*words)
        assert done.exit_code == 2 and said in done.stderr and "--help`" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1 and not done.stdout


def test_the_language_of_a_wrong_call_is_the_one_asked_for(command: Command) -> None:
    assert "缺少 LEVEL。" in command("solution", "--lang", "zh").stderr
    assert command("solution", "--lang=zh", "--help").stdout.startswith("用法：")


def test_nothing_typed_shows_the_help(command: Command) -> None:
    done = command()
    assert done.exit_code == 2 and "For learners" in done.stdout
