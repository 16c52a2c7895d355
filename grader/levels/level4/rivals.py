"""A second resumer, which comes during a slow call: while the claim holds, and after it has run out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from grader.crash import Mark
from grader.crash.replay import images_along
from grader.levels.level4.documents import read
from grader.levels.level4.facts import Script
from grader.levels.level4.lives import Event, Forged, Life
from grader.levels.level4.rules import Problem, Start, check_life
from grader.levels.level4.runs import Search
from grader.levels.level4.saves import EMPTY
from grader.levels.places import place_of
from grader.levels.trial import Place


def plans(script: Script) -> Iterator[tuple[Start, dict[str, Any]]]:
    """Yield every way in which a second one may come, in the order of their telling."""
    calls = len(script.turns) + len(script.ids())
    for name, late, comes in (("early", False, True), ("late", True, True), ("alone", True, False)):
        for at in range(calls):
            yield Start(f"rival_{name}", {"at": at}), {"at": at, "late": late, "comes": comes}


def problem(search: Search) -> Problem | None:
    """Return the first problem there is, that of a run that nobody disturbs before all others."""
    alone = check_life(Start(), search.base, search.script, claims=True)
    if alone is not None:
        return alone
    wanted = list(plans(search.script))
    lives = search.rivals(EMPTY, [plan for _, plan in wanted])
    for (start, plan), life in zip(wanted, lives, strict=False):
        wrong = check(start, plan, life, search)
        if wrong is not None:
            return wrong
    return None


def check(start: Start, plan: dict[str, Any], life: Life, search: Search) -> Problem | None:
    """Check one life in which a call took long, or somebody else came."""
    script = search.script
    if life.failure is not None:
        return Problem("stopped", start, life, life.failure.place)
    if not plan["late"]:
        return _early(start, life, script)
    wrong = _second_took_over(start, life, script) if plan["comes"] else None
    return wrong or _woke(start, plan, life, search)


def _early(start: Start, life: Life, script: Script) -> Problem | None:
    mine = [event for event in life.events if event.who == "second"]
    got = any(event.what == "claim" and event.data is not None for event in mine)
    for event in mine:
        if event.what in ("model", "tool") and not event.held:
            kind = "second_unclaimed" if not any(e.what == "claim" for e in mine) else "second_acts"
            return Problem(kind, start, life, event.place, {"what": event.what})
    if not got:
        changed = _changed(life, life.mark("resume-begin", "second"), life.mark("resume-end", "second"))
        if changed:
            return Problem("second_saves", start, life, values={"file": changed})
    return check_life(start, life, script, claims=True)


def _second_took_over(start: Start, life: Life, script: Script) -> Problem | None:
    second = life.data["second"]
    if second is None:
        return None
    if second["error"] is not None:
        return Problem("second_raises", start, life, values={"error": second["error"]})
    happened: Counter[str] = Counter()
    woke = life.mark("resume-end", "second") or 0
    for event in life.events:
        if event.what == "tool":
            happened[event.data] += 1
            if happened[event.data] > 1 and event.at < woke:
                return Problem("second_twice", start, life, event.place, {"id": event.data})
    if not read(second["returned"], script).complete:
        return Problem("second_incomplete", start, life)
    return None


def _woke(start: Start, plan: dict[str, Any], life: Life, search: Search) -> Problem | None:
    slow = [e for e in life.events if e.who == "first" and e.what in ("model", "tool")]
    if len(slow) <= plan["at"]:
        return None
    woke = life.mark("resume-end", "second") if plan["comes"] else slow[plan["at"]].at + 1
    if woke is None:
        raise Forged("the second resumer never came")
    later = [event for event in life.events if event.who == "first" and event.at > woke]
    again = next((event.at for event in later if event.what == "claim" and event.data is not None), None)
    end = life.mark("resume-end", "first")
    changed = _changed(life, woke, again if again is not None else end)
    if changed:
        return Problem("woke_saves", start, life, _writer(life, woke), {"file": changed})
    for event in later:
        if event.what in ("model", "tool") and not event.held:
            return Problem("woke_acts", start, life, event.place, {"what": event.what, "asked": _asked(later, event)})
    if plan["comes"] and again is not None:
        back = _went_back(life, again, search)
        if back is not None:
            return Problem("woke_back", start, life, back)
    twice = next((id for id, count in Counter(life.effects).items() if count > 1), None)
    if twice is not None:
        event = [e for e in life.events if e.what == "tool" and e.data == twice][-1]
        return Problem("twice", start, life, event.place, {"id": twice, "asked": True})
    if plan["comes"]:
        after = life.data["after"]
        if after["raised"] is not None:
            return Problem("after_raises", start, life, values={"error": after["raised"]})
        reading = read(after["loaded"], search.script)
        if not reading.complete:
            return Problem("woke_spoilt", start, life)
    return None


def _went_back(life: Life, again: int, search: Search) -> Place | None:
    """Return the line after which ``load`` gave less than the complete task, once the first one had claimed again."""
    images = images_along(life.recording)
    ends = [
        at
        for at, operation in enumerate(life.recording.operations)
        if at > again and not isinstance(operation, Mark) and images[at + 1] is not images[at]
    ]
    found = search.worker.live([(images[at + 1], {"do": "load"}) for at in ends]) if ends else []
    for at, one in zip(ends, found, strict=False):
        if one.failure is not None or not read(one.data["loaded"], search.script).complete:
            return place_of(life.recording.operations[at].where)
    return None


def _asked(events: list[Event], act: Event) -> bool:
    return any(event.what == "renew" and event.at < act.at for event in events)


def _changed(life: Life, begin: int | None, end: int | None) -> str:
    """Return a file that was there before and holds other bytes after, or none."""
    if begin is None or end is None:
        return ""
    images = images_along(life.recording)
    before = images[begin + 1]
    held = before.files()
    for image, earlier in zip(images[begin + 2 : end + 2], images[begin + 1 :], strict=False):
        if image is not earlier:
            now = image.files()
            changed = [name for name, data in held.items() if now.get(name) != data]
            if changed:
                return changed[0].removeprefix(before.cwd + "/")
    return ""


def _writer(life: Life, after: int) -> Place | None:
    for operation in life.recording.operations[after + 1 :]:
        if not isinstance(operation, Mark) and operation.where is not None:
            return place_of(operation.where)
    return None
