# right(level4-code): numbered files under coroutines
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


import asyncio
import copy


class Gone(Exception):
    pass


async def slow(world, claim, call, *arguments):
    """Make a slow call between two looks at the claim."""
    for turn in range(2):
        if not world.renew(claim):
            raise Gone
        if turn == 0:
            answer = call(*arguments)
            await asyncio.sleep(0)
    return answer


async def tool_result(world, claim, call):
    content = world.find_result(call["id"]) or await slow(world, claim, world.run_tool, call)
    return {"type": "tool_result", "tool_use_id": call["id"], "content": content}


async def work(state, world, claim):
    while True:
        before = copy.deepcopy(state)
        if before["pendingToolUse"]:
            call = before["pendingToolUse"].pop(0)
            block = await tool_result(world, claim, call)
            if before["messages"][-1]["role"] == "assistant":
                before["messages"].append({"role": "user", "content": []})
            before["messages"][-1]["content"].append(block)
            before["turns"] += not before["pendingToolUse"]
        elif before["messages"][-1]["role"] == "assistant":
            return state
        else:
            answer = await slow(world, claim, world.call_model, copy.deepcopy(state["messages"]))
            before["messages"].append({"role": "assistant", "content": answer["content"]})
            before["tokensUsed"] += answer["tokens"]
            for block in answer["content"]:
                if block["type"] == "tool_use":
                    before["pendingToolUse"].append({k: block[k] for k in ("id", "name", "input")})
            before["turns"] += not before["pendingToolUse"]
        if not world.renew(claim):
            raise Gone
        save(before)
        state = before


def resume(task, world):
    state = load()
    if state is None:
        messages = [{"role": "user", "content": task}]
        state = {"version": 2, "task": task, "turns": 0, "tokensUsed": 0, "messages": messages, "pendingToolUse": []}
    claim = world.claim()
    if claim is None:
        return None
    working = work(state, world, claim)
    try:
        while True:
            working.send(None)  # nothing here waits for anything, so no event loop is needed
    except StopIteration as over:
        world.release(claim)
        return over.value
    except Gone:
        return None
