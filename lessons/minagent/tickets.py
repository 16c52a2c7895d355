"""A simulated ticket system: writes that cost, can time out, and are remembered by their key.

It does not compare keys when it writes: the same key twice makes two tickets. What it can do is answer a question,
"is there a ticket with this key?". A call that timed out has taken effect by then, or never will.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import Protocol

Receipt = dict[str, str]


class Outside(Protocol):
    """The world beyond the process: what was done there stays done."""

    def effect(self, name: str, key: str, /) -> None:
        """Something is done, once more."""

    def count(self, key: str, /) -> int:
        """How often this was done."""
        ...


class Remembered:
    """A world in memory. Keep it when you throw the job away, as the real one would be kept."""

    def __init__(self) -> None:
        self.effects: list[tuple[str, str]] = []

    def effect(self, name: str, key: str) -> None:
        """Something is done, once more."""
        self.effects.append((name, key))

    def count(self, key: str) -> int:
        """How often this was done."""
        return sum(known == key for _, known in self.effects)

    def done(self, name: str) -> int:
        """How often an effect of this name happened, whatever its key."""
        return sum(known == name for known, _ in self.effects)


def receipt(kind: str, key: str) -> Receipt:
    """Return what proves a write: its id in the other system, and the key it was made with."""
    return {"id": f"{kind[0].upper()}-{1000 + zlib.crc32(key.encode()) % 9000}", "key": key}


class TicketSystem:
    """Tickets, notices, and the people who approve.

    ``fates`` says how the next write calls end: ``"answered"``, ``"done"`` (it takes effect, the answer is lost) or
    ``"lost"`` (it never arrives). After these, every call is answered.
    """

    def __init__(self, outside: Outside, fates: Iterable[str] = (), now: Callable[[], str] | None = None) -> None:
        self.outside = outside
        self.fates = list(fates)
        self.decisions: dict[str, str] = {}
        self._now = now or (lambda: "2026-07-01T09:00:00Z")

    def create_ticket(self, item_id: str, text: str, key: str) -> Receipt:
        """Create a ticket and return its receipt."""
        return self._write("ticket", item_id, text, key)

    def send_notice(self, item_id: str, ticket_id: str, key: str) -> Receipt:
        """Send the item's owner a notice about a ticket and return its receipt."""
        return self._write("notice", item_id, ticket_id, key)

    def find_ticket(self, key: str) -> Receipt | None:
        """Return the receipt of the ticket that was created with this key, or None."""
        return self._find("ticket", key)

    def find_notice(self, key: str) -> Receipt | None:
        """Return the receipt of the notice that was sent with this key, or None."""
        return self._find("notice", key)

    def decision(self, item_id: str) -> str | None:
        """Return ``"approved"``, ``"rejected"``, or None while nobody has decided."""
        return self.decisions.get(item_id)

    def now(self) -> str:
        """Return the time."""
        return self._now()

    def _write(self, kind: str, item_id: str, about: str, key: str) -> Receipt:
        for value in (item_id, about, key):
            if not isinstance(value, str) or not value:
                raise TypeError(f"a {kind} needs an item, a text and a key, all strings; one of them is {value!r}")
        fate = self.fates.pop(0) if self.fates else "answered"
        if fate != "lost":
            self.outside.effect(f"{kind} for {item_id}", f"{kind}:{key}")
        if fate != "answered":
            raise TimeoutError(f"no answer from the ticket system within 30 s ({kind} for {item_id})")
        return receipt(kind, key)

    def _find(self, kind: str, key: str) -> Receipt | None:
        return receipt(kind, key) if self.outside.count(f"{kind}:{key}") else None
