"""Judges Level 3: the design of a task state, and code that carries a job through crashes.

The code is judged by what it does: see :mod:`~grader.levels.level3_lives` for how its lives are run and cut, and
:mod:`~grader.levels.level3_rules` for what they must keep to.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

from grader.criteria import criteria
from grader.levels import lanes, level3_design
from grader.levels.level3_lives import (
    LARGE,
    SECONDS,
    SMALL,
    TIGHT,
    WRITES,
    Event,
    Found,
    History,
    Life,
    Lives,
    Point,
    after,
    explore,
    sample,
    together,
)
from grader.levels.level3_real import borne_out
from grader.levels.level3_rules import ALIEN_TEXT, Problem, check
from grader.levels.places import Sources
from grader.levels.places import names as listed
from grader.levels.trial import Failure, Runner, Trial
from grader.verdict import Text, Verdict
from grader.words import catalogue, join, of_kind, plain

EXERCISE = "level3"
CELL = "level3-code-answer"
DESIGN = "level3-design"
CODE = "level3-code"
CALLS = {"ticket": "create_ticket", "notice": "send_notice"}
_MOST = 24
"""Events of one life that a picture shows."""
FINDS = {"ticket": "find_ticket", "notice": "find_notice"}

_words = catalogue("levels/level3.toml")


def seed() -> int:
    """Return the seed of the runs drawn by chance: ``CRASH_COURSE_SEED``, else 0."""
    try:
        return int(os.environ.get("CRASH_COURSE_SEED", "0"))
    except ValueError:
        return 0


class Judge:
    """Judges one learner's cells."""

    def __init__(self, sources: dict[str, str], run: Runner) -> None:
        self.sources = Sources(sources, CELL)
        self.run = run

    def verdicts(self, wanted: list[str]) -> list[Verdict]:
        """Return the verdicts on the wanted criteria."""
        return [self.design() if name == DESIGN else self.code() for name in wanted]

    # -- the design -------------------------------------------------------------------------------------------

    def design(self) -> Verdict:
        """Judge ``task_state`` and ``three_saves``."""
        outcome = self.run(Trial("level3", {"lives": []}))
        data = outcome.data if isinstance(outcome.data, dict) else {}
        met, text = level3_design.judge(data)
        failure = next(iter([*outcome.cells, *([outcome.failure] if outcome.failure else [])]), None)
        if not met and failure is not None and len(data) < 2:
            text = join(_words("cell.raised", what=self.sources.reason(failure)), text)
        most = criteria()[DESIGN].points
        return Verdict(DESIGN, met, most if met else 0.0, most, text)

    # -- the code ---------------------------------------------------------------------------------------------

    def code(self) -> Verdict:
        """Judge ``handle`` and ``recover``."""
        most = criteria()[CODE].points
        lives = Lives(self.run)
        dice = seed()
        parts = [Found(), Found(), Found()]
        together(
            lives,
            [
                explore(parts[0], SMALL, check, deaths=2),
                explore(parts[1], TIGHT, check, deaths=1),
                sample(parts[2], LARGE, check, dice),
            ],
        )
        if lives.trouble is not None and lives.trouble.recording and lives.trouble.recording.escapes:
            return self._trouble(lives)
        found = [(not problem.harm, number, problem) for number, part in enumerate(parts) for problem in part.problems]
        if found:
            problem = min(found, key=lambda one: (one[0], one[1], one[2].size))[2]
            text = self.told(problem)
            if any(problem is one for one in parts[2].problems):
                text = join(text, _words("sampled", seed=dice))
            if lives.files:
                text = join(text, _words("files"))
            picture, picture_text = self.picture(problem)
            return Verdict(CODE, False, 0.0, most, text, picture=picture, picture_text=picture_text)
        if lives.trouble is not None:
            return self._trouble(lives)
        return borne_out(Verdict(CODE, True, most, most, self._held(parts, dice)), lives)

    def _held(self, parts: list[Found], dice: int) -> Text:
        small, tight, large = parts
        return _words(
            "held" if small.whole else "held.part",
            moments=small.moments + tight.moments,
            lives=small.lives + tight.lives,
            walks=large.lives,
            seed=dice,
        )

    def _trouble(self, lives: Lives) -> Verdict:
        outcome, most = lives.trouble, criteria()[CODE].points
        assert outcome is not None
        if outcome.recording is not None and outcome.recording.escapes:
            text = _words("cant_judge", reason=outcome.recording.escapes[0].reason)
            return Verdict(CODE, None, 0.0, most, text, flags=("level3: past the fake disk",))
        failure = next(iter(outcome.cells), outcome.failure) or Failure("died")
        text = _words("cell.raised", what=self._reason(failure))
        if outcome.failure is not None and outcome.failure.kind == "missing":
            lead = _words("cell.raised", what=self._reason(outcome.cells[0])) if outcome.cells else None
            text = join(lead, _words("missing", names=listed(outcome.failure.message.split())))
        return Verdict(CODE, False, 0.0, most, text)

    def _reason(self, failure: Failure) -> Text:
        if failure.kind == "runaway":
            return _words("runaway")
        return self.sources.reason(failure, SECONDS)

    # -- telling ----------------------------------------------------------------------------------------------

    def told(self, problem: Problem) -> Text:
        """Return what happened, from the crash to the harm, and what to change."""
        happened, advice = self._happened(problem), self._advice(problem)
        return of_kind(join(self._deaths(problem), self._left(problem), happened, advice), happened, advice)

    def _at(self, event: Event | None) -> Text:
        return self.sources.at(event.place if event else None)

    def _deaths(self, problem: Problem) -> Text:
        told = [self._death(life, cut) for life, cut in problem.history.lives]
        if problem.life.timed_out:
            told.append(self._timeout(problem.life))
        faults = [one for one in told if one is not None]
        if not faults:
            return _words("death.none")
        text = faults[0]
        for one in faults[1:]:
            text = join(text, _words("death.then", death=one))
        return text

    def _death(self, life: Life, cut: int) -> Text | None:
        late = self._timeout(life) if any(_late(event) for event in life.events[:cut]) else None
        if cut >= len(life.events) and life.error is None:
            return late
        last = life.events[cut - 1] if cut else None
        if last is None or _late(last):
            return late or _words("death.early")
        if last.kind == "save":
            text = _words("death.save", at=self._at(last))
        elif last.kind in WRITES:
            text = _words("death.write", call=CALLS[last.kind], item=last.data[0], at=self._at(last))
        else:
            text = _words("death.read", at=self._at(last))
        return text if late is None else join(late, _words("death.then", death=text))

    def _timeout(self, life: Life) -> Text:
        event = next(event for event in life.events if _late(event))
        key = "death.timeout_done" if event.data[3] == "done" else "death.timeout_lost"
        return _words(key, call=CALLS[event.kind], item=event.data[0], at=self._at(event))

    def _left(self, problem: Problem) -> Text | None:
        """Return what lay on disk and in the world when the last life began, for the item it is about."""
        if not problem.history.deaths or not problem.item:
            return None
        point = problem.life.point
        item = _item(point, problem.item)
        world = point.world
        return _words(
            "left",
            item=problem.item,
            stage=item["stage"],
            ticket=item["steps"]["ticket"]["status"],
            notice=item["steps"]["notice"]["status"],
            tickets=len(world.of("ticket", problem.item)),
            notices=len(world.of("notice", problem.item)),
        )

    def _happened(self, problem: Problem) -> Text:
        values = {key: value if isinstance(value, Text) else _shown(value) for key, value in problem.values.items()}
        if problem.life.error is not None:
            values["what"] = self._reason(problem.life.error)
        if problem.kind == "shape":
            found = _alien(problem.event.data[0]) if problem.event is not None else ""
            return _words(f"shape.{problem.values['part']}", at=self._at(problem.event), found=found)
        if problem.kind == "stuck":
            values |= self._item_now(problem)
        step = problem.step or "ticket"
        text = _words(
            f"problem.{problem.kind}",
            at=self._at(problem.event),
            item=problem.item,
            step=step,
            call=CALLS[step],
            find=FINDS[step],
            thing=_words(f"thing.{step}"),
            **values,
        )
        return replace(text, en="L" + text.en[1:]) if text.en.startswith("line ") else text

    def _item_now(self, problem: Problem) -> dict[str, Text]:
        item = _item(problem.life.points()[-1], problem.item)
        steps = item["steps"]
        return {
            "stage": plain(item["stage"]),
            "ticket": plain(steps["ticket"]["status"]),
            "notice": plain(steps["notice"]["status"]),
        }

    def _advice(self, problem: Problem) -> Text | None:
        key = f"advice.{problem.kind}"
        if problem.kind == "twice":
            key = f"advice.twice_{self._why_twice(problem)}"
        elif problem.kind == "stuck":
            key = f"advice.stuck_{_why_stuck(problem)}"
        elif problem.kind == "done-unproven" and _anothers(problem):
            key = "advice.done-unproven_other"
        if key not in _words.entries:
            return None
        step = problem.step or "ticket"
        values = {name: _shown(value) for name, value in problem.values.items()}
        return _words(key, item=problem.item, step=step, call=CALLS[step], find=FINDS[step], **values)

    def _why_twice(self, problem: Problem) -> str:
        life, index = problem.life, problem.index
        mine = [e for e in life.events[:index] if e.kind == problem.step and e.data[0] == problem.item]
        if problem.values["key"] != problem.values["old_key"]:
            return "key"
        if mine:
            return "timeout" if any(_late(event) for event in mine) else "same"
        if _item(life.point, problem.item)["steps"][problem.step]["status"] in ("todo", "intent"):
            return "unsaved"
        finds = [e for e in life.events[:index] if e.kind == "find" and e.data[0] == problem.step]
        return "found" if any(event.data[2] for event in finds) else "ask"

    # -- the picture ------------------------------------------------------------------------------------------

    def picture(self, problem: Problem) -> tuple[str, str]:
        """Draw the lives as rows of events, each up to its end, in HTML and as text."""
        rows: lanes.Rows = []
        lives = [*problem.history.lives, (problem.life, min(problem.index + 1, len(problem.life.events)))]
        for number, (life, cut) in enumerate(lives, 1):
            point, cells = life.point, []
            for event in life.events[:cut]:
                new = after(point, event)
                look = "" if event.kind in ("find", "decision") else "save" if event.kind == "save" else "write"
                cells.append((look, _brief(event, point, new)))
                point = new
            if len(cells) > _MOST:
                half = _MOST // 2
                cells = [*cells[:half], ("", f"… {len(cells) - _MOST} more …"), *cells[-half:]]
            if number < len(lives) and (cut < len(life.events) or life.error):
                cells.append(("death", "✕"))
            rows.append((str(number), cells))
        if rows[-1][1]:
            rows[-1][1][-1] = ("wrong", rows[-1][1][-1][1])
        return lanes.as_html(rows), lanes.as_text(rows)


