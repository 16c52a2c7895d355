"""What a fake disk can be lied to about: a program that passed on it, seen from outside on a real one.

Only what the fake disk found right is looked at again, and only a difference counts: code that behaves well where it
knows that it is watched, a log written by the learner's own hand. Where no real disk can be given, nothing changes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grader.crash import Mark
from grader.crash.operations import Truncate, Write
from grader.levels import level2_scripts as scripts
from grader.levels.level2.case import Case
from grader.levels.level2.documents import document
from grader.levels.level2.facts import NAME, SECONDS, words
from grader.levels.level2.film import Film, begin_of
from grader.levels.level2.loop import one_loop
from grader.levels.level2.messages import tool_use, turn_of
from grader.levels.level2.point_a import is_booked, is_named
from grader.levels.sightings import Look, Play, Sightings, What
from grader.levels.trial import Trial
from grader.verdict import Text, Verdict

FLAG = "real disk: "
"""How the instructor's remarks begin where a real disk showed something else than the fake one."""

_ENDS: dict[str, str] = {
    "exception": "raised", "exit": "raised", "input": "raised", "memory": "raised", "time": "time",
    "runaway": "stopped", "died": "died",
}  # fmt: skip
"""How a play ends in which a run on the fake disk failed so."""


def seen_again(case: Case, verdicts: list[Verdict]) -> list[Verdict]:
    """Return the verdicts, those that a real disk does not bear out changed."""
    if not any(verdict.met for verdict in verdicts):
        return verdicts
    given = scripts.unforeseen(secrets.token_hex(4))
    path = case.shown(case.path) if case.path is not None else NAME
    kills = any(verdict.met and verdict.criterion == "level2-atomic" for verdict in verdicts)
    seen = case.run(Trial("level2", given, seconds=SECONDS, real=path, kills=kills)).sightings
    if seen is None or not seen.plays:
        return verdicts
    real = RealDisk(case, seen, given)
    return [real.borne_out(verdict) if verdict.met else verdict for verdict in verdicts]


