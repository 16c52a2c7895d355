"""Tools, and a ledger: a record of side effects that lives outside the process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import UnknownTool
from .messages import Call


@dataclass(frozen=True)
class Ran:
    """The answer "this call ran, and this was its result"."""

    result: str


NOT_RUN = "not run"
"""The answer "this call never ran"."""
UNKNOWN = "unknown"
"""The answer "nobody can say"."""
Finding = Ran | str


@dataclass(frozen=True)
class Tool:
    """Something the model may ask for.

    ``run`` gets the call's input as keyword arguments. A tool that ``writes`` changes the world outside the
    process; it gets the call's id as well (``call_id``), so that the world can remember it. ``find`` asks
    that world what became of a call: ``Ran(result)``, ``NOT_RUN`` or ``UNKNOWN``.
    """

    name: str
    run: Callable[..., Any]
    writes: bool = False
    find: Callable[[str], Finding] | None = None
    description: str = ""


Tools = dict[str, Tool]


def toolbox(*tools: Tool) -> Tools:
    """Put tools into a dict by name, as the agent wants them."""
    return {tool.name: tool for tool in tools}


def execute(tools: Tools, call: Call) -> str:
    """Run the tool that a call names and return its result as text."""
    if call["name"] not in tools:
        known = ", ".join(sorted(tools)) or "none"
        raise UnknownTool(f"Call {call['id']} names the tool {call['name']!r}; this agent has: {known}.")
    tool = tools[call["name"]]
    if tool.writes:
        return str(tool.run(**call["input"], call_id=call["id"]))
    return str(tool.run(**call["input"]))


def find_out(tools: Tools, call: Call) -> Finding:
    """Say what became of a call: ask the tool; a tool that changes nothing may simply run again."""
    tool = tools.get(call["name"])
    if tool is None:
        return UNKNOWN
    if tool.find is not None:
        return tool.find(call["id"])
    return UNKNOWN if tool.writes else NOT_RUN


class Ledger:
    """A file of side effects, one JSON line each: what the world remembers when the process is gone."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def record(self, call_id: str, effect: str, result: str) -> str:
        """Note that something was done in the world, and return the result."""
        line = json.dumps({"call_id": call_id, "effect": effect, "result": result}, ensure_ascii=False)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        return result

    def entries(self) -> list[dict[str, str]]:
        """Return everything that was ever done, oldest first."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]

    def find(self, call_id: str) -> Finding:
        """Say whether the call with this id was done."""
        for entry in self.entries():
            if entry["call_id"] == call_id:
                return Ran(entry["result"])
        return NOT_RUN
