"""Programs for Level 4: the reference with one thing changed, named after what it does, and some of other styles."""

# ruff: noqa: E501  (lines of the programs that are changed)

from pathlib import Path

import jupytext

SOLUTION = Path(__file__).parents[3] / "solutions" / "level4" / "level4.md"


def reference() -> str:
    """Return the reference solution's cell."""
    notebook = jupytext.read(SOLUTION)
    return next(
        cell.source
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "level4-code-answer"
    )


def edited(*edits: tuple[str, str]) -> str:
    """Return the reference with texts replaced, each of which must be there."""
    source = reference()
    for old, new in edits:
        assert old in source, old
        source = source.replace(old, new)
    return source


def with_storage(storage: str) -> str:
    """Return the reference's ``resume`` with another ``save`` and ``load``."""
    source = reference()
    return storage + "\n\n" + source[source.index("def new_state") :]


TURN_SAVED = "        hold()\n        save(state)\n        if state"
LOOKED_UP = """        result = world.find_result(call["id"])
        if result is None:
            hold()
            result = world.run_tool(call)
"""

#: What it does wrong: its source, and a word of the verdict's message that names the matter.
WRONG = {
    "no fsync of the file": (edited(("        os.fsync(file.fileno())", "        #")), "fsync"),
    "no fsync of the directory": (edited(("    os.fsync(folder)", "    #")), "directory"),
    "written in place": (
        edited(("with open(DRAFT, ", "with open(CURRENT, "), ("    os.replace(DRAFT, CURRENT)\n", "")),
        "",
    ),
    "no previous copy and load gives None": (
        edited(("        os.replace(CURRENT, PREVIOUS)", "        #"), ("        raise damage", "        return None")),
        "None",
    ),
    "no checksum": (edited(('checksum(state) != document["sha256"]', "False")), "checksum"),
    "checksum over the messages alone": (
        edited(("json.dumps(state, ensure_ascii=False, sort_keys=True)", 'json.dumps(state["messages"])')),
        "checksum",
    ),
    "a damaged copy takes the good one's place": (
        edited(
            ("        read(CURRENT)\n", ""),
            ("    except (FileNotFoundError, Damaged):", "    except FileNotFoundError:"),
        ),
        "good",
    ),
    "all damage is a new task": (
        edited(
            ("        raise damage", "        return None"),
            (
                "            continue\n        except Damaged as error:\n            damage = error",
                "            continue\n        except Damaged as error:\n            return None",
            ),
        ),
        "None",
    ),
    "version 1 is taken as it is": (
        edited(('return {**document, "version": VERSION, "pendingToolUse": calls}', "return document")),
        "version",
    ),
    "one pending call is not made a list": (edited(("else [pending]", "else pending")), "pendingToolUse"),
    "pending calls of version 1 are dropped": (edited(("else [pending]", "else []")), "pendingToolUse"),
    "version 1 is refused": (edited(('document.get("version") == 1 and', "False and")), "version"),
    "any version will do": (
        edited(
            ('        if state.get("version") != VERSION:', "        if False:"),
            (
                '    if "version" in document:',
                '    if "version" in document and document.update(document) is None:\n        return document\n    if "version" in document:',
            ),
        ),
        "version 3",
    ),
    "a newer version counts as damage": (
        edited(('raise UnknownVersion(f"{name} is of version {state', 'raise Damaged(f"{name} is of version {state')),
        "older copy",
    ),
    "a newer version is begun anew": (
        edited(
            (
                "        except FileNotFoundError:\n            continue",
                "        except (FileNotFoundError, UnknownVersion):\n            continue",
            )
        ),
        "None",
    ),
    "not saved before the tools run": (
        edited(
            (
                TURN_SAVED,
                '        if not state["pendingToolUse"]:\n            hold()\n            save(state)\n        if state',
            )
        ),
        "pendingToolUse",
    ),
    "saved before the tools, the calls not named": (
        edited((TURN_SAVED, '        hold()\n        save({**state, "pendingToolUse": []})\n        if state')),
        "pendingToolUse",
    ),
    "never asks for a result": (
        edited((LOOKED_UP, "        hold()\n        result = world.run_tool(call)\n")),
        "twice",
    ),
    "asks only for what was pending when it began": (
        edited(
            ("def book(state, world, hold):", "def book(state, world, hold, ask=False):"),
            ('world.find_result(call["id"])', 'world.find_result(call["id"]) if ask else None'),
            (
                '    if state["pendingToolUse"]:\n        book(state, world, hold)\n    while',
                '    if state["pendingToolUse"]:\n        book(state, world, hold, ask=True)\n    while',
            ),
        ),
        "twice",
    ),
    "pending calls are given up": (
        edited(
            (
                LOOKED_UP,
                LOOKED_UP.replace(
                    "            hold()\n            result = world.run_tool(call)",
                    '            hold()\n            result = "interrupted" if resumed else world.run_tool(call)',
                ),
            ),
            ("def book(state, world, hold):", "def book(state, world, hold, resumed=False):"),
            (
                '    if state["pendingToolUse"]:\n        book(state, world, hold)\n    while',
                '    if state["pendingToolUse"]:\n        book(state, world, hold, resumed=True)\n    while',
            ),
        ),
        "",
    ),
    "the final state is not saved": (
        edited(
            (
                TURN_SAVED,
                '        hold()\n        if state["pendingToolUse"]:\n            save(state)\n        if state',
            )
        ),
        "final state",
    ),
    "a complete task is asked again": (
        edited(
            (
                '    while state["messages"][-1]["role"] == "user":',
                '    first = True\n    while first or state["messages"][-1]["role"] == "user":\n        first = False',
            )
        ),
        "complete",
    ),
    "no claim": (
        edited(
            ("    claim = world.claim()\n    if claim is None:\n        return None\n", "    claim = 1\n"),
            ("        if not world.renew(claim):", "        if False:"),
        ),
        "claim",
    ),
    "goes on without a claim": (
        edited(
            ("    if claim is None:\n        return None\n", ""),
            ("        if not world.renew(claim):", "        if claim is not None and not world.renew(claim):"),
        ),
        "gets no claim",
    ),
    "the claim is never renewed": (edited(("        if not world.renew(claim):", "        if False:")), "claim"),
    "what renew says is ignored": (
        edited(
            (
                '        if not world.renew(claim):\n            raise ClaimLost("somebody else has the task")',
                "        world.renew(claim)",
            )
        ),
        "no longer has the claim",
    ),
    "claims again and saves what it remembers": (
        edited(
            ("    def hold():\n", "    def hold():\n        nonlocal claim\n"),
            ('            raise ClaimLost("somebody else has the task")', "            claim = world.claim()"),
        ),
        "",
    ),
    "tokens are counted when the turn ends": (
        edited(
            ('        state["tokensUsed"] += answer["tokens"]\n', '        spent = answer["tokens"]\n'),
            (
                '    state["turns"] += 1\n    hold()',
                '    state["turns"] += 1\n    state["tokensUsed"] += spent\n    hold()',
            ),
            ("def book(state, world, hold):", "def book(state, world, hold, spent=0):"),
            (
                '        if state["pendingToolUse"]:\n            book(state, world, hold)',
                '        if state["pendingToolUse"]:\n            book(state, world, hold, spent)\n        else:\n            state["tokensUsed"] += spent\n            save(state)',
            ),
        ),
        "tokensUsed",
    ),
    "resume swallows what load raises": (
        edited(
            (
                "    state = load() or new_state(task)\n",
                "    try:\n        state = load() or new_state(task)\n    except Exception:\n        state = new_state(task)\n",
            )
        ),
        "refuses",
    ),
    "resume never ends": (edited(("    world.release(claim)\n", "    while True:\n        pass\n")), "stopped"),
}

