"""Five drills for Level 4: a small world in memory, and what can go wrong in it, really run in a scratch folder.

The drills show what code does. They are no proof: a process is killed here by an exception that nothing but ``finally``
sees, at one moment of many; the check of the exercise goes through all of them.
"""

from __future__ import annotations

import copy
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

Document = dict[str, Any]
Save = Callable[[Document], object]
Load = Callable[[], Any]
Resume = Callable[[str, "World"], Any]

TASK = "Pay Ann 40 EUR, tell her so, and book the room for Friday."
ANSWERS = (
    {"text": "First the money.", "calls": [("c1", "pay", "Ann, 40 EUR")], "tokens": 130},
    {"text": "Now the two others.", "calls": [("c2", "mail", "Ann"), ("c3", "book", "the room")], "tokens": 170},
    {"text": "Paid, told and booked.", "calls": [], "tokens": 90},
)
LEASE, CALL = 60, 20


class Killed(BaseException):
    """The process is gone."""


class Town:
    """What outlives every process: the tools' effects, who holds the task, the time."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.clock = 0
        self.claim = 0
        self.until = -1


class World:
    """The world as one process meets it.

    Args:
        town: what outlives the process.
        kill: the call in which it is killed, after the effect and before the answer.
        sleep: the call whose answer takes longer than a claim lasts, and what happens meanwhile.
    """

    def __init__(self, town: Town, *, kill: str = "", sleep: tuple[str, Callable[[], object]] | None = None) -> None:
        self.town, self.kill, self.sleep = town, kill, sleep
        self.told: list[str] = []

    def claim(self) -> int | None:
        """Return a number, or None while somebody else holds the task."""
        free = self.town.clock > self.town.until
        if free:
            self.town.claim += 1
            self.town.until = self.town.clock + LEASE
        self.told.append(f"claim: {self.town.claim if free else None}")
        return self.town.claim if free else None

    def renew(self, claim: int) -> bool:
        """Return whether the claim is still yours; then it lasts another 60 s."""
        good = claim == self.town.claim and self.town.clock <= self.town.until
        if good:
            self.town.until = self.town.clock + LEASE
        else:
            self.told.append("renew: False")
        return good

    def release(self, claim: int) -> None:
        """Give the claim back."""
        if claim == self.town.claim:
            self.town.until = -1

    def call_model(self, messages: list[Document]) -> Document:
        """Return the answer to a history; the same for the same one."""
        self.told.append("call_model")
        answers = sum(message["role"] == "assistant" for message in messages)
        answer: Document = copy.deepcopy(ANSWERS[min(answers, len(ANSWERS) - 1)])
        blocks: list[Document] = [{"type": "text", "text": answer["text"]}]
        for id, name, what in answer["calls"]:
            blocks.append({"type": "tool_use", "id": id, "name": name, "input": {"for": what}})
        self.town.clock += CALL
        return {"content": blocks, "tokens": answer["tokens"]}

    def run_tool(self, call: Document) -> str:
        """Take effect, and return the result."""
        self.told.append(f"run_tool {call['id']}")
        self.town.effects.append(call["id"])
        if call["id"] == self.kill:
            raise Killed
        if self.sleep is not None and call["id"] == self.sleep[0]:
            self.town.clock += 5 * LEASE
            self.sleep[1]()
            self.town.clock += 5 * LEASE
        self.town.clock += CALL
        return f"done: {call['id']}"

    def find_result(self, call_id: str) -> str | None:
        """Return the result of a call that has taken effect, else None."""
        done = call_id in self.town.effects
        self.told.append(f"find_result {call_id}: {'done' if done else None}")
        return f"done: {call_id}" if done else None


def try_it(save: Save, load: Load, resume: Resume) -> None:
    """Run the five drills one after the other and print what happens."""
    drills = (nothing_happens, killed_in_a_tool, a_flipped_byte, version_1, a_second_resumer)
    here = os.getcwd()
    for drill in drills:
        print(f"--- {(drill.__doc__ or '').splitlines()[0].rstrip('.')}")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                drill(save, load, resume)
            finally:
                os.chdir(here)


def nothing_happens(save: Save, load: Load, resume: Resume) -> None:
    """Nothing happens."""
    town = Town()
    _life("it", resume, World(town))
    _end(town, load)


def killed_in_a_tool(save: Save, load: Load, resume: Resume) -> None:
    """Killed in run_tool(c1), after the effect and before the answer."""
    town = Town()
    _life("the first life", resume, World(town, kill="c1"))
    print(f"  load then gives: {_loaded(load)}")
    town.clock += LEASE + 1
    _life("the second life", resume, World(town))
    _end(town, load)


def a_flipped_byte(save: Save, load: Load, resume: Resume) -> None:
    """A byte turns over in the file that was written last."""
    town = Town()
    _life("the first life", resume, World(town, kill="c3"))
    print(f"  load gives: {_loaded(load)}")
    files = [path for path in Path().rglob("*") if path.is_file() and path.stat().st_size]
    if files:
        last = max(files, key=lambda path: path.stat().st_mtime_ns)
        data = bytearray(last.read_bytes())
        at = data.rfind(b"tokensUsed") + 14 if b"tokensUsed" in data else len(data) // 2
        data[at] ^= 1
        last.write_bytes(data)
        print(f"  byte {at + 1} of {last} turned over; load gives: {_loaded(load)}")
    town.clock += LEASE + 1
    _life("the second life", resume, World(town))
    _end(town, load)


def version_1(save: Save, load: Load, resume: Resume) -> None:
    """Last year's checkpoint.json, of version 1, its call already run."""
    town = Town()
    answer = World(Town()).call_model([])
    (call,) = [block for block in answer["content"] if block["type"] == "tool_use"]
    town.effects.append(call["id"])
    document = {
        "version": 1,
        "task": TASK,
        "turns": 0,
        "tokensUsed": answer["tokens"],
        "messages": [{"role": "user", "content": TASK}, {"role": "assistant", "content": answer["content"]}],
        "pendingToolUse": {key: call[key] for key in ("id", "name", "input")},
    }
    Path("checkpoint.json").write_text(json.dumps(document), encoding="utf-8")
    print(f"  load gives: {_loaded(load)}")
    _life("it", resume, World(town))
    _end(town, load)


def a_second_resumer(save: Save, load: Load, resume: Resume) -> None:
    """run_tool(c1) takes longer than the claim; a second resumer takes over; the first wakes up."""
    town = Town()

    def second() -> None:
        _life("the second one", resume, World(town))

    _life("the first one", resume, World(town, sleep=("c1", second)))
    _end(town, load)


def _life(who: str, resume: Resume, world: World) -> None:
    ended = "returns nothing"
    try:
        state = resume(TASK, world)
        if isinstance(state, dict):
            ended = f"returns a state, turns {state.get('turns')}"
    except Killed:
        ended = "is killed"
    except Exception as error:
        ended = f"raises {type(error).__name__}: {error}"
    told = ", ".join(world.told) or "asks nobody"
    print(f"  {who}: {told}; {ended}")


def _loaded(load: Load) -> str:
    try:
        state = load()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not isinstance(state, dict):
        return repr(state)
    pending = [call.get("id") for call in state.get("pendingToolUse") or [] if isinstance(call, dict)]
    return f"version {state.get('version')}, tokensUsed {state.get('tokensUsed')}, pending {pending}"


def _end(town: Town, load: Load) -> None:
    counts = Counter(town.effects)
    print("  took effect: " + ", ".join(f"{id} {counts[id]} times" for id in ("c1", "c2", "c3")))
    print(f"  load gives: {_loaded(load)}")
