import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any, Optional


@dataclass
class AgentState:
    task: str
    version: int = 1
    turns: int = 0
    tokensUsed: int = 0
    messages: list[dict[str, Any]] = field(default_factory=list)
    pendingToolUse: Optional[dict[str, Any]] = None


def save_checkpoint(state):
    data = asdict(state) if isinstance(state, AgentState) else state
    tmp = f"checkpoint.json.{os.getpid()}.tmp"
    with open(tmp, "w", encoding="utf-8") as f:
        f.write(json.dumps(data, ensure_ascii=False))
    os.replace(tmp, "checkpoint.json")


def run_agent(task, tools, call_model, execute_tool):
    s = AgentState(task=task)
    s.messages.append({"role": "user", "content": task})
    while (r := call_model(tools=tools, messages=s.messages)).stop_reason == "tool_use":
        s.messages.append({"role": "assistant", "content": r.content})
        for b in r.content:
            if b["type"] != "tool_use":
                continue
            s.pendingToolUse = dict(id=b["id"], name=b["name"], input=b["input"])
            save_checkpoint(s)
            out = execute_tool(b["name"], b["input"])
            s.messages.append({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": b["id"], "content": out}]})
            s.turns += 1
            s.pendingToolUse = None
            save_checkpoint(s)
    return asdict(s)
