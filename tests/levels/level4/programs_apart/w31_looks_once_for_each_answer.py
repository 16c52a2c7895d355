# wrong(level4-code): second resumer: several tools of one answer run under one look at the claim
import glob
import hashlib
import json
import os

KEEP = 3


def number_of(path):
    return int(path.split("-")[1].split(".")[0])


def files():
    return sorted(glob.glob("state-*.json"), key=number_of)


def read(path):
    with open(path, "rb") as file:
        raw = file.read()
    digest, _, body = raw.partition(b":")
    if hashlib.blake2b(body, digest_size=16).hexdigest().encode() != digest:
        raise ValueError(f"{path} is damaged")
    return json.loads(body)


def whole(path):
    try:
        read(path)
    except ValueError:
        return False
    return True


def save(state):
    if state["version"] != 2:
        raise ValueError(f"version {state['version']} can't be saved")
    existing = files()
    path = f"state-{number_of(existing[-1]) + 1 if existing else 1}.json"
    body = json.dumps(state).encode()
    with open("new.tmp", "wb") as file:
        file.write(hashlib.blake2b(body, digest_size=16).hexdigest().encode() + b":" + body)
        file.flush()
        os.fsync(file.fileno())
    os.rename("new.tmp", path)
    directory = os.open(os.curdir, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(directory)
    os.close(directory)
    good = [name for name in existing if whole(name)]
    for name in existing:
        if name not in good[-KEEP:]:
            os.unlink(name)


def load():
    if os.path.exists("checkpoint.json"):
        with open("checkpoint.json", encoding="utf-8") as file:
            try:
                old = json.load(file)
            except ValueError:
                old = None
        if old is not None and old.get("version") != 1:
            raise RuntimeError("unknown version")
    else:
        old = None
    if files():
        for path in reversed(files()):
            try:
                return read(path)
            except ValueError:
                continue
        raise RuntimeError("no state is whole")
    if os.path.exists("checkpoint.json"):
        if old is None:
            raise RuntimeError("checkpoint.json is damaged")
        waiting = old["pendingToolUse"]
        old["pendingToolUse"] = waiting if type(waiting) is list else [waiting] if waiting else []
        old["version"] = 2
    return old


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
