"""The task state and its recovery: whole on disk, clear when refused, one ticket and one notice whatever happens."""

import json
from itertools import product
from pathlib import Path

import msgspec
import pytest
from minagent import MinagentError, UnknownVersion
from minagent.task_recovery import (
    briefing,
    check_task,
    claim_task,
    collect_decisions,
    find_task,
    go_on,
    refresh,
    resume_task,
    settle_writes,
)
from minagent.taskstate import (
    DamagedTask,
    MalformedTask,
    NoTask,
    TaskClaimed,
    TaskState,
    count,
    decode_task,
    delete_expired,
    encode_task,
    later,
    new_task,
    progress_bar,
    save_task,
    stale,
    task_saver,
)
from minagent.tickets import Clock, Logbook, Remembered, Site, TicketSystem

from grader.crash import Ledger, ProcessKill, explore_run

PAGES = ["page-1", "page-2", "page-6", "page-13"]
"""page-6 needs an approval, page-13 is gone."""


def fresh(limit: int = 50, pages: list[str] = PAGES) -> TaskState:
    return new_task("seo-july", "Mend the shop", pages, created_by="mei", now=Clock()(), limit=limit)


def keep(state: TaskState) -> None:
    """A save that saves nothing."""


# -- on disk -------------------------------------------------------------------------------------------------


def test_what_is_saved_comes_back_and_a_person_can_read_it(tmp_path: Path) -> None:
    state, path = fresh(), tmp_path / "deep" / "task.json"
    state.goal = "店铺诊断"
    save_task(state, path, later(Clock()(), minutes=5))
    text = path.read_text(encoding="utf-8")
    assert "店铺诊断" in text and text.count("\n") > 50
    assert decode_task(path.read_bytes()) == state
    assert (state.last_checkpoint, state.updated_at) == (1, "2026-07-01T09:05:00Z")


def test_every_flipped_byte_is_found() -> None:
    data = encode_task(fresh(pages=["page-1"]))
    same = decode_task(data)
    for place in range(len(data)):
        flipped = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        try:
            assert decode_task(flipped) == same  # a blank between two fields says nothing
        except MinagentError:
            continue
        assert data[place : place + 1].isspace()


