"""What every life must keep to: what a crash may leave of it, what it may do, and what must have come of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from grader.crash import Image, Moment
from grader.levels.level4.documents import NOTHING, Progress, Reading, first_difference, read, same_messages
from grader.levels.level4.facts import Script
from grader.levels.level4.lives import Event, Life
from grader.levels.trial import Place


@dataclass(frozen=True)
class Death:
    """A crash: in which life, and what it left."""

    life: Life
    moment: Moment


@dataclass(frozen=True)
class Start:
    """Where a life begins: what was there before any crash, and the crashes that led to it."""

    origin: str = "nothing"
    """What lay on disk at first: ``nothing``, ``flip``, ``old`` and so on, a key of the words."""
    values: dict[str, Any] = field(default_factory=dict)
    deaths: tuple[Death, ...] = ()
    floor: Progress = NOTHING
    """How far a state must be that is found now."""


@dataclass(frozen=True)
class Problem:
    """Something that must not happen: what, in which life, and how it came about."""

    kind: str
    start: Start
    life: Life
    place: Place | None = None
    values: dict[str, Any] = field(default_factory=dict)


def begun_with(life: Life, script: Script) -> Reading:
    """Return what ``load`` gave when the life began; what it raised counts as nothing."""
    if "begun_with" not in life.known:
        life.known["begun_with"] = read(life.data["before"]["loaded"], script)
    reading: Reading = life.known["begun_with"]
    return reading


def check_found(start: Start, life: Life, script: Script) -> Problem | None:
    """Check what ``load`` found after the last crash of ``start``, before anything else was done."""
    if life.failure is not None:
        return Problem("stopped", start, life, life.failure.place)
    before = life.data["before"]
    if before["raised"] is not None:
        return Problem("load_raises", start, life, values={"error": before["raised"]})
    reading = begun_with(life, script)
    if reading.fault:
        return Problem(f"load_wrong.{reading.fault}", start, life, values=dict(reading.values))
    parent = start.deaths[-1] if start.deaths else None
    tools = [event for event in parent.life.events if event.what == "tool"] if parent else []
    ended = parent.life.mark("resume-end", "first") if parent else None
    if parent is not None:
        moment = parent.moment
        for event in tools:
            if event.at <= moment.until and event.data not in reading.named:
                return Problem("call_gone", _later(start, event.at + 1), life, event.place, {"id": event.data})
            if moment.op <= event.at <= moment.until and event.data not in reading.pending:
                there = _later(start, event.at + 1)
                return Problem("call_unpending", there, life, event.place, {"id": event.data})
        if ended is not None and ended < moment.until and not reading.complete and _returned_whole(parent.life, script):
            return Problem("end_gone", _later(start, ended + 1), life)
    if reading.progress < start.floor:
        kind = "load_nothing" if before["loaded"] is None else "load_back"
        return Problem(kind, start, life, values={"found": reading.progress, "floor": start.floor})
    return None


def _later(start: Start, done: int) -> Start:
    """Return the same crash at a later moment at which the same disk may be left."""
    *earlier, last = start.deaths
    moment = replace(last.moment, op=max(last.moment.op, done))
    return replace(start, deaths=(*earlier, Death(last.life, moment)))


def check_life(start: Start, life: Life, script: Script, *, claims: bool = False) -> Problem | None:
    """Check what a life did that nobody stood in the way of, and what was there when it had ended.

    ``claims``: whether each call must be covered by a claim.
    """
    happened = Counter(key for _, key in life.image.world)
    complete = begun_with(life, script).complete
    for event in life.events:
        wrong = _unheld(start, life, event) if claims else None
        wrong = wrong or _event(start, life, event, happened, script, complete)
        if wrong is not None:
            return wrong
        if event.what == "tool":
            happened[event.data] += 1
    error = life.data["error"]
    if error is not None:
        return Problem("resume_raises", start, life, values={"error": error})
    if life.data["returned"] is None:
        return Problem("returned_nothing", start, life)
    for key, found in (("returned", life.data["returned"]), ("after", life.data["after"]["loaded"])):
        raised = life.data["after"]["raised"]
        if key == "after" and raised is not None:
            return Problem("after_raises", start, life, values={"error": raised})
        reading = read(found, script)
        if reading.fault:
            return Problem(f"{key}_wrong.{reading.fault}", start, life, values=dict(reading.values))
        if not reading.complete:
            return Problem(f"{key}_incomplete", start, life, values={"found": reading.progress})
    missing = next((id for id in script.ids() if not happened[id]), None)
    if missing is not None:
        return Problem("never", start, life, values={"id": missing})
    return None


def check_refused(start: Start, life: Life) -> Problem | None:
    """Check a life whose ``load`` raised: it must have asked nobody, called nothing, and lost no file."""
    wrong = idle(start, life, "refused")
    if wrong is not None:
        return wrong
    lost = _lost(life.image, life)
    return Problem("refused_lost", start, life, values={"file": lost}) if lost else None


def idle(start: Start, life: Life, kind: str) -> Problem | None:
    """Return the first act of a life that must not act."""
    event = next((event for event in life.events if event.what in ("model", "tool")), None)
    return Problem(f"{kind}_{event.what}", start, life, event.place, {"id": event.data}) if event else None


def _event(
    start: Start, life: Life, event: Event, happened: Counter[str], script: Script, complete: bool
) -> Problem | None:
    if event.what not in ("model", "tool"):
        return None
    if complete:
        return Problem("asked_again", start, life, event.place, {"what": event.what})
    if event.what == "tool" and happened[event.data]:
        return Problem("twice", start, life, event.place, {"id": event.data, "asked": _asked(life, event)})
    if event.what == "model":
        answers = sum(isinstance(m, dict) and m.get("role") == "assistant" for m in event.data)
        wanted = script.messages(min(answers, len(script.turns)))
        if not same_messages(event.data, wanted):
            number, found, right = first_difference(event.data, wanted)
            values = {"number": number, "found": found, "wanted": right}
            return Problem("history", start, life, event.place, values)
    return None


def _unheld(start: Start, life: Life, event: Event) -> Problem | None:
    if event.held or event.what not in ("model", "tool") or event.who != "first":
        return None
    claimed = any(e.what == "claim" and e.data is not None and e.at < event.at for e in life.events)
    return Problem("outlived" if claimed else "unclaimed", start, life, event.place, {"what": event.what})


def _asked(life: Life, tool: Event) -> bool:
    """Whether the life had asked for the call's result before it ran the tool."""
    return any(e.what == "find" and e.data[0] == tool.data and e.at < tool.at for e in life.events)


def _returned_whole(life: Life, script: Script) -> bool:
    return bool(life.data) and life.data["error"] is None and read(life.data["returned"], script).complete


def _lost(before: Image, life: Life) -> str:
    """Return a file whose bytes are nowhere any more, in short; empty when none is."""
    from grader.crash.replay import replay

    now = set(replay(life.recording).image().files().values())
    gone = [name for name, data in before.files().items() if data and data not in now]
    return gone[0].removeprefix(before.cwd + "/") if gone else ""
