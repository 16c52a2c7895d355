# wrong(level4-code): power loss: the folder is made durable before the file gets its name in it, and not after
import hmac
import json
import os
import pickle

FOLDER = "keep"
SECRET = b"not against people, only against disks"


def fsync_folder(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def seal(raw):
    return hmac.new(SECRET, raw, "sha256").digest()


def unsealed(path):
    with open(path, "rb") as file:
        data = file.read()
    return pickle.loads(data[32:]) if hmac.compare_digest(seal(data[32:]), data[:32]) else None


def generations():
    """Numbers of the copies on disk, the newest first."""
    try:
        names = os.listdir(FOLDER)
    except FileNotFoundError:
        return []
    return sorted((int(name[1:]) for name in names if name.startswith("g")), reverse=True)


def path_of(generation):
    return os.path.join(FOLDER, f"g{generation}")


def save(state):
    if state["version"] != 2:
        raise ValueError("version")
    if not os.path.isdir(FOLDER):
        os.mkdir(FOLDER)
    fsync_folder(".")
    known = generations()
    generation = (known or [0])[0] + 1
    raw = pickle.dumps(state)
    temporary = os.path.join(FOLDER, "t")
    with open(temporary, "wb", buffering=0) as file:
        file.write(seal(raw) + raw)
        os.fsync(file)
    fsync_folder(FOLDER)
    os.rename(temporary, path_of(generation))
    kept = 0
    for old in known:
        if kept >= 1 and old < generation - 1:
            os.remove(path_of(old))
        elif unsealed(path_of(old)) is not None:
            kept += 1


def load():
    try:
        with open("checkpoint.json", "rb") as file:
            plain = json.load(file)
    except FileNotFoundError:
        plain = None
    except ValueError:
        plain = False
    if plain and plain.get("version") != 1:
        raise RuntimeError("this checkpoint.json is not for me")
    known = generations()
    for generation in known:
        state = unsealed(path_of(generation))
        if state is not None:
            return state
    if known or plain is False:
        raise RuntimeError("nothing whole is left")
    if plain:
        pending = plain.pop("pendingToolUse")
        pending = pending if isinstance(pending, list) else list(filter(None, [pending]))
        return plain | {"version": 2, "pendingToolUse": pending}
    return None


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
