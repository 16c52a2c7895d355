"""Drives a learner's Level 4 inside the worker: lives on disks that are given, with a world that is simulated.

Nothing is judged here, and nobody is killed here: a life runs to its end, and what a crash in the middle of it would
have left is worked out by the judge. What is wanted comes as plain data (``do`` is one of the functions below); the
marks in the disk's log say what a life did, the data returned says what came of it. The marks are:

================  ==========================================================================================
``save-begin``    the number of the document that ``save`` is about to be given; ``save-end`` likewise
``loaded``        ``load`` came back, before ``resume`` is called
``resume-begin``  ``resume`` is about to be called, by ``"first"`` or by ``"second"``; ``resume-end`` likewise
``event``         ``[who, what, argument, whether its claim holds, place]``: a call of the world
``effect``        a tool took effect
================  ==========================================================================================
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import sys
from typing import Any

from grader.levels.failures import Failure, Stage
from grader.levels.values import plain

LEASE = 60
CALL = 20
LONG = 300
MOST_CALLS = 400
"""Calls of the world in one life after which it counts as one that does not end."""


def drive(stage: Stage, arguments: Any) -> dict[str, Any]:
    """Do what is asked for, and return what came of it."""
    names = stage.namespace
    missing = [name for name in ("save", "load", "resume") if not callable(names.get(name))]
    if missing:
        stage.finish(Failure("missing", message=" ".join(missing)))
    return {"results": [_DO[ask["do"]](stage, ask) for ask in arguments["asks"]]}


def saves(stage: Stage, ask: dict[str, Any]) -> dict[str, Any]:
    """Save one document after the other in one process, then load in another."""
    names = stage.life(stage.images[ask["image"]])
    for number, document in enumerate(ask["documents"]):
        stage.mark("save-begin", number)
        error = _called(names.get("save"), copy.deepcopy(document))[1]
        stage.mark("save-end", number)
        if error is not None:
            return {"error": error, "saved": number, **_loaded(stage, "loaded")}
    return {"error": None, "saved": len(ask["documents"]), **_loaded(stage, "loaded")}


def load(stage: Stage, ask: dict[str, Any]) -> dict[str, Any]:
    """Load."""
    stage.life(stage.images[ask["image"]])
    return _loaded(stage, "loaded", fresh=False)


def again(stage: Stage, ask: dict[str, Any]) -> dict[str, Any]:
    """Load, save a document in a new process, and load in a third."""
    stage.life(stage.images[ask["image"]])
    _loaded(stage, "loaded", fresh=False)
    names = stage.fresh()
    error = _called(names.get("save"), copy.deepcopy(ask["document"]))[1]
    return {"error": error, **_loaded(stage, "loaded")}


def flips(stage: Stage, ask: dict[str, Any]) -> dict[str, Any]:
    """Load with one bit of one byte turned over, for each of the places given; equal answers are sent once."""
    image = stage.images[ask["image"]]
    answers: list[Any] = []
    which: list[int] = []
    for inode, position in ask["places"]:
        stage.damaged(image, inode, position)
        found = _loaded(stage, "loaded", fresh=False)
        if found not in answers:
            answers.append(found)
        which.append(answers.index(found))
    return {"answers": answers, "which": which}


def resume(stage: Stage, ask: dict[str, Any]) -> dict[str, Any]:
    """Load, resume in a new process, and load in a third; perhaps with a second resumer in between."""
    stage.life(stage.images[ask["image"]])
    before = _loaded(stage, "loaded", fresh=False)
    stage.mark("loaded")
    names = stage.fresh()
    town = _Town(stage, ask)
    stage.mark("resume-begin", "first")
    returned, error = _called(names.get("resume"), ask["script"]["task"], town.world("first"))
    stage.mark("resume-end", "first")
    after = _loaded(stage, "loaded")
    return {"before": before, "returned": plain(returned), "error": error, "after": after, "second": town.second}


_DO = {"saves": saves, "load": load, "again": again, "flips": flips, "resume": resume}
_processes: list[Any] = []
"""Namespaces of processes that are gone: what they left open must not be written when they are collected."""


def _loaded(stage: Stage, key: str, *, fresh: bool = True) -> dict[str, Any]:
    """Return what ``load`` gave in a new process, or what it raised."""
    _processes.append(stage.namespace)
    names = stage.fresh() if fresh else stage.namespace
    value, error = _called(names.get("load"))
    _processes.append(names)
    return {key: plain(value), "raised": error}


def _called(function: Any, *arguments: Any) -> tuple[Any, dict[str, Any] | None]:
    try:
        returned = function(*arguments)
        if inspect.iscoroutine(returned):
            returned = asyncio.run(returned)
    except (Exception, SystemExit, KeyboardInterrupt) as raised:
        return None, _told(raised)
    return returned, None


class _Town:
    """Everything outside the process: who holds the task, the model, the tools, the time."""

    def __init__(self, stage: Stage, ask: dict[str, Any]) -> None:
        self.stage = stage
        self.script: dict[str, Any] = ask["script"]
        self.rival: dict[str, Any] | None = ask.get("rival")
        self.clock = 0
        self.newest: int = ask.get("claims", 0)
        self.holder: int | None = None
        self.until = 0
        self.slow = 0
        self.count = 0
        self.second: dict[str, Any] | None = None
        self.names = {call["id"]: call for turn in self.script["turns"] for call in _calls_of(turn["content"])}

    def held(self, claim: Any) -> bool:
        """Whether a claim is the newest one and still runs."""
        return type(claim) is int and claim == self.holder and self.clock <= self.until

    def happened(self, who: str, mine: int | None, what: str, argument: Any = None) -> None:
        self.count += 1
        self.stage.mark("event", [who, what, argument, self.held(mine), _place()])
        if self.count > MOST_CALLS:
            self.stage.finish(Failure("runaway", message=str(self.count)))

    def passes(self, who: str) -> None:
        """Let a slow call take its time; somebody else may come meanwhile."""
        self.slow += 1
        rival = self.rival
        if rival is None or who != "first" or self.slow != rival["at"] + 1:
            self.clock += CALL
            return
        self.clock += LONG if rival["late"] else CALL // 2
        if rival["comes"]:
            main, mine = sys.modules["__main__"], self.stage.namespace
            _processes.append(mine)
            names = self.stage.fresh()
            self.stage.mark("resume-begin", "second")
            returned, error = _called(names.get("resume"), self.script["task"], self.world("second"))
            self.stage.mark("resume-end", "second")
            self.second = {"returned": plain(returned), "error": error}
            _processes.append(names)
            sys.modules["__main__"], self.stage.namespace = main, mine
        self.clock += LONG if rival["late"] else CALL // 2

    def world(self, who: str) -> Any:
        """Return the world as one process meets it."""
        town = self
        mine: int | None = None

        class World:
            """The world outside the process."""

            def claim(self) -> int | None:
                """Return a claim on the task, or None while somebody else holds it."""
                nonlocal mine
                if town.holder is not None and town.clock <= town.until and town.holder != mine:
                    town.happened(who, mine, "claim", None)
                    return None
                town.newest += 1
                town.holder = mine = town.newest
                town.until = town.clock + LEASE
                town.happened(who, mine, "claim", mine)
                return mine

            def renew(self, claim: int) -> bool:
                """Return whether the claim is still yours; if so, it lasts another 60 s from now."""
                good = town.held(claim)
                if good:
                    town.until = town.clock + LEASE
                town.happened(who, mine, "renew", good)
                return good

            def release(self, claim: int) -> None:
                """Give the claim back."""
                if town.held(claim):
                    town.holder = None
                town.happened(who, mine, "release", None)

            def call_model(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
                """Return the model's answer, a dict with its ``content`` (a list of blocks) and its ``tokens``."""
                if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
                    raise TypeError(f"messages must be a list of dicts, not {plain(messages)!r:.60}")
                town.happened(who, mine, "model", plain(messages))
                answers = sum(one.get("role") == "assistant" for one in messages)
                turns = town.script["turns"]
                answer = copy.deepcopy(turns[min(answers, len(turns) - 1)])
                town.passes(who)
                return {"content": answer["content"], "tokens": answer["tokens"]}

            def run_tool(self, call: dict[str, Any]) -> str:
                """Run a tool and return its result, a non-empty string."""
                if not isinstance(call, dict) or not all(key in call for key in ("id", "name", "input")):
                    raise TypeError(f"call must be a dict with id, name and input, not {plain(call)!r:.80}")
                known = town.names.get(call["id"]) if isinstance(call["id"], str) else None
                if known is None or (call["name"], call["input"]) != (known["name"], known["input"]):
                    raise ValueError(f"the model named no such call: {plain(call)!r:.100}")
                town.happened(who, mine, "tool", call["id"])
                town.stage.mark("effect", ["run", call["id"]])
                town.passes(who)
                return str(town.script["results"][call["id"]])

            def find_result(self, call_id: str) -> str | None:
                """Return the result of a call if it has taken effect, else None."""
                if not isinstance(call_id, str):
                    raise TypeError(f"call_id must be a string, not {plain(call_id)!r:.60}")
                done = call_id in town.names and town.stage.happened(call_id)
                town.happened(who, mine, "find", [call_id, bool(done)])
                return str(town.script["results"][call_id]) if done else None

        return World()


def _calls_of(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [block for block in content if block["type"] == "tool_use"]


def _told(error: BaseException) -> dict[str, Any]:
    """Return what was raised, as data."""
    trace, place = error.__traceback__, ["", 0, ""]
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename.startswith("<cell "):
            place = [code.co_filename[6:-1], trace.tb_lineno, code.co_name]
        trace = trace.tb_next
    try:
        message = str(error)[:300]
    except BaseException:
        message = ""
    message = message.encode("utf-8", "replace").decode("utf-8")
    return {"type": type(error).__name__[:80], "message": message, "place": place}


def _place() -> list[Any]:
    """Return the learner's line that is being run: cell, line, function."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<cell "):
            return [code.co_filename[6:-1], frame.f_lineno, code.co_name]
        frame = frame.f_back  # type: ignore[assignment]
    return ["", 0, ""]
