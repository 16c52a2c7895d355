"""The store in a SQLite database: a transaction that takes the write lock before it looks."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from .files import make_folder
from .store import Record, Rule, Store, decode_record, encode_record


class SqliteStore(Store):
    """Records as rows of one table, in one file, on one machine."""

    def __init__(self, path: str | os.PathLike[str], clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self.path = Path(path)
        make_folder(self.path.parent)
        with self._connected() as database:
            database.execute("CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, record TEXT NOT NULL)")

    def read(self, key: str) -> Record | None:
        """Return the record of a key, or None."""
        with self._connected() as database:
            return self._read(database, key)

    def change(self, key: str, rule: Rule) -> Record | None:
        """Look, decide and write in one transaction. IMMEDIATE: the lock is taken before the look."""
        with self._connected() as database:
            database.execute("BEGIN IMMEDIATE")
            record = rule(self._read(database, key))
            if record is not None:
                row = (key, encode_record(record).decode())
                database.execute("INSERT OR REPLACE INTO records VALUES (?, ?)", row)
            else:
                database.execute("DELETE FROM records WHERE key = ?", (key,))
            database.execute("COMMIT")
        return record

    def keys(self) -> list[str]:
        """Return all keys, sorted."""
        with self._connected() as database:
            return [key for (key,) in database.execute("SELECT key FROM records ORDER BY key")]

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Open the database for one thing; closing it undoes a transaction that was not committed."""
        with closing(sqlite3.connect(self.path, isolation_level=None, timeout=30)) as database:
            database.execute("PRAGMA synchronous = FULL")  # COMMIT returns when a power cut can't undo it
            yield database

    @staticmethod
    def _read(database: sqlite3.Connection, key: str) -> Record | None:
        row = database.execute("SELECT record FROM records WHERE key = ?", (key,)).fetchone()
        return decode_record(row[0].encode()) if row else None
