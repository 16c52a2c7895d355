import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minagent import (
    UNKNOWN,
    FakeModel,
    MalformedMessage,
    OrphanResult,
    PendingMismatch,
    Tool,
    UnsettledCall,
    asks,
    checkpoint,
    load_checkpoint,
    previous,
    report,
    restore,
    resume,
    resume_and_run,
    run,
    save_checkpoint,
    saver,
    says,
    start,
    step_once,
    tool_result,
    tool_use,
    toolbox,
    validate,
)
from scenes import Died, mail_script, mail_world, sums_agent, sums_script, sums_tools


@pytest.fixture
def path(tmp_path):
    return tmp_path / "checkpoint.json"


def died_while_mailing(path, dies):
    ledger, tools = mail_world(path.with_name("ledger.jsonl"), dies)
    agent = start("Write to Ann.", FakeModel(mail_script()), tools)
    with pytest.raises(Died):
        run(agent, saver(path))
    return ledger, tools


@pytest.mark.parametrize("dies", ["before", "after"])
def test_a_mail_is_sent_once_whether_the_tool_died_before_or_after_it(path, dies):
    ledger, tools = died_while_mailing(path, dies)
    assert len(ledger.entries()) == (0 if dies == "before" else 1)
    agent = resume_and_run(path, FakeModel(mail_script()), tools)
    assert len(ledger.entries()) == 1
    assert len(agent.messages) == 5 and validate(agent.messages)
    assert [step["kind"] for step in agent.steps] == ["tool_call", "final"]


def test_without_the_pending_call_a_careless_resume_sends_it_twice(path):
    ledger, tools = died_while_mailing(path, "after")
    saved = load_checkpoint(path)
    del saved["pendingToolUse"]
    path.write_text(json.dumps(saved))
    agent = resume(path, FakeModel(mail_script()), tools, forgiving=True)
    run(agent)
    assert [entry["effect"] for entry in ledger.entries()] == ["mail to Ann", "mail to Ann"]


def unsure_world(path):
    _ledger, tools = died_while_mailing(path, "after")
    unsure = Tool("send_mail", tools["send_mail"].run, writes=True, find=lambda call_id: UNKNOWN)
    return _ledger, toolbox(unsure)


def test_when_nobody_knows_a_person_decides(path):
    ledger, tools = unsure_world(path)
    before = path.read_bytes()
    with pytest.raises(UnsettledCall, match="m1 to send_mail"):
        resume(path, FakeModel(mail_script()), tools)
    assert path.read_bytes() == before
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize(("policy", "mails", "word"), [("rerun", 2, "sent"), ("book_error", 1, "unknown")])
def test_the_policy_for_an_unknown_outcome(path, policy, mails, word):
    ledger, tools = unsure_world(path)
    agent = resume_and_run(path, FakeModel(mail_script()), tools, unknown=policy)
    assert len(ledger.entries()) == mails
    assert word in agent.messages[3]["content"][0]["content"]


def test_a_tool_that_changes_nothing_is_simply_run_again(path):
    agent = sums_agent()
    saves = []
    run(agent, lambda a: saves.append(checkpoint(a)))
    save_checkpoint(saves[0], path)  # A: c1 named, not run
    again = resume_and_run(path, FakeModel(sums_script()), sums_tools())
    assert again.messages == agent.messages


def test_one_of_two_parallel_calls_was_booked(path):
    ran = []
    tools = toolbox(Tool("add", lambda a, b: ran.append((a, b)) or a + b))
    script = [
        asks(tool_use("c1", "add", {"a": 1, "b": 1}), tool_use("c2", "add", {"a": 2, "b": 2})),
        says("ok"),
    ]

    def save(agent):
        saver(path)(agent)
        if len(agent.pending) == 1:
            raise Died

    with pytest.raises(Died):
        run(start("x", FakeModel(script), tools), save)
    assert load_checkpoint(path)["pendingToolUse"]["id"] == "c2"
    agent = resume_and_run(path, FakeModel(script), tools)
    assert ran == [(1, 1), (2, 2)]
    assert [block["tool_use_id"] for block in agent.messages[3]["content"]] == ["c1", "c2"]
    assert agent.turns == 2


