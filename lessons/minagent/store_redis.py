"""The store in Redis: watch a key, look, decide; the write is refused if the key was touched meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .store import Record, Rule, Store, decode_record, encode_record

if TYPE_CHECKING:
    from redis import Redis


class RedisStore(Store):
    """Records as strings in one Redis server, for many machines.

    The server keeps them in memory. What a power cut takes is decided there: without `appendonly yes` and
    `appendfsync always` a save that was answered can be lost.
    """

    def __init__(self, client: Redis, prefix: str = "minagent:", clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self.client = client
        self.prefix = prefix

    def read(self, key: str) -> Record | None:
        """Return the record of a key, or None."""
        return self._decode(self.client.get(self.prefix + key))

    def change(self, key: str, rule: Rule) -> Record | None:
        """Look, decide and write; when somebody touched the key in between, look and decide again."""
        name, made = self.prefix + key, []

        def attempt(pipe: Any) -> None:
            record = rule(self._decode(pipe.get(name)))
            made.append(record)
            pipe.multi()
            if record is not None:
                pipe.set(name, encode_record(record))
            else:
                pipe.delete(name)

        self.client.transaction(attempt, name)  # WATCH, attempt, EXEC; from the beginning when EXEC is refused
        return made[-1]

    def keys(self) -> list[str]:
        """Return all keys, sorted."""
        found = self.client.scan_iter(match=f"{self.prefix}*")
        return sorted(self._text(name).removeprefix(self.prefix) for name in found)

    @staticmethod
    def _text(answer: Any) -> str:
        return answer.decode() if isinstance(answer, bytes) else str(answer)

    @classmethod
    def _decode(cls, answer: Any) -> Record | None:
        return None if answer is None else decode_record(cls._text(answer).encode())
