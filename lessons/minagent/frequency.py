"""How often to save: every N turns, every so many seconds or tokens; at the end and before side effects always."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from .agent import Agent, Save, finished, run
from .messages import calls_in


class Trigger(Protocol):
    """Decides when a save is due. It is asked at each point where saving is safe, and told of each save."""

    def due(self, agent: Agent) -> bool:
        """Say whether enough has happened since the last save."""
        ...

    def saved(self, agent: Agent) -> None:
        """Take note that everything up to now is saved."""


class EverySteps:
    """Due when so many steps, which are turns of the loop, have ended since the last save."""

    def __init__(self, steps: int) -> None:
        if steps < 1:
            raise ValueError(f"A save is due every 1 step or more, not every {steps}.")
        self.steps, self.last = steps, 0

    def due(self, agent: Agent) -> bool:
        """Say whether so many turns have ended."""
        return agent.turns - self.last >= self.steps

    def saved(self, agent: Agent) -> None:
        """Count from here."""
        self.last = agent.turns


class EverySeconds:
    """Due when so much time has passed on the clock it is given. By default that clock can't be set back."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self.clock, self.last = seconds, clock, clock()

    def due(self, agent: Agent) -> bool:
        """Say whether the time is up. It is asked between two things, never in the middle of one."""
        return self.clock() - self.last >= self.seconds

    def saved(self, agent: Agent) -> None:
        """Count from here."""
        self.last = self.clock()


class EveryTokens:
    """Due when so many tokens were used since the last save: what a crash can cost, in money."""

    def __init__(self, tokens: int) -> None:
        self.tokens, self.last = tokens, 0

    def due(self, agent: Agent) -> bool:
        """Say whether so many tokens were used."""
        return agent.tokens_used - self.last >= self.tokens

    def saved(self, agent: Agent) -> None:
        """Count from here."""
        self.last = agent.tokens_used


class FirstOf:
    """Due when one of several triggers is."""

    def __init__(self, *triggers: Trigger) -> None:
        self.triggers = triggers

    def due(self, agent: Agent) -> bool:
        """Ask each of them."""
        return any(trigger.due(agent) for trigger in self.triggers)

    def saved(self, agent: Agent) -> None:
        """Tell each of them."""
        for trigger in self.triggers:
            trigger.saved(agent)


def must_save(agent: Agent) -> bool:
    """Say whether a save is needed now, whatever the trigger says.

    It is at the end; before a tool with side effects runs (point A); and after one that can't be asked later
    whether it ran (point B). A tool that can be asked needs no save at B: its call stands in the save at A.
    """
    if finished(agent):
        return True
    before_the_tools = agent.messages[-1]["role"] == "assistant"
    turn = next((message for message in reversed(agent.messages) if message["role"] == "assistant"), None)
    calls = calls_in(turn) if turn else []
    tools = [agent.tools[call["name"]] for call in calls if call["name"] in agent.tools]
    return any(tool.writes and (before_the_tools or tool.find is None) for tool in tools)


def run_with_checkpoints(
    agent: Agent, save: Save, *, every: int = 1, trigger: Trigger | None = None, **limits: Any
) -> str:
    """Run the task as `run` does, with fewer saves: every so many steps, or when the trigger says so.

    Where `must_save` says so, and when the run stops, it saves in any case. The result is the same for every
    N; what changes is how many steps a crash costs.
    """
    trigger = trigger or EverySteps(every)
    trigger.saved(agent)
    behind = False  # whether anything has happened that no save holds

    def now_and_then(agent: Agent) -> None:
        nonlocal behind
        behind = not (must_save(agent) or trigger.due(agent))
        if not behind:
            save(agent)
            trigger.saved(agent)

    status = run(agent, now_and_then, **limits)
    if behind:
        save(agent)
    return status