def test_the_user_is_told_what_is_resumed(path):
    agent = sums_agent()
    step_once(agent, saver(path))
    (sentence,) = resume(path, FakeModel(sums_script()), sums_tools()).notices
    assert sentence == (
        "Resuming the task “Add 2 and 3, multiply the sum by 4, and tell me the result.” after turn 1, "
        "120 tokens used; unsettled: nothing."
    )
    document = load_checkpoint(path)
    del document["task"]
    assert "a task whose name was not saved" in report(restore(document, FakeModel([]), {}))


def test_falling_back_is_told_too(path):
    agent = sums_agent()
    step_once(agent, saver(path))
    path.write_bytes(b"")
    resumed = resume(path, FakeModel(sums_script()), sums_tools())
    assert "0 bytes" in resumed.notices[0] and "previous copy" in resumed.notices[0]
    run(resumed, saver(path))
    assert resumed.messages == resume(path, FakeModel(sums_script()), sums_tools()).messages
    assert len(resumed.messages) == 7
    assert previous(path).exists()


# -- histories that are not sound ----------------------------------------------------------------------------


def damaged(path, change):
    agent = sums_agent()
    step_once(agent)
    document = checkpoint(agent)
    change(document)
    save_checkpoint(document, path)
    return path.read_bytes()


def drop_result(document):
    document["messages"].pop()


def orphan(document):
    document["messages"].append({"role": "user", "content": [tool_result("c9", "1")]})


def pending_too_many(document):
    document["pendingToolUse"] = {"id": "c1", "name": "add", "input": {}}


def user_went_on(document):
    call = tool_use("c2", "add", {})
    document["messages"] += [{"role": "assistant", "content": [call]}, {"role": "user", "content": "hello?"}]
    document["pendingToolUse"] = {"id": "c2", "name": "add", "input": {}}


def no_role(document):
    document["messages"][0] = "system prompt"


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (drop_result, PendingMismatch, r"\['c1'\] open, but pendingToolUse names no call"),
        (orphan, OrphanResult, "c9"),
        (pending_too_many, PendingMismatch, r"leaves no call open, but pendingToolUse names \['c1'\]"),
        (user_went_on, PendingMismatch, r"goes on after the calls \['c2'\]"),
        (no_role, MalformedMessage, r"messages\[0\]"),
    ],
)
def test_an_unsound_history_is_refused_and_nothing_is_written(path, change, error, words):
    before = damaged(path, change)
    with pytest.raises(error, match=words):
        resume(path, FakeModel(sums_script()), sums_tools())
    assert path.read_bytes() == before


# -- crash anywhere, any number of times ---------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=4), st.booleans())
def test_crash_after_any_saves_and_the_end_is_the_same(tmp_path_factory, deaths, in_parallel):
    """Each number is how many saves a process lives; the last process lives to the end."""
    folder = tmp_path_factory.mktemp("run")
    path = folder / "checkpoint.json"
    ledger, tools = mail_world(folder / "ledger.jsonl")
    mails = [tool_use(f"m{n}", "send_mail", {"to": f"user {n}"}) for n in range(4)]
    script = [asks(mails[0]), asks(*mails[1:3]), asks(mails[3]), says("All sent.")]
    if not in_parallel:
        script = [*(asks(mail) for mail in mails), says("All sent.")]

    def live(saves):
        left = saves

        def save(agent):
            nonlocal left
            if left == 0:
                raise Died
            saver(path)(agent)
            if left is not None:
                left -= 1

        try:
            if path.exists():
                agent = resume(path, FakeModel(script), tools)
            else:
                agent = start("Write to four.", FakeModel(script), tools)
            run(agent, save)
            return agent
        except Died:
            return None

    agent = None
    for saves in deaths:
        agent = agent or live(saves)
    agent = agent or live(None)
    whole = start("Write to four.", FakeModel(copy.deepcopy(script)), mail_world(folder / "other.jsonl")[1])
    run(whole)
    first, second = checkpoint(agent), checkpoint(whole)
    del first["session"], second["session"]
    assert first == second
    assert sorted(entry["call_id"] for entry in ledger.entries()) == ["m0", "m1", "m2", "m3"]
