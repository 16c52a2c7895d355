# wrong(level4-code): second resumer: looks before calls but not before saving, and writes over what another has done
import json
import os
from contextlib import suppress
from hashlib import sha1

MAIN, MIRROR = "task.json", "task.copy.json"


class NotSure(Exception):
    """What is on disk can't be vouched for."""


def put(name, data):
    part = name + ".part"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(part, name)
    place = os.open(".", os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)


def get(name):
    """The state in a file, None when there is no file; NotSure when it is damaged."""
    try:
        with open(name, "rb") as file:
            wrapped = json.loads(file.read())
        if set(wrapped) != {"sha1", "text"} or sha1(wrapped["text"].encode()).hexdigest() != wrapped["sha1"]:
            raise NotSure(name)
        return json.loads(wrapped["text"])
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError) as error:
        raise NotSure(name) from error


def save(state):
    if state["version"] != 2:
        raise NotSure("version")
    text = json.dumps(state, ensure_ascii=False)
    data = json.dumps({"sha1": sha1(text.encode()).hexdigest(), "text": text}).encode()
    put(MAIN, data)
    put(MIRROR, data)


def load():
    version, old = None, None
    with suppress(FileNotFoundError, ValueError), open("checkpoint.json") as file:
        old = json.load(file)
        version = old["version"]
    if version not in (None, 1):
        raise NotSure(f"version {version}")
    if not os.path.exists(MAIN):
        if version == 1:
            calls = old["pendingToolUse"]
            old |= {"version": 2, "pendingToolUse": [calls] if isinstance(calls, dict) else calls or []}
        elif os.path.exists("checkpoint.json"):
            raise NotSure("checkpoint.json")
        return old
    for name in (MAIN, MIRROR):
        with suppress(NotSure):
            state = get(name)
            if state is not None:
                return state
    raise NotSure("both copies")


def resume(task, world):
    load()
    claim = world.claim()
    if not claim:
        return {}
    begun = {
        "version": 2,
        "task": task,
        "turns": 0,
        "tokensUsed": 0,
        "messages": [{"role": "user", "content": task}],
        "pendingToolUse": [],
        "startedBy": "resume",
    }
    found = load()
    state = go_on(begun if found is None else found, world, claim)
    if state:
        world.release(claim)
    return state


def kept(state, world, claim):
    save(state)
    return True


def go_on(state, world, claim):
    """Return the final state, or None when the claim was lost."""
    messages = state["messages"]
    if state["pendingToolUse"]:
        call = state["pendingToolUse"][0]
        result = world.find_result(call["id"])
        if not result:
            if not world.renew(claim):
                return None
            result = world.run_tool(call)
        block = {"type": "tool_result", "tool_use_id": call["id"], "content": result}
        if messages[-1]["role"] == "user":
            messages = [*messages[:-1], {"role": "user", "content": [*messages[-1]["content"], block]}]
        else:
            messages = [*messages, {"role": "user", "content": [block]}]
        new = {**state, "messages": messages, "pendingToolUse": state["pendingToolUse"][1:]}
        new["turns"] += not new["pendingToolUse"]
    elif messages[-1]["role"] == "assistant":
        return state
    else:
        if not world.renew(claim):
            return None
        answer = world.call_model(messages)
        named = [
            {key: value for key, value in block.items() if key != "type"}
            for block in answer["content"]
            if block["type"] == "tool_use"
        ]
        new = {
            **state,
            "messages": [*messages, {"role": "assistant", "content": answer["content"]}],
            "turns": state["turns"] + (not named),
            "tokensUsed": state["tokensUsed"] + answer["tokens"],
            "pendingToolUse": named,
        }
    return go_on(new, world, claim) if kept(new, world, claim) else None