def _late(event: Event) -> bool:
    return event.kind in WRITES and event.data[3] != "answered"


def _item(point: Point, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in json.loads(point.saved)["items"] if item["id"] == name)
    return found


def _alien(text: str) -> str:
    """Return the type of the first value in a saved text that JSON doesn't know."""
    begun = text.find(ALIEN_TEXT)
    return text[begun + len(ALIEN_TEXT) :].split('"')[1] if begun >= 0 else ""


def _anothers(problem: Problem) -> bool:
    """Tell whether the id that is taken for proof is another item's."""
    world = problem.life.points()[problem.index].world
    made = world.tickets if problem.step == "ticket" else world.notices
    return any(problem.values["found"] == id for one in made for id, _ in world.of(problem.step, one[0]))


def _why_stuck(problem: Problem) -> str:
    point = problem.life.points()[-1]
    item, state = _item(point, problem.item), json.loads(point.saved)
    if any(item["steps"][name]["status"] == "started" for name in WRITES):
        return "started"
    if item["needs_approval"]:
        if not any(entry["item"] == problem.item for entry in state["approvals"]):
            return "unasked"
        if item["steps"]["ticket"]["status"] in ("todo", "intent"):
            return "decided"
    return "open"


def _shown(value: Any) -> Text:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = " ".join(str(value).split())
    return plain(text if len(text) <= 60 else text[:59] + "…")


