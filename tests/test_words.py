"""Every sentence is there in both languages, asks for the same values, and every sentence used exists."""

import ast
import re
from pathlib import Path

import pytest

from grader.criteria import criteria, exercises, nearest, of_exercise
from grader.verdict import Text
from grader.words import catalogue, join, language, of_kind, plain, say, use_language

GRADER = Path(__file__).parents[1] / "grader"
MINAGENT = GRADER.parent / "lessons" / "minagent"
CHINESE = re.compile(r"[\u4e00-\u9fff]")
NO_CATALOGUES = {"criteria.toml", "classroom/demo_class.toml", "usage_zh.toml"}
"""Tables of another kind: the criteria and the Chinese help have tests of their own, the class is learners' words."""
CATALOGUES = sorted(
    path
    for file in GRADER.rglob("*.toml")
    if "rubric" not in file.parts and (path := file.relative_to(GRADER).as_posix()) not in NO_CATALOGUES
)
COMMANDS = ("pip install ", "python -m ")
"""What is typed reads the same in every language."""
MODULES = sorted(GRADER.rglob("*.py"))
FOR_MAINTAINERS = {"answers/rubric/fit.py"}
"""What is run to fit the rubric's weights, never by a learner or an instructor."""


@pytest.mark.parametrize("name", CATALOGUES)
def test_both_languages_say_the_same(name: str) -> None:
    words = catalogue(name)
    for key, text in words.entries.items():
        english, chinese = words.fields(key)
        assert english == chinese, key
        assert text.en.strip() and text.zh.strip(), key
        assert not CHINESE.search(text.en), key
        # code, a file's name or a sign may read the same; what has a sentence in English has one in Chinese
        assert CHINESE.search(text.zh) or text.en.startswith(COMMANDS) or not sentence(text.en), key


def sentence(text: str) -> bool:
    """Whether there are two words in a row outside code and fields."""
    bare = re.sub(r"`[^`]*`|\{[^}]*\}", " ", text)
    return re.search(r"[A-Za-z]{2,} [a-z]{2,}", bare) is not None


def catalogues_of(tree: ast.Module) -> dict[str, str]:
    """Return which catalogue each name of a module stands for, as in ``_words = catalogue("words.toml")``."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if ast.unparse(node.value.func) != "catalogue":
                continue
            arguments = node.value.args
            name = arguments[0].value if arguments and isinstance(arguments[0], ast.Constant) else "words.toml"
            found[ast.unparse(node.targets[0])] = str(name)
    return found


def used_keys(tree: ast.Module, words: str) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == words and node.args:
            first = node.args[0]
            parts = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
            found |= {str(part.value) for part in parts if isinstance(part, ast.Constant)}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(GRADER).as_posix())
def test_every_sentence_used_exists(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for words, name in catalogues_of(tree).items():
        assert used_keys(tree, words) <= set(catalogue(name).entries)


def literals(node: ast.AST) -> list[str]:
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def is_output(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    return name == "print" or name.endswith((".print", "echo", "add_column", "stdout.write", "stderr.write"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(GRADER).as_posix())
def test_nothing_is_printed_past_the_catalogues(path: Path) -> None:
    if path.relative_to(GRADER).as_posix() in FOR_MAINTAINERS:
        return
    calls = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
    said = [text for call in calls if is_output(call) for part in call.args for text in literals(part)]
    assert [text for text in said if sentence(text)] == []


PAIRS = [*MODULES, *MINAGENT.rglob("*.py")]


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.relative_to(GRADER.parent).as_posix())
def test_a_sentence_written_in_code_is_there_in_both_languages(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("Answer", "Text"):
            continue
        pair = node.args[:2] if ast.unparse(node.func) == "Text" else node.args[1:3]
        if len(pair) < 2:  # another class of that name
            continue
        english, chinese = pair
        if literals(english) and any(map(sentence, literals(english))):
            assert any(map(CHINESE.search, literals(chinese))), ast.unparse(node)
            assert not any(map(CHINESE.search, literals(english))), ast.unparse(node)


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
