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
    for _ in range(100):
        response = call_model(tools=tools, messages=state["messages"])
        state["messages"].append({"role": "assistant", "content": list(response.content)})
        if response.stop_reason == "end_turn":
            save_checkpoint(state)
            return state
        block, = [b for b in response.content if b.get("type") == "tool_use"]
        state["pendingToolUse"] = block
        save_checkpoint(state)
        result = execute_tool(block["name"], block["input"])
        state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": block["id"], "content": result}]})
        state["pendingToolUse"] = None
        state["turns"] += 1
        save_checkpoint(state)
    raise RuntimeError("too many turns")
