import json
import os
import stat
import time

import minagent.files
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minagent import (
    ChecksumMismatch,
    DamagedCheckpoint,
    EmptyCheckpoint,
    FellBack,
    MalformedCheckpoint,
    NoCheckpoint,
    NotSerialisable,
    TornCheckpoint,
    UnknownVersion,
    ZeroedCheckpoint,
    checkpoint,
    decode,
    encode,
    load_checkpoint,
    previous,
    run,
    save_checkpoint,
    step_once,
)
from scenes import sums_agent


def document(turns=0, **fields):
    return {
        "version": 1,
        "task": "把 2 和 3 相加",
        "turns": turns,
        "tokensUsed": 120 * turns,
        "messages": [{"role": "user", "content": "把 2 和 3 相加"}],
        "pendingToolUse": None,
        **fields,
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "checkpoint.json"


def saved_twice(path):
    save_checkpoint(document(1), path)
    save_checkpoint(document(2), path)
    return path.read_bytes()


# -- what comes back -----------------------------------------------------------------------------------------

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_every_field_comes_back(value):
    given_document = document(session={"metadata": value})
    try:
        data = encode(given_document)
    except NotSerialisable as error:
        assert "surrogate" in str(error)
        return
    assert decode(data) == given_document


def test_text_stays_readable(path):
    save_checkpoint(document(), path)
    assert "把 2 和 3 相加" in path.read_text(encoding="utf-8")


def test_a_missing_directory_is_made(tmp_path):
    save_checkpoint(document(), tmp_path / "a" / "b" / "checkpoint.json")
    assert load_checkpoint(tmp_path / "a" / "b" / "checkpoint.json") == document()


def circle():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), "is of type object"),
        ({1, 2}, "is of type set"),
        (b"bytes", "is of type bytes"),
        ((1, 2), "is of type tuple"),
        (float("nan"), "is nan"),
        ("\ud800", "surrogate"),
        ({1: "one"}, "has the key 1"),
        (circle(), "contains itself"),
    ],
)
def test_a_value_that_cannot_be_saved_is_named_by_its_path_and_nothing_is_written(path, value, words):
    save_checkpoint(document(1), path)
    before = path.read_bytes()
    messages = [{"role": "user", "content": "x"}] * 3 + [{"role": "user", "content": value}]
    with pytest.raises(NotSerialisable, match=r"messages\[3\]\.content.*" + words):
        save_checkpoint(document(2, messages=messages), path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["checkpoint.json"]


# -- what is refused -----------------------------------------------------------------------------------------


def test_no_file_is_said(path):
    with pytest.raises(NoCheckpoint, match=r"checkpoint\.json"):
        load_checkpoint(path)


DAMAGE = [
    (lambda data: b"", EmptyCheckpoint),
    (lambda data: bytes(len(data)), ZeroedCheckpoint),
    (lambda data: data[:100] + bytes(len(data) - 100), ZeroedCheckpoint),
    (lambda data: data[:-1], TornCheckpoint),
    (lambda data: data[: len(data) // 2], TornCheckpoint),
    (lambda data: data + b"}", TornCheckpoint),
    (lambda data: b"\xff" + data, TornCheckpoint),
    (lambda data: data.replace(b'"turns": 2', b'"turns": 3'), ChecksumMismatch),
    (lambda data: b"[1, 2]", MalformedCheckpoint),
    (lambda data: json.dumps(document()).encode(), ChecksumMismatch),
    (lambda data: encode({k: v for k, v in document().items() if k != "turns"}), MalformedCheckpoint),
    (lambda data: encode(document(turns=-1)), MalformedCheckpoint),
    (lambda data: encode(document(turns=True)), MalformedCheckpoint),
    (lambda data: encode(document(pendingToolUse={"id": "c1"})), MalformedCheckpoint),
    (lambda data: encode(document(modelCursor="1")), MalformedCheckpoint),
]


@pytest.mark.parametrize(("damage", "error"), DAMAGE)
def test_each_damage_has_its_name_and_the_previous_copy_is_loaded(path, damage, error):
    data = saved_twice(path)
    path.write_bytes(damage(data))
    left = {name: (path.parent / name).read_bytes() for name in os.listdir(path.parent)}
    with pytest.raises(error):
        decode(path.read_bytes())
    with pytest.warns(FellBack, match="previous copy"):
        assert load_checkpoint(path) == document(1)
    assert left == {name: (path.parent / name).read_bytes() for name in os.listdir(path.parent)}


@pytest.mark.parametrize(("damage", "error"), DAMAGE)
def test_without_a_previous_copy_the_damage_is_raised(path, damage, error):
    save_checkpoint(document(2), path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(error):
        load_checkpoint(path)


def test_both_copies_damaged_are_both_reported(path):
    saved_twice(path)
    path.write_bytes(b"")
    previous(path).write_bytes(b"{")
    with pytest.raises(EmptyCheckpoint, match="previous copy is no better"):
        load_checkpoint(path)


def test_a_missing_file_beside_a_previous_copy_is_not_a_new_task(path):
    saved_twice(path)
    path.unlink()
    with pytest.warns(FellBack, match="no checkpoint"):
        assert load_checkpoint(path) == document(1)


@settings(max_examples=300)
@given(st.integers(min_value=0), st.integers(0, 7))
def test_one_flipped_bit_is_never_loaded_as_something_else(place, bit):
    agent = sums_agent()
    step_once(agent)
    data = bytearray(encode(checkpoint(agent)))
    data[place % len(data)] ^= 1 << bit
    with pytest.raises((DamagedCheckpoint, UnknownVersion)):
        decode(bytes(data))


def test_a_checkpoint_cut_at_any_byte_is_never_loaded():
    data = encode(document())
    for end in range(len(data)):
        with pytest.raises(DamagedCheckpoint):
            decode(data[:end])


# -- versions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 99, -1, "1", None, 1.5, True])
def test_an_unknown_version_is_refused_and_never_overwritten(path, version):
    saved_twice(path)
    path.write_bytes(encode(document(version=version)))
    before = path.read_bytes()
    with pytest.raises(UnknownVersion, match=repr(version)):
        load_checkpoint(path)
    with pytest.raises(UnknownVersion):
        save_checkpoint(document(3), path)
    assert path.read_bytes() == before


def test_version_0_is_migrated(path):
    call = {"id": "c1", "name": "add", "input": {}}
    old = {"version": 0, "task": "t", "turns": 3, "tokens_used": 70, "messages": [], "pending_tool_use": call}
    path.write_text(json.dumps(old))
    loaded = load_checkpoint(path)
    assert loaded == {
        "version": 1,
        "task": "t",
        "turns": 3,
        "tokensUsed": 70,
        "messages": [],
        "pendingToolUse": call,
    }
    save_checkpoint(loaded, path)
    assert load_checkpoint(path) == loaded


def test_careless_recovery_reads_a_file_without_a_version_on_luck(path):
    old = {"task": "t", "turns": 3, "tokens_used": 70, "messages": []}
    path.write_text(json.dumps(old))
    with pytest.raises(MalformedCheckpoint, match="version"):
        load_checkpoint(path)
    assert load_checkpoint(path, forgiving=True).get("tokensUsed", 0) == 0


# -- the write -----------------------------------------------------------------------------------------------


def test_the_copy_before_is_kept_and_a_damaged_file_does_not_push_it_out(path):
    saved_twice(path)
    assert decode(previous(path).read_bytes()) == document(1)
    path.write_bytes(b"{")
    save_checkpoint(document(3), path)
    assert load_checkpoint(path) == document(3)
    assert decode(previous(path).read_bytes()) == document(1)


def test_nothing_but_the_two_copies_is_left(path):
    saved_twice(path)
    assert sorted(os.listdir(path.parent)) == ["checkpoint.json", "checkpoint.json.prev"]


def test_a_failing_fsync_raises_and_keeps_the_old_file(path, monkeypatch):
    save_checkpoint(document(1), path)
    before = path.read_bytes()

    def broken(descriptor):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(minagent.files, "sync_file", broken)
    with pytest.raises(OSError, match="Input/output"):
        save_checkpoint(document(2), path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["checkpoint.json"]


def test_the_order_is_write_sync_replace_sync_directory(path, monkeypatch):
    save_checkpoint(document(1), path)
    log = []
    for name in ("sync_file", "replace", "sync_directory"):
        real = getattr(minagent.files, name)
        monkeypatch.setattr(minagent.files, name, lambda *args, name=name, real=real: (log.append(name), real(*args)))
    minagent.files.write_atomically(path, b"{}")
    assert log == ["sync_file", "replace", "sync_directory"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_the_mode_is_kept(path):
    save_checkpoint(document(1), path)
    path.chmod(0o640)
    save_checkpoint(document(2), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="needs a right on Windows")
def test_a_symbolic_link_stays_a_link(tmp_path):
    real = tmp_path / "data" / "real.json"
    real.parent.mkdir()
    real.write_text("old")
    link = tmp_path / "checkpoint.json"
    link.symlink_to(real)
    minagent.files.write_atomically(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_stale_temp_file_is_never_loaded_and_cleaned_up_later(path):
    save_checkpoint(document(1), path)
    old, young = (path.with_name(f"checkpoint.json.{name}.tmp") for name in ("0000aaaa", "0000bbbb"))
    for leftover in (old, young):
        leftover.write_bytes(encode(document(9)))
    past = time.time() - 3600
    os.utime(old, (past, past))
    assert load_checkpoint(path) == document(1)
    save_checkpoint(document(2), path)
    assert not old.exists()
    assert young.exists()  # another writer may be using it


def test_windows_is_asked_again_while_a_reader_holds_the_file(path, monkeypatch):
    real, tries = os.replace, []

    def held(source, target):
        tries.append(target)
        if len(tries) < 3:
            raise PermissionError(13, "held")
        real(source, target)

    monkeypatch.setattr(minagent.files.os, "replace", held)
    monkeypatch.setattr(minagent.files, "ON_WINDOWS", True)
    monkeypatch.setattr(minagent.files, "sync_directory", lambda directory: None)
    minagent.files.write_atomically(path, b"new")
    assert len(tries) == 3
    monkeypatch.setattr(minagent.files, "ON_WINDOWS", False)
    tries.clear()
    with pytest.raises(PermissionError):
        minagent.files.write_atomically(path, b"newer")
    assert path.read_bytes() == b"new"


def test_a_whole_run_saved_through_the_file(path):
    from minagent import saver

    agent = sums_agent()
    run(agent, saver(path))
    assert load_checkpoint(path) == checkpoint(agent)
