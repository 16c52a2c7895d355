import io
import json
import shutil


def save_checkpoint(state):
    source = io.BytesIO(json.dumps(state).encode())
    with open("checkpoint.json", "wb") as target:
        shutil.copyfileobj(source, target)


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
