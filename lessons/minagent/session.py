"""A session: who is talking, since when, and every message so far."""

from __future__ import annotations

import copy
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .messages import Message


def now() -> str:
    """Return the time in UTC, as text that sorts."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass
class Session:
    """A conversation with an identity that outlives the process."""

    messages: list[Message] = field(default_factory=list)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created_at: str = field(default_factory=now)
    metadata: dict[str, Any] = field(default_factory=dict)

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of everything; what happens to the session later does not change it."""
        return copy.deepcopy(
            {
                "id": self.id,
                "created_at": self.created_at,
                "metadata": self.metadata,
                "messages": self.messages,
            }
        )

    @classmethod
    def restore(cls, snapshot: dict[str, Any]) -> Session:
        """Make a session from a snapshot; the snapshot stays as it is, and can be restored again."""
        return cls(**copy.deepcopy(snapshot))