SLOTS = """
VERSION = 2

import json
import os
import struct
import zlib


def slot(number):
    try:
        with open(f"slot{number}.bin", "rb") as file:
            raw = file.read()
    except FileNotFoundError:
        return None
    if len(raw) < 16:
        return "bad"
    count, size, check = struct.unpack(">QII", raw[:16])
    body = raw[16:]
    if len(body) != size or zlib.crc32(raw[:12] + body) != check:
        return "bad"
    return count, json.loads(body)


def slots():
    found = [slot(0), slot(1)]
    return found, max((one for one in found if isinstance(one, tuple)), default=None, key=lambda one: one[0])


def save(state):
    found, top = slots()
    number = 0 if top is None else 1 - found.index(top)
    body = json.dumps(state).encode()
    head = struct.pack(">QI", top[0] + 1 if top else 1, len(body))
    name = f"slot{number}.bin" if found[number] else "first.tmp"
    file = os.open(name, os.O_CREAT | os.O_RDWR)
    os.ftruncate(file, 0)
    os.write(file, head + struct.pack(">I", zlib.crc32(head + body)) + body)
    os.fsync(file)
    os.close(file)
    if not found[number]:
        os.rename(name, f"slot{number}.bin")
    folder = os.open(".", os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def known(state):
    if state["version"] == 1:
        pending = state["pendingToolUse"]
        calls = pending if isinstance(pending, list) else [pending] if pending else []
        return state | {"version": 2, "pendingToolUse": calls}
    if state["version"] != 2:
        raise RuntimeError(f"version {state['version']}")
    return state


def load():
    found, top = slots()
    old = None
    if os.path.exists("checkpoint.json"):
        with open("checkpoint.json") as file:
            old = known(json.load(file))
    if top is not None:
        return known(top[1])
    if "bad" in found:
        raise RuntimeError("no slot is whole")
    return old


class ClaimLost(Exception):
    pass
"""

