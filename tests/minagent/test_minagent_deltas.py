"""The log of deltas: merged on load, compacted, torn, appended to after a tear, written by two; and gzip."""

import contextlib
import copy
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minagent import (
    ChecksumMismatch,
    DamagedCheckpoint,
    DeltaLog,
    EmptyCheckpoint,
    FakeModel,
    FellBack,
    MalformedCheckpoint,
    NoCheckpoint,
    NotSerialisable,
    StaleWriter,
    Tool,
    TornCheckpoint,
    UnknownVersion,
    asks,
    checkpoint,
    compact,
    decode,
    delta_saver,
    difference,
    encode,
    light_checkpoint,
    load_checkpoint,
    merge,
    previous,
    read_log,
    resume_from_log,
    run,
    run_with_checkpoints,
    save_checkpoint,
    says,
    start,
    tool_use,
    toolbox,
    unpack,
)

from grader.crash import ProcessKill, explore, explore_run

TURNS = 6


def script(turns=TURNS):
    asked = [asks(tool_use(f"c{n}", "read_page", {"page": n})) for n in range(turns)]
    return [*asked, says("Read.")]


def tools(size=300):
    return toolbox(Tool("read_page", lambda page: f"page {page} 第{page}页 " + "x" * size))


def new_agent(turns=TURNS, size=300):
    return start("Read the pages.", FakeModel(script(turns)), tools(size))


def documents(turns=TURNS, size=300):
    saves = []
    run(new_agent(turns, size), lambda agent: saves.append(checkpoint(agent)), max_turns=1000)
    return saves


@pytest.fixture
def path(tmp_path):
    return tmp_path / "checkpoint.jsonl"


def quiet(path, **how):
    return DeltaLog(path, on_fallback=lambda reason: None, **how)


def log_of(path, saves, **how):
    log = DeltaLog(path, **{"floor": 1_000_000, **how})
    for document in saves:
        log.save(document)
    return log


# -- saving and loading --------------------------------------------------------------------------------------


def test_what_was_saved_comes_back_after_every_save(path):
    log = DeltaLog(path, floor=1_000_000)
    for number, document in enumerate(documents()):
        log.save(document)
        assert log.load() == DeltaLog(path).load() == document
        assert path.read_bytes().count(b"\n") == number + 1


def test_the_first_line_is_a_checkpoint_of_its_own(path):
    first, *_ = documents()
    log_of(path, [first])
    assert load_checkpoint(path) == first


def test_the_log_is_readable_and_each_message_is_in_it_once(path):
    log_of(path, documents())
    text = path.read_text(encoding="utf-8")
    assert all(text.count(f"第{n}页") == 1 for n in range(TURNS))


def test_nothing_the_caller_changes_later_changes_the_log(path):
    saves = copy.deepcopy(documents())
    log = log_of(path, saves[:3])
    saves[2]["messages"][0]["content"] = "changed"
    log.save({**saves[3], "messages": saves[2]["messages"] + saves[3]["messages"][len(saves[2]["messages"]) :]})
    assert DeltaLog(path).load()["messages"][0]["content"] == "changed", "a change of an old message is a delta too"


def test_a_history_that_was_compacted_is_a_delta_like_another(path):
    agent = new_agent()
    log = DeltaLog(path, floor=1_000_000)
    run(agent, delta_saver(log))
    compact(agent)
    log.save(light_checkpoint(agent))
    assert DeltaLog(path).load() == checkpoint(agent)


def test_a_field_that_goes_is_gone(path):
    document = {**documents()[0], "note": "extra"}
    log = log_of(path, [document])
    del document["note"]
    log.save(document)
    assert DeltaLog(path).load() == document


def test_a_light_checkpoint_equals_a_checkpoint():
    agent = new_agent()
    run(agent)
    assert light_checkpoint(agent) == checkpoint(agent)


values = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3), st.lists, max_leaves=4)
states = st.fixed_dictionaries(
    {"messages": st.lists(values, max_size=6), "steps": st.lists(values, max_size=4), "turns": st.integers(0, 9)},
    optional={"other": values},
)


@given(states, states)
def test_merging_a_difference_gives_the_new_state(old, new):
    if old.keys() <= new.keys():
        merged = copy.deepcopy(old)
        merge(merged, json.loads(json.dumps(difference(old, new))))
        assert merged == new


def test_a_value_that_is_no_json_is_named_by_its_place_in_the_document(path):
    saves = copy.deepcopy(documents())
    log = log_of(path, saves[:2])
    before = path.read_bytes()
    saves[2]["messages"][3]["content"] = {1, 2}
    with pytest.raises(NotSerialisable, match=r"messages\[3\]\.content is of type set"):
        log.save(saves[2])
    assert path.read_bytes() == before


