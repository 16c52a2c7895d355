"""Level 3 with the ticket system in another process: what the learner's code did to it, nobody but it can say.

The learner's side has a ``world`` and a ``save`` that only pass on what they are asked; the other side has the world of
each life, and what happened is what was asked of it.
"""

from __future__ import annotations

import json
from typing import Any

from grader.levels.level3_drive import FINAL, MOST_EVENTS, call, hash_of, told, world_of
from grader.levels.sightings import Ask, Played
from grader.levels.values import plain

CALLS = ("create_ticket", "send_notice", "find_ticket", "find_notice", "decision", "now")
_ERRORS = {"ValueError": ValueError, "TypeError": TypeError, "TimeoutError": TimeoutError}
_dumps, _loads = json.dumps, json.loads


def drive(play: Played, ask: Ask) -> None:
    """Live the lives that the other side gives, one after the other."""
    names = play.namespace
    number = 0
    while (life := ask("life", None)) is not None:
        if number:
            names = play.fresh()
        number += 1
        names.setdefault("hash", hash_of(life))
        state = _loads(life["saved"])
        world, save = _World(ask), _saving(ask)
        error: dict[str, Any] | None = None
        try:
            call(names.get("recover"), state, world, save)
            for item in state["items"]:
                if item["stage"] not in FINAL:
                    call(names.get("handle"), item, state, world, save)
        except (Exception, SystemExit, KeyboardInterrupt) as raised:
            error = told(raised)
        ask("life-end", error)


def _saving(ask: Ask) -> Any:
    def save(state: Any) -> None:
        """Put the whole state on disk, atomically."""
        try:
            text = _dumps(state, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            text = _dumps(plain(state), ensure_ascii=False)
        ask("save", text)

    return save


class _World:
    """The ticket system. It keeps the key of every write, but does not compare keys when it writes."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def create_ticket(self, item_id: str, text: str, key: str) -> Any:
        """Create a ticket and return its receipt, a dict with its ``id``."""
        return self._call("create_ticket", item_id, text, key)

    def send_notice(self, item_id: str, ticket_id: str, key: str) -> Any:
        """Send a notice about a ticket and return its receipt, a dict with its ``id``."""
        return self._call("send_notice", item_id, ticket_id, key)

    def find_ticket(self, key: str) -> Any:
        """Return the receipt of the ticket that was created with this key, or None."""
        return self._call("find_ticket", key)

    def find_notice(self, key: str) -> Any:
        """Return the receipt of the notice that was sent with this key, or None."""
        return self._call("find_notice", key)

    def decision(self, item_id: str) -> Any:
        """Return "approved", "rejected", or None while nobody has decided."""
        return self._call("decision", item_id)

    def now(self) -> Any:
        """Return the time, such as 2026-07-01T09:00:00Z."""
        return self._call("now")

    def _call(self, name: str, *arguments: Any) -> Any:
        kind, value = self._ask(name, [plain(argument) for argument in arguments])
        if kind == "raise":
            raise _ERRORS[value[0]](value[1])
        return value


class Answers:
    """The other side: the world of one life after the other."""

    def __init__(self, lives: list[dict[str, Any]]) -> None:
        self._lives = lives
        self._number = -1
        self._events: list[list[Any]] = []
        self._world: Any = None

    def answer(self, kind: str, data: Any) -> Any:
        """Return what the world answers.

        Raises:
            StopIteration: a life without end, or what no learner's side asks.
        """
        if kind == "life":
            self._number += 1
            if self._number >= len(self._lives):
                return None
            life = self._lives[self._number]
            self._events = []
            self._world = world_of(life, lambda *event: self._events.append(list(event)))
            return life
        if kind == "save" and self._world is not None:
            self._events.append(["save", str(data)])
        elif kind == "life-end":
            self._world = None
        elif kind not in CALLS or self._world is None or not isinstance(data, list):
            raise StopIteration
        if len(self._events) > MOST_EVENTS:
            raise StopIteration
        if kind not in CALLS:
            return None
        try:
            return ["is", getattr(self._world, kind)(*data)]
        except (ValueError, TypeError, TimeoutError) as error:
            return ["raise", [type(error).__name__, str(error)]]

    def with_call(self, kind: str, data: Any) -> Any:
        """Return what happened in a life, once it has ended."""
        if kind != "life-end":
            return None
        error = data.get("type") if isinstance(data, dict) else None
        return {"life": self._number, "events": self._events, "error": error}
