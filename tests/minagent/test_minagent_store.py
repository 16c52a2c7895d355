"""What every store promises, the same tests for files, SQLite and Redis."""

import itertools
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from minagent import (
    ChecksumMismatch,
    Conflict,
    DamagedCheckpoint,
    FakeModel,
    FileStore,
    LeaseLost,
    NoCheckpoint,
    NotSerialisable,
    SqliteStore,
    StaleWriter,
    TaskClaimed,
    UnknownVersion,
    checkpoint,
    checksum,
    resume_from_store,
    run,
    step_once,
    store_saver,
)
from minagent.store import decode_record, encode_record
from scenes import sums_agent, sums_script
from stores import Hand, Place

from grader.crash import explore

DOCUMENT = {"version": 1, "task": "加 2 和 3", "messages": [{"role": "user", "content": "é\u2028"}], "turns": 0}


# -- versions ------------------------------------------------------------------------------------------------


def test_what_is_saved_comes_back_to_another_process_with_its_version(place: Place) -> None:
    assert place.store().save("seo/july 1", DOCUMENT, 0) == 1
    place.clock.now = 2_000.0
    assert place.store().save("seo/july 1", {**DOCUMENT, "turns": 1}, 1) == 2
    stored = place.store().load("seo/july 1")
    assert (stored.document, stored.version, stored.saved_at) == ({**DOCUMENT, "turns": 1}, 2, 2_000.0)
    assert place.store().keys() == ["seo/july 1"]


def test_nothing_there_is_said_with_its_key(place: Place) -> None:
    store = place.store()
    assert store.keys() == []
    with pytest.raises(NoCheckpoint, match="'t1'"):
        store.load("t1")
    with pytest.raises(NoCheckpoint, match="'t1'"):
        store.claim("t1", "host-1", 60)


def test_a_save_from_an_old_version_is_refused_and_changes_nothing(place: Place) -> None:
    store = place.store()
    store.save("t1", {"turns": 1}, 0)
    store.save("t1", {"turns": 2}, 1)
    for expected in (0, 1, 3):
        with pytest.raises(Conflict, match=f"made from version {expected}; the store has 2"):
            place.store().save("t1", {"turns": 99}, expected)
    assert issubclass(Conflict, StaleWriter)
    assert store.load("t1").document == {"turns": 2} and store.load("t1").version == 2


def test_only_one_creates(place: Place) -> None:
    place.store().save("t1", {"by": "a"}, 0)
    with pytest.raises(Conflict):
        place.store().save("t1", {"by": "b"}, 0)
    assert place.store().load("t1").document == {"by": "a"}


def test_keys_do_not_disturb_each_other(place: Place) -> None:
    store = place.store()
    names = ["a", "a/b", "a.json", "../a", "%2F", "任务", "A b"]
    for number, name in enumerate(names):
        store.save(name, {"number": number}, 0)
    assert store.keys() == sorted(names)
    assert [store.load(name).document["number"] for name in names] == list(range(len(names)))


def test_a_value_that_json_can_not_hold_is_named_and_nothing_is_saved(place: Place) -> None:
    with pytest.raises(NotSerialisable, match=r"document\.messages\[0\]\.content"):
        place.store().save("t1", {"messages": [{"content": float("nan")}]}, 0)
    assert place.store().keys() == []


def test_eight_writers_at_once_lose_nothing(place: Place) -> None:
    place.store().save("inbox", {"items": []}, 0)

    def add(number: int) -> int:
        store, refused = place.store(), 0
        while True:
            stored = store.load("inbox")
            try:
                store.save("inbox", {"items": [*stored.document["items"], number]}, stored.version)
                return refused
            except Conflict:
                refused += 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(24)))
    stored = place.store().load("inbox")
    assert sorted(stored.document["items"]) == list(range(24)) and stored.version == 25


# -- claims --------------------------------------------------------------------------------------------------


