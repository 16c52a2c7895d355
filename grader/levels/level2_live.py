"""Level 2 on a real disk: the learner's side, which asks for every answer, and the other side, which gives them.

Whoever answers is in another process, and decides what the model says only when it is asked: what the learner's process
holds can't tell it in advance.
"""

from __future__ import annotations

import asyncio
import inspect
from types import SimpleNamespace
from typing import Any

from grader.levels.level2_drive import SPARE_CALLS, looks_like_messages, turn_named
from grader.levels.sightings import Ask, Played
from grader.levels.values import plain, type_name


def drive(play: Played, ask: Ask) -> None:
    """Run ``run_agent`` as often as the other side wishes."""
    names = play.namespace

    def call_model(tools: Any = None, messages: Any = None, **_: Any) -> SimpleNamespace:
        if looks_like_messages(tools) and not looks_like_messages(messages):
            messages = tools
        turn = ask("model", {"messages": plain(messages)})
        usage = SimpleNamespace(**turn["usage"])
        return SimpleNamespace(content=turn["content"], stop_reason=turn["stop_reason"], usage=usage, role="assistant")

    def execute_tool(name: Any = None, input: Any = None, *_: Any) -> str:
        return str(ask("tool-begin", {"name": plain(name), "input": plain(input)}))

    while (given := ask("run-begin", None)) is not None:
        returned = names["run_agent"](given["task"], given["tools"], call_model, execute_tool)
        if inspect.iscoroutine(returned):
            returned = asyncio.run(returned)
        ask("run-end", {"returned": plain(returned), "type": type_name(returned)})


class Answers:
    """The other side: gives the answers of one script after the other."""

    def __init__(self, scripts: list[dict[str, Any]]) -> None:
        self._scripts = scripts
        self._run = -1
        self._calls = 0

    def answer(self, kind: str, data: Any) -> Any:
        """Return the answer to one question.

        Raises:
            StopIteration: there is nothing more to say to this process.
        """
        if kind == "run-begin":
            self._run, self._calls = self._run + 1, 0
            if self._run >= len(self._scripts):
                return None
            script = self._scripts[self._run]
            return {"task": script["task"], "tools": script["tools"]}
        if not 0 <= self._run < len(self._scripts):
            raise StopIteration
        turns = self._scripts[self._run]["turns"]
        if kind == "model":
            turn = turns[min(self._calls, len(turns) - 1)]
            self._calls += 1
            if self._calls > len(turns) + SPARE_CALLS:
                raise StopIteration
            return {key: turn[key] for key in ("content", "stop_reason", "usage")}
        if kind == "tool-begin":
            call = data if isinstance(data, dict) else {}
            data = {"name": call.get("name"), "input": call.get("input")}
            return turn_named(turns[: max(self._calls, 1)], data).get("result", "nothing to do")
        if kind == "run-end":
            return None
        raise StopIteration

    def with_call(self, kind: str, data: Any) -> Any:
        """Return what was asked as a driver's mark would say it: with the number of the model's call."""
        return {**data, "call": self._calls} if isinstance(data, dict) and kind != "run-end" else data
