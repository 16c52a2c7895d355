# wrong(level4-code): power loss: a line is appended and never made durable
import json
import os
import zlib

JOURNAL = "states.log"


def sync(path):
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def line_of(state):
    body = json.dumps(state, ensure_ascii=True, separators=(",", ":"))
    return f"{zlib.crc32(body.encode()):08x} {body}\n"


def save(state):
    if state["version"] != 2:
        raise ValueError("not a state of version 2")
    if os.path.exists(JOURNAL):
        with open(JOURNAL, "r+b") as log:
            _, end = last_line(log.read())
            log.truncate(end)  # what a crash has left of a line must not touch the next one
            os.fsync(log.fileno())
            log.seek(end)
            log.write(line_of(state).encode())
    else:  # a journal comes with its first line, so that an empty one is a damaged one
        with open("first.log", "wb") as log:
            log.write(line_of(state).encode())
            log.flush()
            os.fsync(log.fileno())
        os.rename("first.log", JOURNAL)
    sync(".")


def parse(line):
    """Return the state of a line that is whole, to its newline; else None."""
    try:
        crc, body = line.split(b" ", 1)
        whole = line.endswith(b"\n") and int(crc, 16) == zlib.crc32(body[:-1])
        return json.loads(body) if whole else None
    except ValueError:
        return None


def last_line(data):
    """Return the state of the last line that is whole, and where that line ends."""
    found, end, place = None, 0, 0
    for line in data.splitlines(keepends=True):
        place += len(line)
        state = parse(line)
        if state is not None:
            found, end = state, place
    return found, end


def foreign():
    if not os.path.exists("checkpoint.json"):
        return None
    with open("checkpoint.json", "rb") as file:
        document = json.loads(file.read())
    if document["version"] == 1:
        pending = document["pendingToolUse"] or []
        document["pendingToolUse"] = pending if isinstance(pending, list) else [pending]
        document["version"] = 2
        return document
    raise RuntimeError("checkpoint.json belongs to a newer program")


def load():
    found = None
    if os.path.exists(JOURNAL):
        with open(JOURNAL, "rb") as log:
            found, _ = last_line(log.read())
    try:
        other = foreign()
    except ValueError:
        if found is None:
            raise
        other = None
    if found is not None:
        return found
    if os.path.exists(JOURNAL):
        raise RuntimeError("the journal holds no whole state")
    return other


class ClaimLost(Exception):
    """Somebody else has the task now."""


class Mine:
    """The world, as far as the claim reaches: looks at the claim before and after everything slow."""

    def __init__(self, world):
        self.world = world
        self.number = world.claim()

    def check(self):
        if not self.world.renew(self.number):
            raise ClaimLost

    def call_model(self, messages):
        self.check()
        answer = self.world.call_model(messages)
        self.check()
        return answer

    def run_once(self, call):
        result = self.world.find_result(call["id"])
        if result is None:
            self.check()
            result = self.world.run_tool(call)
        self.check()
        return result

    def save(self, state):
        self.check()
        save(state)


def uses(message):
    if message["role"] != "assistant":
        return []
    return [block for block in message["content"] if block["type"] == "tool_use"]


def resume(task, world):
    seen = load()
    mine = Mine(world)
    if mine.number is None:
        raise ClaimLost("somebody else is at it")
    state = seen or {
        "version": 2,
        "task": task,
        "turns": 0,
        "tokensUsed": 0,
        "messages": [{"role": "user", "content": task}],
        "pendingToolUse": [],
    }
    while True:
        while state["pendingToolUse"]:
            call, *rest = state["pendingToolUse"]
            block = {"type": "tool_result", "tool_use_id": call["id"], "content": mine.run_once(call)}
            if uses(state["messages"][-1]):
                state["messages"].append({"role": "user", "content": []})
            state["messages"][-1]["content"].append(block)
            state["pendingToolUse"] = rest
            if not rest:
                state["turns"] += 1
            mine.save(state)
        if state["messages"][-1]["role"] == "assistant":
            break
        answer = mine.call_model(state["messages"])
        message = {"role": "assistant", "content": answer["content"]}
        state = {
            **state,
            "turns": state["turns"] + (0 if uses(message) else 1),
            "tokensUsed": state["tokensUsed"] + answer["tokens"],
            "messages": [*state["messages"], message],
            "pendingToolUse": [{"id": u["id"], "name": u["name"], "input": u["input"]} for u in uses(message)],
        }
        mine.save(state)
    world.release(mine.number)
    return state
