"""Is a history sound? Each result answers a call made before it, and each call has its result."""

from __future__ import annotations

from typing import Any

from .errors import DuplicateId, MalformedMessage, OrphanResult
from .messages import Call, Message, blocks, calls_in

ROLES = ("system", "user", "assistant")
BLOCK_KEYS: dict[str, dict[str, type]] = {
    "text": {"text": str},
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"tool_use_id": str, "content": object},
}


def check_message(message: Any, path: str) -> None:
    """Raise MalformedMessage, naming the place, when a message is not in the protocol's shape."""
    if not isinstance(message, dict) or message.get("role") not in ROLES:
        raise MalformedMessage(f"{path} must be a dict with a role of {', '.join(ROLES)}.")
    content = message.get("content")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise MalformedMessage(f"{path}.content must be a string or a list of blocks.")
    for number, block in enumerate(content):
        place = f"{path}.content[{number}]"
        if not isinstance(block, dict) or block.get("type") not in BLOCK_KEYS:
            raise MalformedMessage(f"{place} must be a block of type {', '.join(BLOCK_KEYS)}.")
        for key, kind in BLOCK_KEYS[block["type"]].items():
            if key not in block or not isinstance(block[key], kind):
                raise MalformedMessage(f"{place}.{key} is missing or is not of type {kind.__name__}.")


def dangling(messages: list[Message]) -> list[Call]:
    """Return the calls that have no result yet, in order."""
    open_calls: dict[str, Call] = {}
    for message in messages:
        for call in calls_in(message):
            open_calls[call["id"]] = call
        for block in blocks(message, "tool_result"):
            open_calls.pop(block["tool_use_id"], None)
    return list(open_calls.values())


def validate(messages: list[Message]) -> bool:
    """Return True when every call has its result, False when one is dangling; raise on an orphan result."""
    called: set[str] = set()
    answered: set[str] = set()
    for number, message in enumerate(messages):
        check_message(message, f"messages[{number}]")
        for call in calls_in(message):
            if call["id"] in called:
                raise DuplicateId(f"messages[{number}] makes a second call with the id {call['id']!r}.")
            called.add(call["id"])
        for block in blocks(message, "tool_result"):
            id = block["tool_use_id"]
            if id not in called:
                raise OrphanResult(f"messages[{number}] answers the call {id!r}, which nobody made.")
            if id in answered:
                raise DuplicateId(f"messages[{number}] answers the call {id!r} a second time.")
            answered.add(id)
    return called == answered
