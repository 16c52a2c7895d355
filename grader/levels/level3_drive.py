"""Drives a learner's Level 3 inside the worker: lives of a job, each with its own state, world and timeouts.

Nothing is judged here, and nobody is killed here. A life runs to its end and is written down, event by event; what a
crash in the middle of it would have left is worked out by the judge, who then asks for the next lives.

A life is asked for as ``{"saved": text, "world": {...}, "timeouts": {"0": "done" | "lost"}}`` (the number is that of
the write call in this life). Marks in the disk's log carry everything, so that a life that never ends leaves a trace:

==============  =============================================================================
``text``        a document that was saved, the first time it is seen; events name it by number
``life-begin``  the number of the life
``event``       one event of the life, a list that begins with its kind (see ``world_of``)
``life-end``    how the life ended: None, or what was raised
==============  =============================================================================
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import zlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from grader.levels.failures import Failure, Stage
from grader.levels.values import plain

BEGIN = datetime(2026, 7, 1, 9, 0)
MOST_EVENTS = 400
"""Events of one life after which it counts as one that does not end."""
FINAL = ("done", "rejected")
_dumps, _loads = json.dumps, json.loads
"""Held before any cell of a learner's runs."""


def drive(stage: Stage, arguments: Any) -> dict[str, Any]:
    """Take the design out of the cells, and live the lives that are asked for."""
    names = stage.namespace
    found: dict[str, Any] = {name: plain(names[name]) for name in ("task_state", "three_saves") if name in names}
    lives = (arguments or {}).get("lives", [])
    if lives:
        missing = [name for name in ("handle", "recover") if not callable(names.get(name))]
        if missing:
            stage.finish(Failure("missing", message=" ".join(missing)))
    texts: dict[str, int] = {}
    for number, life in enumerate(lives):
        if number:
            names = stage.fresh()
        stage.mark("life-begin", number)
        _live(stage, names, life, texts)
    return found


