"""How long finished tasks are kept, and who deleted what and when.

A finished state is evidence, and later it is only a risk and a cost. Somebody decides for how many days it is kept; a
program deletes it then, and leaves a line that says so. An unfinished task is never deleted for its age.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .errors import Conflict, TaskClaimed
from .files import make_folder, sync_directory, sync_file
from .messages import calls_in
from .savefile import Document, checksum
from .store import Store

DAY = 86_400.0


def is_finished(document: Document) -> bool:
    """Say whether a task is over: a task state that is done, or a checkpoint that ends in an answer without calls."""
    if "status" in document:
        return bool(document["status"] == "done")
    messages = document.get("messages") or [{"role": "nobody", "content": ""}]
    return messages[-1]["role"] == "assistant" and not calls_in(messages[-1]) and not document.get("pendingToolUse")


def delete_finished(
    store: Store,
    days: float,
    audit: str | os.PathLike[str],
    by: str,
    *,
    finished: Callable[[Document], bool] = is_finished,
) -> list[str]:
    """Delete what has been finished for so many days; return its keys. The store's clock says what day it is.

    The line in the file `audit` is on the disk before the document goes: after a crash between the two the next run
    deletes it, and there are two lines. What somebody has claimed, or saved meanwhile, stays.

    Args:
        store: where the tasks are.
        days: how long a finished one is kept.
        audit: the file that gets one JSON line for each task.
        by: who deletes: a person or a program, by name.
        finished: says whether a document may go at all.
    """
    gone, everything = [], store.keys()
    for key in everything:
        record = store.read(key)
        if record is None or not finished(record.document) or store.clock() - record.saved_at <= days * DAY:
            continue
        line = {
            "deleted": key,
            "at": written_time(store.clock()),
            "by": by,
            "why": f"finished, not saved for more than {days:g} days",
            "last_saved": written_time(record.saved_at),
            "version": record.version,
            "checksum": checksum(record.document),
        }
        append_durably(audit, line)
        try:
            store.delete(key, record.version)
        except (Conflict, TaskClaimed):
            append_durably(audit, {**line, "deleted": None, "kept": key, "why": "somebody took it up meanwhile"})
            continue
        gone.append(key)
    return gone


def written_time(seconds: float) -> str:
    """Write a time as a person reads it."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def append_durably(path: str | os.PathLike[str], line: dict[str, Any]) -> None:
    """Add a JSON line that survives a power cut. A torn line before it stays a line of its own."""
    file = Path(path)
    make_folder(file.parent)
    data = json.dumps(line, ensure_ascii=False).encode() + b"\n"
    with open(file, "a+b", buffering=0) as out:
        size = out.seek(0, os.SEEK_END)
        if size:
            out.seek(size - 1)
            data = data if out.read(1) == b"\n" else b"\n" + data
        out.write(data)
        sync_file(out.fileno())
    sync_directory(file.parent)


def read_audit(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the lines of an audit file; one that a crash tore is left out."""
    lines = []
    for line in Path(path).read_bytes().splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            continue  # its document was not deleted yet: the next run has written it again
    return lines
