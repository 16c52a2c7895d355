# wrong(level4-code): versions: a document of version 3 is taken as if it were of version 2
import hashlib
import json
import os
import tempfile

FILE = "task.state"


def save(state):
    """One copy. When it is damaged, load says so: nothing older is kept."""
    if state["version"] != 2:
        raise ValueError(state["version"])
    body = json.dumps(state, sort_keys=True)
    with tempfile.NamedTemporaryFile("w", dir=".", prefix=".task-", delete=False, encoding="utf-8") as file:
        file.write(hashlib.md5(body.encode()).hexdigest() + body)
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, FILE)
    fd = os.open(".", os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def load():
    if os.path.exists("checkpoint.json"):
        with open("checkpoint.json", encoding="utf-8") as file:
            document = json.load(file)
        match document:
            case {"version": 1, "pendingToolUse": None}:
                document["pendingToolUse"] = []
            case {"version": 1, "pendingToolUse": dict() as call}:
                document["pendingToolUse"] = [call]
            case {"version": 1, "pendingToolUse": list()}:
                pass
            case _:
                pass
        document["version"] = 2
    else:
        document = None
    try:
        with open(FILE, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return document
    if hashlib.md5(text[32:].encode()).hexdigest() != text[:32]:
        raise ValueError("task.state is damaged")
    return json.loads(text[32:])


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
