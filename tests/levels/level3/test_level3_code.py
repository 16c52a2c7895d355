"""Level 3's code: right programs hold, and each wrong one is told of what is wrong with it."""

import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
from level3_programs import PLAIN, RIGHT, WRONG
from minagent.tickets import Remembered, TicketSystem
from thorough import one_in

from grader.answers.cells import Cell
from grader.answers.judge import judge_cells, worker
from grader.levels import level3
from grader.levels.level3_lives import LARGE, SMALL, Found, Lives, explore, sample, together
from grader.levels.level3_rules import check
from grader.levels.starts import starts
from grader.verdict import Verdict

CHINESE = re.compile(r"[\u4e00-\u9fff]")


def judged(source: str, **more: str) -> Verdict:
    cells = [Cell(level3.CELL, source), *(Cell(name, text) for name, text in more.items())]
    return judge_cells(cells, [level3.CODE])[0]


@pytest.mark.parametrize("name", one_in(4, RIGHT))
def test_a_right_program_holds(name: str) -> None:
    verdict = judged(RIGHT[name])
    assert verdict.met is True, verdict.message.en
    assert verdict.points == verdict.max_points == 8
    assert "seed 0" in verdict.message.en and CHINESE.search(verdict.message.zh)


@pytest.mark.parametrize("name", one_in(3, WRONG))
def test_a_wrong_program_is_told_why(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    plain = level3.Judge.told
    monkeypatch.setattr(level3.Judge, "told", lambda self, problem: told.append(problem) or plain(self, problem))
    wrong = WRONG[name]
    verdict = judged(wrong.source)
    assert verdict.met is False and verdict.points == 0, verdict.message.en
    assert told and told[0].kind in wrong.kinds, (told[0].kind if told else None, verdict.message.en)
    assert wrong.says in verdict.message.en
    assert CHINESE.search(verdict.message.zh) and "{" not in verdict.message.en.replace("{}", "")
    assert verdict.picture and "<script" not in verdict.picture and "http" not in verdict.picture
    assert verdict.picture_text and max(map(len, verdict.picture_text.splitlines())) <= 80


def test_the_message_names_crash_disk_world_and_remedy() -> None:
    message = judged(WRONG["recover starts again without asking"].source).message
    assert (
        re.match(r"(Killed|create_ticket for page-12 timed out) at line \d+|Killed at", message.en)
        or "line" in message.en
    )
    assert "On disk page-12 then said" in message.en and "the ticket system held 1 ticket(s)" in message.en
    assert "2 tickets where there must be one" in message.en and "Ask find_ticket" in message.en
    assert "被杀" in message.zh or "超时" in message.zh


def test_the_code_as_it_was_found_is_not_met() -> None:
    assert judged(starts()[level3.CELL]).met is False
    verdict = judged("handle = 3\n")
    assert verdict.met is False and "handle and recover" in verdict.message.en
    verdict = judged("1 / 0\n")
    assert "ZeroDivisionError" in verdict.message.en and "recover" in verdict.message.en


def test_an_answer_in_several_cells_or_in_the_check_cell_counts() -> None:
    handle, recover = PLAIN.split("def recover")
    cells = [Cell("mine", handle), Cell(level3.CELL, "def recover" + recover)]
    assert judge_cells(cells, [level3.CODE])[0].met is True
    released = Cell(level3.CELL, starts()[level3.CELL])
    assert judge_cells([released, Cell("level3-code", PLAIN)], [level3.CODE])[0].met is True


def test_a_loop_without_end_and_a_process_that_leaves_are_stopped() -> None:
    verdict = judged(
        PLAIN.replace(
            "def recover(state, world, save):", "def recover(state, world, save):\n    import os\n    os._exit(0)"
        )
    )
    assert verdict.met is False and "os._exit" in verdict.message.en
    forever = PLAIN.replace(
        "def recover(state, world, save):", "def recover(state, world, save):\n    while True:\n        save(state)"
    )
    verdict = judged(forever)
    assert verdict.met is False and "never ends" in verdict.message.en


def test_nothing_survives_but_what_was_saved() -> None:
    with_files = PLAIN.replace(
        "def recover(state, world, save):",
        "def recover(state, world, save):\n    open('mine.json', 'w').write('{}')",
    )
    assert judged(with_files).met is True
    past = PLAIN.replace("def recover(state", "import sqlite3\n\n\ndef recover(state")
    verdict = judged(
        past.replace("world, save):\n    for item", "world, save):\n    sqlite3.connect('x.db')\n    for item")
    )
    assert verdict.met is None and "sqlite3" in verdict.message.en


def test_the_seed_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    def walks(seed: int) -> tuple[list[object], Lives]:
        lives = Lives(worker().runner([Cell(level3.CELL, PLAIN)]))
        found = Found()
        together(lives, [sample(found, LARGE, check, seed, walks=6)])
        assert not found.problems
        return list(lives.known), lives

    assert walks(5)[0] == walks(5)[0] != walks(6)[0]
    monkeypatch.setenv("CRASH_COURSE_SEED", "17")
    assert level3.seed() == 17
    assert "seed 17" in judged(PLAIN).message.en


def test_every_crash_point_is_reached() -> None:
    """Each event of an uninterrupted life has a life that starts from what a crash after it leaves."""
    lives, found = Lives(worker().runner([Cell(level3.CELL, PLAIN)])), Found()
    together(lives, [explore(found, SMALL, check, deaths=2)])
    assert not found.problems and found.whole
    first = next(iter(lives.known.values()))
    begun = {ask.point for ask in lives.known}
    assert len(first.events) >= 10
    assert set(first.points()) <= begun
    timeouts = {ask.timeouts for ask in lives.known if ask.point == first.point and ask.timeouts}
    assert timeouts == {((n, fate),) for n in range(2) for fate in ("done", "lost")}
    states = [json.loads(point.saved) for point in begun]
    assert any(s["items"][1]["stage"] == "waiting_approval" for s in states)


AT_START = "def recover(state, world, save):\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("    state['seen'] = {1, 2}\n    save(state)\n", "holds a set"),
        ("    save(None)\n", "not given the whole state"),
        ("    save()\n", "TypeError"),
        ("    state['items'] = state['items'][:1]\n    save(state)\n", "lost `items`"),
        ("    state['approvals'] = {}\n    save(state)\n", "`approvals` is not a list"),
        ("    state['budget'] = 7\n    save(state)\n", "budget"),
        ("    state['items'][0]['stage'] = 'finished'\n    save(state)\n", "`waiting_approval`"),
        ("    state['budget']['spent'] += 1\n    save(state)\n", "at the end"),
        ("    world.create_ticket('page-99', 'x', 'k')\n", "there is no item"),
        ("    world.create_ticket('page-12', 'x', None)\n", "key must be a non-empty string"),
    ],
)
def test_misuse_is_said_in_one_sentence(line: str, says: str) -> None:
    verdict = judged(PLAIN.replace(AT_START, AT_START + line))
    assert verdict.met is False and says in verdict.message.en, verdict.message.en


