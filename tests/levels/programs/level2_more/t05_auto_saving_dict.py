import json
import os


def save_checkpoint(state):
    with open("checkpoint.json.tmp", "w", encoding="utf-8") as f:
        json.dump(state, f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")


class Saved(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        if key == "pendingToolUse":
            save_checkpoint(self)


def run_agent(task, tools, call_model, execute_tool):
    state = Saved(version=1, task=task, turns=0, tokensUsed=0,
                  messages=[{"role": "user", "content": task}], pendingToolUse=None)
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        if response.stop_reason != "tool_use":
            return dict(state)
        state["messages"].append({"role": "assistant", "content": response.content})
        use = next(b for b in response.content if b["type"] == "tool_use")
        state["pendingToolUse"] = {"id": use["id"], "name": use["name"], "input": use["input"]}
        out = execute_tool(use["name"], use["input"])
        state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": use["id"], "content": out}]})
        state["turns"] += 1
        state["pendingToolUse"] = None
