import json
import os


def save_checkpoint(state):
    tmp = "checkpoint.json.tmp"
    with open(tmp, "w", encoding="utf-8") as file:
        json.dump(state, file, ensure_ascii=False, indent=2)
    os.replace(tmp, "checkpoint.json")


def run_agent(task, tools, call_model, execute_tool):
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
             "messages": [{"role": "user", "content": task}], "pendingToolUse": {}}
    response = call_model(tools=tools, messages=state["messages"])
    while response.stop_reason == "tool_use":
        state["messages"].append({"role": "assistant", "content": response.content})
        b = next(b for b in response.content if b["type"] == "tool_use")
        state["pendingToolUse"] = {"id": b["id"], "name": b["name"], "input": b["input"]}
        save_checkpoint(state)
        result = execute_tool(b["name"], b["input"])
        state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": b["id"], "content": result}]})
        state["turns"] += 1
        state["pendingToolUse"] = {}
        save_checkpoint(state)
        response = call_model(tools=tools, messages=state["messages"])
    return state
