"""Taking a task up again, in eight steps, each one function. Read `resume_task` last: it calls them in order."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import TaskClaimed
from .taskstate import (
    FINAL,
    Claim,
    NoTask,
    Save,
    TaskState,
    decode_task,
    diagnose,
    later,
    prove,
    stale,
    task_saver,
    work_on,
)
from .tickets import Site, TicketSystem

CLAIM_MINUTES = 15
FRESH_HOURS = 4


def find_task(path: str | os.PathLike[str]) -> bytes:
    """Step 1: find the state. No state is not an empty one."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise NoTask(f"There is no task state at {path}.") from None


def check_task(data: bytes) -> TaskState:
    """Step 2: check version and integrity before anything is believed."""
    return decode_task(data)


def claim_task(state: TaskState, owner: str, now: str, save: Save) -> None:
    """Step 3: claim the task, so that only one resumes it."""
    claim = state.claim
    if claim is not None and claim.owner != owner and claim.until > now:
        raise TaskClaimed(f"{claim.owner} works on {state.task_id} until {claim.until}.")
    state.claim = Claim(owner, later(now, minutes=CLAIM_MINUTES))
    save(state)


def settle_writes(state: TaskState, world: TicketSystem, save: Save) -> None:
    """Step 4: for each step that was started, ask the other system what became of it."""
    finds = {"ticket": world.find_ticket, "notice": world.find_notice}
    for item in state.items:
        for name, step in item.steps.items():
            if step.status == "started":
                receipt = finds[name](step.idempotency_key or "")
                if receipt is not None:
                    prove(item, name, receipt, world.now())
                else:
                    step.status = "intent"
                save(state)


def collect_decisions(state: TaskState, world: TicketSystem, save: Save) -> None:
    """Step 5: collect what people have decided meanwhile."""
    items = {item.id: item for item in state.items}
    for approval in state.approvals:
        decision = None if approval.decision else world.decision(approval.item)
        if decision == "approved":
            approval.decision, items[approval.item].stage = "approved", "pending"
            save(state)
        elif decision == "rejected":
            approval.decision, items[approval.item].stage = "rejected", "rejected"
            save(state)


def refresh(state: TaskState, site: Site, now: str, save: Save) -> None:
    """Step 6: look again where a finding is old and nothing was written on its account; check the budget."""
    for item in state.items:
        seen, ticket = item.steps["diagnose"], item.steps["ticket"]
        unused = item.stage == "pending" and seen.status == "done" and ticket.status in ("todo", "intent")
        if unused and stale(seen, now, FRESH_HOURS):
            diagnose(state, item, site, now)
            save(state)
    if state.budget.spent >= state.budget.limit and state.status == "running":
        state.status = "out_of_budget"
        save(state)


def briefing(state: TaskState) -> str:
    """Step 7: tell the model where the job stands, in a few lines instead of yesterday's few hundred turns."""
    progress = state.progress
    waiting = [approval.item for approval in state.approvals if approval.decision is None]
    failed = [item.id for item in state.items if item.stage == "failed"]
    open_items = [item for item in state.items if item.stage == "pending"]
    half = [item.id for item in open_items if item.steps["diagnose"].status == "done"]
    lines = [
        f"Goal: {state.goal}",
        f"Plan for each page: {', then '.join(state.plan)}.",
        f"Done: {progress.done} of {progress.total}. To do: {progress.pending}.",
        f"Half done, go on with these first: {', '.join(half) or 'none'}.",
        f"Waiting for a person, leave them alone: {', '.join(waiting) or 'none'}.",
        f"Failed: {', '.join(failed) or 'none'}.",
        f"Budget: {state.budget.spent} of {state.budget.limit} calls are spent.",
    ]
    return "\n".join(lines)


def go_on(state: TaskState, world: TicketSystem, site: Site, save: Save) -> None:
    """Step 8: go on at the next step, saving."""
    for item in state.items:
        if item.stage not in FINAL:
            work_on(state, item, world, site, save)
    if all(item.stage in FINAL for item in state.items):
        state.status = "done"
    elif state.budget.spent >= state.budget.limit:
        state.status = "out_of_budget"
    elif any(item.stage == "waiting_approval" for item in state.items):
        state.status = "waiting_approval"
    state.claim = None
    save(state)


def resume_task(path: str | os.PathLike[str], owner: str, world: TicketSystem, site: Site) -> TaskState:
    """Take up the task at `path` and carry it as far as it goes today."""
    save = task_saver(path, world.now)
    data = find_task(path)
    state = check_task(data)
    claim_task(state, owner, world.now(), save)
    settle_writes(state, world, save)
    collect_decisions(state, world, save)
    refresh(state, site, world.now(), save)
    briefing(state)
    go_on(state, world, site, save)
    return state
