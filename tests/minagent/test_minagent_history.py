import pytest
from hypothesis import given
from hypothesis import strategies as st
from minagent import (
    DuplicateId,
    MalformedMessage,
    OrphanResult,
    dangling,
    pack_pending,
    tool_result,
    tool_use,
    unpack_pending,
    validate,
)


def call(*ids):
    return {"role": "assistant", "content": [tool_use(id, "add", {}) for id in ids]}


def result(*ids):
    return {"role": "user", "content": [tool_result(id, "5") for id in ids]}


def test_a_sound_history_is_true_and_a_dangling_one_false():
    assert validate([call("c1"), result("c1"), call("c2", "c3"), result("c2", "c3")]) is True
    assert validate([call("c1"), result("c1"), call("c2", "c3"), result("c3")]) is False
    assert [c["id"] for c in dangling([call("c2", "c3"), result("c3")])] == ["c2"]
    assert validate([]) is True


def test_an_orphan_result_is_named():
    with pytest.raises(OrphanResult, match=r"messages\[1\] answers the call 'c7'"):
        validate([call("c1"), result("c7")])


def test_a_result_before_its_call_is_an_orphan():
    with pytest.raises(OrphanResult, match="c1"):
        validate([result("c1"), call("c1")])


@pytest.mark.parametrize("history", [[call("c1"), call("c1")], [call("c1"), result("c1"), result("c1")]])
def test_an_id_that_comes_twice_is_named(history):
    with pytest.raises(DuplicateId, match="c1"):
        validate(history)


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("hello", r"messages\[0\]"),
        ({"role": "robot", "content": "x"}, r"messages\[0\]"),
        ({"role": "user", "content": None}, r"messages\[0\]\.content"),
        ({"role": "user", "content": ["x"]}, r"messages\[0\]\.content\[0\]"),
        ({"role": "user", "content": [{"type": "tool_result", "content": "5"}]}, "tool_use_id"),
        ({"role": "assistant", "content": [tool_use("c1", "add", [])]}, "input"),
    ],
)
def test_a_malformed_message_is_named_by_its_place(message, place):
    with pytest.raises(MalformedMessage, match=place):
        validate([message])


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=3), max_size=6))
def test_validate_is_true_exactly_when_nothing_dangles(turns):
    """Each turn makes some calls; the booleans say which of them are answered."""
    history, open_ids, number = [], [], 0
    for answered in turns:
        ids = [f"c{number + n}" for n in range(len(answered))]
        number += len(ids)
        history.append(call(*ids))
        history.append(result(*[id for id, yes in zip(ids, answered, strict=True) if yes]))
        open_ids += [id for id, yes in zip(ids, answered, strict=True) if not yes]
    assert validate(history) is not bool(open_ids)
    assert [c["id"] for c in dangling(history)] == open_ids


def test_pending_has_three_forms_and_all_are_read_back():
    one, two = ({"id": id, "name": "add", "input": {}} for id in ("c1", "c2"))
    assert (pack_pending([]), pack_pending([one]), pack_pending([one, two])) == (None, one, [one, two])
    for calls in ([], [one], [one, two]):
        assert unpack_pending(pack_pending(calls)) == calls
    assert unpack_pending([one]) == [one]
