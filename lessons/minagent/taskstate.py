"""The task state of a long job: one JSON document, kept by a program, for programs, people and the model.

A write in another system is saved three times: the *intent* with its key, *started* just before the call, and the
*result* with the other system's id. `task_recovery` takes a job up again from what these saves left.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

import msgspec

from .errors import MinagentError, UnknownVersion
from .errors import TaskClaimed as TaskClaimed  # one of the errors of this module too
from .files import write_atomically
from .tickets import Receipt, Site, TicketSystem

TASK_VERSION = 1
FINAL = ("done", "failed", "rejected")


class NoTask(MinagentError):
    """There is no task state at this place."""


class DamagedTask(MinagentError):
    """The bytes are not what a save wrote."""


class MalformedTask(MinagentError):
    """The document is whole, but a field is missing, unknown or of the wrong type; the sentence names its place."""


# -- the schema ----------------------------------------------------------------------------------------------


class Step(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One step of one item. What is not known yet is left out of the file."""

    status: Literal["todo", "intent", "started", "done"]
    result: str | None = None
    external_id: str | None = None
    idempotency_key: str | None = None
    at: str | None = None


class Item(msgspec.Struct, forbid_unknown_fields=True):
    """One object of the job: here, a page."""

    id: str
    stage: Literal["pending", "waiting_approval", "done", "failed", "rejected"]
    steps: dict[str, Step]


class Approval(msgspec.Struct, forbid_unknown_fields=True):
    """One question to a person."""

    item: str
    action: str
    requested_at: str
    decision: Literal["approved", "rejected"] | None = None


class Budget(msgspec.Struct, forbid_unknown_fields=True):
    """What may be spent, and what is."""

    limit: int
    spent: int


class Progress(msgspec.Struct, forbid_unknown_fields=True):
    """How far the job is, counted from the items."""

    total: int
    done: int
    failed: int
    waiting_approval: int
    pending: int


class Claim(msgspec.Struct, forbid_unknown_fields=True):
    """Who works on the task, and until when the others keep away."""

    owner: str
    until: str