class RealDisk:
    """What was seen of one program, held against what its runs on the fake disk made one expect."""

    def __init__(self, case: Case, seen: Sightings, given: list[dict[str, Any]]) -> None:
        self.case, self.seen, self.given = case, seen, given
        self.first = seen.plays[0]
        self._questions: dict[str, Callable[[], Text | None]] = {
            "level2-atomic": self.atomic,
            "level2-point-a": self.point_a,
            "level2-runs": self.runs,
        }

    def borne_out(self, verdict: Verdict) -> Verdict:
        """Return the verdict on a criterion that was met, or what a real disk makes of it."""
        wrong = self._questions[verdict.criterion]()
        if wrong is not None:
            message = words("real.not_met", what=wrong)
            return replace(
                verdict, met=False, points=0.0, message=message, advice=None, picture=None, picture_text=None,
                flags=(*verdict.flags, FLAG + wrong.en),
            )  # fmt: skip
        if self.first.ended != "end" and not self._ended_so_before():
            how = words(f"real.ended_{self.first.ended}", detail=self.first.detail or "-")
            return replace(
                verdict, met=None, points=0.0, message=words("real.waits", how=how), suggested=verdict.max_points,
                advice=None, flags=(*verdict.flags, FLAG + how.en),
            )  # fmt: skip
        return verdict

    def _ended_so_before(self) -> bool:
        """Tell whether it came to the same bad end on the fake disk, and there was a save to see before."""
        failures = [o.failure for o in (self.case.first, self.case.second) if o is not None and o.failure is not None]
        ends = {"died" if f.type == "os._exit" else _ENDS.get(f.kind, "") for f in failures}
        return self.first.ended in ends and any(look.content >= 0 for look in self.first.looks)

    # -- level2-atomic --------------------------------------------------------------------------------------------

    def atomic(self) -> Text | None:
        """Return what was wrong with a save, if anything was."""
        allowed = self._on_the_fake_disk()
        for play in self.seen.plays:
            if play.killed:
                wrong = self._after_the_kill(play, allowed)
                if wrong is not None:
                    return wrong
        for play in self.seen.plays:
            wrong = self._changes(play, allowed) or self._contents(play, allowed)
            if wrong is not None:
                return wrong
        if self.first.ended == "end" and all(look.content < 0 for look in self.first.looks):
            return words("real.never")
        return None

    def _after_the_kill(self, play: Play, allowed: set[What]) -> Text | None:
        *before, dead = play.looks
        content = self.seen.content(dead)
        if content is not None and document(content) is None:
            key = "real.killed_torn" if content else "real.killed_empty"
            return words(key, size=f"{len(content):,}")
        if content is None and "gone" not in allowed and any(look.content >= 0 for look in before):
            return words("real.killed_gone")
        return None

    def _changes(self, play: Play, allowed: set[What]) -> Text | None:
        if play.told and all(look.plain for look in play.looks):
            there = False
            for number in range(len(play.looks) + 1):
                for event in (event for event in play.events if event.after == number):
                    if event.what == "modified" and "modified" not in allowed:
                        return words("real.modified")
                    if event.what == "gone" and there and "gone" not in allowed:
                        return words("real.gone")
                    there = event.what != "gone"
                there = number < len(play.looks) and play.looks[number].content >= 0
        pairs = zip(play.looks, play.looks[1:], strict=False)
        if "modified" not in allowed and any(
            one.content >= 0 and two.content >= 0 and one.inode == two.inode and one.content != two.content
            for one, two in pairs
        ):
            return words("real.modified")
        return None

    def _contents(self, play: Play, allowed: set[What]) -> Text | None:
        there = False
        for look in play.looks:
            content = self.seen.content(look)
            if content is not None and document(content) is None:
                return words("real.torn", size=f"{len(content):,}")
            if content is None and there and "gone" not in allowed:
                return words("real.gone")
            there = there or content is not None
        return None

    def _on_the_fake_disk(self) -> set[What]:
        """Return what became of the checkpoint's name there, and was found to do no harm."""
        found: set[What] = set()
        for outcome in (self.case.first, self.case.second):
            played = self.case.film(outcome)
            if played is not None:
                found |= _changes_in(played)
        return found

    # -- level2-point-a -------------------------------------------------------------------------------------------

    def point_a(self) -> Text | None:
        """Return what was wrong while a tool ran, or when the model was called next."""
        run, model, tools = -1, 0, 0
        ran: dict[str, Any] | None = None
        for look in self.first.looks:
            if look.kind == "run-begin":
                run, model, ran = run + 1, 0, None
            if not 0 <= run < len(self.given):
                continue
            turns = self.given[run]["turns"]
            content = self.seen.content(look)
            if look.kind in ("model", "run-end"):
                if ran is not None and not is_booked(content, tool_use(ran) or {}, ran.get("result")):
                    return words("real.not_booked")
                model, ran = model + 1, None
            elif look.kind == "tool-begin":
                tools += 1
                ran = turn_of(look.data, turns[:model])
                if ran is not None and not is_named(content, tool_use(ran) or {}):
                    return words("real.not_named")
        return words("real.no_tool") if self.first.ended == "end" and not tools else None

    # -- level2-runs ----------------------------------------------------------------------------------------------

    def runs(self) -> Text | None:
        """Return what was wrong with the loop."""
        runs: list[list[Look]] = []
        for look in self.first.looks:
            if look.kind == "run-begin":
                runs.append([])
            elif runs:
                runs[-1].append(look)
        for number, script in enumerate(self.given):
            marks = [Mark(look.kind, look.data, 0.0) for look in (runs[number] if number < len(runs) else [])]
            if self.first.ended != "end" and not any(mark.kind == "run-end" for mark in marks):
                return None  # how it ended is said elsewhere
            wrong = one_loop(marks, script, self.case, None)
            if wrong is not None:
                return wrong
        return None


def _changes_in(played: Film) -> set[What]:
    found: set[What] = set()
    begun = begin_of(played.recording) or 0
    for index in range(begun, len(played.operations)):
        before, after = played.contents[index], played.contents[index + 1]
        if after is before:
            continue
        if before is not None and after is None:
            found.add("gone")
        if isinstance(played.operations[index], Write | Truncate):
            found.add("modified")
    return found
