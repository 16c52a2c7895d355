"""Reads a task state that a learner designed, against the ten rows of the table of fields.

Names may be in any case (``idempotency_key``, ``idempotencyKey``), items and steps lists or dicts. Each row says what
is missing, or where a thing lies that should lie elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from grader.levels.trial import alien
from grader.verdict import Text
from grader.words import catalogue, join, plain

NEEDED = 8
BULK = 400
"""Letters after which an artifact is no reference any more."""
ENOUGH = 5
"""Sentences after which the rest only gets its names listed."""

_words = catalogue("levels/level3.toml")

Norm = dict[str, Any]


def judge(data: dict[str, Any]) -> tuple[bool, Text]:
    """Return whether the design holds, and what to say of it."""
    state, problem = _taken(data)
    if problem is None:
        assert state is not None
        rows = {name: row(state) for name, row in ROWS.items()}
        there = [name for name, fault in rows.items() if fault is None]
        faults = [(name, fault) for name, fault in rows.items() if fault is not None]
        serious = [fault for name, fault in faults if name in there or _misplaced(fault)]
        proof = unproven(state)
        saves = judge_saves(data.get("three_saves"))
        if len(there) >= NEEDED and saves is None and proof is None:
            left = [name for name, _ in faults]
            extra = _words("design.left", rows=_names(left)) if left else None
            return True, join(_words("design.met", count=len(there)), extra)
        parts: list[Text | None] = []
        if len(there) < NEEDED:
            parts.append(_words("design.rows", count=len(there), needed=NEEDED, all=len(ROWS)))
            ordered = [*serious, *(fault for _, fault in faults if fault not in serious)]
            parts += ordered[:ENOUGH]
            shown = [name for name, fault in faults if fault in ordered[:ENOUGH]]
            if len(shown) < len(faults):
                parts.append(_words("design.more", rows=_names([n for n, _ in faults if n not in shown])))
        parts += [proof, saves]
        return False, join(*parts)
    return False, problem


def _misplaced(fault: Text) -> bool:
    return "belongs" in fault.en


def _names(rows: list[str]) -> Text:
    return plain(", ".join(f"`{name}`" for name in rows))


def _taken(data: dict[str, Any]) -> tuple[Norm | None, Text | None]:
    value = data.get("task_state")
    if value is None:
        return None, _words("design.undefined")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            return None, _words("design.not_json", why=plain(str(error)))
    if not isinstance(value, dict) or alien(value):
        return None, _words("design.type", found=alien(value) or type(value).__name__)
    if not value:
        return None, _words("design.empty")
    odd = next(_aliens(value, ""), None)
    if odd is not None:
        return None, _words("design.alien", place=odd[0], found=odd[1])
    found: Norm = _folded(value)
    return found, None


def _aliens(value: Any, place: str) -> Iterator[tuple[str, str]]:
    name = alien(value)
    if name is not None:
        yield place or "task_state", name
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _aliens(inner, f"{place}.{key}".strip("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _aliens(inner, f"{place}[{number}]")


def _folded(value: Any) -> Any:
    """Return a value with its keys folded: lower case, no underscores or dashes."""
    if isinstance(value, dict):
        return {fold(key): _folded(inner) for key, inner in value.items()}
    return [_folded(inner) for inner in value] if isinstance(value, list) else value


def fold(name: str) -> str:
    """Return a name as it is compared."""
    return re.sub(r"[\s_\-]", "", name).lower()


def entries(value: Any) -> list[dict[str, Any]]:
    """Return the dicts in a list, or in a dict by name."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [one for one in inner if isinstance(one, dict)]


def steps(state: Norm) -> list[dict[str, Any]]:
    """Return every step of every item."""
    return [step for item in entries(state.get("items")) for step in entries(item.get("steps"))]


def _anywhere(value: Any, name: str) -> bool:
    if isinstance(value, dict):
        return name in value or any(_anywhere(inner, name) for inner in value.values())
    return isinstance(value, list) and any(_anywhere(inner, name) for inner in value)


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _time(value: Any) -> bool:
    if _number(value):
        return bool(value > 0)
    if not isinstance(value, str):
        return False
    try:
        datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    except ValueError:
        return False
    return True


# ------------------------------------------------------------------------------------------------ the rows


def _goal(state: Norm) -> Text | None:
    if not _text(state.get("goal")):
        return _absent(state, "goal")
    return None if state.get("plan") else _absent(state, "plan")


def _absent(state: Norm, name: str, key: str = "row.top") -> Text:
    if name not in state and _anywhere(state, name):
        return _words("row.misplaced_top", name=name)
    return _words(key, name=name)


_PARTS = ("total", "done", "failed", "waitingapproval", "pending")


def _progress(state: Norm) -> Text | None:
    progress = state.get("progress")
    if not isinstance(progress, dict):
        flat = [name for name in _PARTS if _number(state.get(name))]
        return _words("progress.flat") if flat else _absent(state, "progress")
    missing = [name for name in _PARTS if not _number(progress.get(name))]
    if missing:
        shown = [name.replace("waitingapproval", "waiting_approval") for name in missing]
        return _words("progress.parts", names=plain(", ".join(f"`{name}`" for name in shown)))
    rest = sum(progress[name] for name in _PARTS[1:])
    if rest != progress["total"]:
        return _words("progress.sum", rest=rest, total=progress["total"])
    return None


def _steps(state: Norm) -> Text | None:
    items = entries(state.get("items"))
    if not items:
        return _absent(state, "items")
    if not any("stage" in item for item in items):
        return _words("steps.stage")
    if not steps(state):
        return _words("steps.misplaced") if "steps" in state else _words("steps.none")
    if not any("status" in step for step in steps(state)):
        return _words("steps.status")
    return None


