"""Every sentence is there in both languages, asks for the same values, and every sentence used exists."""

import ast
import re
from pathlib import Path

import pytest

from grader.criteria import criteria, exercises, nearest, of_exercise
from grader.verdict import Text
from grader.words import catalogue, join, language, of_kind, plain, say, use_language

GRADER = Path(__file__).parents[1] / "grader"
LEVELS = (f"levels/level{number}.toml" for number in range(1, 5))
CATALOGUES = ("words.toml", "classroom/grade.toml", "learner/words.toml", *LEVELS)
ROOMS = [*GRADER.glob("answers/*.py"), *GRADER.glob("levels/*.py"), *GRADER.glob("learner/*.py")]


@pytest.mark.parametrize("name", CATALOGUES)
def test_both_languages_say_the_same(name: str) -> None:
    words = catalogue(name)
    for key, text in words.entries.items():
        english, chinese = words.fields(key)
        assert english == chinese, key
        assert text.en.strip() and text.zh.strip(), key
        assert not re.search(r"[\u4e00-\u9fff]", text.en), key


def catalogue_of(tree: ast.Module) -> str | None:
    """Return the name of the catalogue that a module's ``_words`` is."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_words":
            arguments = node.value.args if isinstance(node.value, ast.Call) else []
            return str(arguments[0].value) if arguments and isinstance(arguments[0], ast.Constant) else "words.toml"
    return None


def used_keys(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_words":
            first = node.args[0]
            parts = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
            found |= {str(part.value) for part in parts if isinstance(part, ast.Constant)}
    return found


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: path.stem)
def test_every_sentence_used_exists(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = catalogue_of(tree)
    if name is not None:
        assert used_keys(tree) <= set(catalogue(name).entries)


def test_values_may_be_texts_themselves() -> None:
    words = catalogue()
    made = words("at.line_source", line=6, source=Text("left", "左"))
    assert made == Text("line 6 (`left`)", "第 6 行（`左`）")
    assert words("mark.points", points=2.5, max_points=4.0).en == "2.5 of 4"


def test_languages_are_chosen_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CRASH_COURSE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert language() == "en"
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert language() == "zh"
    monkeypatch.setenv("CRASH_COURSE_LANG", "en")
    assert language() == "en"
    use_language("zh")
    try:
        assert say(Text("a", "b")) == "b"
        assert say(Text("a", "b"), "en") == "a"
    finally:
        use_language(None)
    with pytest.raises(ValueError, match="no such language"):
        use_language("fr")


def test_sentences_join_as_each_language_does() -> None:
    assert join(Text("One.", "一。"), None, plain("X.")) == Text("One. X.", "一。X.")


def test_criteria_are_complete() -> None:
    assert exercises()[:2] == ("level1", "level2")
    for criterion in criteria().values():
        assert len(criterion.hints) == 3, criterion.id
        for text in (criterion.statement, *criterion.hints, *criterion.compare):
            assert text.en.strip() and re.search(r"[\u4e00-\u9fff]", text.zh), criterion.id
        assert criterion.points > 0
        assert bool(criterion.compare) == (criterion.kind in ("written", "prediction")), criterion.id
    assert [c.id for c in of_exercise("level2")] == [
        "level2-hazard-overwrite",
        "level2-hazard-no-point-a",
        "level2-atomic",
        "level2-point-a",
        "level2-runs",
    ]


def test_a_misspelt_criterion_is_recognised() -> None:
    assert nearest("level2-atomc") == "level2-atomic"
    assert nearest("Level2") == "level2"
    assert nearest("entirely different") is None


def test_messages_of_one_kind_share_a_key_whatever_their_figures() -> None:
    words = catalogue("levels/level2.toml")
    first = words("atomic.stopped_before", why=catalogue()("failure.exit", at="line 3", how="sys.exit"))
    second = words("atomic.stopped_before", why=catalogue()("failure.exit", at="line 9", how="os._exit"))
    other = words("atomic.stopped_before", why=catalogue()("failure.died", at="line 3", how="?"))
    assert first != second and first.key == second.key == "atomic.stopped_before(failure.exit)"
    assert other.key != first.key
    assert join(first, other, None).key == f"{first.key}+{other.key}"
    assert of_kind(first, other).key == other.key
    assert first == Text(first.en, first.zh)
