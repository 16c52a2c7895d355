"""What the benchmarks save and run: one save, one agent, one training script for ckpt-chaos."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

from grader.crash import Ledger

NAME = "checkpoint.json"


def state(turn: int, size: int) -> dict[str, object]:
    """A state of about ``size`` bytes."""
    return {"turn": turn, "text": random.Random(turn).randbytes(size // 2).hex()}


def save_in_place(new: dict[str, object]) -> None:
    """The wrong save: recovery reads the file that is being written."""
    with open(NAME, "w", encoding="utf-8") as file:
        file.write(json.dumps(new))


def save_by_replace(new: dict[str, object]) -> None:
    """The commonest right one: temp file, fsync, replace, fsync of the directory."""
    with open(NAME + ".tmp", "w", encoding="utf-8") as file:
        file.write(json.dumps(new))
        file.flush()
        os.fsync(file.fileno())
    os.replace(NAME + ".tmp", NAME)
    descriptor = os.open(".", os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def load() -> dict[str, object]:
    """What both saves wrote."""
    found: dict[str, object] = json.loads(Path(NAME).read_text(encoding="utf-8"))
    return found


def agent(turns: int, result: int = 200):  # type: ignore[no-untyped-def]
    """An agent of so many turns with both save points, whose tool's result has ``result`` bytes."""

    def run(world: Ledger) -> int:
        try:
            now = load()
        except FileNotFoundError:
            now = {"turns": 0, "messages": [], "pending": None}
        messages = now["messages"]
        assert isinstance(messages, list)
        while now["turns"] < turns or now["pending"]:  # type: ignore[operator]
            if now["pending"] is None:
                messages.append({"role": "assistant", "content": f"call {now['turns']}"})
                now["pending"] = f"call-{now['turns']}"
                save_by_replace(now)
            if not world.count(str(now["pending"])):
                world.effect("tool", str(now["pending"]))
            messages.append({"role": "user", "content": "r" * result})
            now["pending"], now["turns"] = None, now["turns"] + 1  # type: ignore[operator]
            save_by_replace(now)
        return len(messages)

    return run


SCRIPT = """
import json, os, sys
from pathlib import Path
out, size, atomic = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "atomic"
out.mkdir(parents=True, exist_ok=True)
name = out / "checkpoint.json"
step = json.loads(name.read_text())["step"] if name.exists() else 0
print("resumed from step", step)
while step < 2:
    step += 1
    target = Path(str(name) + ".tmp") if atomic else name
    with open(target, "w") as file:
        json.dump({"step": step, "text": "x" * size}, file)
    if atomic:
        os.replace(target, name)
(out / "final.txt").write_text(str(step))
"""
"""Two saves and a result, for ckpt-chaos: it runs a command, not a function."""