class TaskState(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The whole state of a task."""

    version: int = TASK_VERSION
    task_id: str
    goal: str
    status: Literal["running", "waiting_approval", "out_of_budget", "done"]
    created_by: str
    created_at: str
    updated_at: str
    plan: list[str]
    progress: Progress
    items: list[Item]
    approvals: list[Approval]
    artifacts: dict[str, str]
    budget: Budget
    last_checkpoint: int
    claim: Claim | None = None


Save = Callable[[TaskState], None]


def new_task(task_id: str, goal: str, pages: list[str], *, created_by: str, now: str, limit: int) -> TaskState:
    """Return the state of a task of which nothing is done."""
    plan = ["diagnose", "ticket", "notice"]
    items = [Item(page, "pending", {name: Step("todo") for name in plan}) for page in pages]
    return TaskState(
        task_id=task_id,
        goal=goal,
        status="running",
        created_by=created_by,
        created_at=now,
        updated_at=now,
        plan=plan,
        progress=count(items),
        items=items,
        approvals=[],
        artifacts={},
        budget=Budget(limit, 0),
        last_checkpoint=0,
    )


def count(items: list[Item]) -> Progress:
    """Count the items by stage. Nobody keeps these numbers by hand."""
    stages = [item.stage for item in items]
    done = stages.count("done") + stages.count("rejected")
    waiting = stages.count("waiting_approval")
    return Progress(len(stages), done, stages.count("failed"), waiting, stages.count("pending"))


# -- on disk -------------------------------------------------------------------------------------------------


def fingerprint(state: TaskState) -> str:
    """Return the checksum of a state."""
    return hashlib.sha256(msgspec.json.encode(state)).hexdigest()


def encode_task(state: TaskState) -> bytes:
    """Turn a state into the bytes of its file: JSON that a person can read, the checksum last."""
    document = {**msgspec.to_builtins(state), "checksum": fingerprint(state)}
    return msgspec.json.format(msgspec.json.encode(document), indent=1)


def save_task(state: TaskState, path: str | os.PathLike[str], now: str) -> None:
    """Put the state on disk: the old document or this one, whole, whenever the process dies."""
    state.progress = count(state.items)
    state.updated_at = now
    state.last_checkpoint += 1
    write_atomically(path, encode_task(state))


def task_saver(path: str | os.PathLike[str], now: Callable[[], str]) -> Save:
    """Return a function that saves a state at `path`."""
    return lambda state: save_task(state, path, now())


# -- one write, saved three times ----------------------------------------------------------------------------


def key_for(state: TaskState, item: Item, name: str) -> str:
    """Make the idempotency key of a write from its intent: the task, the item, the action. Never from the try."""
    return f"{state.task_id}/{item.id}/{name}"


def prove(item: Item, name: str, receipt: Receipt, now: str) -> None:
    """Mark a step as done, by the other system's own word; the item too, when it was the last."""
    step = item.steps[name]
    step.status, step.external_id, step.at = "done", receipt["id"], now
    if all(step.status == "done" for step in item.steps.values()):
        item.stage = "done"


def send(state: TaskState, item: Item, name: str, world: TicketSystem) -> Receipt:
    """Make the call that a step is about."""
    key = item.steps[name].idempotency_key or ""
    if name == "ticket":
        return world.create_ticket(item.id, item.steps["diagnose"].result or "?", key)
    return world.send_notice(item.id, item.steps["ticket"].external_id or "", key)


def write(state: TaskState, item: Item, name: str, world: TicketSystem, save: Save) -> bool:
    """Carry one write from where it stands to done; return whether it is."""
    step = item.steps[name]
    if step.status == "todo":
        step.status, step.idempotency_key = "intent", key_for(state, item, name)
        save(state)  # 1: what is intended
    if step.status == "intent" and state.budget.spent < state.budget.limit:
        step.status, step.at = "started", world.now()
        state.budget.spent += 1
        save(state)  # 2: begun, outcome unknown
        try:
            receipt = send(state, item, name, world)
        except TimeoutError:
            return False  # still `started`: recovery asks
        prove(item, name, receipt, world.now())
        save(state)  # 3: the result and its proof
    return step.status == "done"


# -- one item ------------------------------------------------------------------------------------------------


def approval_of(state: TaskState, item: Item) -> Approval | None:
    """Return the question that was asked about an item."""
    return next((approval for approval in state.approvals if approval.item == item.id), None)


def diagnose(state: TaskState, item: Item, site: Site, now: str) -> None:
    """Look at a page. Reading changes nothing outside, so it may be done again."""
    report = site.look(item.id)
    state.artifacts[item.id] = report["where"]  # where the report lies, not the report
    item.steps["diagnose"] = Step("done", result=report["finding"], at=now)


def allowed(state: TaskState, item: Item, now: str, save: Save) -> bool:
    """Say whether the writes of an item may be made; ask a person when that is needed."""
    finding = item.steps["diagnose"].result or ""
    if not finding.startswith("title"):
        return True
    approval = approval_of(state, item)
    if approval is None:
        step = item.steps["ticket"]
        step.status, step.idempotency_key = "intent", key_for(state, item, "ticket")
        state.approvals.append(Approval(item.id, "ticket", requested_at=now))
        item.stage = "waiting_approval"
        save(state)  # the question, the intent and the stage: one save
        return False
    return approval.decision == "approved"


def work_on(state: TaskState, item: Item, world: TicketSystem, site: Site, save: Save) -> None:
    """Do what is left to do for one item."""
    if item.steps["diagnose"].status != "done":
        try:
            diagnose(state, item, site, world.now())  # a read: the next save will do
        except LookupError as error:
            item.steps["diagnose"].result, item.stage = str(error), "failed"
            save(state)
            return
    if allowed(state, item, world.now(), save) and write(state, item, "ticket", world, save):
        write(state, item, "notice", world, save)


# -- time ----------------------------------------------------------------------------------------------------


def moment(text: str) -> datetime:
    """Read a time as it is saved."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def later(now: str, **amount: float) -> str:
    """Return the time so much later."""
    return f"{moment(now) + timedelta(**amount):%Y-%m-%dT%H:%M:%SZ}"


def stale(step: Step, now: str, hours: float) -> bool:
    """Say whether a finding is too old to act on. Without its time nobody could say."""
    return step.at is None or moment(now) - moment(step.at) > timedelta(hours=hours)


# -- for people ----------------------------------------------------------------------------------------------


def progress_bar(state: TaskState, width: int = 40) -> str:
    """Draw the progress for a terminal."""
    progress = state.progress
    parts: Mapping[str, int] = {"█": progress.done, "x": progress.failed, "?": progress.waiting_approval}
    bar = "".join(sign * round(width * number / max(progress.total, 1)) for sign, number in parts.items())
    words = f"{progress.done} done, {progress.failed} failed, {progress.waiting_approval} waiting for approval"
    rest = f"{progress.pending} to do; {state.budget.spent} of {state.budget.limit} spent"
    return f"[{bar[:width]:·<{width}}] {words}, {rest}"


def delete_expired(folder: str | os.PathLike[str], now: str, days: float) -> list[str]:
    """Delete the states of tasks that have been done for so many days; return the names of their files."""
    deleted = []
    for path in sorted(Path(folder).glob("*.json")):
        state = decode_task(path.read_bytes())
        if state.status == "done" and moment(now) - moment(state.updated_at) > timedelta(days=days):
            path.unlink()
            deleted.append(path.name)
    return deleted


def decode_task(data: bytes) -> TaskState:
    """Turn a file's bytes into a state, or say what is wrong with them and where."""
    try:
        document = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise DamagedTask(f"The task state is not one whole JSON document: {error}.") from None
    if not isinstance(document, dict):
        raise DamagedTask("The task state is JSON, but no document.")
    if document.get("version") != TASK_VERSION:
        found = document.get("version")
        raise UnknownVersion(f"The task state is of version {found!r}; this program knows {TASK_VERSION}.")
    checksum = document.pop("checksum", None)
    try:
        state = msgspec.convert(document, TaskState)
    except msgspec.ValidationError as error:
        raise MalformedTask(f"The task state does not follow its schema: {error}.") from None
    if checksum != fingerprint(state):
        raise DamagedTask("The task state parses, but it is not the one that was saved: its checksum differs.")
    return state
