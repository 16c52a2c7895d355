import fcntl
import json
import os
import threading

STATE = {}
LOCK = threading.Lock()


def save_checkpoint(state=None):
    state = STATE if state is None else state
    with LOCK, open("checkpoint.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open("checkpoint.json.tmp", "w", encoding="utf-8") as f:
            json.dump(state, f)
        os.replace("checkpoint.json.tmp", "checkpoint.json")


def run_agent(task, tools, call_model, execute_tool):
    STATE.clear()
    STATE.update(version=1, task=task, turns=0, tokensUsed=0,
                 messages=[{"role": "user", "content": task}], pendingToolUse=None)
    while True:
        response = call_model(tools=tools, messages=STATE["messages"])
        if response.stop_reason != "tool_use":
            return dict(STATE)
        STATE["messages"].append({"role": "assistant", "content": response.content})
        call = next(b for b in response.content if b["type"] == "tool_use")
        STATE["pendingToolUse"] = {"id": call["id"], "name": call["name"], "input": call["input"]}
        save_checkpoint()
        result = execute_tool(call["name"], call["input"])
        STATE["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call["id"], "content": result}]})
        STATE["turns"] += 1
        STATE["pendingToolUse"] = None
        save_checkpoint()
