"""Drives a learner's Level 2 inside the worker: a scripted model, the tools, and marks in the disk's log.

Nothing is judged here. The marks, with plain data, are:

=============  =====================================================================================
``run-begin``  ``run_agent`` is about to be called
``model``      ``call_model`` was called; a copy of the messages
``tool-begin`` ``execute_tool`` was called; name and input
``tool-end``   it is about to return
``save-begin`` the learner's ``save_checkpoint`` was called; number, and a copy of the arguments
``save-end``   it returned, or raised; the same number, and a copy of the arguments as they are now
``run-end``    ``run_agent`` returned; a copy of what it returned, and its type's name
=============  =====================================================================================
"""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from grader.levels.failures import Failure, Stage
from grader.levels.values import plain, type_name

SPARE_CALLS = 3
"""Calls of the model after its last answer before a loop counts as one that does not end."""


def drive(stage: Stage, arguments: Any) -> dict[str, Any]:
    """Run ``run_agent`` on each script in turn; return the written answers and how many runs came back.

    With ``lives`` among the arguments, all that is done on each of the trial's disks, as a process of its own would.
    """
    for number in range(arguments.get("lives", 0)):
        stage.life(stage.images[number])
        done = _drive(stage, arguments)
    return done if arguments.get("lives") else _drive(stage, arguments)


def _drive(stage: Stage, arguments: Any) -> dict[str, Any]:
    names = stage.namespace
    texts = {name: plain(names[name]) for name in ("hazard_1", "hazard_2") if name in names}
    done = {"texts": texts, "returned": 0}
    if not arguments.get("scripts"):
        return done
    missing = [name for name in ("save_checkpoint", "run_agent") if not callable(names.get(name))]
    if "run_agent" in missing:
        stage.finish(Failure("missing", message=" ".join(missing)))
    if "save_checkpoint" not in missing:
        names["save_checkpoint"] = _watched(stage, names["save_checkpoint"])
    for number, script in enumerate(arguments["scripts"]):
        _run(stage, names["run_agent"], number, script)
        done["returned"] = number + 1
    return done


def _run(stage: Stage, run_agent: Any, number: int, script: dict[str, Any]) -> None:
    turns: list[dict[str, Any]] = script["turns"]
    calls = 0

    def call_model(tools: Any = None, messages: Any = None, **_: Any) -> SimpleNamespace:
        nonlocal calls
        if looks_like_messages(tools) and not looks_like_messages(messages):
            messages = tools
        stage.mark("model", {"call": calls, "messages": plain(messages)})
        turn = turns[min(calls, len(turns) - 1)]
        calls += 1
        if calls > len(turns) + SPARE_CALLS:
            stage.finish(Failure("runaway", message=str(calls)))
        return SimpleNamespace(
            content=copy.deepcopy(turn["content"]),
            stop_reason=turn["stop_reason"],
            usage=SimpleNamespace(**turn["usage"]),
            role="assistant",
        )

    def execute_tool(name: Any = None, input: Any = None, *_: Any) -> str:
        call = {"call": calls, "name": plain(name), "input": plain(input)}
        stage.mark("tool-begin", call)
        turn = turn_named(turns[: max(calls, 1)], call)
        stage.mark("tool-end", call)
        return str(turn.get("result", "nothing to do"))

    stage.mark("run-begin", {"run": number})
    returned = run_agent(script["task"], copy.deepcopy(script["tools"]), call_model, execute_tool)
    if inspect.iscoroutine(returned):
        returned = asyncio.run(returned)
    stage.mark("run-end", {"run": number, "returned": plain(returned), "type": type_name(returned)})


def turn_named(turns: list[dict[str, Any]], call: dict[str, Any]) -> dict[str, Any]:
    """Return the last turn that named this tool with this input, else the last turn."""
    asked = call["name"], call["input"]
    named = [t for t in turns if any((b.get("name"), b.get("input")) == asked for b in t["content"])]
    return named[-1] if named else turns[-1]


def looks_like_messages(value: Any) -> bool:
    return type(value) is list and bool(value) and type(value[0]) is dict and "role" in value[0]


def _watched(stage: Stage, save: Any) -> Any:
    """Wrap ``save_checkpoint`` so that each call leaves two marks with copies of what it was given."""
    count = 0

    @contextmanager
    def marked(given: list[Any]) -> Iterator[None]:
        nonlocal count
        count += 1
        number, raised = count, True
        stage.mark("save-begin", {"save": number, "given": [plain(value) for value in given]})
        try:
            yield
            raised = False
        finally:
            data = {"save": number, "raised": raised, "given": [plain(value) for value in given]}
            stage.mark("save-end", data)

    if inspect.iscoroutinefunction(save):

        async def save_later(*args: Any, **kwargs: Any) -> Any:
            with marked([*args, *kwargs.values()]):
                return await save(*args, **kwargs)

        return save_later

    def save_checkpoint(*args: Any, **kwargs: Any) -> Any:
        with marked([*args, *kwargs.values()]):
            return save(*args, **kwargs)

    return save_checkpoint