def _live(stage: Stage, names: dict[str, Any], life: dict[str, Any], texts: dict[str, int]) -> None:
    count = 0

    def happened(*event: Any) -> None:
        nonlocal count
        count += 1
        stage.mark("event", [*event, _place()])
        if count > MOST_EVENTS:
            stage.finish(Failure("runaway", message=str(count)))

    def save(state: Any) -> None:
        """Put the whole state on disk, atomically."""
        try:
            text = _dumps(state, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            text = _dumps(plain(state), ensure_ascii=False)
        if text not in texts:
            texts[text] = len(texts)
            stage.mark("text", text)
        happened("save", texts[text])

    state = _loads(life["saved"])
    names.setdefault("hash", hash_of(life))
    handle, recover = names.get("handle"), names.get("recover")
    world = world_of(life, happened)
    error: dict[str, Any] | None = None
    try:
        call(recover, state, world, save)
        for item in state["items"]:
            if item["stage"] not in FINAL:
                call(handle, item, state, world, save)
    except (Exception, SystemExit, KeyboardInterrupt) as raised:
        error = told(raised)
    stage.mark("life-end", error)


def world_of(life: dict[str, Any], happened: Callable[..., None]) -> Any:
    """Return the ticket system and the people around it, as one life meets them."""
    given, timeouts = life["world"], dict(life.get("timeouts", {}))
    made = {"ticket": [list(one) for one in given["tickets"]], "notice": [list(one) for one in given["notices"]]}
    decisions = dict(given["decisions"])
    ids = [item["id"] for item in _loads(life["saved"])["items"]]
    letters = {"ticket": "T", "notice": "N"}
    calls = 0

    def receipt(kind: str, number: int) -> dict[str, str]:
        return {"id": f"{letters[kind]}-{1001 + number}", "key": made[kind][number][1]}

    def write(kind: str, item: Any, about: Any, key: Any) -> dict[str, str]:
        nonlocal calls
        if not isinstance(item, str) or item not in ids:
            raise ValueError(f"there is no item {plain(item)!r}; give the item's id, one of {', '.join(ids)}")
        if not isinstance(key, str) or not key:
            raise TypeError(f"key must be a non-empty string, not {plain(key)!r}")
        if not isinstance(about, str) or not about:
            what = "the text of the ticket" if kind == "ticket" else "the id of the ticket"
            raise TypeError(f"{what} must be a non-empty string, not {plain(about)!r}")
        fate = timeouts.pop(str(calls), "answered")
        calls += 1
        if fate != "lost":
            made[kind].append([str(item), str(key), str(about)])
        happened(kind, str(item), str(key), str(about), fate)
        if fate != "answered":
            raise TimeoutError(f"no answer from the ticket system within 30 s ({kind} for {item})")
        return receipt(kind, len(made[kind]) - 1)

    def find(kind: str, key: Any) -> dict[str, str] | None:
        numbers = [number for number, one in enumerate(made[kind]) if one[1] == key]
        answer = receipt(kind, numbers[0]) if numbers else None
        happened("find", kind, plain(key), answer["id"] if answer else None)
        return answer

    class World:
        """The ticket system. It keeps the key of every write, but does not compare keys when it writes."""

        def create_ticket(self, item_id: str, text: str, key: str) -> dict[str, str]:
            """Create a ticket and return its receipt, a dict with its ``id``."""
            return write("ticket", item_id, text, key)

        def send_notice(self, item_id: str, ticket_id: str, key: str) -> dict[str, str]:
            """Send a notice about a ticket and return its receipt, a dict with its ``id``."""
            return write("notice", item_id, ticket_id, key)

        def find_ticket(self, key: str) -> dict[str, str] | None:
            """Return the receipt of the ticket that was created with this key, or None."""
            return find("ticket", key)

        def find_notice(self, key: str) -> dict[str, str] | None:
            """Return the receipt of the notice that was sent with this key, or None."""
            return find("notice", key)

        def decision(self, item_id: str) -> str | None:
            """Return "approved", "rejected", or None while nobody has decided."""
            answer = decisions.get(item_id) if isinstance(item_id, str) else None
            happened("decision", plain(item_id), answer)
            return answer

        def now(self) -> str:
            """Return the time, such as 2026-07-01T09:00:00Z."""
            passed = len(made["ticket"]) + len(made["notice"]) + len(decisions)
            return f"{BEGIN + timedelta(minutes=7 * passed):%Y-%m-%dT%H:%M:%SZ}"

    return World()


def hash_of(life: dict[str, Any]) -> Callable[[Any], int]:
    """Return this life's own ``hash``: of text it gives another number in every process, and a life is a process."""
    seed = zlib.crc32(_dumps([life["saved"], life["world"]]).encode())

    def hash_in_this_life(value: Any) -> int:
        return hash((seed, value)) if isinstance(value, str | bytes | tuple | frozenset) else hash(value)

    return hash_in_this_life


def call(function: Any, *arguments: Any) -> None:
    returned = function(*arguments)
    if inspect.iscoroutine(returned):
        asyncio.run(returned)


def told(error: BaseException) -> dict[str, Any]:
    """Return what was raised, as data."""
    trace, line, function, cell = error.__traceback__, 0, "", ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename.startswith("<cell "):
            line, function, cell = trace.tb_lineno, code.co_name, code.co_filename[6:-1]
        trace = trace.tb_next
    try:
        message = str(error)[:300]
    except BaseException:
        message = ""
    message = message.encode("utf-8", "replace").decode("utf-8")
    return {"type": type(error).__name__[:80], "message": message, "place": [cell, line, function]}


def _place() -> list[Any]:
    """Return the learner's line that is being run: cell, line, function."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<cell "):
            return [code.co_filename[6:-1], frame.f_lineno, code.co_name]
        frame = frame.f_back  # type: ignore[assignment]
    return ["", 0, ""]
