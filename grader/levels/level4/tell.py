"""Tells a learner what went wrong: how it came about, what lay on disk, what was made of it, what to change."""

from __future__ import annotations

import json
from typing import Any

from grader.crash import Exploration, Mark, line_of
from grader.crash.describe import Story
from grader.crash.diagnose import diagnose
from grader.crash.operations import EFFECT
from grader.crash.report import headline, on_disk, recovered
from grader.levels.level4.facts import words
from grader.levels.level4.lives import SECONDS, Event, Life, place
from grader.levels.level4.rules import Death, Problem
from grader.levels.level4.saves import Trouble
from grader.levels.places import Sources
from grader.levels.trial import Failure
from grader.verdict import Text
from grader.words import join, of_kind, plain

CALLS = {"model": "call_model", "tool": "run_tool"}
_MOST_FILES = 5

ADVICE = {
    "refused_model": "refused",
    "refused_tool": "refused",
    "refused_lost": "refused",
    "newer_taken": "newer",
    "newer_nothing": "newer",
    "newer_older": "newer",
    "newer_touched": "newer",
    "newer_save_spoilt": "newer",
    "second_unclaimed": "second",
    "second_acts": "second",
    "second_saves": "second",
    "woke_saves": "woke",
    "woke_acts": "woke",
    "woke_back": "woke",
    "woke_spoilt": "woke",
}
"""Problems that share an advice."""


