"""The file that remembers a learner's progress: it keeps the rules of the course that it belongs to."""

import threading
from pathlib import Path

import msgspec
from minagent.course.notes import MARKER

from grader.crash import explore
from grader.learner.state import Mark, State, change, read, save

OLD = State(hints={"level1-turns": 1})
NEW = State(hints={"level1-turns": 2}, criteria={"level2-atomic": Mark(True, 4.0, "2026-07-01T09:00:00")})


def test_no_crash_can_hurt_it() -> None:
    explored = explore(
        lambda state: save(Path(MARKER), msgspec.convert(state, State)),
        lambda: msgspec.to_builtins(read(Path(".")).state),
        old=msgspec.to_builtins(OLD),
        new=msgspec.to_builtins(NEW),
    )
    explored.check()
    assert explored.survives_power_loss and explored.durable_on_return


def test_a_flipped_byte_falls_back_and_says_so(tmp_path: Path) -> None:
    save(tmp_path / MARKER, OLD)
    save(tmp_path / MARKER, NEW)
    data = (tmp_path / MARKER).read_bytes()
    for place in range(0, len(data), 7):
        (tmp_path / MARKER).write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        found = read(tmp_path)
        assert found.state in (OLD, NEW)
        assert (found.state == NEW) or (found.trouble is not None and "damaged" in found.trouble.en)


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    save(tmp_path / MARKER, State())
    together = threading.Barrier(2)

    def write(prefix: str) -> None:
        together.wait()
        for number in range(15):
            name = f"{prefix}{number}"
            change(tmp_path, lambda state, name=name: msgspec.structs.replace(state, hints={**state.hints, name: 1}))

    writers = [threading.Thread(target=write, args=(prefix,)) for prefix in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(read(tmp_path).state.hints) == 30


def test_a_newer_kits_file_is_left_alone(tmp_path: Path) -> None:
    save(tmp_path / MARKER, State(version=2, hints={"x": 3}))
    before = (tmp_path / MARKER).read_bytes()
    trouble = change(tmp_path, lambda state: OLD)
    assert trouble is not None and "newer version" in trouble.en
    assert (tmp_path / MARKER).read_bytes() == before


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("where a folder would be")
    trouble = change(tmp_path / "file" / "away", lambda state: NEW)
    assert trouble is not None and "can't be written" in trouble.en
