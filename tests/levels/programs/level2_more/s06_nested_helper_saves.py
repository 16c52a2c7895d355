import contextlib
import json
import os
import tempfile


class Journal:
    def __init__(self, path="checkpoint.json"):
        self.path = path

    def write(self, state):
        handle, name = tempfile.mkstemp(dir=os.path.dirname(self.path) or ".", text=True)
        with open(handle, "w", encoding="utf-8") as f:
            json.dump(state, f, ensure_ascii=False)
        os.rename(name, self.path)


def save_checkpoint(state):
    Journal().write(state)


@contextlib.contextmanager
def pending(state, use):
    state["pendingToolUse"] = {"id": use["id"], "name": use["name"], "input": use["input"]}
    save_checkpoint(state)
    yield
    state["pendingToolUse"] = None
    state["turns"] += 1
    save_checkpoint(state)


def run_agent(task, tools, call_model, execute_tool):
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
             "messages": [{"role": "user", "content": task}], "pendingToolUse": None}
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        if response.stop_reason != "tool_use":
            return state
        state["messages"].append({"role": "assistant", "content": response.content})
        use = next(b for b in response.content if b["type"] == "tool_use")
        with pending(state, use):
            out = execute_tool(use["name"], use["input"])
            state["messages"].append({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": use["id"], "content": out}]})
