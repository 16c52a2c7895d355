import json
import os

PATH = "checkpoint.json"


def load_checkpoint():
    try:
        with open(PATH, encoding="utf-8") as f:
            return json.load(f)
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def save_checkpoint(state):
    with open(PATH + ".tmp", "w", encoding="utf-8") as f:
        json.dump(state, f, ensure_ascii=False)
    os.replace(PATH + ".tmp", PATH)


def run_agent(task, tools, call_model, execute_tool):
    saved = load_checkpoint()
    if saved and saved.get("task") == task and saved.get("pendingToolUse"):
        state = saved
        p = state["pendingToolUse"]
        result = execute_tool(p["name"], p["input"])
        book(state, p["id"], result)
    else:
        state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
                 "messages": [{"role": "user", "content": task}], "pendingToolUse": None}
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        if response.stop_reason != "tool_use":
            return state
        state["messages"].append({"role": "assistant", "content": response.content})
        call = next(b for b in response.content if b["type"] == "tool_use")
        state["pendingToolUse"] = {"id": call["id"], "name": call["name"], "input": call["input"]}
        save_checkpoint(state)
        book(state, call["id"], execute_tool(call["name"], call["input"]))


def book(state, call_id, result):
    state["messages"].append({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call_id, "content": result}]})
    state["turns"] += 1
    state["pendingToolUse"] = None
    save_checkpoint(state)
