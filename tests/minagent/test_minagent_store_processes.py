"""Two real processes at one store, led step by step: what one loses is shown, and what prevents it."""

import threading
from pathlib import Path

import msgspec
import pytest
from minagent import (
    Conflict,
    DeltaLog,
    FakeModel,
    LeaseLost,
    Remembered,
    Site,
    StaleWriter,
    TaskClaimed,
    TaskState,
    TicketSystem,
    checkpoint,
    claim_task,
    load_checkpoint,
    new_task,
    prove,
    save_checkpoint,
    settle_writes,
    start,
    work_on,
)
from minagent.course import guide
from stores import Place

HEAD = """
import sys
from minagent import *
NOW = [1_000.0]
clock = lambda: NOW[0]
"""


def program(place: Place, text: str) -> Path:
    path = place.folder / "host.py"
    opened = "import redis\n" if place.backend == "redis" else ""
    path.write_text(f"{HEAD}{opened}store = {place.opened()}\n{text}")
    return path


def test_without_a_version_the_first_of_two_saves_is_lost(tmp_path: Path) -> None:
    """The lost update itself: the save of lesson 5, whole each time, and nobody is told."""
    path = tmp_path / "host.py"
    path.write_text(
        f"{HEAD}"
        "document = load_checkpoint('checkpoint.json')\n"
        "print('loaded'); input()\n"
        "document['messages'].append({'role': 'user', 'content': sys.argv[1]})\n"
        "save_checkpoint(document, 'checkpoint.json'); print('saved')\n"
    )
    save_checkpoint(checkpoint(start("Read.", FakeModel([]), {})), tmp_path / "checkpoint.json")
    hosts = [guide(path, name) for name in ("A", "B")]
    for host in hosts:
        host.until("loaded")
    for host in hosts:
        host.go()
        host.until("saved")
    assert [host.end().code for host in hosts] == [0, 0]
    said = [message["content"] for message in load_checkpoint(tmp_path / "checkpoint.json")["messages"]]
    assert "B" in said and "A" not in said


RACE = """
stored = store.load("t1")
print("loaded"); input()
while True:
    try:
        store.save("t1", {"by": [*stored.document["by"], sys.argv[1]]}, stored.version)
        break
    except Conflict:
        print("refused")
        stored = store.load("t1")
print("saved")
"""


def test_with_it_the_second_is_refused_and_does_its_change_anew(place: Place) -> None:
    store = place.store()
    store.save("t1", {"by": []}, 0)
    path = program(place, RACE)
    hosts = [guide(path, name) for name in ("A", "B")]
    for host in hosts:
        host.until("loaded")
    for host in hosts:
        host.go()
        host.until("saved")
    assert [host.end().said for host in hosts] == [["loaded", "saved"], ["loaded", "refused", "saved"]]
    assert store.load("t1").document == {"by": ["A", "B"]} and store.load("t1").version == 3


MIDDLE = """
from minagent.store import saved
def slow(record):
    print("looked"); input()
    return saved(record, {"by": sys.argv[1]}, 1, clock())
try:
    store.change("t1", slow)
    print("saved")
except Conflict:
    print("refused")
"""


def test_nobody_gets_between_the_look_and_the_write(place: Place) -> None:
    """A has looked and stands still. B is either kept out until A has written, or lets A look once more."""
    store = place.store()
    store.save("t1", {"by": None}, 0)
    a = guide(program(place, MIDDLE), "A")
    a.until("looked")
    if place.backend == "redis":
        store.save("t1", {"by": "B"}, 1)  # Redis keeps nobody out: A's write will be refused, and A looks again
        a.go()
        a.until("looked")
        a.go()
        assert a.end().said[-1] == "refused"
        assert store.load("t1").document == {"by": "B"}
        return
    outcomes = []

    def late() -> None:
        try:
            place.store().save("t1", {"by": "B"}, 1)
        except Conflict:
            outcomes.append("refused")

    b = threading.Thread(target=late)
    b.start()
    a.go()
    assert a.end().said[-1] == "saved"
    b.join()
    assert outcomes == ["refused"] and store.load("t1").document == {"by": "A"}


def test_a_process_killed_between_look_and_write_keeps_nobody_out(place: Place) -> None:
    store = place.store()
    store.save("t1", {"by": None}, 0)
    a = guide(program(place, MIDDLE), "A")
    a.until("looked")
    assert a.kill().code != 0
    assert store.save("t1", {"by": "B"}, 1) == 2


CLAIM = """
lease = store.claim("t1", "host-1", 60)
print("claimed"); input()
"""


def test_a_killed_owner_keeps_its_task_until_its_lease_is_over(place: Place) -> None:
    store = place.store()
    store.save("t1", {"turns": 0}, 0)
    a = guide(program(place, CLAIM))
    a.until("claimed")
    assert a.kill().code != 0
    place.clock.now = 1_059.0
    with pytest.raises(TaskClaimed, match="host-1 works on this for another 1 s"):
        store.claim("t1", "host-2", 60)
    place.clock.now = 1_060.0
    lease = store.claim("t1", "host-2", 60)
    assert lease.token == 2 and store.save("t1", {"turns": 1}, 1, lease) == 2