def test_one_claims_and_the_other_is_told_who_and_how_long(place: Place) -> None:
    store = place.store()
    store.save("t1", {"turns": 0}, 0)
    lease = store.claim("t1", "host-1", 60)
    assert (lease.token, lease.until) == (1, 1_060.0)
    place.clock.now += 59
    with pytest.raises(TaskClaimed, match=r"host-1 works on this for another 1 s\."):
        place.store().claim("t1", "host-2", 60)
    assert store.load("t1").version == 1, "a claim is not a save"


def test_while_it_is_claimed_only_the_holder_saves(place: Place) -> None:
    store = place.store()
    store.save("t1", {"turns": 0}, 0)
    lease = store.claim("t1", "host-1", 60)
    with pytest.raises(TaskClaimed, match="host-1 has claimed"):
        place.store().save("t1", {"turns": 99}, 1)
    assert store.save("t1", {"turns": 1}, 1, lease) == 2
    with pytest.raises(Conflict):
        store.save("t1", {"turns": 2}, 1, lease)  # the holder too has to know what it changes


def test_a_claim_that_was_given_back_can_be_taken_at_once_and_its_holder_is_out(place: Place) -> None:
    store = place.store()
    store.save("t1", {"turns": 0}, 0)
    first = store.claim("t1", "host-1", 60)
    store.release(first)
    assert store.save("t1", {"turns": 1}, 1) == 2, "nobody has it: who knows the version may save"
    second = place.store().claim("t1", "host-2", 60)
    assert second.token == 2
    for late in (
        lambda: store.save("t1", {"turns": 9}, 2, first),
        lambda: store.renew(first, 60),
        lambda: store.release(first),
    ):
        with pytest.raises(LeaseLost, match="The claim 1 is over; the last one is 2"):
            late()


def test_a_lease_can_be_prolonged_and_keeps_its_token(place: Place) -> None:
    store = place.store()
    store.save("t1", {}, 0)
    lease = store.claim("t1", "host-1", 60)
    place.clock.now += 50
    lease = store.renew(lease, 60)
    assert (lease.token, lease.until) == (1, 1_110.0)
    place.clock.now += 50
    with pytest.raises(TaskClaimed):
        place.store().claim("t1", "host-2", 60)
    assert store.save("t1", {"turns": 1}, 1, lease) == 2


def test_a_holder_that_slept_through_its_lease_is_fenced_off(place: Place) -> None:
    asleep, awake = place.store(), place.store()
    asleep.save("t1", {"turns": 0}, 0)
    old = asleep.claim("t1", "host-1", 60)
    version = asleep.load("t1").version
    place.clock.now += 61  # it sleeps
    new = awake.claim("t1", "host-2", 60)
    place.clock.now -= 61  # its own clock even says that there is time left: no clock is asked
    for attempt in (lambda: asleep.save("t1", {"turns": 1}, version, old), lambda: asleep.renew(old, 60)):
        with pytest.raises(LeaseLost):
            attempt()
    assert awake.save("t1", {"turns": 5}, 1, new) == 2
    assert awake.load("t1").document == {"turns": 5}


def test_without_the_token_the_version_alone_would_have_let_it_through(place: Place) -> None:
    """host-2 has claimed and is at work, but has not saved yet: the version is still the sleeper's."""
    store = place.store()
    store.save("t1", {"turns": 0}, 0)
    old = store.claim("t1", "host-1", 60)
    place.clock.now += 61
    store.claim("t1", "host-2", 60)
    assert store.load("t1").version == 1
    with pytest.raises(LeaseLost):
        store.save("t1", {"turns": 1}, 1, old)


def test_an_expired_lease_that_nobody_took_still_saves_and_renews(place: Place) -> None:
    store = place.store()
    store.save("t1", {}, 0)
    lease = store.claim("t1", "host-1", 60)
    place.clock.now += 3_600
    assert store.save("t1", {"turns": 1}, 1, lease) == 2
    assert store.renew(lease, 60).until == place.clock.now + 60


def test_a_host_that_was_started_again_gets_its_task_back_and_its_first_life_is_out(place: Place) -> None:
    store = place.store()
    store.save("t1", {}, 0)
    first = store.claim("t1", "host-1", 60)
    second = place.store().claim("t1", "host-1", 60)
    assert second.token == first.token + 1
    with pytest.raises(LeaseLost):
        store.save("t1", {"turns": 1}, 1, first)


