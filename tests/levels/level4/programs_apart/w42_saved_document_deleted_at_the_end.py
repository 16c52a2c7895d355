# wrong(level4-code): the end: the files are cleared away when the task is complete, and load finds nothing
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


class Lost(Exception):
    """The claim is no longer ours."""


def finished(state):
    last = state["messages"][-1]
    return last["role"] == "assistant" and not any(block["type"] == "tool_use" for block in last["content"])


def book(state, call, result):
    block = {"type": "tool_result", "tool_use_id": call["id"], "content": result}
    last = state["messages"][-1]
    if last["role"] == "user":
        last["content"].append(block)
    else:
        state["messages"].append({"role": "user", "content": [block]})
    state["pendingToolUse"].remove(call)
    state["turns"] += not state["pendingToolUse"]


def resume(task, world):
    state = load()
    if state is not None and finished(state):
        return state
    claim = world.claim()
    if claim is None:
        return None

    def still_mine():
        if not world.renew(claim):
            raise Lost

    try:
        state = load() or {
            "version": 2,
            "task": task,
            "turns": 0,
            "tokensUsed": 0,
            "messages": [{"role": "user", "content": task}],
            "pendingToolUse": [],
        }
        while not finished(state):
            for call in list(state["pendingToolUse"]):
                result = world.find_result(call["id"])
                if result is None:
                    still_mine()
                    result = world.run_tool(call)
                book(state, call, result)
                still_mine()
                save(state)
            still_mine()
            answer = world.call_model(state["messages"])
            state["messages"].append({"role": "assistant", "content": answer["content"]})
            state["tokensUsed"] += answer["tokens"]
            state["pendingToolUse"] = [
                {"id": block["id"], "name": block["name"], "input": block["input"]}
                for block in answer["content"]
                if block["type"] == "tool_use"
            ]
            state["turns"] += not state["pendingToolUse"]
            still_mine()
            save(state)
    except Lost:
        return None
    world.release(claim)
    for name in SLOTS:
        if os.path.exists(name):
            os.remove(name)
    return state
