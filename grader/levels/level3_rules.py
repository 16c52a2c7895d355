"""What a life must keep to: one ticket and one notice for each item, and a disk that never says more than is so.

A problem that *harms* shows in the world, or in what the disk says of it. The others are ways of working that the
exercise asks for and that no crash of these small jobs happened to punish.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from grader.levels.level3_lives import CLEAN, FINAL, WRITES, Event, History, Job, Life, Point, World, after, decided
from grader.levels.trial import ALIEN

ALIEN_TEXT = json.dumps(ALIEN) + ":"
"""Stands in a saved text where there was a value that JSON doesn't know."""
STATUSES = ("todo", "intent", "started", "done")
STAGES = ("pending", "waiting_approval", *FINAL)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where: after so many events of a life."""

    kind: str
    harm: bool
    history: History
    life: Life
    index: int
    """The event it shows at; the number of events when it shows at the end."""
    item: str = ""
    step: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int, int]:
        """How long a story it takes to tell."""
        return self.history.deaths + self.life.timed_out, len(self.history.lives), self.index

    @property
    def event(self) -> Event | None:
        """The event it shows at."""
        return self.life.events[self.index] if self.index < len(self.life.events) else None


def check(history: History, life: Life, job: Job) -> list[Problem]:
    """Return the problems of a life; the first that harms ends the list."""
    found: list[Problem] = []
    for problem in _problems(history, life, job):
        found.append(problem)
        if problem.harm:
            break
    return found


@lru_cache(1024)
def document_of(text: str) -> Document:
    """Return a saved text as a document."""
    return Document(text)


class Document:
    """A saved document, known to have the shape of a task state."""

    def __init__(self, text: str) -> None:
        self.raw: dict[str, Any] = json.loads(text)
        self.items: dict[str, dict[str, Any]] = {item["id"]: item for item in self.raw["items"]}
        self.approvals: list[dict[str, Any]] = self.raw["approvals"]
        self.spent: float = self.raw["budget"]["spent"]
        self.limit: float = self.raw["budget"]["limit"]

    def step(self, item: str, name: str) -> dict[str, Any]:
        """Return one step of an item."""
        found: dict[str, Any] = self.items[item]["steps"][name]
        return found

    def approval(self, item: str) -> dict[str, Any] | None:
        """Return the approval that is asked for an item."""
        return next((entry for entry in self.approvals if entry["item"] == item), None)


def misshapen(text: str, job: Job) -> str | None:
    """Say what keeps a saved text from being a task state of this job; None when it is one."""
    return _misshapen(text, job.items)


@lru_cache(1024)
def _misshapen(text: str, names: tuple[str, ...]) -> str | None:
    try:
        raw = json.loads(text)
    except ValueError:
        return "JSON"
    if ALIEN_TEXT in text:
        return "alien"
    if not isinstance(raw, dict):
        return "state"
    items = raw.get("items")
    if not isinstance(items, list) or [isinstance(i, dict) and i.get("id") for i in items] != list(names):
        return "items"
    for item in items:
        steps = item.get("steps")
        if not isinstance(steps, dict) or not all(isinstance(steps.get(name), dict) for name in WRITES):
            return "steps"
        if item.get("stage") not in STAGES:
            return "stage"
        if any(steps[name].get("status") not in STATUSES for name in WRITES):
            return "status"
    budget = raw.get("budget")
    if not isinstance(budget, dict) or not all(_number(budget.get(name)) for name in ("limit", "spent")):
        return "budget"
    approvals = raw.get("approvals")
    if not isinstance(approvals, list):
        return "approvals"
    for entry in approvals:
        if not isinstance(entry, dict) or not {"item", "action", "requested_at", "decision"} <= set(entry):
            return "approvals"
        if entry["item"] not in names or not (entry["decision"] is None or isinstance(entry["decision"], str)):
            return "approvals"
    return None


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _problems(history: History, life: Life, job: Job) -> Iterator[Problem]:
    def problem(kind: str, harm: bool, item: str = "", step: str = "", **values: Any) -> Problem:
        return Problem(kind, harm, history, life, index, item, step, values)

    point, index = life.point, 0
    document = document_of(point.saved)
    intents = {
        (item, name)
        for item in job.items
        for name in WRITES
        if document.step(item, name)["status"] in ("intent", "started")
    }
    for index, event in enumerate(life.events):  # noqa: B007
        if event.kind == "save":
            bad = misshapen(event.data[0], job)
            if bad is not None:
                yield problem("shape", True, part=bad)
                return
            new = document_of(event.data[0])
            for kind, item, step, values in _saved(document, new, point.world, job):
                yield problem(kind, True, item, step, **values)
            document = new
            intents |= {
                (item, name)
                for item in job.items
                for name in WRITES
                if new.step(item, name)["status"] == "intent" and new.step(item, name).get("idempotency_key")
            }
        elif event.kind in WRITES:
            for kind, harm, values in _written(event, document, point.world, job, intents):
                yield problem(kind, harm, event.data[0], event.kind, **values)
        point = after(point, event)
    index = len(life.events)
    if life.error is not None and not life.timed_out:
        yield problem("raised" if life.error.kind == "exception" else "stopped", True)
    elif life.error is None:
        for kind, item, step, values in _ended(history, life, point, document, job):
            yield problem(kind, True, item, step, **values)


Fault = tuple[str, str, str, dict[str, Any]]


def _saved(old: Document, new: Document, world: World, job: Job) -> Iterator[Fault]:
    """What is wrong with a document that is saved over another, in the world as it is."""
    if new.limit != old.limit:
        yield "budget-limit", "", "", {"old": old.limit, "new": new.limit}
    if new.spent < old.spent:
        yield "budget-reset", "", "", {"old": old.spent, "new": new.spent}
    for entry in old.approvals:
        now = new.approval(entry["item"])
        if now is None:
            yield "approval-lost", entry["item"], "", {}
        elif entry["decision"] and now["decision"] != entry["decision"]:
            yield "approval-changed", entry["item"], "", {"old": entry["decision"], "new": str(now["decision"])}
    for item in job.items:
        entries = [entry for entry in new.approvals if entry["item"] == item]
        if len(entries) > 1:
            yield "approval-twice", item, "", {"count": len(entries)}
        for entry in entries:
            if entry["decision"] and entry["decision"] != world.decision(item):
                yield "approval-invented", item, "", {"found": entry["decision"]}
        for name in WRITES:
            step = new.step(item, name)
            ids = [id for id, _ in world.of(name, item)]
            if step["status"] == "done" and step.get("external_id") not in ids:
                yield "done-unproven", item, name, {"found": step.get("external_id"), "held": len(ids)}
        stage = new.items[item]["stage"]
        waits = any(not entry["decision"] for entry in entries)
        if waits != (stage == "waiting_approval") and (waits or not entries):
            yield "approval-apart", item, "", {"stage": stage, "entries": len(entries)}
        undone = [name for name in WRITES if new.step(item, name)["status"] != "done"]
        if stage == "done" and undone:
            yield "done-early", item, undone[0], {"status": new.step(item, undone[0])["status"]}
        if stage == "rejected" and world.decision(item) != "rejected":
            yield "rejected-unasked", item, "", {}


def _written(
    event: Event, disk: Document, world: World, job: Job, intents: set[tuple[str, str]]
) -> Iterator[tuple[str, bool, dict[str, Any]]]:
    """What is wrong with a write that is about to take effect."""
    item, key, about = event.data[:3]
    before = world.of(event.kind, item)
    if before and event.data[3] != "lost":
        yield "twice", True, {"count": len(before) + 1, "old_key": before[-1][1][1], "key": key}
    if world.calls() >= job.limit:
        yield "over-budget", True, {"limit": job.limit}
    if item in dict(job.answers) and world.decision(item) != "approved":
        yield "unapproved", True, {"decision": str(world.decision(item))}
    if event.kind == "notice" and about not in [id for id, _ in world.of("ticket", item)]:
        yield "wrong-ticket", True, {"found": about}
    step = disk.step(item, event.kind)
    if step["status"] != "started":
        yield "not-started", False, {"status": step["status"]}
    elif step.get("idempotency_key") != key:
        yield "key-not-saved", False, {"found": step.get("idempotency_key"), "key": key}
    elif (item, event.kind) not in intents:
        yield "no-intent", False, {}
    if item in dict(job.answers):
        entry = disk.approval(item)
        if world.decision(item) == "approved" and (entry is None or entry["decision"] != "approved"):
            yield "approval-not-saved", False, {}


def _ended(history: History, life: Life, point: Point, disk: Document, job: Job) -> Iterator[Fault]:
    """What is wrong at the end of a life that nothing stopped."""
    tight = job.limit < 2 * len(job.items)
    stages = {item: disk.items[item]["stage"] for item in job.items}
    if all(stage in FINAL for stage in stages.values()):
        for item in job.items:
            if stages[item] == "rejected" and point.world.of("ticket", item):
                yield "rejected-written", item, "ticket", {}
        writes, calls = point.world.writes(), point.world.calls()
        if disk.spent < calls:
            yield "budget-short", "", "", {"spent": disk.spent, "writes": writes, "calls": calls}
        if not history.deaths and not life.timed_out and disk.spent != writes:
            yield "budget-wrong", "", "", {"spent": disk.spent, "writes": writes}
        return
    if tight:
        if not history.deaths and not life.timed_out and point.world.writes() < job.limit - 1:
            yield "budget-unused", "", "", {"writes": point.world.writes(), "limit": job.limit}
        settled = all(disk.step(item, name)["status"] != "started" for item in job.items for name in WRITES)
        writes, calls = point.world.writes(), point.world.calls()
        if settled and disk.spent < calls:
            yield "budget-short", "", "", {"spent": disk.spent, "writes": writes, "calls": calls}
        return
    if life.timed_out or decided(point, job) != point:
        return
    if point in (*history.clean, history.point) or len(history.clean) > CLEAN:
        item = next(item for item, stage in stages.items() if stage not in FINAL)
        yield "stuck", item, "", {"lives": len(history.clean) + 1}
