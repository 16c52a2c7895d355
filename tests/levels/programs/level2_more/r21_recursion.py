import json
import os


def save_checkpoint(state):
    tmp = "checkpoint.json.tmp"
    with open(tmp, "w", encoding="utf-8") as file:
        json.dump(state, file, ensure_ascii=False, indent=2)
    os.replace(tmp, "checkpoint.json")


def step(state, tools, call_model, execute_tool):
    response = call_model(tools=tools, messages=state["messages"])
    state = {**state, "messages": state["messages"] + [{"role": "assistant", "content": response.content}]}
    if response.stop_reason != "tool_use":
        return state
    call = next(b for b in response.content if b["type"] == "tool_use")
    state = {**state, "pendingToolUse": {k: call[k] for k in ("id", "name", "input")}}
    save_checkpoint(state)
    result = execute_tool(call["name"], call["input"])
    booked = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": result}]}
    state = {**state, "messages": state["messages"] + [booked], "turns": state["turns"] + 1, "pendingToolUse": None}
    save_checkpoint(state)
    return step(state, tools, call_model, execute_tool)


def run_agent(task, tools, call_model, execute_tool):
    return step({"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
                 "messages": [{"role": "user", "content": task}], "pendingToolUse": None},
                tools, call_model, execute_tool)