class Teller:
    """Tells of one learner's code."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    # -- saves alone ------------------------------------------------------------------------------------------

    def trouble(self, found: Trouble) -> Text:
        """Return what is wrong with saves and loads before anything crashes."""
        data, kind = found.life.data, found.kind
        if kind == "load_differs" and data["loaded"] is None:
            kind = "load_nothing"
        what = plain("")
        if kind == "stopped" and found.life.failure is not None:
            what = self.reason(found.life.failure)
        elif kind == "save_raises":
            what = self.raised(data["error"])
        elif kind == "load_raises":
            what = self.raised(data["raised"])
        return words(f"trouble.{kind}", what=what, field=found.field)

    def exploration(self, found: Exploration[Any]) -> Text | None:
        """Return what is wrong with one save; None when it survives."""
        example = found.counterexample()
        if example is None:
            return None
        story = Story(found.recording)
        said = []
        for lang in ("en", "zh"):
            files = []
            for lying in on_disk(found, example, lang):
                note = " ".join(part for part in (lying.size, lying.note) if part)
                files.append(f"`{lying.name}` {note}".strip())
            told = recovered(example, lang)
            said.append((headline(example, story, lang), ("、" if lang == "zh" else ", ").join(files), told))
        (when, files_en, told), (when_zh, files_zh, told_zh) = said
        empty = not found.recording.initial.names() and not example.image.names()
        left = words("left.nothing") if empty else words("left", files=Text(files_en, files_zh))
        key = "save.lead" if example.where is not None else "save.lead_nowhere"
        at = self.sources.at(example.where)
        text = words(key, when=Text(when, when_zh), at=at, left=left, recovered=Text(told, told_zh))
        faults = diagnose(found)
        if not faults:
            return text
        advice = Text(faults[0].advice("en"), faults[0].advice("zh"), f"save.{faults[0].kind}")
        return of_kind(join(text, advice), advice)

    # -- lives ------------------------------------------------------------------------------------------------

    def problem(self, problem: Problem) -> Text:
        """Return what happened, from what lay there at first to the harm, and what to change."""
        happened, advice = self._happened(problem), self._advice(problem)
        return of_kind(join(self._origin(problem), *self._deaths(problem), happened, advice), happened, advice)

    def _origin(self, problem: Problem) -> Text | None:
        start = problem.start
        key = f"origin.{start.origin}"
        if key not in words.entries:
            return None
        values = dict(start.values)
        if start.origin == "old":
            values["pending"] = words(f"pending.{values['pending']}")
        if start.origin.startswith("rival_"):
            slow = [e for e in problem.life.events if e.who == "first" and e.what in CALLS]
            event = slow[min(values["at"], len(slow) - 1)] if slow else None
            at = self.sources.at(event.place if event else None)
            values = {"call": CALLS[event.what] if event else "?", "at": at}
        return words(key, **values)

    def _deaths(self, problem: Problem) -> list[Text | None]:
        told: list[Text | None] = []
        for number, death in enumerate(problem.start.deaths):
            if number:
                told.append(words("death.again"))
            told.append(self._death(death))
        if problem.start.deaths:
            told.append(self._left(problem.start.deaths[-1], problem.life))
        return told

    def _death(self, death: Death) -> Text:
        recording, moment = death.life.recording, death.moment
        done = moment.op
        end = death.life.mark("resume-end", "first")
        if end is not None and done > end:
            return words("death.returned")
        event = _last_event(death.life, done)
        if event is not None:
            if event.what == "model":
                return words("death.model", at=self.sources.at(event.place))
            key = "death.tool_after" if done > event.at + 1 else "death.tool_before"
            return words(key, id=event.data, at=self.sources.at(event.place))
        where = line_of(recording, moment)
        return words("death.at", at=self.sources.at(where)) if where is not None else words("death.begin")

    def _left(self, death: Death, life: Life) -> Text:
        image = life.image
        damaged = {number: label for number, label, _ in death.moment.data}
        files = []
        for path, data in image.files().items():
            number = image.find(path)
            label = damaged.get(number or -1, "")
            name = path.removeprefix(image.cwd + "/")
            files.append(words(f"file.{label}" if label else "file", name=name, size=f"{len(data):,}"))
        if not files:
            return words("left.nothing")
        shown = files[:_MOST_FILES] + ([plain("…")] if len(files) > _MOST_FILES else [])
        listed = Text(", ".join(text.en for text in shown), "、".join(text.zh for text in shown))
        return words("left", files=listed)

    def _happened(self, problem: Problem) -> Text:
        kind, _, fault = problem.kind.partition(".")
        values: dict[str, Any] = {name: shown(value) for name, value in problem.values.items()}
        if fault:
            values["what"] = words(f"fault.{fault}", **values)
        elif kind == "stopped" and problem.life.failure is not None:
            values["what"] = self.reason(problem.life.failure)
        elif "error" in problem.values:
            values["what"] = self.raised(problem.values["error"])
        elif "what" in problem.values:
            values["what"] = plain(f"world.{CALLS[problem.values['what']]}")
        text = words(f"problem.{kind}", at=self.sources.at(problem.place), **values)
        return Text("L" + text.en[1:] if text.en.startswith("line ") else text.en, text.zh, text.key)

    def _advice(self, problem: Problem) -> Text | None:
        kind = problem.kind.partition(".")[0]
        if kind == "twice":
            kind = "twice_asked" if problem.values.get("asked") else "twice_unasked"
        if kind == "load_wrong" and problem.start.origin != "flip":
            kind = "load_wrong_pending" if problem.kind.endswith(".pending") else ""
        key = f"advice.{ADVICE.get(kind, kind)}"
        return words(key) if key in words.entries else None

    def reason(self, failure: Failure) -> Text:
        """Return why a run was stopped."""
        return words("runaway") if failure.kind == "runaway" else self.sources.reason(failure, SECONDS)

    def raised(self, error: dict[str, Any]) -> Text:
        """Return what was raised, and where."""
        there = place(error["place"])
        kind: Any = "exit" if error["type"] == "SystemExit" else "exception"
        failure = Failure(kind, error["type"], error["message"], there if there.line else None)
        return self.sources.reason(failure, SECONDS)


def _last_event(life: Life, done: int) -> Event | None:
    """Return the slow call that was under way after so many operations, if one was."""
    operations = life.recording.operations
    last = done - 1
    while last >= 0 and isinstance(mark := operations[last], Mark) and mark.kind == EFFECT:
        last -= 1
    event = next((event for event in life.events if event.at == last), None)
    return event if event is not None and event.what in CALLS else None


def shown(value: Any) -> Text:
    """Return a value in short."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return plain(text if len(text) <= 80 else text[:79] + "…")
