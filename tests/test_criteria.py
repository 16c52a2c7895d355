"""criteria.toml, badly written: one sentence names the criterion, whichever command meets it."""

import pytest

from grader import criteria as listed
from grader.cli import main
from grader.criteria import Malformed, read

GOOD = """
[level9-a]
exercise = "level9"
cell = "level9-code"
kind = "code"
points = 3
statement.en = "It holds."
statement.zh = "成立。"
hints.en = ["One.", "Two.", "Three."]
hints.zh = ["一。", "二。", "三。"]
"""


def test_it_is_read() -> None:
    (one,) = read(GOOD.encode()).values()
    assert (one.id, one.points, one.hints[2].zh) == ("level9-a", 3.0, "三。")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"二。", ', "", "[level9-a] has 3 hints in English and 2 in Chinese"),
        ("hints.zh", "hints_zh", "[level9-a] has a statement, hints or compare without .zh"),
        ('statement.zh = "成立。"', "", "[level9-a] has a statement, hints or compare without .zh"),
        ("points = 3", "points = 'three'", "[level9-a] has points = 'three', which is no number"),
        ("points = 3", "", "[level9-a] has no points"),
        ('statement.en = "It holds."\nstatement.zh = "成立。"', "statement = 3", "is not written as"),
        ("[level9-a]", "level9 = 3\n[level9-a]", "[level9] is not written as the other criteria are"),
        ('hints.en = ["One."', "hints.en = ('One.'", "can't be read: Invalid value (at line 9"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(Malformed) as caught:
        read(GOOD.replace(old, new).encode())
    message = str(caught.value)
    assert message.startswith("grader/criteria.toml") and said in message and "\n" not in message


@pytest.mark.parametrize("words", [["build", "--check"], ["hint", "level2"], ["check", "level2"]], ids=" ".join)
def test_a_command_that_meets_it_says_so_and_no_more(
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    def broken(*_: object) -> None:
        raise Malformed("grader/criteria.toml: [level2-runs] has no points.")

    monkeypatch.setattr(listed, "read", broken)
    listed.criteria.cache_clear()
    request.addfinalizer(listed.criteria.cache_clear)
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert capsys.readouterr().err == "grader/criteria.toml: [level2-runs] has no points.\n"
