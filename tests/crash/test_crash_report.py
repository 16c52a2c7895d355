"""The report as text and as a picture: its form, its languages, what it must never do."""

from __future__ import annotations

import itertools
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from grader.crash import CannotExplore, Ledger, PowerLoss, ProcessKill, Resumed, explore, explore_run
from grader.crash.crashmap import as_html, as_page, run_as_html, side_by_side
from grader.crash.describe import Story, hexdump
from grader.crash.diagnose import KINDS, diagnose, diagnose_one
from grader.crash.explore import Exploration
from grader.crash.report import as_text, width_of
from grader.crash.runmap import letter_of, map_of, run_as_text
from grader.crash.sentences import known, translated
from grader.crash.strips import LETTERS, crash_map

OLD: dict[str, Any] = {"turn": 1}
NEW: dict[str, Any] = {"turn": 2, "text": "x" * 40}


def load() -> Any:
    with open("c.json") as file:
        return json.load(file)


def in_place(state: Any) -> None:
    with open("c.json", "w") as file:
        json.dump(state, file)


def replaced(state: Any) -> None:
    with open("c.tmp", "w") as file:
        json.dump(state, file)
    os.replace("c.tmp", "c.json")


def durable(state: Any) -> None:
    with open("c.tmp", "w") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace("c.tmp", "c.json")
    directory = os.open(".", os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def many_writes(state: Any) -> None:
    with open("c.tmp", "wb", buffering=0) as file:
        for _ in range(1200):
            file.write(b" ")
        file.write(json.dumps(state).encode())
    os.replace("c.tmp", "c.json")


def many_saves(state: Any) -> None:
    for _ in range(40):
        durable(state)


SAVES: list[Callable[[Any], None]] = [in_place, replaced, durable, many_writes, many_saves]


@pytest.fixture(scope="module")
def explorations() -> dict[str, Exploration[Any]]:
    """Each save explored once."""
    return {save.__name__: explore(save, load, old=OLD, new=NEW, second_crash=False) for save in SAVES}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("save", [save.__name__ for save in SAVES])
def test_text_keeps_to_80_columns(explorations: dict[str, Exploration[Any]], save: str, lang: str) -> None:
    text = as_text(explorations[save], lang=lang)
    assert max(width_of(line) for line in text.splitlines()) <= 80
    assert "{" not in re.sub(r'\{"turn|\{\'turn|\|.*\|', "", text), "a place of a sentence was not filled in"


def test_first_lines_are_the_verdicts(explorations: dict[str, Exploration[Any]]) -> None:
    lines = as_text(explorations["replaced"], lang="en").splitlines()
    assert lines[0] == "survives a kill: yes; survives power loss: NO"
    assert lines[1] == "durable on return: NO; next save works: yes"


def test_print_and_repr(explorations: dict[str, Exploration[Any]]) -> None:
    exploration = explorations["replaced"]
    assert str(exploration) == as_text(exploration)
    assert len(repr(exploration)) < 200, "a notebook stores the repr beside the picture"
    with pytest.raises(AssertionError, match=r"fsync of c\.tmp must come before replace"):
        exploration.check()
    exploration.check(power_loss=False)


def test_a_torn_file_is_shown_as_a_hexdump(explorations: dict[str, Exploration[Any]]) -> None:
    assert hexdump(b"0123456789abcdefXY\0", 0) == [
        "00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|",
        "00000010  58 59 00                                          |XY.|",
    ]


class _Checker(HTMLParser):
    """Notes what opens and closes, and everything that would leave the page."""

    EMPTY = frozenset({"rect", "path", "line", "circle", "br", "meta"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href") or name.startswith("on"):
                self.links.append(f"{name}={value}")
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_html_is_whole_and_self_contained(explorations: dict[str, Exploration[Any]], lang: str) -> None:
    pages = [as_html(exploration, lang=lang, title="<b>&") for exploration in explorations.values()]
    pages.append(side_by_side(*explorations.values(), titles=list(explorations), lang=lang)._repr_html_())
    pages.append(as_page(explorations["replaced"], lang=lang))
    for page in pages:
        checker = _Checker()
        checker.feed(page)
        assert not checker.open
        assert not checker.links
        assert not checker.tags & {"script", "iframe", "img", "link", "object", "embed", "foreignobject"}
        assert len(checker.ids) == len(set(checker.ids)), "ids must be unique on a page"
        assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
        for svg in re.findall(r'<svg class="cc-map".*?</svg>', page, re.DOTALL):
            root = ElementTree.fromstring(svg)
            assert root.attrib["role"] == "img"
            labels = root.attrib["aria-labelledby"].split()
            assert labels == [root[0].attrib["id"], root[1].attrib["id"]]
            assert root[0].text and root[1].text
        used = set(re.findall(r"url\(#([^)]+)\)", page))
        assert used <= set(checker.ids), "a pattern is used that is not there"


def test_html_is_the_same_every_time(explorations: dict[str, Exploration[Any]]) -> None:
    again = explore(replaced, load, old=OLD, new=NEW, second_crash=False)
    assert as_html(again) == as_html(explorations["replaced"])


def test_no_two_pictures_share_a_name(explorations: dict[str, Exploration[Any]]) -> None:
    # JupyterLab hides cells that are out of sight, and a pattern that is hidden fills nothing, in whatever cell.
    pages = [as_html(exploration, lang="en") for exploration in explorations.values()]
    pages.append(side_by_side(*explorations.values(), lang="en")._repr_html_())
    named = Counter(name for page in set(pages) for name in set(re.findall(r'id="([^"]+)"', page)))
    assert named and max(named.values()) == 1, [name for name, times in named.items() if times > 1]


def test_text_of_the_code_cannot_become_markup() -> None:
    def save(state: Any) -> None:
        with open("<script>alert(1)</script>".replace("/", "-"), "w") as file:
            json.dump(state, file)  # <script>

    def load_it() -> Any:
        with open("<script>alert(1)<-script>") as file:
            return json.load(file)

    page = as_html(explore(save, load_it, old=OLD, new=NEW))
    assert "<script" not in page
    assert "&lt;script" in page


def test_long_recordings_are_put_together(explorations: dict[str, Exploration[Any]]) -> None:
    exploration = explorations["many_writes"]
    story = Story(exploration.recording)
    shown = crash_map(exploration, story, exploration.counterexample(), most=56)
    assert shown.operations == 1203
    assert [column.count for column in shown.columns if column.kind == "op"] == [1, 1200, 1, 1]
    exploration = explorations["many_saves"]
    shown = crash_map(exploration, Story(exploration.recording), None, most=56)
    assert shown.operations == 200
    assert len(shown.columns) <= 56
    ops = [column for column in shown.columns if column.kind == "op"]
    assert ops[0].first == 1 and ops[-1].last == 200
    assert all(a.last + 1 == b.first for a, b in itertools.pairwise(ops))


def test_no_verdict_is_lost_when_columns_are_put_together(explorations: dict[str, Exploration[Any]]) -> None:
    for exploration in explorations.values():
        story = Story(exploration.recording)
        whole = crash_map(exploration, story, None, most=10_000)
        short = crash_map(exploration, story, None, most=8)
        for a, b in zip(whole.strips, short.strips, strict=True):
            assert {x for c in a.cells for x in c.letters} == {x for c in b.cells for x in c.letters} <= set(LETTERS)


def test_the_counterexample_has_its_column(explorations: dict[str, Exploration[Any]]) -> None:
    exploration = explorations["replaced"]
    shown = crash_map(exploration, Story(exploration.recording), exploration.counterexample())
    assert shown.marked is not None
    column = shown.columns[shown.marked]
    assert column.step is not None and column.step.verb == "replace"
    assert shown.marked_strip == "power"


def test_diagnosis_is_plain_data(explorations: dict[str, Exploration[Any]]) -> None:
    exploration = explorations["replaced"]
    first, second = diagnose(exploration)
    line = replaced.__code__.co_firstlineno
    assert (first.kind, first.model) == ("not_fsynced", "power")
    assert first.at is not None and first.before is not None
    assert (first.before.line, first.before.function) == (line + 3, "replaced")
    assert first.names["temp"] == "c.tmp" and first.names["target"] == "c.json"
    assert second.kind == "directory_not_fsynced"
    assert diagnose(explorations["durable"]) == ()
    example = exploration.counterexample()
    assert example is not None
    one = diagnose_one(exploration, example)
    assert one is not None and one.kind == "not_fsynced"


def test_every_kind_is_told_in_both_languages() -> None:
    for kind in KINDS:
        assert known(f"fault.{kind}") and known(f"advice.{kind}")


def test_reasons_are_told_in_chinese() -> None:
    from grader.crash.escapes import _REASONS

    for reason in _REASONS.values():
        assert translated(reason, "zh") != reason
        assert translated(f"{reason} (line 3, save)", "zh").endswith("（第 3 行，save）")
    words = translated("killed again during recovery at line 4, load raised ValueError: x", "zh")
    assert words == "在恢复时再次被杀（第 4 行），load 报错：ValueError: x"


def test_only_what_was_asked_is_shown() -> None:
    kill = explore(replaced, load, old=OLD, new=NEW, crash=[ProcessKill()])
    assert "power loss: -" in as_text(kill, lang="en")
    assert "power loss" not in re.sub(r"<style>.*?</style>", "", as_html(kill, lang="en"))
    power = explore(replaced, load, old=OLD, new=NEW, crash=[PowerLoss()])
    assert "survives a kill: -" in as_text(power, lang="en")


def test_what_cannot_be_judged_gets_no_map() -> None:
    def save(state: Any) -> None:
        in_place(state)
        if state == NEW:
            os.system("true")

    exploration = explore(save, load, old=OLD, new=NEW)
    assert exploration.cant_judge
    assert as_text(exploration, lang="en").startswith("Can't judge: os.system starts a process")
    assert as_text(exploration, lang="zh").startswith("无法判断：os.system")
    assert "<svg" not in as_html(exploration)
    assert "os.system" in repr(exploration)


def test_titles_must_fit(explorations: dict[str, Exploration[Any]]) -> None:
    with pytest.raises(ValueError, match="2 explorations, but 1 titles"):
        side_by_side(explorations["replaced"], explorations["durable"], titles=["one"])
    assert "Save 1" in str(side_by_side(explorations["durable"], lang="en")) or "save 1" in str(
        side_by_side(explorations["durable"], lang="en")
    )


def test_a_language_that_is_not_spoken(explorations: dict[str, Exploration[Any]]) -> None:
    with pytest.raises(ValueError, match="no such language"):
        as_text(explorations["durable"], lang="fr")


# -- errors name what is at fault ------------------------------------------------------------


def _fails(state: Any) -> None:
    raise KeyError("turns")


def _forgets(state: Any) -> None:
    pass


@pytest.mark.parametrize(
    ("save", "reader", "old", "new", "words"),
    [
        (replaced, load, OLD, OLD, "old and new are the same state"),
        (OLD, load, OLD, NEW, "save must be a function, not {'turn': 1}"),
        (replaced, None, OLD, NEW, "load must be a function, not None"),
        (_fails, load, OLD, NEW, r"save\(old\) raised KeyError: 'turns', at line \d+ of _fails"),
        (_forgets, load, OLD, NEW, r"load\(\) raised FileNotFoundError: .*, at line \d+ of load, after save\(old\)"),
        (replaced, lambda: 3, OLD, NEW, r"load\(\) gave 3 after save\(old\), not {'turn': 1}"),
        (replaced, load, OLD, {"turn": {1}}, r"save\(new\) raised TypeError: .*not JSON serializable, at line \d+ of"),
    ],
)
def test_errors_say_which_function_or_state(save: Any, reader: Any, old: Any, new: Any, words: str) -> None:
    with pytest.raises(CannotExplore, match=words):
        explore(save, reader, old=old, new=new)


SOURCE = """
import json, os
from os import replace
from pathlib import Path

def save(state):
    with open("c.tmp", "w") as file:
        json.dump(state, file)
    replace("c.tmp", "c.json")

def load():
    return json.loads(Path("c.json").read_text()) if os.path.exists("c.json") else None
"""


def test_functions_of_executed_source_can_be_explored() -> None:
    names: dict[str, Any] = {}
    exec(compile(SOURCE, "<my save>", "exec"), names)
    before = dict(names)
    exploration = explore(names["save"], names["load"], old=OLD, new=NEW)
    assert exploration.survives_kill is True and exploration.survives_power_loss is False
    assert names == before, "the namespace is as it was"


def test_names_imported_after_a_first_exploration_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    explore(replaced, load, old=OLD, new=NEW)
    import sys
    from os import rename

    here = sys.modules[__name__]
    monkeypatch.setattr(here, "late", rename, raising=False)

    def save(state: Any) -> None:
        with open("c.tmp", "w") as file:
            json.dump(state, file)
        late("c.tmp", "c.json")  # type: ignore[name-defined]  # noqa: F821

    assert explore(save, load, old=OLD, new=NEW).survives_kill is True


def test_a_bound_method_and_a_partial_can_be_explored() -> None:
    import functools

    class Store:
        def __init__(self, name: str) -> None:
            self.name = name

        def save(self, state: Any) -> None:
            with open(self.name + ".tmp", "w") as file:
                json.dump(state, file)
            os.replace(self.name + ".tmp", self.name)

        def load(self) -> Any:
            with open(self.name) as file:
                return json.load(file)

    store = Store("s.json")
    assert explore(store.save, store.load, old=OLD, new=NEW).survives_kill is True
    assert explore(functools.partial(Store.save, store), store.load, old=OLD, new=NEW).survives_kill is True


# -- whole runs --------------------------------------------------------------------------------------------------------


def _agent(turns: int, *, asks: bool) -> Callable[[Ledger], int]:
    """An agent that sends a mail a turn; on resuming, it may ask whether the last one was sent."""

    def run(world: Ledger) -> int:
        state: dict[str, Any] = {"done": [], "pending": None}
        if os.path.exists("c.json"):
            state = load()
        for turn in range(turns):
            key = f"m{turn}"
            if key in state["done"]:
                continue
            if not (asks and state["pending"] == key and world.count(key)):
                state["pending"] = key
                durable(state)
                world.effect("mail", key)
            state["done"].append(key)
            state["pending"] = None
            durable(state)
        return len(state["done"])

    return run


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("turns", [1, 20])
def test_a_run_that_mails_twice_is_mapped(turns: int, lang: str) -> None:
    exploration = explore_run(_agent(turns, asks=False))
    text = run_as_text(exploration, lang=lang)
    assert max(width_of(line) for line in text.splitlines()) <= 80
    if lang == "en":
        assert text.startswith("survives a kill: NO")
        assert "killed right after operation 6, outside: mail m0; then resumed." in " ".join(text.split())
        assert "mail m0 happened 2 times, not 1." in text
    page = run_as_html(exploration, lang=lang)
    checker = _Checker()
    checker.feed(page)
    assert not checker.open and not checker.links and len(checker.ids) == len(set(checker.ids))
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(checker.ids)
    shown = map_of(exploration, Story(exploration.recording))
    assert {letter for cell in shown.strips[0].cells for letter in cell.letters} == {"=", "D"}


def test_a_run_that_asks_is_all_right() -> None:
    exploration = explore_run(_agent(3, asks=True))
    assert exploration.survives
    assert str(exploration) == run_as_text(exploration)
    assert "each of 3 effects once" in run_as_text(exploration, lang="en")
    assert len(repr(exploration)) < 100
    shown = map_of(exploration, Story(exploration.recording))
    assert {cell.letters for cell in shown.strips[0].cells} == {"="}


@pytest.mark.parametrize(
    ("ended", "letter"),
    [
        (Resumed((), None, "1", True), "M"),
        (Resumed((("mail", "a"),), None, "1", True), "="),
        (Resumed((("mail", "a"), ("mail", "a")), None, "1", True), "D"),
        (Resumed((("mail", "a"),), None, "2", False), "W"),
        (Resumed((), "ValueError: x", "", False), "R"),
        (Resumed((("mail", "a"),), None, "1", True, "crashed again: x"), "F"),
    ],
)
def test_letters_of_resumed_runs(ended: Resumed, letter: str) -> None:
    assert letter_of(ended, [], Counter({("mail", "a"): 1})) == letter
