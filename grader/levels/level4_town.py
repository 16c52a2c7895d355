"""The world that a learner's Level 4 lives in: who holds the task, the model, the tools, the time.

It is the same in the learner's own process, where a fake disk keeps the log, and on the other side of a pipe.
"""

from __future__ import annotations

import copy
from typing import Any, Protocol

from grader.levels.values import plain

LEASE = 60
CALL = 20
LONG = 300
MOST_CALLS = 400
"""Calls of the world in one life after which it counts as one that does not end."""


class Side(Protocol):
    """What the world is told, and asks, where it is."""

    def event(self, who: str, what: str, argument: Any, held: bool) -> None:
        """Note a call of the world, and whether the caller's claim holds."""

    def effect(self, call_id: str) -> None:
        """Note that a tool takes effect."""

    def done(self, call_id: str) -> bool:
        """Return whether a tool has taken effect."""

    def another(self) -> dict[str, Any] | None:
        """Let a second resumer do all it does; return what came of it."""


class Town:
    """Everything outside the process.

    Args:
        ask: the ``script``, how many ``claims`` there were before, and perhaps the ``rival`` to come.
        side: where this is.
    """

    def __init__(self, ask: dict[str, Any], side: Side) -> None:
        self.side = side
        self.script: dict[str, Any] = ask["script"]
        self.rival: dict[str, Any] | None = ask.get("rival")
        self.clock = 0
        self.newest: int = ask.get("claims", 0)
        self.holder: int | None = None
        self.until = 0
        self.slow = 0
        self.count = 0
        self.second: dict[str, Any] | None = None
        self.names = {call["id"]: call for turn in self.script["turns"] for call in _calls_of(turn["content"])}

    def held(self, claim: Any) -> bool:
        """Whether a claim is the newest one and still runs."""
        return type(claim) is int and claim == self.holder and self.clock <= self.until

    def happened(self, who: str, mine: int | None, what: str, argument: Any = None) -> None:
        """Note a call of the world."""
        self.count += 1
        self.side.event(who, what, argument, self.held(mine))

    def passes(self, who: str) -> None:
        """Let a slow call take its time; somebody else may come meanwhile."""
        self.slow += 1
        rival = self.rival
        if rival is None or who != "first" or self.slow != rival["at"] + 1:
            self.clock += CALL
            return
        self.clock += LONG if rival["late"] else CALL // 2
        if rival["comes"]:
            self.second = self.side.another()
        self.clock += LONG if rival["late"] else CALL // 2

    def world(self, who: str) -> Any:
        """Return the world as one process meets it."""
        town = self
        mine: int | None = None

        class World:
            """The world outside the process."""

            def claim(self) -> int | None:
                """Return a claim on the task, or None while somebody else holds it."""
                nonlocal mine
                if town.holder is not None and town.clock <= town.until and town.holder != mine:
                    town.happened(who, mine, "claim", None)
                    return None
                town.newest += 1
                town.holder = mine = town.newest
                town.until = town.clock + LEASE
                town.happened(who, mine, "claim", mine)
                return mine

            def renew(self, claim: int) -> bool:
                """Return whether the claim is still yours; if so, it lasts another 60 s from now."""
                good = town.held(claim)
                if good:
                    town.until = town.clock + LEASE
                town.happened(who, mine, "renew", good)
                return good

            def release(self, claim: int) -> None:
                """Give the claim back."""
                if town.held(claim):
                    town.holder = None
                town.happened(who, mine, "release", None)

            def call_model(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
                """Return the model's answer, a dict with its ``content`` (a list of blocks) and its ``tokens``."""
                if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
                    raise TypeError(f"messages must be a list of dicts, not {plain(messages)!r:.60}")
                town.happened(who, mine, "model", plain(messages))
                answers = sum(one.get("role") == "assistant" for one in messages)
                turns = town.script["turns"]
                answer = copy.deepcopy(turns[min(answers, len(turns) - 1)])
                town.passes(who)
                return {"content": answer["content"], "tokens": answer["tokens"]}

            def run_tool(self, call: dict[str, Any]) -> str:
                """Run a tool and return its result, a non-empty string."""
                if not isinstance(call, dict) or not all(key in call for key in ("id", "name", "input")):
                    raise TypeError(f"call must be a dict with id, name and input, not {plain(call)!r:.80}")
                known = town.names.get(call["id"]) if isinstance(call["id"], str) else None
                if known is None or (call["name"], call["input"]) != (known["name"], known["input"]):
                    raise ValueError(f"the model named no such call: {plain(call)!r:.100}")
                town.happened(who, mine, "tool", call["id"])
                town.side.effect(call["id"])
                town.passes(who)
                return str(town.script["results"][call["id"]])

            def find_result(self, call_id: str) -> str | None:
                """Return the result of a call if it has taken effect, else None."""
                if not isinstance(call_id, str):
                    raise TypeError(f"call_id must be a string, not {plain(call_id)!r:.60}")
                done = call_id in town.names and town.side.done(call_id)
                town.happened(who, mine, "find", [call_id, done])
                return str(town.script["results"][call_id]) if done else None

        return World()


def _calls_of(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [block for block in content if block["type"] == "tool_use"]
