import copy
import json

import pytest
from minagent import (
    FakeModel,
    ScriptEnded,
    Session,
    UnknownTool,
    asks,
    calls_in,
    checkpoint,
    compaction_due,
    load_checkpoint,
    restore,
    result_ids,
    run,
    save_checkpoint,
    saver,
    says,
    start,
    step_once,
    tool_use,
    validate,
)
from scenes import TASK, Died, sums_agent, sums_script, sums_tools


def kinds(agent):
    return [step["kind"] for step in agent.steps]


def call_ids(messages):
    return [call["id"] for message in messages for call in calls_in(message)]


def without_session(agent):
    document = checkpoint(agent)
    del document["session"]
    return document


def test_the_run_of_the_subject_comes_out_figure_by_figure(tmp_path):
    path = tmp_path / "checkpoint.json"
    agent = sums_agent()
    cursors = []
    assert step_once(agent) == "paused"
    save_checkpoint(checkpoint(agent), path)
    cursors.append(json.loads(path.read_text())["modelCursor"])
    assert len(agent.messages) == 4
    assert kinds(agent) == ["tool_call"]
    del agent  # the crash

    agent = restore(load_checkpoint(path), FakeModel(sums_script()), sums_tools())
    while True:
        status = step_once(agent)
        save_checkpoint(checkpoint(agent), path)
        cursors.append(json.loads(path.read_text())["modelCursor"])
        if status == "done":
            break
    assert len(agent.messages) == 7
    assert result_ids(agent.messages) == ["c1", "c2"]
    assert call_ids(agent.messages) == ["c1", "c2"]
    assert kinds(agent) == ["tool_call", "tool_call", "final"]
    assert [step["index"] for step in agent.steps] == [0, 1, 2]
    assert cursors == [1, 2, 3]

    whole = sums_agent()
    assert run(whole) == "done"
    assert without_session(agent) == without_session(whole)


def test_another_crash_in_the_middle_of_the_resume_changes_nothing(tmp_path):
    path = tmp_path / "checkpoint.json"
    agent = sums_agent()
    cursors = []
    for _ in range(3):
        step_once(agent)
        save_checkpoint(checkpoint(agent), path)
        cursors.append(agent.model.cursor)
        agent = restore(load_checkpoint(path), FakeModel(sums_script()), sums_tools())  # a new process each time
    whole = sums_agent()
    run(whole)
    assert cursors == [1, 2, 3]
    assert without_session(agent) == without_session(whole)


def test_a_sliced_script_drifts_on_the_second_crash():
    """The first resume is right; the second starts at a position relative to the rest, and repeats a call."""
    agent = sums_agent()
    step_once(agent)
    saved = checkpoint(agent)
    rest = sums_script()[saved["modelCursor"] :]
    agent = restore({**saved, "modelCursor": 0}, FakeModel(rest), sums_tools())
    step_once(agent)
    assert result_ids(agent.messages) == ["c1", "c2"]
    saved = checkpoint(agent)
    assert saved["modelCursor"] == 1  # and 2 of the whole script are played
    rest = sums_script()[saved["modelCursor"] :]
    agent = restore({**saved, "modelCursor": 0}, FakeModel(rest), sums_tools())
    step_once(agent)
    assert call_ids(agent.messages) == ["c1", "c2", "c2"]


def test_resuming_the_same_checkpoint_twice_gives_the_same_result():
    agent = sums_agent()
    step_once(agent)
    saved = checkpoint(agent)
    before = copy.deepcopy(saved)
    first = restore(saved, FakeModel(sums_script()), sums_tools())
    run(first)
    assert saved == before
    second = restore(saved, FakeModel(sums_script()), sums_tools())
    run(second)
    assert checkpoint(first) == checkpoint(second)


def test_a_snapshot_is_a_copy_both_ways():
    session = Session([{"role": "user", "content": [{"type": "text", "text": "hi"}]}], metadata={"who": "Ann"})
    snapshot = session.snapshot()
    session.messages[0]["content"][0]["text"] = "changed"
    assert snapshot["messages"][0]["content"][0]["text"] == "hi"
    again = Session.restore(snapshot)
    again.metadata["who"] = "Bob"
    assert snapshot["metadata"] == {"who": "Ann"}
    assert (again.id, again.created_at) == (session.id, session.created_at)


def test_the_model_gets_history_and_tools_and_says_when_its_script_ends():
    seen = []

    class Watching(FakeModel):
        def __call__(self, *, messages, tools):
            seen.append((len(messages), [tool["name"] for tool in tools]))
            return super().__call__(messages=messages, tools=tools)

    agent = start(TASK, Watching(sums_script()), sums_tools())
    run(agent)
    assert seen == [(2, ["add", "multiply"]), (4, ["add", "multiply"]), (6, ["add", "multiply"])]
    with pytest.raises(ScriptEnded, match="3 responses"):
        step_once(agent)


def test_a_finished_task_does_not_call_the_model_again():
    agent = sums_agent()
    assert run(agent) == run(agent) == "done"
    assert agent.model.cursor == 3


