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
from grader.levels.level4_town import MOST_CALLS, Town
from grader.levels.values import plain


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
        error = called(names.get("save"), copy.deepcopy(document))[1]
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
    error = called(names.get("save"), copy.deepcopy(ask["document"]))[1]
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
    here = _Here(stage)
    town = here.town = Town(ask, here)
    stage.mark("resume-begin", "first")
    returned, error = called(names.get("resume"), ask["script"]["task"], town.world("first"))
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
    value, error = called(names.get("load"))
    _processes.append(names)
    return {key: plain(value), "raised": error}


def called(function: Any, *arguments: Any) -> tuple[Any, dict[str, Any] | None]:
    """Call a learner's function; return what it returned, and what it raised."""
    try:
        returned = function(*arguments)
        if inspect.iscoroutine(returned):
            returned = asyncio.run(returned)
    except (Exception, SystemExit, KeyboardInterrupt) as raised:
        return None, _told(raised)
    return returned, None


class _Here:
    """The world's other side within the learner's process: what happens becomes marks in the disk's log."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.town: Town

    def event(self, who: str, what: str, argument: Any, held: bool) -> None:
        """Put a call of the world into the log."""
        self.stage.mark("event", [who, what, argument, held, _place()])
        if self.town.count > MOST_CALLS:
            self.stage.finish(Failure("runaway", message=str(self.town.count)))

    def effect(self, call_id: str) -> None:
        """Put a tool's effect into the log."""
        self.stage.mark("effect", ["run", call_id])

    def done(self, call_id: str) -> bool:
        """Return whether a tool has taken effect."""
        return bool(self.stage.happened(call_id))

    def another(self) -> dict[str, Any]:
        """Let a second resumer do all it does, in a process of its own; return what came of it."""
        main, mine = sys.modules["__main__"], self.stage.namespace
        _processes.append(mine)
        names = self.stage.fresh()
        self.stage.mark("resume-begin", "second")
        returned, error = called(names.get("resume"), self.town.script["task"], self.town.world("second"))
        self.stage.mark("resume-end", "second")
        _processes.append(names)
        sys.modules["__main__"], self.stage.namespace = main, mine
        return {"returned": plain(returned), "error": error}


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
