"""What Level 4 is about: names, the scripts of its runs, and the documents that they make."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from grader.words import catalogue

EXERCISE = "level4"
CELL = "level4-code-answer"
CODE = "level4-code"
VERSION = 2
OLD_NAME = "checkpoint.json"
FIELDS = ("version", "task", "turns", "tokensUsed", "messages", "pendingToolUse")

words = catalogue("levels/level4.toml")

Document = dict[str, Any]
Call = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One answer of the model: what it says, the calls it names, what it costs."""

    text: str
    calls: tuple[tuple[str, str, str], ...] = ()
    """Id, name, and whom or what it is for."""
    tokens: int = 100

    def content(self) -> list[Document]:
        """Return the answer's blocks."""
        named = [{"type": "tool_use", **call} for call in self.named()]
        return [{"type": "text", "text": self.text}, *named]

    def named(self) -> list[Call]:
        """Return the calls as ``pendingToolUse`` holds them."""
        return [{"id": id, "name": name, "input": {"for": what}} for id, name, what in self.calls]


@dataclass(frozen=True)
class Script:
    """A task and what the model will say to it."""

    task: str
    turns: tuple[Turn, ...]

    def result(self, call_id: str) -> str:
        """Return what a tool answers."""
        return f"done: {call_id}"

    def ids(self) -> list[str]:
        """Return the ids of all calls, in order."""
        return [call[0] for turn in self.turns for call in turn.calls]

    def booked(self, turn: Turn) -> Document:
        """Return the message that holds a turn's results."""
        blocks = [
            {"type": "tool_result", "tool_use_id": call[0], "content": self.result(call[0])} for call in turn.calls
        ]
        return {"role": "user", "content": blocks}

    def messages(self, turns: int, pending: bool = False) -> list[Document]:
        """Return the history after so many turns; ``pending``: the last one's calls have no results yet."""
        found: list[Document] = [{"role": "user", "content": self.task}]
        for number, turn in enumerate(self.turns[:turns], 1):
            found.append({"role": "assistant", "content": turn.content()})
            if turn.calls and not (pending and number == turns):
                found.append(self.booked(turn))
        return found

    def document(self, turns: int, pending: bool = False) -> Document:
        """Return the document after so many turns."""
        last = self.turns[turns - 1] if turns else None
        return {
            "version": VERSION,
            "task": self.task,
            "turns": turns - pending,
            "tokensUsed": sum(turn.tokens for turn in self.turns[:turns]),
            "messages": self.messages(turns, pending),
            "pendingToolUse": last.named() if last is not None and pending else [],
        }

    def final(self) -> Document:
        """Return the document of the complete task."""
        return self.document(len(self.turns))

    def wire(self) -> dict[str, Any]:
        """Return the script as plain data."""
        return {
            "task": self.task,
            "turns": [{"content": turn.content(), "tokens": turn.tokens} for turn in self.turns],
            "results": {id: self.result(id) for id in self.ids()},
        }


SMALL = Script(
    "Pay Ann 40 EUR, tell her so, and book the room for Friday.",
    (
        Turn("First the money.", (("c1", "pay", "Ann, 40 EUR"),), 130),
        Turn("Now the two others.", (("c2", "mail", "Ann: paid"), ("c3", "book", "the room, Friday")), 170),
        Turn("Paid, told and booked. 完成。", (), 90),
    ),
)
LARGE = Script(
    "Settle the five open bills of July and write to each customer.",
    (
        Turn("Bill 1.", (("b1", "pay", "bill 1"),), 110),
        Turn("Bills 2 and 3.", (("b2", "pay", "bill 2"), ("b3", "pay", "bill 3"), ("m1", "mail", "customer 1")), 260),
        Turn("Two letters.", (("m2", "mail", "customer 2"), ("m3", "mail", "customer 3")), 180),
        Turn("Bill 4.", (("b4", "pay", "bill 4"),), 90),
        Turn("Bill 5.", (("b5", "pay", "bill 5"), ("m4", "mail", "customer 4")), 150),
        Turn("The last letter.", (("m5", "mail", "customer 5"),), 80),
        Turn("All five are settled.", (), 60),
    ),
)


def version_1(document: Document, pending: Any) -> Document:
    """Return a document as last year's program wrote it."""
    return {**document, "version": 1, "pendingToolUse": pending}


def as_text(document: Document) -> bytes:
    """Return a document as plain JSON, as last year's program wrote it."""
    return json.dumps(document, ensure_ascii=False, indent=2).encode()