def test_an_unknown_tool_is_named():
    agent = start("x", FakeModel([asks(tool_use("c9", "fly", {}))]), sums_tools())
    with pytest.raises(UnknownTool, match=r"c9 names the tool 'fly'.*add, multiply"):
        step_once(agent)


def test_tokens_are_the_sum_of_input_and_output():
    agent = sums_agent()
    run(agent)
    assert agent.tokens_used == 3 * 120


def test_two_saves_a_turn_and_what_each_holds():
    saves = []
    agent = sums_agent()
    run(agent, lambda a: saves.append(checkpoint(a)))
    a, b, a2, b2, final = saves
    assert a["pendingToolUse"] == {"id": "c1", "name": "add", "input": {"a": 2, "b": 3}}
    assert a["messages"][-1]["role"] == "assistant"
    assert (a["turns"], b["turns"], a2["turns"], b2["turns"], final["turns"]) == (0, 1, 1, 2, 3)
    assert b["pendingToolUse"] is b2["pendingToolUse"] is final["pendingToolUse"] is None
    assert [validate(s["messages"]) for s in saves] == [False, True, False, True, True]
    assert len(b["messages"]) == 4 and len(final["messages"]) == 7


def test_several_calls_in_one_turn_are_a_list_struck_off_one_by_one():
    both = asks(tool_use("c1", "add", {"a": 2, "b": 3}), tool_use("c2", "add", {"a": 4, "b": 5}))
    saves = []
    agent = start("x", FakeModel([both, says("ok")]), sums_tools())
    run(agent, lambda a: saves.append(checkpoint(a)))
    assert [call["id"] for call in saves[0]["pendingToolUse"]] == ["c1", "c2"]
    assert saves[1]["pendingToolUse"]["id"] == "c2"
    assert saves[2]["pendingToolUse"] is None
    assert [s["turns"] for s in saves] == [0, 0, 1, 2]
    assert len(agent.messages) == 5  # both results in one user message
    assert kinds(agent) == ["tool_call", "final"]


# -- the two limits, whose counts must survive a crash -------------------------------------------------------


def long_script(turns):
    return [asks(tool_use(f"c{n}", "add", {"a": n, "b": 1})) for n in range(turns)] + [says("Done.")]


def crashed_after(turns, path, **limits):
    """Run an agent and let it die after some turns; return what lies on disk."""

    def save(agent):
        saver(path)(agent)
        if agent.turns == turns and not agent.pending:
            raise Died

    agent = start("a long task", FakeModel(long_script(40)), sums_tools())
    with pytest.raises(Died):
        run(agent, save, **limits)
    return load_checkpoint(path)


@pytest.mark.parametrize(("died_at", "limit"), [(8, 10), (1, 5), (4, 4)])
def test_the_turn_limit_counts_turns_before_the_crash(tmp_path, died_at, limit):
    saved = crashed_after(died_at, tmp_path / "c.json")
    agent = restore(saved, FakeModel(long_script(40)), sums_tools())
    assert run(agent, max_turns=limit) == "max_turns"
    assert agent.model.cursor == limit
    del saved["turns"]
    agent = restore(saved, FakeModel(long_script(40)), sums_tools())
    assert run(agent, max_turns=limit) == "max_turns"
    assert agent.model.cursor == died_at + limit


def compactions(agent):
    return [step["detail"] for step in agent.steps if step["kind"] == "compaction"]


def test_compaction_fires_when_the_total_passes_the_threshold_crash_or_not(tmp_path):
    """120 tokens a turn and a threshold of 1000: after turn 9, wherever the process died."""
    whole = start("a long task", FakeModel(long_script(40)), sums_tools())
    run(whole, max_turns=12, compact_at=1000)
    assert [detail.split(":")[0] for detail in compactions(whole)] == ["turn 9"]
    saved = crashed_after(6, tmp_path / "c.json", compact_at=1000)
    agent = restore(saved, FakeModel(long_script(40)), sums_tools())
    run(agent, max_turns=12, compact_at=1000)
    assert compactions(agent) == compactions(whole)
    assert agent.messages == whole.messages
    assert validate(agent.messages)
    del saved["tokensUsed"]
    agent = restore(saved, FakeModel(long_script(40)), sums_tools())
    run(agent, max_turns=20, compact_at=1000)
    assert [detail.split(":")[0] for detail in compactions(agent)] == ["turn 15"]


def test_a_crash_between_the_save_and_the_compaction_does_not_lose_the_compaction(tmp_path):
    saved = crashed_after(9, tmp_path / "c.json", compact_at=1000)
    agent = restore(saved, FakeModel(long_script(40)), sums_tools())
    assert compaction_due(agent, 1000)
    run(agent, max_turns=12, compact_at=1000)
    assert [detail.split(":")[0] for detail in compactions(agent)] == ["turn 9"]


def test_compaction_keeps_the_head_and_never_parts_a_call_from_its_result():
    agent = start("a long task", FakeModel(long_script(30)), sums_tools())
    run(agent, max_turns=30, compact_at=500)
    assert len(compactions(agent)) == 6
    assert validate(agent.messages)
    assert agent.messages[1]["content"] == "a long task"
    assert agent.messages[2]["content"].endswith("were dropped to save room.]")