def test_a_deleted_task_is_gone_and_a_late_save_does_not_bring_it_back(place: Place) -> None:
    store = place.store()
    store.save("t1", {}, 0)
    with pytest.raises(Conflict):
        store.delete("t1", 2)
    lease = store.claim("t1", "host-1", 60)
    with pytest.raises(TaskClaimed):
        store.delete("t1", 1)
    place.clock.now += 61
    store.delete("t1", 1)
    assert store.keys() == []
    with pytest.raises(Conflict):
        store.save("t1", {"turns": 1}, 1, lease)


# -- an agent ------------------------------------------------------------------------------------------------


def test_an_agent_goes_on_from_the_store_under_a_claim(place: Place) -> None:
    whole = sums_agent()
    run(whole)
    agent = sums_agent()
    save = store_saver(place.store(), "t1")
    save(agent)
    step_once(agent, save)
    save(agent)

    store = place.store()
    resumed, save, lease = resume_from_store(store, "t1", "host-2", 60, FakeModel(sums_script()), agent.tools)
    with pytest.raises(TaskClaimed):
        resume_from_store(place.store(), "t1", "host-3", 60, FakeModel(sums_script()), agent.tools)
    run(resumed, save)
    store.release(lease)
    ours, theirs = (
        {key: value for key, value in checkpoint(one).items() if key != "session"} for one in (resumed, whole)
    )
    assert ours == theirs
    assert store.load("t1").document == checkpoint(resumed)


# -- bytes ---------------------------------------------------------------------------------------------------


def damage(place: Place, data: bytes) -> None:
    if place.backend == "files":
        (place.folder / "store" / "t1.json").write_bytes(data)
    elif place.backend == "sqlite":
        with sqlite3.connect(place.folder / "store.db") as database:
            database.execute("UPDATE records SET record = ?", (data.decode("utf-8", "replace"),))
        database.close()
    else:
        assert place.redis is not None
        place.redis.client.set(f"{place.folder.name}:t1", data)


def test_damage_is_refused_and_never_written_over(place: Place) -> None:
    store = place.store()
    store.save("t1", {"turns": 7}, 0)
    sound = encode_record(store.read("t1"))
    newer = json.dumps({**json.loads(sound), "format": 2})
    faults = [b"", sound[:-9], sound.replace(b'"turns": 7', b'"turns": 8'), b"[1]", b"null", b"\0" * 40]
    for data in faults:
        damage(place, data)
        for attempt in (lambda: store.load("t1"), lambda: store.save("t1", {"turns": 9}, 1)):
            with pytest.raises(DamagedCheckpoint):
                attempt()
    damage(place, sound.replace(b'"turns": 7', b'"turns": 8'))
    with pytest.raises(ChecksumMismatch):
        store.load("t1")
    body = {key: value for key, value in json.loads(newer).items() if key != "checksum"}
    damage(place, json.dumps({**body, "checksum": checksum(body)}).encode())
    with pytest.raises(UnknownVersion, match="format 2"):
        store.save("t1", {"turns": 9}, 1)
    damage(place, sound)
    assert store.load("t1").document == {"turns": 7}


def test_a_person_can_read_the_file(tmp_path) -> None:
    FileStore(tmp_path).save("t1", DOCUMENT, 0)
    text = (tmp_path / "t1.json").read_text(encoding="utf-8")
    assert "加 2 和 3" in text and '"version": 1' in text
    assert decode_record(text.encode()).document == DOCUMENT


def test_nothing_is_left_beside_the_records(tmp_path) -> None:
    store = FileStore(tmp_path / "store")
    store.save("t1", DOCUMENT, 0)
    store.claim("t1", "host-1", 60)
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["t1.json"]
    SqliteStore(tmp_path / "db" / "s.db").save("t1", DOCUMENT, 0)
    assert [path.name for path in (tmp_path / "db").iterdir()] == ["s.db"]


