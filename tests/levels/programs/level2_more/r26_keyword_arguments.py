import json
import os


def save_checkpoint(*, task, turns, tokensUsed, messages, pendingToolUse=None, version=1):
    document = {"version": version, "task": task, "turns": turns, "tokensUsed": tokensUsed,
                "messages": messages, "pendingToolUse": pendingToolUse}
    with open("checkpoint.json.tmp", "w", encoding="utf-8") as f:
        json.dump(document, f, ensure_ascii=False)
    os.replace("checkpoint.json.tmp", "checkpoint.json")


def run_agent(task, tools, call_model, execute_tool):
    messages = [{"role": "user", "content": task}]
    turns = tokens = 0
    while True:
        response = call_model(tools=tools, messages=messages)
        tokens += response.usage.input_tokens + response.usage.output_tokens
        if response.stop_reason != "tool_use":
            break
        messages.append({"role": "assistant", "content": response.content})
        call = next(b for b in response.content if b["type"] == "tool_use")
        pending = {"id": call["id"], "name": call["name"], "input": call["input"]}
        save_checkpoint(task=task, turns=turns, tokensUsed=tokens, messages=messages, pendingToolUse=pending)
        result = execute_tool(call["name"], call["input"])
        messages.append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call["id"], "content": result}]})
        turns += 1
        save_checkpoint(task=task, turns=turns, tokensUsed=tokens, messages=messages)
    return {"version": 1, "task": task, "turns": turns, "tokensUsed": tokens,
            "messages": messages, "pendingToolUse": None}
