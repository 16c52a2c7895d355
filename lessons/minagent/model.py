"""A model that plays a script, so that an agent can be tested without one that thinks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from .errors import ScriptEnded
from .messages import Block, Message, text


@dataclass(frozen=True)
class Usage:
    """What one model call cost, in tokens."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Response:
    """One answer of the model: why it stopped, what it said, what it cost."""

    stop_reason: str
    content: list[Block]
    usage: Usage


def says(words: str, input_tokens: int = 100, output_tokens: int = 20) -> Response:
    """Script an answer in plain text: the model is done."""
    return Response("end_turn", [text(words)], Usage(input_tokens, output_tokens))


def asks(*calls: Block, input_tokens: int = 100, output_tokens: int = 20) -> Response:
    """Script an answer that names one or more tools."""
    return Response("tool_use", list(calls), Usage(input_tokens, output_tokens))


class Model(Protocol):
    """What the agent needs of a model. A real one has no cursor: it reads the history it is given."""

    cursor: int

    def __call__(self, *, messages: list[Message], tools: list[dict[str, Any]]) -> Response:
        """Answer the conversation so far."""
        ...


class FakeModel:
    """Play a script, one response for each call.

    ``cursor`` says how many responses of the *whole* script have been played. It is an absolute position:
    it means the same in every process that holds the same script.
    """

    def __init__(self, script: Iterable[Response], cursor: int = 0) -> None:
        self.script = list(script)
        self.cursor = cursor

    def __call__(self, *, messages: list[Message], tools: list[dict[str, Any]]) -> Response:
        """Return the next response of the script; the history is not read."""
        if self.cursor >= len(self.script):
            raise ScriptEnded(f"The script has {len(self.script)} responses and all of them are played.")
        response = self.script[self.cursor]
        self.cursor += 1
        return response
