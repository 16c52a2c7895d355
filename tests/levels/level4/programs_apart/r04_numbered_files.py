# right(level4-code): a new file for each state, the last three good ones kept; a generator works and asks at each yield
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


def fresh(task):
    return {
        "version": 2,
        "task": task,
        "turns": 0,
        "tokensUsed": 0,
        "messages": [{"role": "user", "content": task}],
        "pendingToolUse": [],
    }


def steps(state, world):
    """Work on a state. Each yield asks: is the claim still ours? ``True`` with it: and save."""
    while True:
        if state["pendingToolUse"]:
            call = state["pendingToolUse"][0]
            result = world.find_result(call["id"])
            if result is None:
                yield False
                result = world.run_tool(call)
            messages = state["messages"]
            if messages[-1]["role"] == "assistant":
                messages.append({"role": "user", "content": []})
            messages[-1]["content"].append({"type": "tool_result", "tool_use_id": call["id"], "content": result})
            del state["pendingToolUse"][0]
            if not state["pendingToolUse"]:
                state["turns"] += 1
            yield True
            continue
        match state["messages"][-1]:
            case {"role": "assistant"}:
                return
        yield False
        match world.call_model(state["messages"]):
            case {"content": content, "tokens": tokens}:
                state["messages"].append({"role": "assistant", "content": content})
                state["tokensUsed"] += tokens
        for block in content:
            match block:
                case {"type": "tool_use", "id": number, "name": name, "input": given}:
                    state["pendingToolUse"].append({"id": number, "name": name, "input": given})
        if not state["pendingToolUse"]:
            state["turns"] += 1
        yield True


def resume(task, world):
    load()
    claim = world.claim()
    if claim is None:
        return "busy"
    state = load()
    if state is None:
        state = fresh(task)
    for to_save in steps(state, world):
        if not world.renew(claim):
            return "lost"
        if to_save:
            save(state)
    world.release(claim)
    return state
