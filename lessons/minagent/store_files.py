"""The store in a folder: a file for each key, saved as lesson 5 does it, and a lock between look and save."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote

from .files import sync_directory, write_atomically
from .locks import locked
from .store import Record, Rule, Store, decode_record, encode_record


class FileStore(Store):
    """Records as files in one folder, on one machine."""

    def __init__(self, folder: str | os.PathLike[str], clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self.folder = Path(folder)

    def read(self, key: str) -> Record | None:
        """Return the record of a key, or None. No lock: the file is always a whole one."""
        try:
            return decode_record(self._path(key).read_bytes())
        except FileNotFoundError:
            return None

    def change(self, key: str, rule: Rule) -> Record | None:
        """Look, decide and replace while the folder is locked."""
        with locked(self.folder):
            record = rule(self.read(key))
            if record is not None:
                write_atomically(self._path(key), encode_record(record))
            else:
                self._path(key).unlink(missing_ok=True)
                sync_directory(self.folder)
        return record

    def keys(self) -> list[str]:
        """Return all keys, sorted."""
        return sorted(unquote(path.stem) for path in self.folder.glob("*.json"))

    def _path(self, key: str) -> Path:
        return self.folder / f"{quote(key, safe='')}.json"