def _brief(event: Event, before: Point, now: Point) -> str:
    """Return an event in a few signs."""
    if event.kind == "save":
        return "save " + _change(before.saved, now.saved)
    if event.kind in WRITES:
        end = {"answered": "ok", "done": "timeout, done", "lost": "timeout, not done"}[event.data[3]]
        return f"{CALLS[event.kind]} {event.data[0]}: {end}"
    if event.kind == "find":
        return f"{FINDS[str(event.data[0])]}: {event.data[2] or None}"
    return f"decision {event.data[0]}: {event.data[1]}"


def _change(old: str, new: str) -> str:
    """Return the first thing that a save changed."""
    try:
        was, now = json.loads(old), json.loads(new)
        for before, item in zip(was["items"], now["items"], strict=True):
            for name in WRITES:
                status = item["steps"][name]["status"]
                if status != before["steps"][name]["status"]:
                    return f"{item['id']} {name} {status}"
            if item["stage"] != before["stage"]:
                return f"{item['id']} {item['stage']}"
        if was["approvals"] != now["approvals"]:
            return "approvals"
        if was["budget"] != now["budget"]:
            return f"spent {now['budget']['spent']}"
    except (ValueError, TypeError, KeyError):
        return "…"
    return "(…)"


__all__ = ["CELL", "CODE", "DESIGN", "EXERCISE", "History", "Judge", "seed"]
