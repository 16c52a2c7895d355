"""The shape of a conversation: messages, made of blocks.

A message is a dict ``{"role", "content"}``. The content is a string, or a list of blocks: ``text``,
``tool_use`` (the model names a tool) and ``tool_result`` (the host answers). A result is a ``user`` message.
"""

from __future__ import annotations

from typing import Any

Block = dict[str, Any]
Message = dict[str, Any]
Call = dict[str, Any]
"""A tool call as the host keeps it: ``{"id", "name", "input"}``."""


def text(words: str) -> Block:
    """Make a block of plain text."""
    return {"type": "text", "text": words}


def tool_use(id: str, name: str, input: dict[str, Any]) -> Block:
    """Make the block in which the model names a tool. The id is the call's identity for ever after."""
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def tool_result(tool_use_id: str, content: str) -> Block:
    """Make the block that answers the call with this id."""
    return {"type": "tool_result", "tool_use_id": tool_use_id, "content": content}


def blocks(message: Message, type: str) -> list[Block]:
    """Return the message's blocks of one type; a string content has none."""
    content = message["content"]
    return [] if isinstance(content, str) else [block for block in content if block["type"] == type]


def calls_in(message: Message) -> list[Call]:
    """Return the tool calls named in a message, as ``{id, name, input}``."""
    return [{key: block[key] for key in ("id", "name", "input")} for block in blocks(message, "tool_use")]


def result_ids(messages: list[Message]) -> list[str]:
    """Return the id that each tool result answers, in order."""
    return [block["tool_use_id"] for message in messages for block in blocks(message, "tool_result")]


def words_of(message: Message) -> str:
    """Return the plain text of a message."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(b["text"] for b in blocks(message, "text"))
