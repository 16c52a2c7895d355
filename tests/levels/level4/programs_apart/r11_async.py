# right(level4-code): coroutines driven by hand, and deep copies; the claim is looked at before and after every slow call
import hashlib
import json
import os

SLOTS = ("state.a", "state.b")


class Damaged(Exception):
    """No copy can be vouched for."""


class Unknown(Exception):
    """A program of another version has written here."""


def sync_directory():
    handle = os.open(".", os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def old_file():
    """The file of another program's version: migrated, refused, or None."""
    try:
        with open("checkpoint.json", encoding="utf-8") as file:
            document = json.load(file)
    except FileNotFoundError:
        return None
    if document["version"] != 1:
        raise Unknown(f"checkpoint.json is of version {document['version']}")
    pending = document["pendingToolUse"]
    if pending is None:
        pending = []
    elif isinstance(pending, dict):
        pending = [pending]
    return {**document, "version": 2, "pendingToolUse": pending}


def read_slot(name):
    """Return (number, state), or None when the slot is not there or not whole."""
    try:
        with open(name, "rb") as file:
            checksum, body = file.read().split(b"\n", 1)
    except (FileNotFoundError, ValueError):
        return None
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        return None
    record = json.loads(body)
    return record["number"], record["state"]


def newest():
    whole = [(*found, name) for name in SLOTS if (found := read_slot(name))]
    return max(whole, key=lambda one: one[0], default=None)


def save(state):
    if state["version"] != 2:
        raise Unknown(f"this program saves version 2, not {state['version']}")
    last = newest()
    number, target = (last[0] + 1, SLOTS[1 - SLOTS.index(last[2])]) if last else (1, SLOTS[0])
    body = json.dumps({"number": number, "state": state}, ensure_ascii=False).encode()
    with open("state.tmp", "wb") as file:
        file.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        file.flush()
        os.fsync(file.fileno())
    os.replace("state.tmp", target)
    sync_directory()


def load():
    try:
        before = old_file()
    except (ValueError, KeyError, TypeError):
        before = Damaged("checkpoint.json can't be read")
    last = newest()
    if last:
        return last[1]
    if any(os.path.exists(name) for name in SLOTS):
        raise Damaged("no slot is whole")
    if isinstance(before, Exception):
        raise before
    return before


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