def test_every_prefix_is_refused() -> None:
    data = encode_task(fresh(pages=["page-1"]))
    for length in range(len(data)):
        with pytest.raises(DamagedTask):
            decode_task(data[:length])


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"version": 2}, UnknownVersion, "version 2"),
        ({"status": "nearly"}, MalformedTask, "$.status"),
        ({"budget": {"limit": 5}}, MalformedTask, "spent"),
        ({"mood": "good"}, MalformedTask, "mood"),
        ({"items": "none"}, MalformedTask, "$.items"),
        ({"budget": {"limit": 50, "spent": 3}}, DamagedTask, "checksum"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(change: dict, error: type[Exception], says: str) -> None:
    document = {**json.loads(encode_task(fresh())), **change}
    with pytest.raises(error) as caught:
        decode_task(json.dumps(document).encode())
    assert says in str(caught.value)


def test_no_state_is_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(NoTask):
        find_task(tmp_path / "task.json")
    with pytest.raises(DamagedTask):
        check_task(b"")
    with pytest.raises(DamagedTask):
        check_task(b"[]")


# -- recovery, step by step ----------------------------------------------------------------------------------


def test_a_task_is_claimed_by_one() -> None:
    state, clock = fresh(), Clock()
    claim_task(state, "a", clock(), keep)
    claim_task(state, "a", clock(), keep)
    with pytest.raises(TaskClaimed, match="a works on seo-july until 2026-07-01T09:15:00Z"):
        claim_task(state, "b", clock(), keep)
    clock.wait(minutes=16)
    claim_task(state, "b", clock(), keep)
    assert state.claim is not None and state.claim.owner == "b"


@pytest.mark.parametrize(("fate", "status", "stage"), [("done", "done", "pending"), ("lost", "intent", "pending")])
def test_a_started_step_is_settled_by_asking(fate: str, status: str, stage: str) -> None:
    state, world = fresh(pages=["page-1"]), TicketSystem(Remembered(), fates=[fate])
    go_on(state, world, Site(), keep)
    step = state.items[0].steps["ticket"]
    assert step.status == "started" and step.external_id is None and state.budget.spent == 1
    settle_writes(state, world, keep)
    assert (step.status, state.items[0].stage) == (status, stage)
    assert (step.external_id is None) == (status == "intent")


def test_decisions_find_their_way_back() -> None:
    state, world = fresh(pages=["page-6", "page-10"]), TicketSystem(Remembered())
    go_on(state, world, Site(), keep)
    assert state.status == "waiting_approval"
    assert [entry.decision for entry in state.approvals] == [None, None]
    assert all(item.steps["ticket"].status == "intent" for item in state.items), "the intent is saved with the question"
    world.decisions.update({"page-6": "approved", "page-10": "rejected"})
    collect_decisions(state, world, keep)
    assert [item.stage for item in state.items] == ["pending", "rejected"]
    go_on(state, world, Site(), keep)
    assert state.status == "done" and len(state.approvals) == 2
    assert [entry.decision for entry in state.approvals] == ["approved", "rejected"]


def test_old_findings_are_looked_at_again_and_used_ones_are_not() -> None:
    clock, site, outside = Clock(), Site(), Remembered()
    world = TicketSystem(outside, now=clock)
    state = fresh(pages=["page-1", "page-6"])
    go_on(state, world, site, keep)
    looks = site.looks
    world.decisions["page-6"] = "approved"
    collect_decisions(state, world, keep)
    refresh(state, site, clock(), keep)
    assert site.looks == looks
    clock.wait(hours=5)
    site.mended.add("page-6")
    refresh(state, site, clock(), keep)
    assert site.looks == looks + 1
    assert state.items[1].steps["diagnose"].result == "description too short"
    old, new = (item.steps["diagnose"] for item in state.items)
    assert stale(old, clock(), 4) and not stale(new, clock(), 4)


def test_the_briefing_is_short_and_names_what_is_open() -> None:
    state = fresh()
    go_on(state, TicketSystem(Remembered()), Site(), keep)
    state.progress = count(state.items)
    text = briefing(state)
    assert "Mend the shop" in text and "Waiting for a person, leave them alone: page-6." in text
    assert "Failed: page-13." in text and "Done: 2 of 4" in text and len(text) < 500


def test_the_budget_is_a_limit_over_all_lives(tmp_path: Path) -> None:
    path, outside = tmp_path / "task.json", Remembered()
    save_task(fresh(limit=3), path, Clock()())
    for _ in range(3):
        state = resume_task(path, "host", TicketSystem(outside), Site())
    assert state.status == "out_of_budget" and state.budget.spent == 3 == len(outside.effects)
    assert "3 of 3 spent" in progress_bar(state)


# -- whole runs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fates", list(product(["answered", "done", "lost"], repeat=3)), ids="-".join)
def test_whatever_answers_are_lost(fates: tuple[str, ...], tmp_path: Path) -> None:
    path, outside = tmp_path / "task.json", Logbook(tmp_path / "outside")
    save_task(fresh(), path, Clock()())
    late = list(fates)
    for _ in range(6):
        world = TicketSystem(Logbook(tmp_path / "outside"), fates=late)
        world.decisions["page-6"] = "approved"
        spent = decode_task(path.read_bytes()).budget.spent
        state = resume_task(path, "host", world, Site())
        late = world.fates
        assert state.budget.spent >= spent
    outside = Logbook(tmp_path / "outside")
    assert state.status == "done" and state.progress == count(state.items)
    for page in PAGES[:3]:
        assert outside.done(f"ticket for {page}") == outside.done(f"notice for {page}") == 1
    assert outside.done("ticket for page-13") == 0
    assert state.budget.spent == len(outside.effects) + list(fates).count("lost")


def job(outside: Ledger) -> str:
    world, path = TicketSystem(outside), Path("task.json")
    world.decisions["page-6"] = "approved"
    if not path.exists():
        save_task(fresh(pages=["page-1", "page-6"]), path, world.now())
    resume_task(path, "host", world, Site())
    return resume_task(path, "host", world, Site()).status


def test_every_crash_point_is_mended() -> None:
    explored = explore_run(job, crash=ProcessKill(every_byte=0, cuts=16))
    explored.check()
    assert explored.value == "done" and sorted(explored.expected.values()) == [1] * 4


Point = tuple[bytes, tuple[tuple[str, str], ...]]
"""What a crash leaves: the document on disk, and what the world has seen."""


def life(begin: Point) -> list[Point]:
    """Resume from a point; return what a crash after each save and each effect of this life would leave."""
    points = [begin]

    class Outside(Remembered):
        def effect(self, name: str, key: str) -> None:
            super().effect(name, key)
            points.append((points[-1][0], tuple(self.effects)))

    outside = Outside()
    outside.effects = list(begin[1])
    world, site, state = TicketSystem(outside), Site(), check_task(begin[0])
    world.decisions.update({"page-6": "approved", "page-10": "rejected"})

    def save(state: TaskState) -> None:
        points.append((encode_task(state), tuple(outside.effects)))

    claim_task(state, "host", world.now(), save)
    settle_writes(state, world, save)
    collect_decisions(state, world, save)
    refresh(state, site, world.now(), save)
    go_on(state, world, site, save)
    return points


def test_any_number_of_crashes_in_a_row() -> None:
    """Every point that crashes can lead to, found until there is no new one, ends well."""
    first: Point = (encode_task(fresh(pages=["page-1", "page-6", "page-10"])), ())
    seen, front, ends = {first}, [first], set()
    while front:
        points = life(front.pop())
        ends.add(points[-1])
        new = set(points) - seen
        seen |= new
        front += new
    assert len(seen) > 25
    finished = [end for end in ends if decode_task(end[0]).status == "done"]
    assert finished
    for data, effects in seen:
        names = [name for name, _ in effects]
        assert len(names) == len(set(names)) and "ticket for page-10" not in names
        assert decode_task(data).budget.spent >= len(effects)
    for data, effects in finished:
        assert len(effects) == 4 and [item.stage for item in decode_task(data).items] == ["done", "done", "rejected"]


def test_finished_states_go_and_open_ones_stay(tmp_path: Path) -> None:
    for name, status in (("a", "done"), ("b", "running")):
        state = fresh()
        state.status = status  # type: ignore[assignment]
        save_task(state, tmp_path / f"{name}.json", "2026-01-01T00:00:00Z")
    assert delete_expired(tmp_path, "2026-07-01T00:00:00Z", days=200) == []
    assert delete_expired(tmp_path, "2026-07-01T00:00:00Z", days=90) == ["a.json"]


def test_the_ticket_system_refuses_what_is_no_key() -> None:
    with pytest.raises(TypeError):
        TicketSystem(Remembered()).create_ticket("page-1", "text", "")


def test_a_saver_stamps_the_time(tmp_path: Path) -> None:
    clock = Clock()
    save = task_saver(tmp_path / "task.json", clock)
    state = fresh()
    clock.wait(hours=1)
    save(state)
    assert msgspec.json.decode((tmp_path / "task.json").read_bytes())["updated_at"] == "2026-07-01T10:00:00Z"
