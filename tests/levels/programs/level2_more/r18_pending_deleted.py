import json
import os


def save_checkpoint(state):
    tmp = "checkpoint.json.tmp"
    with open(tmp, "w", encoding="utf-8") as file:
        json.dump(state, file, ensure_ascii=False, indent=2)
    os.replace(tmp, "checkpoint.json")


def run_agent(task, tools, call_model, execute_tool):
    state = dict(version=1, task=task, turns=0, tokensUsed=0, messages=[dict(role="user", content=task)])
    response = call_model(tools=tools, messages=state["messages"])
    while response.stop_reason == "tool_use":
        state["messages"].append(dict(role="assistant", content=response.content))
        use = next(b for b in response.content if b["type"] == "tool_use")
        state["pendingToolUse"] = dict(id=use["id"], name=use["name"], input=use["input"])
        save_checkpoint(state)
        result = execute_tool(use["name"], use["input"])
        state["messages"].append(dict(role="user", content=[
            dict(type="tool_result", tool_use_id=use["id"], content=result)]))
        state["turns"] += 1
        state.pop("pendingToolUse", None)
        save_checkpoint(state)
        response = call_model(tools=tools, messages=state["messages"])
    return state
