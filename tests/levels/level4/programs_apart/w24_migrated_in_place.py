# wrong(level4-code): versions: load writes the migrated document over the old one, not atomically
import hashlib
import json
import os
from pathlib import Path

CURRENT, PREVIOUS = Path("checkpoint.json"), Path("checkpoint.previous.json")


class BadCheckpoint(RuntimeError):
    pass


def checksum(document):
    plain = {name: value for name, value in document.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def examine(path):
    """Return ("missing" | "good" | "old" | "unknown" | "damaged", document)."""
    if not path.exists():
        return "missing", None
    try:
        document = json.loads(path.read_bytes().decode("utf-8"))
    except ValueError:
        return "damaged", None
    version = document.get("version") if isinstance(document, dict) else None
    if type(version) is not int:
        return "damaged", None
    if version == 1 and "checksum" not in document:
        return "old", document
    if version not in (1, 2):
        return "unknown", document
    if version == 2 and document.get("checksum") == checksum(document):
        return "good", document
    return "damaged", None


def fsync_path(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def save(state):
    if state.get("version") != 2:
        raise BadCheckpoint("only version 2 is saved here")
    document = {name: value for name, value in state.items() if name != "checksum"}
    document["checksum"] = checksum(document)
    new = CURRENT.with_suffix(".new")
    new.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    fsync_path(new)
    if examine(CURRENT)[0] == "good":  # a damaged copy never pushes a good one out
        spare = Path("checkpoint.spare")
        spare.unlink(missing_ok=True)
        os.link(CURRENT, spare)
        os.replace(spare, PREVIOUS)
    os.replace(new, CURRENT)
    fsync_path(".")


def migrated(document):
    pending = document["pendingToolUse"]
    if not isinstance(pending, list):
        pending = [] if pending is None else [pending]
    return {**document, "version": 2, "pendingToolUse": pending}


def load():
    kind, document = examine(CURRENT)
    if kind == "unknown":
        raise BadCheckpoint(f"version {document['version']} is not known here")
    if kind == "old":
        document = migrated(document)
        CURRENT.write_text(json.dumps({**document, "checksum": checksum(document)}), encoding="utf-8")
        return document
    if kind != "good":
        damaged = kind == "damaged"
        kind, document = examine(PREVIOUS)
        if kind == "missing" and not damaged:
            return None
        if kind != "good":
            raise BadCheckpoint("neither copy is whole")
    document.pop("checksum")
    return document


class Stop(Exception):
    pass


class Worker:
    def __init__(self, task, world, claim):
        self.world, self.claim = world, claim
        self.state = load()
        if self.state is None:
            self.state = dict(
                version=2,
                task=task,
                turns=0,
                tokensUsed=0,
                messages=[dict(role="user", content=task)],
                pendingToolUse=[],
            )

    def guard(self):
        if self.world.renew(self.claim) is False:
            raise Stop

    def keep(self):
        self.guard()
        save(self.state)

    @property
    def done(self):
        last = self.state["messages"][-1]
        return last["role"] == "assistant" and all(block["type"] != "tool_use" for block in last["content"])

    def think(self):
        self.guard()
        answer = self.world.call_model(self.state["messages"])
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        self.state["messages"].append(dict(role="assistant", content=answer["content"]))
        self.state["turns"] += 0 if calls else 1
        self.state["tokensUsed"] += answer["tokens"]
        self.state["pendingToolUse"] = [{key: call[key] for key in ("id", "name", "input")} for call in calls]
        self.keep()

    def result_of(self, call):
        known = self.world.find_result(call["id"])
        if known is not None:
            return known
        self.guard()
        return self.world.run_tool(call)

    def act(self):
        """All results of an answer are booked together, in one save."""
        blocks = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": self.result_of(call)}
            for call in self.state["pendingToolUse"]
        ]
        last = self.state["messages"][-1]
        if last["role"] == "user":
            last["content"] = last["content"] + blocks
        else:
            self.state["messages"].append(dict(role="user", content=blocks))
        self.state["pendingToolUse"] = []
        self.state["turns"] += 1
        self.keep()

    def run(self):
        while not self.done:
            if self.state["pendingToolUse"]:
                self.act()
            else:
                self.think()
        return self.state


def resume(task, world):
    load()  # a version that is not known is refused before anybody is asked
    claim = world.claim()
    if claim is None:
        return None
    try:
        return Worker(task, world, claim).run()
    except Stop:
        return None
    finally:
        world.release(claim)