# -- crashes -------------------------------------------------------------------------------------------------


def test_no_crash_at_any_byte_of_a_save_is_seen_by_load() -> None:
    def save(document: dict) -> None:
        store = FileStore("tasks", clock=lambda: 1_000.0)
        record = store.read("t1")
        store.save("t1", document, record.version if record else 0)

    def load() -> dict:
        return FileStore("tasks").load("t1").document

    explored = explore(save, load, old={"turns": 1}, new={"turns": 2, "text": "x" * 300})
    explored.check()
    assert explored.kill.images > 500 and explored.residue == ()


def test_no_crash_while_claiming_hurts_the_document() -> None:
    def save(document: dict) -> None:
        store = FileStore("tasks", clock=lambda: 1_000.0)
        if store.read("t1") is None:
            store.save("t1", document, 0)
        else:
            lease = store.claim("t1", "host-1", 60)
            store.save("t1", document, store.load("t1").version, lease)
            store.release(lease)

    explored = explore(save, lambda: FileStore("tasks").load("t1").document, old={"turns": 1}, new={"turns": 2})
    explored.check()


# -- any order -----------------------------------------------------------------------------------------------


class AnyOrder(RuleBasedStateMachine):
    """Two hosts do anything in any order; a dict says what must come of it."""

    numbers = itertools.count()
    make = None

    def __init__(self) -> None:
        super().__init__()
        self.clock = Hand()
        self.store = type(self).make(self.clock)
        self.key = f"t{next(self.numbers)}"  # an id may come again, and find what an earlier machine left
        self.version, self.token, self.owner, self.until = 0, 0, None, 0.0
        self.document: dict | None = None
        self.leases: dict[str, object] = {}

    @rule(seconds=st.sampled_from([1.0, 30.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule(host=st.sampled_from(["a", "b"]), behind=st.integers(0, 1), with_lease=st.booleans(), n=st.integers())
    def save(self, host: str, behind: int, with_lease: bool, n: int) -> None:
        lease = self.leases.get(host) if with_lease else None
        expected = self.version - behind
        mine = lease is not None and self.owner is not None and lease.token == self.token
        allowed = self.document is None or mine or (lease is None and self.owner is None)
        if allowed and not behind:
            assert self.store.save(self.key, {"n": n}, expected, lease) == self.version + 1
            self.version, self.document = self.version + 1, {"n": n}
        else:
            with pytest.raises((Conflict, LeaseLost, TaskClaimed)):
                self.store.save(self.key, {"n": n}, expected, lease)

    @precondition(lambda self: self.document is not None)
    @rule(host=st.sampled_from(["a", "b"]))
    def claim(self, host: str) -> None:
        if self.owner not in (None, host) and self.until > self.clock.now:
            with pytest.raises(TaskClaimed):
                self.store.claim(self.key, host, 60)
            return
        self.leases[host] = lease = self.store.claim(self.key, host, 60)
        self.token, self.owner, self.until = self.token + 1, host, self.clock.now + 60
        assert lease.token == self.token

    @precondition(lambda self: self.leases)
    @rule(host=st.sampled_from(["a", "b"]), give_back=st.booleans())
    def renew_or_release(self, host: str, give_back: bool) -> None:
        lease = self.leases.get(host)
        if lease is None:
            return
        action = self.store.release if give_back else (lambda lease: self.store.renew(lease, 60))
        if self.owner is None or lease.token != self.token:
            with pytest.raises(LeaseLost):
                action(lease)
            return
        action(lease)
        self.owner, self.until = (None, 0.0) if give_back else (self.owner, self.clock.now + 60)

    def teardown(self) -> None:
        if self.document is not None:
            stored = self.store.load(self.key)
            assert (stored.document, stored.version) == (self.document, self.version)


def test_two_hosts_in_any_order_come_out_as_the_rules_say(place: Place) -> None:
    def make(clock: Hand):
        place.clock = clock
        return place.store()

    machine = type("Machine", (AnyOrder,), {"make": staticmethod(make)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=20,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