# -- compaction ----------------------------------------------------------------------------------------------


def test_compaction_keeps_the_file_below_twice_the_state_and_the_writing_linear(path):
    log, written = DeltaLog(path, floor=0), 0
    for document in documents(turns=60):
        before = path.stat().st_size if path.exists() else 0
        log.save(document)
        size = path.stat().st_size
        written += size - before if size > before else size
        assert size <= 2 * len(encode(document)) + 2000
        assert DeltaLog(path).load() == document
    assert written < 4 * len(encode(document))
    assert sum(len(encode(document)) for document in documents(turns=60)) > 20 * len(encode(document))


def test_a_stale_process_does_not_compact_over_newer_turns(path):
    saves = documents()
    log_of(path, saves[:2])
    stale, other = DeltaLog(path), DeltaLog(path)
    stale.load(), other.load()
    other.save(saves[2])
    other.save(saves[3])
    for attempt in (stale.compact, stale.save):
        with pytest.raises(StaleWriter, match="somebody else has gone on"):
            attempt(saves[2])
    assert DeltaLog(path).load() == saves[3]


def test_nor_over_a_compaction_or_a_file_that_is_gone(path):
    saves = documents()
    log_of(path, saves[:2])
    stale, other = DeltaLog(path), DeltaLog(path)
    stale.load(), other.load()
    other.compact(saves[3])
    with pytest.raises(StaleWriter):
        stale.save(saves[2])
    other.load()
    path.unlink()
    with pytest.raises(StaleWriter):
        other.save(saves[4])


# -- damage --------------------------------------------------------------------------------------------------


def torn(path, saves, cut):
    """Leave a log whose last line is cut after so many bytes; return how long that line was."""
    log_of(path, saves)
    data = path.read_bytes()
    start = data.rstrip(b"\n").rindex(b"\n") + 1
    path.write_bytes(data[: start + cut])
    return len(data) - start


def test_a_torn_last_delta_costs_that_delta_and_is_reported_at_every_byte(path):
    saves = documents()[:4]
    length = len(log_of(path, saves).path.read_bytes().splitlines()[-1])
    data = path.read_bytes()
    for cut in range(length + 1):  # the last byte kept is the line's last one, without its newline
        for tail in (b"", b"\0" * 40):
            path.write_bytes(data[: len(data) - 1 - length + cut] + tail)
            reasons = []
            loaded = DeltaLog(path, on_fallback=reasons.append).load()
            whole = cut == length and not tail
            assert loaded == (saves[3] if whole else saves[2])
            assert bool(reasons) is (cut + len(tail) > 0 and not whole), (cut, reasons)


def test_the_warning_says_what_is_lost(path):
    torn(path, documents()[:4], 50)
    with pytest.warns(FellBack, match=r"damaged after delta 2: 1 torn\. The state after delta 2 was loaded"):
        DeltaLog(path).load()


def test_appending_after_a_torn_tail_keeps_both_what_was_before_and_what_is_new(path):
    saves = documents()
    length = torn(path, saves[:4], 0)
    for cut in [*range(0, length, 40), length - 1]:
        path.unlink()
        torn(path, saves[:4], cut)
        log = quiet(path, floor=1_000_000)
        assert log.load() == (saves[3] if cut == length - 1 else saves[2])
        log.save(saves[4])
        log.save(saves[5])
        reasons = []
        assert DeltaLog(path, on_fallback=reasons.append).load() == saves[5]
        assert reasons == [], "what was torn has been done again"


def test_a_flipped_bit_anywhere_in_the_deltas_costs_that_delta_and_those_after_it_never_more(path):
    saves = documents()[:4]
    log_of(path, saves)
    data = path.read_bytes()
    ends = [n for n, byte in enumerate(data) if byte == ord("\n")]
    for position in range(ends[0] + 1, len(data) - 1):
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        reasons = []
        loaded = DeltaLog(path, on_fallback=reasons.append).load()
        before = sum(end < position for end in ends)
        if position not in ends:
            assert loaded == saves[before - 1] and reasons, position
        else:
            assert loaded in saves and reasons


def test_a_damaged_snapshot_is_looked_for_in_the_log_before_it(path):
    saves = documents()
    log = log_of(path, saves[:3])
    log.compact(saves[3])
    log.save(saves[4])
    data = path.read_bytes()
    path.write_bytes(b"\0" * 10 + data[10:])
    reasons = []
    log = DeltaLog(path, on_fallback=reasons.append)
    assert log.load() == saves[2] and "previous copy" in reasons[0]
    log.save(saves[3])
    assert DeltaLog(path).load() == saves[3]
    assert read_log(previous(path).read_bytes()).document == saves[2], "the good copy is not pushed out"


