"""Messages, content blocks and the turns of a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grader.levels.level2.film import as_list
from grader.levels.trial import ALIEN


def tool_use(turn: dict[str, Any]) -> dict[str, Any] | None:
    blocks: list[dict[str, Any]] = turn["content"]
    return next((block for block in blocks if block["type"] == "tool_use"), None)


def turn_of(data: Any, turns: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the turn that a tool's call belongs to: the last that named this tool with this input, else the last."""
    called = data if isinstance(data, dict) else {}
    latest: dict[str, Any] | None = None
    for turn in turns:
        block = tool_use(turn)
        if block is not None and called.get("name") == block["name"] and called.get("input") == block["input"]:
            latest = turn
    return latest or (turns[-1] if turns and tool_use(turns[-1]) is not None else None)


def is_message(message: Any, role: str) -> bool:
    return isinstance(message, dict) and message.get("role") == role and "content" in message


def blocks(message: Any) -> list[dict[str, Any]]:
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def text_of(message: Any) -> str | None:
    return plain_text(message.get("content"))


def plain_text(content: Any) -> str | None:
    """Return a content's text, whether it is a string or a list of text blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(b, dict) and isinstance(b.get("text"), str) for b in content):
        return "".join(b["text"] for b in content)
    return None


def is_call(item: dict[str, Any], block: dict[str, Any]) -> bool:
    return item.get("type") == "tool_use" and all(item.get(key) == block[key] for key in ("id", "name", "input"))


def names_call(found: dict[str, Any], block: dict[str, Any]) -> bool:
    messages = as_list(found.get("messages"))
    return bool(
        messages
        and is_message(messages[-1], "assistant")
        and any(item.get("type") == "tool_use" and item.get("id") == block["id"] for item in blocks(messages[-1]))
    )


def texts_in(value: Any) -> Iterator[str]:
    """Yield every string inside plain data, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, dict) and ALIEN not in value:
        for item in value.values():
            yield from texts_in(item)


def has_result(messages: list[Any], number: str, result: Any, *, of_user: bool = True) -> bool:
    return any(
        item.get("type") == "tool_result"
        and item.get("tool_use_id") == number
        and plain_text(item.get("content")) == result
        for message in messages
        if not of_user or is_message(message, "user")
        for item in blocks(message)
    )


def shortened(text: str, widest: int = 60) -> str:
    return text if len(text) <= widest else text[: widest - 1] + "…"