REFUSES = """
VERSION = 2

import hashlib
import json
import os


def save(state):
    body = json.dumps(state).encode()
    with open("draft", "wb") as file:
        file.write(hashlib.md5(body).hexdigest().encode() + b"\\n" + body)
        file.flush()
        os.fsync(file.fileno())
    os.replace("draft", "state.txt")
    folder = os.open(".", os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def load():
    state = None
    if os.path.exists("checkpoint.json"):
        with open("checkpoint.json", "rb") as file:
            state = known(json.loads(file.read()))
    if os.path.exists("state.txt"):
        with open("state.txt", "rb") as file:
            check, _, body = file.read().partition(b"\\n")
        if hashlib.md5(body).hexdigest().encode() != check:
            raise ValueError("state.txt is damaged")
        state = known(json.loads(body))
    return state


def known(state):
    if state["version"] == 1:
        pending = state["pendingToolUse"]
        state["pendingToolUse"] = [] if pending is None else pending if isinstance(pending, list) else [pending]
        state["version"] = 2
    if state["version"] != 2:
        raise ValueError(f"version {state['version']} is not known here")
    return state


class ClaimLost(Exception):
    pass
"""

PER_TOOL = """
class Agent:
    def __init__(self, task, world):
        self.task, self.world = task, world

    def run(self):
        self.claim = self.world.claim()
        if not self.claim:
            return "busy"
        try:
            return self.steps()
        finally:
            self.world.release(self.claim)

    def steps(self):
        state = self.state = load()
        if state is None:
            messages = [dict(role="user", content=self.task)]
            state = self.state = dict(
                version=2, task=self.task, turns=0, tokensUsed=0, messages=messages, pendingToolUse=[]
            )
            self.put()
        while state["pendingToolUse"] or state["messages"][-1]["role"] == "user":
            if state["pendingToolUse"]:
                self.one(state["pendingToolUse"][0])
            else:
                self.ask()
        return state

    def mine(self):
        if not self.world.renew(self.claim):
            raise ClaimLost

    def put(self):
        self.mine()
        save(self.state)

    def ask(self):
        self.mine()
        state, answer = self.state, self.world.call_model(self.state["messages"])
        state["messages"].append(dict(role="assistant", content=answer["content"]))
        state["tokensUsed"] += answer["tokens"]
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        state["pendingToolUse"] = [dict(id=c["id"], name=c["name"], input=c["input"]) for c in calls]
        state["turns"] += not calls
        self.put()

    def one(self, call):
        result = self.world.find_result(call["id"])
        if result is None:
            self.mine()
            result = self.world.run_tool(call)
        messages = self.state["messages"]
        if messages[-1]["role"] == "assistant":
            messages.append(dict(role="user", content=[]))
        messages[-1]["content"].append(dict(type="tool_result", tool_use_id=call["id"], content=result))
        self.state["pendingToolUse"] = self.state["pendingToolUse"][1:]
        self.state["turns"] += not self.state["pendingToolUse"]
        self.put()


def resume(task, world):
    return Agent(task, world).run()
"""

RIGHT = {
    "two slots written in turn": with_storage(SLOTS),
    "one copy, refused when it is damaged": with_storage(REFUSES),
    "each result saved by itself": edited().replace(reference()[reference().index("def new_state") :], PER_TOOL),
    "the first state saved before anything is asked": edited(
        (
            "    state = load() or new_state(task)\n",
            "    state = load()\n    if state is None:\n        state = new_state(task)\n        save(state)\n",
        ),
    ),
    "waits for nobody and raises": edited(
        ("        return None\n\n    def hold", '        raise ClaimLost("busy")\n\n    def hold')
    ),
}
