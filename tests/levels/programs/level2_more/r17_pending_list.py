import json
import os


def save_checkpoint(state):
    tmp = "checkpoint.json.tmp"
    with open(tmp, "w", encoding="utf-8") as file:
        json.dump(state, file, ensure_ascii=False, indent=2)
    os.replace(tmp, "checkpoint.json")


def run_agent(task, tools, call_model, execute_tool):
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
             "messages": [{"role": "user", "content": task}], "pendingToolUse": None}
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        if response.stop_reason != "tool_use":
            return state
        state["messages"].append({"role": "assistant", "content": response.content})
        calls = [b for b in response.content if b["type"] == "tool_use"]
        results = []
        state["pendingToolUse"] = [{"id": c["id"], "name": c["name"], "input": c["input"]} for c in calls]
        save_checkpoint(state)
        for c in calls:
            results.append({"type": "tool_result", "tool_use_id": c["id"],
                            "content": execute_tool(c["name"], c["input"])})
        state["messages"].append({"role": "user", "content": results})
        state["turns"] += 1
        state["pendingToolUse"] = None
        save_checkpoint(state)
