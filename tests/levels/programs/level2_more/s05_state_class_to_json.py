import json
import os


class State:
    def __init__(self, task):
        self.task = task
        self.turns = 0
        self.tokens_used = 0
        self.messages = [{"role": "user", "content": task}]
        self.pending = None

    def to_dict(self):
        return {"version": 1, "task": self.task, "turns": self.turns, "tokensUsed": self.tokens_used,
                "messages": self.messages, "pendingToolUse": self.pending}


def save_checkpoint(state):
    with open("checkpoint.json.tmp", "w", encoding="utf-8") as f:
        json.dump(state.to_dict(), f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")


def run_agent(task, tools, call_model, execute_tool):
    state = State(task)
    while True:
        response = call_model(tools=tools, messages=state.messages)
        state.tokens_used += response.usage.input_tokens + response.usage.output_tokens
        if response.stop_reason != "tool_use":
            return state.to_dict()
        state.messages.append({"role": "assistant", "content": response.content})
        use = next(b for b in response.content if b["type"] == "tool_use")
        state.pending = {"id": use["id"], "name": use["name"], "input": use["input"]}
        save_checkpoint(state)
        out = execute_tool(use["name"], use["input"])
        state.messages.append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": use["id"], "content": out}]})
        state.turns += 1
        state.pending = None
        save_checkpoint(state)