@pytest.mark.parametrize(
    "attack",
    [
        "import json\njson.dumps = lambda *a, **k: '{}'\n",
        "class Yes(str):\n    __eq__ = lambda self, other: True\n    __hash__ = str.__hash__\n",
        "import grader\ngrader.check = lambda *names: 8\n",
        "import sys\nsys.modules.pop('grader', None)\n",
    ],
)
def test_tricks_earn_nothing(attack: str) -> None:
    wrong = WRONG["recover does nothing"].source.replace('["status"] = "done"', '["status"] = Yes("done")')
    verdict = judged(attack + (wrong if "Yes" in attack else WRONG["recover does nothing"].source))
    assert verdict.met is False and verdict.points == 0


def test_the_world_of_the_notebook_and_of_the_check_are_one() -> None:
    from grader.levels import level3_drive

    first = SMALL.first()
    life = {"saved": first.saved, "world": {"tickets": [], "notices": [], "decisions": {}}}
    checked = level3_drive.world_of(life, lambda *event: None)
    tried = TicketSystem(Remembered())
    for name in ("create_ticket", "send_notice", "find_ticket", "find_notice", "decision", "now"):
        ours, theirs = inspect.signature(getattr(checked, name)), inspect.signature(getattr(tried, name))
        assert list(ours.parameters) == list(theirs.parameters), name
    for world in (checked, tried):
        assert world.find_ticket("k") is None
        receipt = world.create_ticket("page-12", "text", "k")
        assert set(receipt) == {"id", "key"} and receipt["id"].startswith("T-")
        assert world.find_ticket("k") == receipt and world.find_notice("k") is None
        assert world.decision("page-12") is None


def test_the_notebook_gives_the_state_of_the_check() -> None:
    notebook = json.loads((Path(__file__).parents[3] / "exercises/level3/level3.ipynb").read_text(encoding="utf-8"))
    source = next("".join(c["source"]) for c in notebook["cells"] if "def new_state" in "".join(c["source"]))
    names: dict[str, Any] = {}
    exec(source, names)
    given, checked = names["new_state"](), json.loads(SMALL.first().saved)
    assert set(given) == set(checked)
    assert [set(item) for item in given["items"]] == [set(item) for item in checked["items"][:2]]
    assert given["items"][0]["steps"] == checked["items"][0]["steps"]


def test_each_life_runs_the_cells_again_and_leaves_out_what_only_tries_things() -> None:
    registry = "KEYS = {}\n\n\ndef register(name, make):\n    KEYS[name] = make\n"
    program = PLAIN[PLAIN.index("def handle") :].replace("key_of(", "KEYS['key'](")
    tried = "raise SystemExit if 'tried' in globals() else None\n"
    cells = [
        Cell("one", registry),
        Cell("two", "def key_of(item, name, state):\n    return item['id'] + '/' + name\n"),
        Cell("three", "register('key', key_of)\n"),
        Cell(level3.CELL, program),
        Cell("four", "def try_it(what):\n    print(what)\n"),
        Cell("five", "for what in 'ab':\n    print('---')\n    try_it(what)\n"),
        Cell("six", tried),
    ]
    assert judge_cells(cells, [level3.CODE])[0].met is True
