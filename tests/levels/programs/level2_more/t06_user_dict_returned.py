import json
import os
from collections import OrderedDict


def save_checkpoint(state):
    with open("checkpoint.json.tmp", "w", encoding="utf-8") as f:
        json.dump(state, f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")


def run_agent(task, tools, call_model, execute_tool):
    state = OrderedDict([("version", 1), ("task", task), ("turns", 0), ("tokensUsed", 0),
                         ("messages", [{"role": "user", "content": task}]), ("pendingToolUse", None)])
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        if response.stop_reason != "tool_use":
            return dict(state)
        state["messages"].append({"role": "assistant", "content": response.content})
        use = next(b for b in response.content if b["type"] == "tool_use")
        state.update(pendingToolUse={"id": use["id"], "name": use["name"], "input": use["input"]})
        save_checkpoint(state)
        out = execute_tool(use["name"], use["input"])
        state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": use["id"], "content": out}]})
        state.update(turns=state["turns"] + 1, pendingToolUse=None)
        save_checkpoint(state)