def test_what_an_empty_file_no_file_and_a_later_version_are(path):
    with pytest.raises(NoCheckpoint):
        DeltaLog(path).load()
    path.write_bytes(b"")
    with pytest.raises(EmptyCheckpoint):
        DeltaLog(path).load()
    later = encode({**documents()[0], "version": 99}) + b"\n"
    path.write_bytes(later)
    for attempt in (DeltaLog(path).load, lambda: DeltaLog(path).save(documents()[0])):
        with pytest.raises(UnknownVersion):
            attempt()
    assert path.read_bytes() == later


def test_an_append_that_failed_half_way_does_not_spoil_the_next(path, monkeypatch):
    saves = documents()
    log = log_of(path, saves[:3])
    import minagent.deltas

    def full(descriptor):
        os.ftruncate(descriptor, os.fstat(descriptor).st_size - 30)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(minagent.deltas, "sync_file", full)
        with pytest.raises(OSError, match="No space"):
            log.save(saves[3])
    log.save(saves[3])
    log.save(saves[4])
    reasons = []
    assert DeltaLog(path, on_fallback=reasons.append).load() == saves[4] and reasons == []


# -- every crash ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compacting", [False, True])
def test_no_crash_at_any_byte_is_seen_by_load(compacting):
    saves = documents(turns=3, size=60)

    def save(document):
        log = quiet("checkpoint.jsonl", floor=1_000_000)
        if compacting and log.path.exists():
            with contextlib.suppress(DamagedCheckpoint):
                log.load()
            log.compact(document)
        else:
            log.save(document)

    def load():
        return quiet("checkpoint.jsonl").load()

    explored = explore(save, load, old=saves[2], new=saves[3])
    explored.check()
    assert explored.kill.images > 300
    assert any(type(op).__name__ == "Rename" for op in explored.recording.operations) is compacting


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 5), st.sampled_from([0, 1_000_000]), st.lists(st.booleans(), max_size=4))
def test_a_run_killed_anywhere_and_resumed_from_its_log_ends_the_same(every, floor, mails):
    def agent(world):
        def send(to, call_id):
            world.effect("mail", call_id)
            return "sent"

        def find(call_id):
            from minagent import Ran

            return Ran("sent") if world.count(call_id) else "not run"

        box = toolbox(Tool("read_page", lambda page: "text " * 10), Tool("mail", send, writes=True, find=find))
        turns = [
            asks(tool_use(f"c{n}", *(("mail", {"to": "Ann"}) if mail else ("read_page", {"page": n}))))
            for n, mail in enumerate(mails)
        ]
        log = quiet("checkpoint.jsonl", floor=floor)
        model = FakeModel([*turns, says("Done.")])
        try:
            running = resume_from_log(log, model, box)
        except NoCheckpoint:
            running = start("Read and write.", model, box)
        run_with_checkpoints(running, delta_saver(log), every=every)
        document = DeltaLog("checkpoint.jsonl").load()
        return {key: value for key, value in document.items() if key != "session"}

    explore_run(agent, crash=ProcessKill(every_byte=200, cuts=8)).check()


def test_resuming_tells_what_was_lost(path):
    saves = documents()[:5]
    torn(path, saves, 60)
    log = DeltaLog(path)
    agent = resume_from_log(log, FakeModel(script()), tools())
    assert "1 torn" in agent.notices[0] and agent.turns == 2
    run(agent, delta_saver(log))
    assert agent.messages == documents()[-1]["messages"]


# -- gzip ----------------------------------------------------------------------------------------------------


def test_large_snapshots_are_packed_small_ones_stay_readable_and_both_are_recognised(tmp_path):
    path = tmp_path / "checkpoint.json"
    saves = documents(turns=30)
    save_checkpoint(saves[0], path, gzip_above=5000)
    assert json.loads(path.read_bytes())["turns"] == 0
    save_checkpoint(saves[-1], path, gzip_above=5000)
    assert path.read_bytes()[:2] == b"\x1f\x8b" and path.stat().st_size < len(encode(saves[-1])) / 3
    assert load_checkpoint(path) == saves[-1]
    assert decode(previous(path).read_bytes()) == saves[0]
    assert unpack(path.read_bytes()) == encode(saves[-1])


def test_equal_states_are_equal_bytes_also_packed(tmp_path):
    document = documents()[-1]
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        save_checkpoint(document, file, gzip_above=0)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_packed_file_damaged_anywhere_is_refused(tmp_path):
    path = tmp_path / "checkpoint.json"
    save_checkpoint(documents()[-1], path, gzip_above=0)
    data = path.read_bytes()
    for cut in range(len(data)):
        with pytest.raises(DamagedCheckpoint):
            decode(data[:cut])
    for position in range(10, len(data)):
        with pytest.raises((TornCheckpoint, ChecksumMismatch, MalformedCheckpoint)):
            decode(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
