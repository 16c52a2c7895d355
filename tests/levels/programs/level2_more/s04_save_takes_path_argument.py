import json
import os
from pathlib import Path

CHECKPOINT = Path("data") / "checkpoint.json"


def save_checkpoint(path, state):
    path.parent.mkdir(exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as f:
        json.dump(state, f)
        f.flush()
        os.fsync(f.fileno())
    partial.rename(path)


def run_agent(task, tools, call_model, execute_tool):
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
             "messages": [{"role": "user", "content": task}], "pendingToolUse": None}
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        if response.stop_reason != "tool_use":
            save_checkpoint(CHECKPOINT, state)
            return state
        state["messages"].append({"role": "assistant", "content": response.content})
        use = next(b for b in response.content if b["type"] == "tool_use")
        state["pendingToolUse"] = {"id": use["id"], "name": use["name"], "input": use["input"]}
        save_checkpoint(CHECKPOINT, state)
        out = execute_tool(use["name"], use["input"])
        state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": use["id"], "content": out}]})
        state["turns"] += 1
        state["pendingToolUse"] = None
        save_checkpoint(CHECKPOINT, state)
