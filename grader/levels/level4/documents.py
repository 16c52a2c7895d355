"""Reading a document that ``load`` gave: is it a state of this task, and how far is it?"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from grader.levels.level4.facts import FIELDS, VERSION, Document, Script

Progress = tuple[int, int]
"""Answers of the model that are booked, and results of the last one's calls; (-1, 0) where nothing was saved."""
NOTHING: Progress = (-1, 0)


@dataclass(frozen=True)
class Reading:
    """What a document says."""

    progress: Progress = NOTHING
    pending: tuple[str, ...] = ()
    """The calls that it names as pending."""
    named: tuple[str, ...] = ()
    """The calls that its messages name."""
    complete: bool = False
    fault: str = ""
    """What is wrong with it: a key of the words, empty when nothing is."""
    values: dict[str, Any] = field(default_factory=dict, hash=False)


def read(found: Any, script: Script) -> Reading:
    """Read what ``load`` or ``resume`` gave."""
    if found is None:
        return Reading()
    if not isinstance(found, dict):
        return Reading(fault="type", values={"found": type(found).__name__})
    missing = [name for name in FIELDS if name not in found]
    if missing:
        return Reading(fault="fields", values={"fields": ", ".join(missing)})
    for name, wanted in (("version", VERSION), ("task", script.task)):
        if not same(found[name], wanted):
            return Reading(fault="value", values={"field": name, "found": found[name], "wanted": wanted})
    return _history(found, script)


def _history(found: Document, script: Script) -> Reading:
    messages = found["messages"] if isinstance(found["messages"], list) else []
    whole = script.messages(len(script.turns))
    answers = results = 0
    if not messages:
        return Reading(fault="message", values={"number": 1, "found": "nothing", "wanted": _brief(whole[0])})
    for number, message in enumerate(messages):
        if number >= len(whole):
            return Reading(fault="message_more", values={"number": number + 1, "found": _brief(message)})
        wanted = whole[number]
        count = _results_in(message, wanted) if number == len(messages) - 1 else None
        if not _same_message(message, wanted) and not count:
            brief = {"number": number + 1, "found": _brief(message), "wanted": _brief(wanted)}
            return Reading(fault="message", values=brief)
        if wanted["role"] == "assistant":
            answers, results = answers + 1, 0
        elif number:
            results = count if count else len(wanted["content"])
    last = script.turns[answers - 1] if answers else None
    calls = list(last.named()) if last else []
    named = tuple(call[0] for turn in script.turns[:answers] for call in turn.calls)
    open_calls = [call["id"] for call in calls[results:]]
    pending = found["pendingToolUse"]
    if not isinstance(pending, list) or not all(_call_in(call, calls) for call in pending):
        values = {"field": "pendingToolUse", "found": pending, "wanted": [calls[i] for i in range(results, len(calls))]}
        return Reading(fault="value", values=values)
    ids = [call["id"] for call in pending]
    if any(id not in ids for id in open_calls):
        values = {"field": "pendingToolUse", "found": ids, "wanted": open_calls}
        return Reading(fault="pending", values=values)
    settled = not ids
    spent = sum(turn.tokens for turn in script.turns[:answers])
    before = spent - (last.tokens if last else 0)
    for name, number, earlier in (("turns", answers, answers - 1), ("tokensUsed", spent, before)):
        allowed = [number] if settled else [number, earlier]
        if not any(same(found[name], one) for one in allowed):
            return Reading(fault="value", values={"field": name, "found": found[name], "wanted": number})
    complete = answers == len(script.turns) and settled
    return Reading((answers, results), tuple(ids), named, complete)


def same(one: Any, other: Any) -> bool:
    """Compare plain values by exact type: 1 is neither True nor 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def same_document(found: Any, wanted: Document) -> bool:
    """Whether the six fields are the same; fields of one's own aside."""
    return isinstance(found, dict) and all(name in found and same(found[name], wanted[name]) for name in FIELDS)


def differing(found: Any, wanted: Document) -> str:
    """Return the first of the six fields that differs."""
    if not isinstance(found, dict):
        return "?"
    return next((name for name in FIELDS if name not in found or not same(found[name], wanted[name])), "")


def same_messages(found: Any, wanted: list[Document]) -> bool:
    """Whether a history is the one wanted."""
    messages = found if isinstance(found, list) else []
    return len(messages) == len(wanted) and all(map(_same_message, messages, wanted))


def first_difference(found: Any, wanted: list[Document]) -> tuple[int, str, str]:
    """Return the number of the first message that differs, what it is, and what it should be."""
    messages = found if isinstance(found, list) else []
    for number in range(max(len(messages), len(wanted))):
        here = messages[number] if number < len(messages) else None
        there = wanted[number] if number < len(wanted) else None
        if here is None or there is None or not _same_message(here, there):
            return number + 1, _brief(here), _brief(there)
    return 0, "", ""


def _of_results(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("role") != "user":
        return False
    content = message.get("content")
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(block, dict) and block.get("type") == "tool_result" for block in content)
    )


def _same_message(found: Any, wanted: Document) -> bool:
    if not isinstance(found, dict) or found.get("role") != wanted["role"]:
        return False
    content, right = found.get("content"), wanted["content"]
    if isinstance(right, str):
        return same(content, right) or (
            isinstance(content, list)
            and len(content) == 1
            and isinstance(content[0], dict)
            and content[0].get("type") == "text"
            and same(content[0].get("text"), right)
        )
    if not isinstance(content, list) or len(content) != len(right):
        return False
    return all(_same_block(block, one) for block, one in zip(content, right, strict=True))


def _same_block(found: Any, wanted: Document) -> bool:
    if not isinstance(found, dict):
        return False
    if wanted["type"] == "tool_result" and isinstance(text := found.get("content"), list):
        texts = [block.get("text") for block in text if isinstance(block, dict)]
        found = {**found, "content": texts[0] if len(texts) == 1 else texts}
    return all(key in found and same(found[key], wanted[key]) for key in wanted)


def _results_in(message: Any, wanted: Document) -> int:
    """Return how many of a turn's results a message holds, 0 when it holds anything else."""
    if not _of_results(message) or not _of_results(wanted) or len(message["content"]) >= len(wanted["content"]):
        return 0
    pairs = zip(message["content"], wanted["content"], strict=False)
    return len(message["content"]) if all(_same_block(block, one) for block, one in pairs) else 0


def _call_in(call: Any, calls: list[Document]) -> bool:
    return isinstance(call, dict) and any(all(same(call.get(key), one[key]) for key in one) for one in calls)


def _brief(message: Any) -> str:
    """Return a message in a few signs."""
    if message is None:
        return "nothing"
    if not isinstance(message, dict):
        return json.dumps(message, ensure_ascii=False)[:40]
    content = message.get("content")
    parts = []
    for block in content if isinstance(content, list) else []:
        kind = block.get("type") if isinstance(block, dict) else type(block).__name__
        name = {"tool_use": "id", "tool_result": "tool_use_id"}.get(str(kind))
        said = f" {json.dumps(block.get('content'), ensure_ascii=False)[:24]}" if kind == "tool_result" else ""
        parts.append(f"{kind} {block.get(name)}{said}" if name else str(kind))
    said = ", ".join(parts) if parts else json.dumps(content, ensure_ascii=False)[:40]
    return f"{message.get('role')}: {said}"[:80]
