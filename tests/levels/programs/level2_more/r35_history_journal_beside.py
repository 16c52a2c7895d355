import json
import os
from io import StringIO


def save_checkpoint(state):
    buffer = StringIO()
    json.dump(state, buffer, ensure_ascii=False)
    text = buffer.getvalue()
    with open("history.jsonl", "a", encoding="utf-8") as log:
        print(text, file=log)
    with open(".checkpoint.json.swp", "w", encoding="utf-8") as f:
        print(text, file=f)
    os.replace(".checkpoint.json.swp", "checkpoint.json")


def run_agent(task, tools, call_model, execute_tool):
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
             "messages": [{"role": "user", "content": task}], "pendingToolUse": None}
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        state["tokensUsed"] += response.usage.input_tokens + response.usage.output_tokens
        state["messages"].append({"role": "assistant", "content": response.content})
        if response.stop_reason != "tool_use":
            return state

        call = next(block for block in response.content if block["type"] == "tool_use")
        state["pendingToolUse"] = {"id": call["id"], "name": call["name"], "input": call["input"]}
        save_checkpoint(state)
        result = execute_tool(call["name"], call["input"])

        answer = {"type": "tool_result", "tool_use_id": call["id"], "content": result}
        state["messages"].append({"role": "user", "content": [answer]})
        state["turns"] += 1
        state["pendingToolUse"] = None
        save_checkpoint(state)
