"""The loop: one model call at a time, a moment to save before the tools run, one after each result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .messages import Call, Message, calls_in, tool_result, words_of
from .model import Model, Response
from .session import Session
from .tools import Tools, execute

Step = dict[str, Any]
"""What happened, for people: ``{"index", "kind", "detail"}``."""


@dataclass
class Agent:
    """Everything the host holds while a task runs. All but the model and the tools must survive a crash."""

    task: str
    model: Model
    tools: Tools
    session: Session
    turns: int = 0
    tokens_used: int = 0
    pending: list[Call] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """What recovery had to tell; not saved."""

    @property
    def messages(self) -> list[Message]:
        """The conversation so far."""
        return self.session.messages


Save = Callable[[Agent], None]


def no_save(agent: Agent) -> None:
    """Save nothing: the agent lives and dies with its process."""


def start(task: str, model: Model, tools: Tools, system: str = "You are a careful agent.") -> Agent:
    """Make an agent at the beginning of a task: two messages, nothing done."""
    messages: list[Message] = [{"role": "system", "content": system}, {"role": "user", "content": task}]
    return Agent(task, model, tools, Session(messages))


def add_step(agent: Agent, kind: str, detail: str) -> None:
    """Add a step. Its index is the number of steps so far, so it goes on across pauses and processes."""
    agent.steps.append({"index": len(agent.steps), "kind": kind, "detail": detail})


# -- one step ------------------------------------------------------------------------------------------------


def call_model(agent: Agent) -> Response:
    """Ask the model once and book what it said and cost."""
    tools = [{"name": tool.name, "description": tool.description} for tool in agent.tools.values()]
    response = agent.model(messages=agent.messages, tools=tools)
    agent.tokens_used += response.usage.input_tokens + response.usage.output_tokens
    agent.messages.append({"role": "assistant", "content": list(response.content)})
    return response


def book(agent: Agent, call: Call, result: str) -> None:
    """Put a result into the history and strike the call off; the last one ends the turn."""
    if agent.messages[-1]["role"] != "user":
        agent.messages.append({"role": "user", "content": []})
    agent.messages[-1]["content"].append(tool_result(call["id"], result))
    agent.pending = [other for other in agent.pending if other["id"] != call["id"]]
    if not agent.pending:
        agent.turns += 1
        named = next(message for message in reversed(agent.messages) if message["role"] == "assistant")
        add_step(agent, "tool_call", ", ".join(f"{call['name']} ({call['id']})" for call in calls_in(named)))


def step_once(agent: Agent, save: Save = no_save) -> str:
    """Call the model once. Return "paused" when it named tools and they ran, "done" when it gave text."""
    call_model(agent)
    agent.pending = calls_in(agent.messages[-1])
    if not agent.pending:
        agent.turns += 1
        add_step(agent, "final", words_of(agent.messages[-1]))
        save(agent)
        return "done"
    save(agent)  # A: named, not run
    for call in agent.pending:
        book(agent, call, execute(agent.tools, call))
        save(agent)  # B: run and booked
    return "paused"


# -- many steps ----------------------------------------------------------------------------------------------


def compact(agent: Agent, keep: int = 2) -> None:
    """Shorten the history: keep its head and the last `keep` turns, and put one note in place of the rest."""
    starts = [number for number, message in enumerate(agent.messages) if message["role"] == "assistant"]
    cut = starts[-keep] if len(starts) > keep else 2
    dropped = agent.messages[2:cut]
    if dropped:
        note = f"[{len(dropped)} earlier messages were dropped to save room.]"
        agent.messages[2:cut] = [{"role": "user", "content": note}]
    add_step(agent, "compaction", f"turn {agent.turns}: {len(dropped)} messages dropped")


def compaction_due(agent: Agent, compact_at: int) -> bool:
    """Say whether the tokens used have passed one more multiple of the threshold than was compacted for."""
    done = sum(step["kind"] == "compaction" for step in agent.steps)
    return bool(agent.tokens_used // compact_at > done)


def finished(agent: Agent) -> bool:
    """Say whether the model has given its last answer."""
    return any(step["kind"] == "final" for step in agent.steps)


def run(agent: Agent, save: Save = no_save, *, max_turns: int = 50, compact_at: int | None = None) -> str:
    """Step until the model is done ("done") or the task has used up its turns ("max_turns").

    Both limits count the whole task, across crashes: that is why `turns` and `tokensUsed` are saved.
    """
    if finished(agent):
        return "done"
    while agent.turns < max_turns:
        if compact_at is not None and compaction_due(agent, compact_at):
            compact(agent)
            save(agent)
        if step_once(agent, save) == "done":
            return "done"
    return "max_turns"
