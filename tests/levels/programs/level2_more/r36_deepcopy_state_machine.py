import copy
import json
import os
from enum import Enum, auto


class Phase(Enum):
    THINK = auto()
    ACT = auto()
    DONE = auto()


def save_checkpoint(state, filename="checkpoint.json"):
    snapshot = copy.deepcopy(state)
    scratch = filename + ".scratch"
    with open(scratch, "w", encoding="utf-8") as fh:
        json.dump(snapshot, fh, ensure_ascii=True, separators=(",", ":"))
        fh.flush()
        os.fsync(fh.fileno())
    os.replace(scratch, filename)


class Machine:
    def __init__(self, task, tools, call_model, execute_tool):
        self.tools, self.call_model, self.execute_tool = tools, call_model, execute_tool
        self.phase = Phase.THINK
        self.state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
                      "messages": [{"role": "user", "content": task}], "pendingToolUse": None}

    def think(self):
        response = self.call_model(tools=self.tools, messages=copy.deepcopy(self.state["messages"]))
        self.state["messages"].append({"role": "assistant", "content": copy.deepcopy(response.content)})
        match response.stop_reason:
            case "tool_use":
                call = next(b for b in response.content if b["type"] == "tool_use")
                self.state["pendingToolUse"] = {"input": call["input"], "name": call["name"], "id": call["id"]}
                self.phase = Phase.ACT
            case _:
                self.phase = Phase.DONE
        save_checkpoint(self.state)

    def act(self):
        p = self.state["pendingToolUse"]
        result = self.execute_tool(p["name"], p["input"])
        self.state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": p["id"], "content": result}]})
        self.state["turns"] += 1
        self.state["pendingToolUse"] = None
        self.phase = Phase.THINK
        save_checkpoint(self.state)

    def run(self):
        while self.phase is not Phase.DONE:
            {Phase.THINK: self.think, Phase.ACT: self.act}[self.phase]()
        return self.state


def run_agent(task, tools, call_model, execute_tool):
    return Machine(task, tools, call_model, execute_tool).run()