def _in_step(state: Norm, name: str, shown: str) -> Text | None:
    if any(name in step for step in steps(state)):
        return None
    if _anywhere(state, name):
        return _words("row.misplaced_step", name=shown)
    return _words("row.step", name=shown)


def _external(state: Norm) -> Text | None:
    fault = _in_step(state, "externalid", "external_id")
    if fault is None and not any(_text(s.get("externalid")) or _number(s.get("externalid")) for s in steps(state)):
        return _words("external.blank")
    return fault


def _key(state: Norm) -> Text | None:
    fault = _in_step(state, "idempotencykey", "idempotency_key")
    if fault is not None:
        return fault
    keys = [step["idempotencykey"] for step in steps(state) if step.get("idempotencykey")]
    if not keys:
        return _words("key.blank")
    if len(keys) != len({json.dumps(key) for key in keys}):
        return _words("key.same")
    return None


def _started(state: Norm) -> Text | None:
    if any(str(step.get("status", "")).lower() == "started" for step in steps(state)):
        return None
    stages = [str(item.get("stage", "")).lower() for item in entries(state.get("items"))]
    if "started" in stages or str(state.get("status", "")).lower() == "started":
        return _words("started.misplaced")
    return _words("started.none")


_APPROVAL = {
    "item": ("item", "itemid"),
    "action": ("action",),
    "requestedat": ("requestedat",),
    "decision": ("decision",),
}


def _approvals(state: Norm) -> Text | None:
    if "approvals" not in state:
        inside = any("approvals" in item or "approval" in item for item in entries(state.get("items")))
        return _words("row.misplaced_top", name="approvals") if inside else _absent(state, "approvals")
    found = entries(state["approvals"])
    if not found:
        return _words("approvals.empty")
    for entry in found:
        missing = [name for name, ways in _APPROVAL.items() if not any(way in entry for way in ways)]
        if missing:
            shown = [name.replace("requestedat", "requested_at") for name in missing]
            return _words("approvals.parts", names=plain(", ".join(f"`{name}`" for name in shown)))
    return None


def _artifacts(state: Norm) -> Text | None:
    value = state.get("artifacts")
    if not value:
        return _absent(state, "artifacts") if value is None else _words("artifacts.empty")
    longest = max(_strings(value), key=len, default="")
    if not longest:
        return _words("artifacts.empty")
    if len(longest) > BULK or longest.count("\n") > 2:
        return _words("artifacts.bulk", letters=len(longest))
    return None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _budget(state: Norm) -> Text | None:
    budget = state.get("budget")
    if not isinstance(budget, dict):
        return _words("budget.flat") if _number(budget) else _absent(state, "budget")
    missing = [name for name in ("limit", "spent") if not _number(budget.get(name))]
    if missing:
        return _words("budget.parts", names=plain(", ".join(f"`{name}`" for name in missing)))
    return None


def _times(state: Norm) -> Text | None:
    for name, shown in (("createdat", "created_at"), ("updatedat", "updated_at")):
        if name not in state:
            return _words("row.top", name=shown)
        if not _time(state[name]):
            return _words("times.form", name=shown)
    named = [value for step in steps(state) for key, value in step.items() if key == "time" or key.endswith("at")]
    if not any(_time(value) for value in named):
        return _words("times.step")
    return None


ROWS: dict[str, Callable[[Norm], Text | None]] = {
    "goal, plan": _goal,
    "progress": _progress,
    "items and steps": _steps,
    "external_id": _external,
    "idempotency_key": _key,
    "started": _started,
    "approvals": _approvals,
    "artifacts": _artifacts,
    "budget": _budget,
    "times": _times,
}


def unproven(state: Norm) -> Text | None:
    """Return a sentence when a write is marked as done without the other system's id."""
    for item in entries(state.get("items")):
        for step in entries(item.get("steps")):
            done = str(step.get("status", "")).lower() == "done"
            if done and step.get("idempotencykey") and not step.get("externalid"):
                return _words("proof.none", key=plain(str(step["idempotencykey"])[:60]))
    return None


# ------------------------------------------------------------------------------------------------ three saves


def judge_saves(value: Any) -> Text | None:
    """Return what is wrong with the drawing of one write's three saves; None when nothing is."""
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except ValueError as error:
            return _words("saves.not_json", why=plain(str(error)))
    if not value:
        return _words("saves.undefined")
    if not isinstance(value, list):
        return _words("saves.type", found=alien(value) or type(value).__name__)
    if len(value) != 3:
        return _words("saves.count", count=len(value))
    folded = [_folded(one) for one in value]
    for number, one in enumerate(folded, 1):
        if not isinstance(one, dict) or alien(one):
            return _words("saves.entry", number=number, found=alien(one) or type(one).__name__)
        for name, shown in (("status", "status"), ("idempotencykey", "idempotency_key")):
            if not one.get(name):
                return _words("saves.lacks", number=number, name=shown)
    status = [str(one["status"]).lower() for one in folded]
    if status[1] != "started":
        return _words("saves.second", found=status[1])
    if status[2] != "done":
        return _words("saves.third", found=status[2])
    if status[0] in ("started", "done"):
        return _words("saves.first", found=status[0])
    if len({json.dumps(one["idempotencykey"]) for one in folded}) > 1:
        return _words("saves.keys")
    for number, one in enumerate(folded[:2], 1):
        if one.get("externalid"):
            return _words("saves.early", number=number)
    if not folded[2].get("externalid"):
        return _words("saves.proof")
    return None
