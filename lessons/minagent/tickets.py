"""A simulated ticket system: writes that cost, can time out, and are remembered by their key.

It does not compare keys when it writes: the same key twice makes two tickets. What it can do is answer a question,
"is there a ticket with this key?". A call that timed out has taken effect by then, or never will.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
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


class Logbook(Remembered):
    """The same on disk, one JSON line for each effect, so that other processes see it too."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self.effects = [(name, key) for name, key in map(json.loads, lines)]

    def effect(self, name: str, key: str) -> None:
        """Something is done, once more."""
        super().effect(name, key)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps([name, key]) + "\n")


class Clock:
    """A clock that goes only when it is told to."""

    def __init__(self, now: str = "2026-07-01T09:00:00Z") -> None:
        self.time = datetime.fromisoformat(now.replace("Z", "+00:00"))

    def __call__(self) -> str:
        """Return the time."""
        return f"{self.time:%Y-%m-%dT%H:%M:%SZ}"

    def wait(self, **amount: float) -> None:
        """Let so much time pass: ``hours=5``, ``minutes=10``."""
        self.time += timedelta(**amount)


class Site:
    """The pages of a shop. Every page has something to mend; one of them is gone."""

    FINDINGS = ("description missing", "image without text", "title missing", "broken link")

    def __init__(self, gone: Iterable[str] = ("page-13",)) -> None:
        self.gone = set(gone)
        self.mended: set[str] = set()
        self.looks = 0

    def look(self, page: str) -> dict[str, str]:
        """Look at a page: the finding, and where the whole report lies."""
        self.looks += 1
        if page in self.gone:
            raise LookupError(f"404: {page} is gone")
        number = zlib.crc32(page.encode()) // 7
        finding = "description too short" if page in self.mended else self.FINDINGS[number % len(self.FINDINGS)]
        return {"finding": finding, "where": f"reports/{page}.html"}


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
