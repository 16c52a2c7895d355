"""How long finished tasks are kept: deleted in time, with a line that says so, and nothing else with them."""

from pathlib import Path

import msgspec
from minagent import (
    FileStore,
    checkpoint,
    delete_finished,
    is_finished,
    new_task,
    read_audit,
    run,
    step_once,
)
from scenes import sums_agent
from stores import Hand, Place

from grader.crash import explore_run

DAY = 86_400.0
START = 1_782_000_000.0  # 2026-06-21 00:00 UTC


def task(status: str) -> dict:
    state = new_task("seo", "Mend", ["page-1"], created_by="mei", now="2026-06-21T00:00:00Z", limit=5)
    state.status = status
    return msgspec.to_builtins(state)


def filled(place: Place) -> None:
    place.clock.now = START
    store = place.store()
    for name in ("done", "running", "waiting_approval", "out_of_budget"):
        store.save(name, task(name), 0)
    place.clock.now += 60 * DAY
    store.save("done lately", task("done"), 0)
    place.clock.now += 31 * DAY


def test_only_what_is_finished_and_old_goes_and_a_line_says_so(place: Place, tmp_path: Path) -> None:
    filled(place)
    audit = tmp_path / "audit" / "deleted.jsonl"
    assert delete_finished(place.store(), 90, audit, "nightly") == ["done"]
    assert place.store().keys() == ["done lately", "out_of_budget", "running", "waiting_approval"]
    (line,) = read_audit(audit)
    assert (line["deleted"], line["by"], line["at"]) == ("done", "nightly", "2026-09-20T00:00:00Z")
    assert line["last_saved"] == "2026-06-21T00:00:00Z" and line["version"] == 1 and len(line["checksum"]) == 64
    assert "90 days" in line["why"]
    assert delete_finished(place.store(), 90, audit, "nightly") == []
    assert len(read_audit(audit)) == 1


def test_not_a_second_too_early(place: Place, tmp_path: Path) -> None:
    place.clock.now = START
    place.store().save("t1", task("done"), 0)
    place.clock.now = START + 90 * DAY
    assert delete_finished(place.store(), 90, tmp_path / "audit", "nightly") == []
    place.clock.now += 1
    assert delete_finished(place.store(), 90, tmp_path / "audit", "nightly") == ["t1"]


def test_what_somebody_has_claimed_stays_and_a_dead_claim_does_not_keep_it_for_ever(place: Place, tmp_path) -> None:
    filled(place)
    audit = tmp_path / "audit"
    place.store().claim("done", "reader", 60)
    assert delete_finished(place.store(), 90, audit, "nightly") == []
    assert [line.get("kept") for line in read_audit(audit)] == [None, "done"]
    place.clock.now += 61
    assert delete_finished(place.store(), 90, audit, "nightly") == ["done"]


def test_a_checkpoint_is_finished_when_its_last_word_is_an_answer() -> None:
    agent, seen = sums_agent(), []
    while step_once(agent) == "paused":
        seen.append(is_finished(checkpoint(agent)))
    assert seen == [False, False] and is_finished(checkpoint(agent))
    waiting = sums_agent()
    run(waiting, lambda agent: seen.append(is_finished(checkpoint(agent))) if agent.pending else None)
    assert not any(seen)
    assert not is_finished({"messages": []})


def test_at_every_crash_what_is_gone_has_its_line() -> None:
    def nightly(outside) -> str:
        clock = Hand(START)
        store = FileStore("tasks", clock=clock)
        made = Path("made").exists()
        if not made:
            if store.read("t1") is None:
                store.save("t1", task("done"), 0)
            Path("made").touch()
        clock.now += 100 * DAY
        delete_finished(store, 90, "audit.jsonl", "nightly")
        lines = [line["deleted"] for line in read_audit("audit.jsonl")]
        return "ok" if store.keys() == [] and "t1" in lines else f"wrong: {store.keys()}, {lines}"

    explored = explore_run(nightly)
    explored.check()
    assert explored.value == "ok"


def test_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    audit = tmp_path / "audit"
    audit.write_bytes(b'{"deleted": "a"}\n{"delet')
    clock = Hand(START)
    store = FileStore(tmp_path / "tasks", clock=clock)
    store.save("t1", task("done"), 0)
    clock.now += 91 * DAY
    delete_finished(store, 90, audit, "nightly")
    assert [line["deleted"] for line in read_audit(audit)] == ["a", "t1"]
