import asyncio
import json
import os


def save_checkpoint(state):
    with open("checkpoint.json.new", "wb") as f:
        f.write(json.dumps(state, indent=2).encode("utf-8"))
        f.flush()
        os.fsync(f.fileno())
    os.replace("checkpoint.json.new", "checkpoint.json")


async def _save(state):
    save_checkpoint(state)
    await asyncio.sleep(0)


async def _run(task, tools, call_model, execute_tool):
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
             "messages": [{"role": "user", "content": task}], "pendingToolUse": None}
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        if response.stop_reason != "tool_use":
            return state
        state["messages"].append({"role": "assistant", "content": response.content})
        block = [b for b in response.content if b["type"] == "tool_use"][0]
        state["pendingToolUse"] = {"id": block["id"], "name": block["name"], "input": block["input"]}
        await _save(state)
        result = execute_tool(block["name"], block["input"])
        state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": block["id"], "content": result}]})
        state["turns"] += 1
        state["pendingToolUse"] = None
        await _save(state)


def run_agent(task, tools, call_model, execute_tool):
    return asyncio.run(_run(task, tools, call_model, execute_tool))
