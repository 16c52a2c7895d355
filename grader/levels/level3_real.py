"""Lives that were judged well, lived again with the ticket system in another process.

The events of a life are noted in the learner's own process, which could keep some of them out of the log. Here what
happened is what the other process was asked for. Names of keys and times may differ from run to run, so what is held
against each other is: how many saves, what was written for which item and how it went, how the life ended, and how far
each item was in the last document.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from grader.levels.level3_lives import SECONDS, WRITES, Ask, Life, Lives, wire
from grader.levels.sightings import Sightings
from grader.levels.trial import Trial
from grader.verdict import Verdict
from grader.words import catalogue

SAMPLE = 40
"""Lives that are lived again, spread evenly over all."""
FLAG = "another process: "
"""How the instructor's remark begins."""
_words = catalogue("levels/level3.toml")


def borne_out(verdict: Verdict, lives: Lives) -> Verdict:
    """Return the verdict on code that held, or hand it to a person where lives can't be borne out."""
    known = [ask for ask, life in lives.known.items() if life.error is None or life.error.kind == "exception"]
    asks = known[:: max(1, len(known) // SAMPLE)][:SAMPLE]
    given = [wire(ask) for ask in asks]
    seen = lives.run(Trial("level3", given, seconds=SECONDS, real="checkpoint.json")).sightings
    if seen is None or not seen.plays or not asks:
        return verdict
    wrong = _difference(seen, asks, lives)
    if wrong is None:
        return verdict
    return replace(
        verdict, met=None, points=0.0, message=_words("other_process"), suggested=0.0, picture=None, picture_text=None,
        flags=(*verdict.flags, FLAG + wrong),
    )  # fmt: skip


def _difference(seen: Sightings, asks: Sequence[Ask], lives: Lives) -> str | None:
    """Return what differs, in a few words; None when nothing does."""
    told = [look.data for look in seen.plays[0].looks if look.kind == "life-end"]
    for number, ask in enumerate(asks):
        if number >= len(told):
            return f"it {seen.plays[0].ended} after {number} of {len(asks)} lives {seen.plays[0].detail}".strip()
        if _shape_there(told[number]) != _shape_here(lives.known[ask]):
            return f"life {number + 1} of {len(asks)} had other events than were noted"
    return None


def _shape_there(data: Any) -> Any:
    return _shape([tuple(event) for event in data["events"]], data["error"])


def _shape_here(life: Life) -> Any:
    return _shape([(event.kind, *event.data) for event in life.events], life.error.type if life.error else None)


def _shape(events: list[tuple[Any, ...]], error: str | None) -> Any:
    writes = Counter((event[0], event[1], event[4]) for event in events if event[0] in WRITES)
    saves = [str(event[1]) for event in events if event[0] == "save"]
    return writes, len(saves), error, _progress(saves[-1]) if saves else None


def _progress(document: str) -> Any:
    """Return how far each item is, in one document."""
    try:
        items = json.loads(document)["items"]
        return sorted(
            (item["id"], item["stage"], sorted((name, step["status"]) for name, step in item["steps"].items()))
            for item in items
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
