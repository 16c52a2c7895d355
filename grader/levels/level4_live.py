"""Level 4 on a real disk: one thing to do in a process, with the world on the other side of the pipe.

The learner's side knows of no crash, no flipped byte and no second resumer: it is told to save, to load or to resume,
and who else there is, what the time is and what has taken effect is known to the other side alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.levels.level4_drive import called
from grader.levels.level4_town import MOST_CALLS, Town
from grader.levels.sightings import Ask, Played
from grader.levels.values import plain

CALLS = ("claim", "renew", "release", "call_model", "run_tool", "find_result")
_ERRORS = {"ValueError": ValueError, "TypeError": TypeError}


def drive(play: Played, ask: Ask) -> None:
    """Do what the other side wishes: ``save`` documents, ``load``, or ``resume`` a task."""
    names = play.namespace
    given = ask("life", None)
    if given["do"] == "saves":
        for document in given["documents"]:
            error = called(names.get("save"), document)[1]
            ask("saved", {"error": error})
            if error is not None:
                return
    elif given["do"] == "load":
        value, error = called(names.get("load"))
        ask("loaded", {"loaded": plain(value), "raised": error})
    else:
        returned, error = called(names.get("resume"), given["task"], _World(ask))
        ask("resumed", {"returned": plain(returned), "error": error})


class _World:
    """The world outside the process."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def claim(self) -> Any:
        """Return a claim on the task, or None while somebody else holds it."""
        return self._call("claim")

    def renew(self, claim: int) -> Any:
        """Return whether the claim is still yours; if so, it lasts another 60 s from now."""
        return self._call("renew", claim)

    def release(self, claim: int) -> Any:
        """Give the claim back."""
        return self._call("release", claim)

    def call_model(self, messages: list[dict[str, Any]]) -> Any:
        """Return the model's answer, a dict with its ``content`` (a list of blocks) and its ``tokens``."""
        return self._call("call_model", messages)

    def run_tool(self, call: dict[str, Any]) -> Any:
        """Run a tool and return its result, a non-empty string."""
        return self._call("run_tool", call)

    def find_result(self, call_id: str) -> Any:
        """Return the result of a call if it has taken effect, else None."""
        return self._call("find_result", call_id)

    def _call(self, name: str, *arguments: Any) -> Any:
        kind, value = self._ask(name, [plain(argument) for argument in arguments])
        if kind == "raise":
            raise _ERRORS[value[0]](value[1])
        return value


class Answers:
    """The other side of one process.

    Args:
        ask: what it is to do, and what the world is like.
        beside: gives another process the same disk, lets it do all it does, and returns when it has ended.
        first: the other side of the process that this one comes in between.
    """

    def __init__(self, ask: dict[str, Any], beside: Callable[[Answers], str], first: Answers | None = None) -> None:
        self.ask = ask
        self._beside = beside
        self.events: list[list[Any]] = first.events if first is not None else []
        self.happened: list[str] = first.happened if first is not None else list(ask.get("happened", ()))
        self.returned: dict[str, Any] | None = None
        self.town: Town | None = first.town if first is not None else None
        if self.town is None and ask["do"] == "resume":
            self.town = Town(ask, self)
        self._world: Any = self.town.world("first" if first is None else "second") if self.town is not None else None

    def answer(self, kind: str, data: Any) -> Any:
        """Return what the world answers.

        Raises:
            StopIteration: a life without end, or what no learner's side asks.
        """
        if kind == "life":
            wanted = {"do": self.ask["do"], "documents": self.ask.get("documents")}
            return {**wanted, "task": self.ask["script"]["task"]} if self._world is not None else wanted
        if kind in ("saved", "loaded", "resumed") and isinstance(data, dict):
            self.returned = data
            return None
        if kind not in CALLS or self._world is None or not isinstance(data, list):
            raise StopIteration
        try:
            return ["is", getattr(self._world, kind)(*data)]
        except (ValueError, TypeError) as error:
            return ["raise", [type(error).__name__, str(error)]]

    def with_call(self, kind: str, data: Any) -> Any:
        """Return what was asked; with the end of ``resume``, all that happened."""
        if kind == "resumed" and self.town is not None:
            return {**data, "events": self.events, "second": self.town.second, "happened": self.happened}
        return data if kind in ("saved", "loaded", "resumed") else None

    # -- what the town tells and asks --------------------------------------------------------------------------

    def event(self, who: str, what: str, argument: Any, held: bool) -> None:
        """Note a call of the world.

        Raises:
            StopIteration: there are too many.
        """
        self.events.append([who, what, len(argument) if what == "model" else argument, held])
        if len(self.events) > MOST_CALLS:
            raise StopIteration

    def effect(self, call_id: str) -> None:
        """Note that a tool takes effect."""
        self.happened.append(call_id)

    def done(self, call_id: str) -> bool:
        """Return whether a tool has taken effect."""
        return call_id in self.happened

    def another(self) -> dict[str, Any]:
        """Let a second resumer do all it does."""
        other = Answers(self.ask, self._beside, self)
        ended = self._beside(other)
        return {**(other.returned or {"returned": None, "error": None}), "ended": ended}
