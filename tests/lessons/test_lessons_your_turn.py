"""The "your turn" cells: a right answer is accepted, wrong ones are told why, open ones are not an error."""

import json
import os
import random
import re
import shutil
from pathlib import Path

import pytest
from minagent import (
    DamagedCheckpoint,
    UnknownVersion,
    asks,
    calls_in,
    decode,
    result_ids,
    says,
    step_once,
    tool_use,
)
from minagent.course import answer as answer_in
from minagent.course import compare, note
from minagent.course.yourturn import JUDGES, judged

from grader.crash import CannotExplore, explore

LESSONS = Path(__file__).resolve().parents[2] / "lessons"


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("CRASH_COURSE_LANG", "en")


def at_most(agent, n):
    status = "paused"
    while n and status == "paused":
        status = step_once(agent)
        n -= 1
    return status


def endless(agent, n):
    for _ in range(n):
        status = step_once(agent)
    return status


def may_cut(messages):
    return {call["id"] for message in messages for call in calls_in(message)} == set(result_ids(messages))


def results_of(messages):
    results = {call["id"]: None for message in messages for call in calls_in(message)}
    for message in messages:
        if isinstance(message["content"], list):
            for block in message["content"]:
                if block["type"] == "tool_result":
                    results[block["tool_use_id"]] = block["content"]
    return results


SURVIVES = {
    "a list in a variable": False,
    "a file that was written and closed": True,
    "text given to file.write(), not flushed": False,
    "a mail that was sent": True,
    "os.environ['TURN'] = '2'": False,
}
FIELDS = ["messages", "pendingToolUse", "task", "tokensUsed", "turns", "version"]
FINDS = {
    "json.loads": False,
    "all six fields are there": False,
    "validate(messages)": False,
    "the checksum": True,
}

ORDER = ["write the temp file", "fsync the temp file", "replace", "fsync the directory"]
SURVIVES_WHAT = {
    "copy the old file to a .bak, then overwrite in place; load reads only the file": "nothing",
    "write a temp file, delete the old one, rename": "nothing",
    "write a temp file, replace, then fsync the file": "a kill",
    "write a temp file, fsync it, replace": "a kill and power loss",
}


def read():
    with open("checkpoint.json", encoding="utf-8") as file:
        return json.load(file)


def write_temp(document, sync=False):
    with open("checkpoint.json.tmp", "w", encoding="utf-8") as file:
        file.write(json.dumps(document))
        file.flush()
        if sync:
            os.fsync(file.fileno())


def in_place(document):
    with open("checkpoint.json", "w", encoding="utf-8") as file:
        file.write(json.dumps(document))


def with_backup(document):
    if os.path.exists("checkpoint.json"):
        shutil.copy("checkpoint.json", "checkpoint.json.bak")
    in_place(document)


def delete_first(document):
    write_temp(document)
    if os.path.exists("checkpoint.json"):
        os.unlink("checkpoint.json")
    os.rename("checkpoint.json.tmp", "checkpoint.json")


def sync_late(document):
    write_temp(document)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
    with open("checkpoint.json", "r+b") as file:
        os.fsync(file.fileno())


def sync_first(document):
    write_temp(document, sync=True)
    os.replace("checkpoint.json.tmp", "checkpoint.json")


