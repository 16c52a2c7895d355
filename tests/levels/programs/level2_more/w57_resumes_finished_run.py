import json
import os


def save_checkpoint(state):
    with open("checkpoint.json.tmp", "w", encoding="utf-8") as f:
        json.dump(state, f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")


def load_checkpoint():
    if os.path.exists("checkpoint.json"):
        with open("checkpoint.json", encoding="utf-8") as f:
            return json.load(f)


def run_agent(task, tools, call_model, execute_tool):
    state = load_checkpoint() or {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
                                  "messages": [{"role": "user", "content": task}], "pendingToolUse": None}
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        if response.stop_reason != "tool_use":
            return state
        state["messages"].append({"role": "assistant", "content": response.content})
        call = next(b for b in response.content if b["type"] == "tool_use")
        state["pendingToolUse"] = {"id": call["id"], "name": call["name"], "input": call["input"]}
        save_checkpoint(state)
        result = execute_tool(call["name"], call["input"])
        state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call["id"], "content": result}]})
        state["turns"] += 1
        state["pendingToolUse"] = None
        save_checkpoint(state)
