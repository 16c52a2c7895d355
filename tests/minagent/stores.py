"""The three stores on a clock that is moved by hand. Redis runs for real, where it is installed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from minagent import FileStore, RedisStore, SqliteStore, Store
from minagent.course import NoRedis, RedisServer, start_redis

BACKENDS = ("files", "sqlite", "redis")


@dataclass
class Hand:
    """A clock that goes only when it is told to."""

    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Place:
    """One place that many processes share: `store()` gives each its own way to it."""

    backend: str
    folder: Path
    redis: RedisServer | None
    clock: Hand = field(default_factory=Hand)

    def store(self) -> Store:
        if self.backend == "files":
            return FileStore(self.folder / "store", clock=self.clock)
        if self.backend == "sqlite":
            return SqliteStore(self.folder / "store.db", clock=self.clock)
        import redis

        assert self.redis is not None
        client = redis.Redis(host="127.0.0.1", port=self.redis.port)
        return RedisStore(client, prefix=f"{self.folder.name}:", clock=self.clock)

    def opened(self) -> str:
        """How another program opens the same store, as Python text; `clock` is a name there."""
        if self.backend == "files":
            return f"FileStore({str(self.folder / 'store')!r}, clock=clock)"
        if self.backend == "sqlite":
            return f"SqliteStore({str(self.folder / 'store.db')!r}, clock=clock)"
        assert self.redis is not None
        client = f"redis.Redis(host='127.0.0.1', port={self.redis.port})"
        return f"RedisStore({client}, prefix={self.folder.name + ':'!r}, clock=clock)"


@pytest.fixture(scope="session")
def redis_or_reason() -> Iterator[RedisServer | str]:
    try:
        server = start_redis()
    except NoRedis as reason:
        yield str(reason)
        return
    yield server
    server.stop()


@pytest.fixture(params=BACKENDS)
def place(request: pytest.FixtureRequest, tmp_path: Path, redis_or_reason: RedisServer | str) -> Place:
    if request.param == "redis" and isinstance(redis_or_reason, str):
        pytest.skip(redis_or_reason)
    server = redis_or_reason if isinstance(redis_or_reason, RedisServer) else None
    return Place(request.param, tmp_path, server)