SLEEPER = """
lease, stored = store.claim("t1", "host-1", 60), store.load("t1")
print("claimed"); input()
try:
    store.save("t1", {"by": "host-1"}, stored.version, lease)
    print("saved")
except LeaseLost as error:
    print("fenced:", error)
"""


def test_an_owner_that_wakes_up_late_is_fenced_off_in_its_own_process(place: Place) -> None:
    store = place.store()
    store.save("t1", {"by": None}, 0)
    a = guide(program(place, SLEEPER))
    a.until("claimed")
    place.clock.now = 1_061.0
    lease = store.claim("t1", "host-2", 60)
    a.go()
    assert a.end().said[-1].startswith("fenced: The claim 1 is over; the last one is 2.")
    assert store.save("t1", {"by": "host-2"}, 1, lease) == 2
    assert store.load("t1").document == {"by": "host-2"}


def test_a_lease_runs_out_under_a_long_call_and_there_is_still_one_ticket(place: Place) -> None:
    """A slow tool, a second worker: the token guards the document, the key from the intent guards the world."""
    store, outside = place.store(), Remembered()
    world, slow_world = TicketSystem(outside), TicketSystem(outside, fates=["done"])
    task = new_task("seo", "Mend", ["page-1"], created_by="mei", now="2026-07-01T09:00:00Z", limit=9)
    version = store.save("seo", msgspec.to_builtins(task), 0)
    lease_a = store.claim("seo", "A", 180)

    def save_a(state: TaskState) -> None:
        nonlocal version
        version = store.save("seo", msgspec.to_builtins(state), version, lease_a)

    work_on(task, task.items[0], slow_world, Site(), save_a)  # the ticket is made; A still waits for the answer
    place.clock.now += 181

    lease_b = place.store().claim("seo", "B", 180)
    stored = store.load("seo")
    theirs = msgspec.convert(stored.document, TaskState)
    assert theirs.items[0].steps["ticket"].status == "started"
    settle_writes(theirs, world, lambda state: None)
    work_on(theirs, theirs.items[0], world, Site(), lambda state: None)
    store.save("seo", msgspec.to_builtins(theirs), stored.version, lease_b)

    prove(task.items[0], "ticket", {"id": "T-A", "key": "late"}, "2026-07-01T09:04:00Z")
    with pytest.raises(LeaseLost):
        save_a(task)
    assert outside.done("ticket for page-1") == outside.done("notice for page-1") == 1
    last = msgspec.convert(store.load("seo").document, TaskState)
    assert last.items[0].stage == "done" and last.items[0].steps["ticket"].external_id != "T-A"


def test_of_two_that_claim_a_task_state_at_the_same_instant_one_is_refused(place: Place) -> None:
    """`claim_task` writes its claim into the document; the version makes that a claim that only one can have."""
    store = place.store()
    task = new_task("seo", "Mend", ["page-1"], created_by="mei", now="2026-07-01T09:00:00Z", limit=9)
    store.save("seo", msgspec.to_builtins(task), 0)
    seen = [store.load("seo"), store.load("seo")]
    ends = []
    for host, stored in zip(("A", "B"), seen, strict=True):
        state = msgspec.convert(stored.document, TaskState)
        try:
            claim_task(
                state,
                host,
                "2026-07-01T09:00:00Z",
                lambda state, stored=stored: store.save("seo", msgspec.to_builtins(state), stored.version) and None,
            )
            ends.append("has it")
        except Conflict:
            ends.append("refused")
    assert ends == ["has it", "refused"]
    assert store.load("seo").document["claim"]["owner"] == "A"


# -- the log of deltas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("compacting", [False, True])
def test_of_two_logs_that_save_at_the_same_instant_one_is_refused(tmp_path: Path, compacting: bool) -> None:
    path, base = tmp_path / "checkpoint.jsonl", checkpoint(start("Read.", FakeModel([]), {}))
    DeltaLog(path).save(base)
    outcomes: list[str] = []

    def save(log: DeltaLog, document: dict, barrier: threading.Barrier) -> None:
        barrier.wait()
        try:
            (log.compact if compacting else log.save)(document)
            outcomes.append("saved")
        except StaleWriter:
            outcomes.append("refused")

    for number in range(1, 31):
        logs, barrier = [DeltaLog(path), DeltaLog(path)], threading.Barrier(2)
        jobs = []
        for who, log in enumerate(logs):
            newer = {**log.load(), "turns": number, "tokensUsed": 10 * number + who}
            jobs.append(threading.Thread(target=save, args=(log, newer, barrier)))
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
        assert sorted(outcomes[-2:]) == ["refused", "saved"]
    assert DeltaLog(path).load()["turns"] == 30


def test_a_stale_process_does_not_compact_over_newer_turns(tmp_path: Path) -> None:
    path, base = tmp_path / "checkpoint.jsonl", checkpoint(start("Read.", FakeModel([]), {}))
    DeltaLog(path).save(base)
    asleep, awake = DeltaLog(path), DeltaLog(path)
    asleep.load(), awake.load()
    awake.save({**base, "turns": 7})
    with pytest.raises(StaleWriter):
        asleep.compact({**base, "turns": 1})
    assert DeltaLog(path).load()["turns"] == 7