def sync_both(document):
    sync_first(document)
    directory = os.open(".", os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def nothing(document):
    pass


def explored(save):
    try:
        return explore(save, read, old={"turns": 1}, new={"turns": 2}, second_crash=False)
    except CannotExplore as error:
        return error


def ask(field):
    if field is None:
        return []
    return [call["id"] for call in ([field] if isinstance(field, dict) else field)]


def move(pending, ran):
    if pending is None:
        return "call the model"
    return "book the result" if pending["id"] in ran else "run the tool"


def which(current, before):
    for data, name in ((current, "current"), (before, "previous")):
        try:
            if data is not None:
                decode(data)
                return name
        except UnknownVersion:
            return "refuse"
        except DamagedCheckpoint:
            continue
    return "refuse"


def settle(found, writes):
    if found == "ran":
        return "book"
    return "ask a person" if found == "unknown" and writes else "run"


def recovery(status, found):
    if status == "started" and found is None:
        return "ask"
    return {"done": "nothing", "intent": "write"}.get(status) or ("book" if found else "write")


BELONGS = {
    "the HTML of page 87": "a file",
    "the id of page 87's ticket": "the state",
    "the model's thoughts about page 12": "the conversation",
    "who approved the change of page 6": "the state",
    "how much is spent": "the state",
}
FORCED = {
    "the model has named read_page": False,
    "read_page has run and is booked": False,
    "the model has named send_mail, which can be asked": True,
    "send_mail, which can be asked, has run and is booked": False,
    "send_sms, which can't be asked, has run and is booked": True,
    "the model has given its last answer": True,
}


def append_to(file, record):
    return (b"" if not file or file.endswith(b"\n") else b"\n") + record + b"\n"


def cheapest(save, step, risk):
    return min(range(1, 101), key=lambda every: save / every + risk * step * (every - 1) / 2)


def add_message(load, save, message):
    while True:
        inbox, version = load()
        if save([*inbox, message], version):
            return


def add_blindly(load, save, message):
    inbox, version = load()
    save([*inbox, message], version)


def add_the_old_list_again(load, save, message):
    inbox, version = load()
    while not save([*inbox, message], version):
        _, version = load()


def add_more_each_time(load, save, message):
    inbox, version = load()
    inbox.append(message)
    while not save(inbox, version):
        theirs, version = load()
        inbox = [*theirs, message, message]


def saves_for_ever(load, save, message):
    while True:
        save([message], 99)


def loads_for_ever(load, save, message):
    while True:
        load()


PROTECTS = {
    "two processes save within the same second": "version",
    "the agent's next step costs an hour, and two hosts are about to start it": "claim",
    "a host slept through its lease and now saves": "token",
    "a host was killed and never gave its claim back": "lease",
}

RIGHT = {
    "lesson01-twice": lambda effects: sorted({e for e in effects if effects.count(e) > 1}),
    "lesson01-sent": lambda total, killed_after: total + killed_after,
    "lesson01-survives": SURVIVES,
    "lesson02-script": [asks(tool_use("s1", "add", {"a": 19, "b": 23})), says("The sum is 42.")],
    "lesson02-results": results_of,
    "lesson02-cursor": lambda at, calls: at + calls,
    "lesson03-at-most": at_most,
    "lesson03-may-cut": may_cut,
    "lesson03-messages": lambda steps: 2 + 2 * steps,
    "lesson04-missing": lambda document: [field for field in FIELDS if field not in document],
    "lesson04-turns": lambda limit, died, has: limit if has else died + limit,
    "lesson04-compaction": lambda limit, per, died, has: -(-limit // per) + (0 if has else died),
    "lesson05-order": ORDER,
    "lesson05-save": explored(sync_both),
    "lesson05-survives": SURVIVES_WHAT,
    "lesson06-ask": ask,
    "lesson06-move": move,
    "lesson06-saves": lambda tool_turns: 2 * tool_turns + 1,
    "lesson07-which": which,
    "lesson07-settle": settle,
    "lesson07-finds": FINDS,
    "lesson08-lost": lambda every, died_after: died_after % every,
    "lesson08-forced": FORCED,
    "lesson08-append": append_to,
    "lesson08-best": cheapest,
    "lesson09-key": lambda task, item, action: f"{task}/{item}/{action}",
    "lesson09-recovery": recovery,
    "lesson09-where": BELONGS,
    "lesson10-retry": add_message,
    "lesson10-fence": lambda token, last: token == last,
    "lesson10-which": PROTECTS,
}
WRONG = {
    "lesson01-twice": [lambda effects: [e for e in effects if effects.count(e) > 1], lambda e: 1 / 0],
    "lesson01-sent": [lambda total, killed_after: total, 5],
    "lesson01-survives": [{**SURVIVES, "a list in a variable": True}, {"a": 1}, [True]],
    "lesson02-script": [
        [says("The sum is 42.")],
        [asks(tool_use("s1", "add", {"a": 1, "b": 1})), says("The sum is 42.")],
        [asks(tool_use("x", "add", {"a": 19, "b": 23})), says("The sum is 42.")],
        [asks(tool_use("s1", "sum", {"a": 19, "b": 23})), says("The sum is 42.")],
        [asks(tool_use("s1", "add", {"a": 19, "b": 23})), says("42")],
    ],
    "lesson02-results": [lambda messages: {"c1": "5", "c2": "7"}],
    "lesson02-cursor": [lambda at, calls: calls],
    "lesson03-at-most": [endless, lambda agent, n: "done", lambda agent, n: 1 / 0],
    "lesson03-may-cut": [lambda messages: len(messages) % 2 == 0, lambda messages: "yes"],
    "lesson03-messages": [lambda steps: 4 * steps],
    "lesson04-missing": [lambda document: [], lambda d: [f for f in FIELDS if not d.get(f)]],
    "lesson04-turns": [lambda limit, died, has: limit],
    "lesson04-compaction": [lambda limit, per, died, has: limit // per],
    "lesson05-order": [ORDER[::-1], [ORDER[n] for n in (0, 2, 1, 3)], [ORDER[n] for n in (0, 1, 3, 2)], ORDER[:2]],
    "lesson05-save": [explored(in_place), explored(sync_late), explored(sync_first)],
    "lesson05-survives": [{**SURVIVES_WHAT, "write a temp file, fsync it, replace": "a kill"}],
    "lesson06-ask": [lambda field: [field["id"]], lambda field: [call["id"] for call in field]],
    "lesson06-move": [lambda pending, ran: "run the tool" if pending else "call the model"],
    "lesson06-saves": [lambda tool_turns: 2 * tool_turns],
    "lesson07-which": [lambda current, before: "current", lambda c, b: decode(c)],
    "lesson07-settle": [lambda found, writes: "book" if found == "ran" else "run"],
    "lesson07-finds": [{**FINDS, "validate(messages)": True}],
    "lesson08-lost": [lambda every, died_after: every, lambda every, died_after: died_after // every],
    "lesson08-forced": [{**FORCED, "the model has named read_page": True}, dict.fromkeys(FORCED, True)],
    "lesson08-append": [lambda file, record: record + b"\n", lambda file, record: b"\n" + record + b"\n"],
    "lesson08-best": [lambda save, step, risk: 1, lambda save, step, risk: (2 * save / (risk * step)) ** 0.5],
    "lesson09-key": [
        lambda task, item, action: random.random(),
        lambda task, item, action: str(random.random()),
        lambda task, item, action: item,
        lambda task, item, action: task + item + action,
    ],
    "lesson09-recovery": [lambda status, found: "ask" if status == "started" else "write"],
    "lesson09-where": [{**BELONGS, "the HTML of page 87": "the state"}],
    "lesson10-retry": [
        add_blindly,
        add_the_old_list_again,
        add_more_each_time,
        lambda load, save, message: load()[5],
        saves_for_ever,
        loads_for_ever,
        "retry",
    ],
    "lesson10-fence": [lambda token, last: True, lambda token, last: token <= last, lambda token, last: str(token)],
    "lesson10-which": [
        dict.fromkeys(PROTECTS, "version"),
        {**PROTECTS, "a host was killed and never gave its claim back": "token"},
    ],
}


def test_every_cell_has_a_judge_and_every_judge_a_cell_and_a_test():
    asked = set()
    for source in LESSONS.glob("[0-9][0-9]_*.md"):
        asked |= set(re.findall(r'^check\("([^"]+)"\)$', source.read_text(encoding="utf-8"), re.M))
    assert asked == set(JUDGES) == set(RIGHT) == set(WRONG)


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_a_right_answer_is_accepted(name):
    answer = judged(name, RIGHT[name])
    assert answer.passed is True, str(answer)


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in sorted(WRONG) for value in WRONG[name]])
def test_a_wrong_answer_is_told_why(name, value):
    answer = judged(name, value)
    assert answer.passed is False, str(answer)
    assert answer.en and answer.zh and answer.en != answer.zh


def unsolved(*arguments): ...


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_an_open_cell_is_not_an_error(name):
    open_value = dict.fromkeys(RIGHT[name], ...) if isinstance(RIGHT[name], dict) else ...
    if callable(RIGHT[name]):
        open_value = unsolved
    if name == "lesson05-save":
        open_value = explored(nothing)
    assert judged(name, open_value).passed is None


def test_the_key_of_lesson_05_is_what_the_explorer_finds():
    def outcome(save):
        found = explored(save)
        if not found.survives_kill:
            return "nothing"
        return "a kill and power loss" if found.survives_power_loss else "a kill"

    saves = [with_backup, delete_first, sync_late, sync_first]
    assert [outcome(save) for save in saves] == list(SURVIVES_WHAT.values())


def test_the_language_is_the_learners(monkeypatch):
    assert str(compare(3, 5)).startswith("You said 3; it was 5.")
    monkeypatch.setenv("CRASH_COURSE_LANG", "zh")
    assert str(compare(3, 5)).startswith("你预测 3，实际是 5。")


@pytest.mark.parametrize(("prediction", "passed"), [(5, True), (4, False), ("5", False), (..., None)])
def test_a_prediction_is_compared(prediction, passed):
    assert compare(prediction, 5).passed is passed
    assert compare((prediction, 1), (5, 1)).passed is passed


def test_a_prediction_half_made_gives_nothing_away():
    said = compare((5, ...), (5, "secret"))
    assert said.passed is None and str(said).startswith("1 of 2 predictions are still open")
    assert "secret" not in str(said)
    assert "secret" in str(compare((..., ...), (5, "secret")))


@pytest.mark.parametrize(
    ("script", "says_so"),
    [
        ([("s1", "add", {}), "The sum is 42."], "Entry 1 is of type tuple"),
        ([asks(tool_use("s1", "add", {"a": 19, "b": 23})), "The sum is 42."], "Entry 2 is of type str"),
    ],
)
def test_a_script_of_something_else_is_told_what_makes_a_response(script, says_so):
    said = str(answer_in("lesson02-script", {"my_script": script}))
    assert says_so in said and "asks(...) and says(...)" in said and "AttributeError" not in said


def test_notes_go_to_a_file_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv("CRASH_COURSE_NOTES", str(tmp_path / "notes"))
    assert note("01_x").passed is None
    assert not (tmp_path / "notes").exists()
    note("01_x", "what was hard")
    note("01_x", "and 难点")
    lines = (tmp_path / "notes" / "01_x.md").read_text(encoding="utf-8").splitlines()
    assert [line.split("  ")[1] for line in lines] == ["what was hard", "and 难点"]


def test_a_name_that_is_not_there_is_said():
    assert answer_in("lesson99-x", {}).passed is False
    assert "'lesson03-messages'" in str(answer_in("lesson03-message", {}))


def test_what_is_not_defined_yet_is_no_error():
    assert answer_in("lesson03-messages", {}).passed is None
    assert answer_in("lesson03-messages", {"messages_after": lambda steps: 2 * steps + 2}).passed is True
