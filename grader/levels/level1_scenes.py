"""The five scenes of Level 1, and what the reference agent really does in them.

A scene is a job, the crashes it meets, and figures that vary by learner. :func:`play` runs minagent on it twice
over: with a checkpoint of all six fields, and with one field left out of every save. The second run resumes with
``forgiving``, which treats a missing field as much real code does (``document.get("turns", 0)``). The key to a
question is what was seen; it is written down nowhere.

minagent has no ``except`` and no ``finally`` in its loop, so a crash can be an exception that nothing catches: what
is on disk is what the last save left there.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import minagent
from minagent import Agent, Document, FakeModel, Message, Response

FIELDS = ("version", "task", "turns", "tokensUsed", "pendingToolUse")
"""The five fields that a save of nothing but ``messages`` leaves out, in the protocol's order."""

SAVED, NAMED, DONE = "saved", "named", "done"
"""Moments to die at: right after save point B; after A, before the tool; after the tool, before its result is saved."""


@dataclass(frozen=True)
class Crash:
    """The process dies in this turn, at this moment."""

    turn: int
    moment: str = SAVED


@dataclass(frozen=True)
class Scene:
    """One job with its crashes, for one field."""

    field: str
    turns: int
    """Turns of the job; the model then answers in text."""
    crashes: tuple[Crash, ...]
    task: str = "order"
    first_cost: int = 1000
    more: int = 0
    """Tokens of turn 1, and how many more each turn costs than the one before."""
    max_turns: int | None = None
    compact_at: int | None = None
    keep: int | None = None
    """How many turns of the messages a save keeps, if not all."""
    writer: str | None = None
    """Which other version of the program wrote the file, if not this one."""

    def cost(self, turn: int) -> int:
        """Return the tokens that a turn costs."""
        return self.first_cost + (turn - 1) * self.more


TASKS = {
    "order": "Refund order 1017 and tell the customer.",
    "pages": "Check the pages of the shop for broken links.",
    "invoices": "Book the invoices of March and list those that do not add up.",
    "photos": "Sort the photos of the trip by place and write a caption for each.",
}


# -- programs of another version -----------------------------------------------------------------------------


def _version_0(document: Document) -> Document:
    names = {"tokensUsed": "tokens_used", "pendingToolUse": "pending_tool_use"}
    return {**{names.get(key, key): value for key, value in document.items()}, "version": 0}


def _thousands(document: Document) -> Document:
    return {**document, "version": 2, "tokensUsed": document["tokensUsed"] // 1000}


def _turns_run(document: Document) -> Document:
    renamed = {"turnsRun" if key == "turns" else key: value for key, value in document.items()}
    return {**renamed, "version": 2}


def _blocks(document: Document) -> Document:
    text = json.dumps(document["messages"], ensure_ascii=False)
    text = text.replace('"type": "tool_use"', '"type": "call"').replace('"type": "tool_result"', '"type": "answer"')
    return {**document, "version": 2, "messages": json.loads(text)}


def _owner(document: Document) -> Document:
    return {**document, "version": 2, "owner": "mei"}


WRITERS: dict[str, Callable[[Document], Document]] = {
    "version_0": _version_0,
    "thousands": _thousands,
    "turns_run": _turns_run,
    "blocks": _blocks,
    "owner": _owner,
}
"""What a program of another version makes of the same state."""


# -- the figures ---------------------------------------------------------------------------------------------

_FIXED = {
    "version": Scene("version", 9, (Crash(6),), first_cost=2000, writer="thousands"),
    "task": Scene("task", 8, (Crash(5),), task="order"),
    "turns": Scene("turns", 60, (Crash(7),), max_turns=12),
    "tokensUsed": Scene("tokensUsed", 24, (Crash(4),), first_cost=1000, more=200, compact_at=12000),
    "pendingToolUse": Scene("pendingToolUse", 5, (Crash(2, NAMED), Crash(4, DONE))),
}


def scene(name: str, learner: str = "") -> Scene:
    """Return the scene of a field with this learner's figures; without a learner, the fixed ones."""
    return _drawn(name, random.Random(f"level1/{name}/{learner}")) if learner else _FIXED[name]


def another(mine: Scene) -> Scene:
    """Return a scene of the same field with other figures and, where there is one, another answer."""
    key = answer(mine)
    fallback = mine
    for number in range(60):
        found = _drawn(mine.field, random.Random(f"another/{mine}/{number}"))
        if found != mine and found.crashes != mine.crashes:
            fallback = found
            if answer(found) != key:
                return found
    return fallback


def _drawn(name: str, draw: random.Random) -> Scene:
    if name == "version":
        return Scene(
            name,
            9,
            (Crash(draw.randint(4, 8)),),
            first_cost=1000 * draw.randint(2, 4),
            writer=draw.choice(list(WRITERS)),
        )
    if name == "task":
        turns = draw.randint(6, 11)
        return Scene(
            name,
            turns,
            (Crash(draw.randint(3, turns - 2)),),
            task=draw.choice(list(TASKS)),
            keep=draw.choice((None, 2)),
        )
    if name == "turns":
        limit = draw.randint(8, 14)
        return Scene(name, 60, (Crash(draw.randint(3, limit - 2)),), max_turns=limit)
    if name == "tokensUsed":
        while True:
            made = Scene(
                name,
                24,
                (Crash(draw.randint(3, 6)),),
                first_cost=100 * draw.randint(8, 14),
                more=100 * draw.randint(1, 3),
                compact_at=1000 * draw.randint(9, 16),
            )
            crash, right = made.crashes[0].turn, answer(made)
            whole = play(made, None).compactions[0]
            if crash + 1 < whole and right not in (whole, crash + whole):
                return made
    mails = draw.randint(5, 8)
    deaths = sorted(draw.sample(range(2, mails + 1), draw.choice((2, 3))))
    moments = [NAMED, DONE, *[draw.choice((NAMED, DONE)) for _ in deaths[2:]]]
    draw.shuffle(moments)
    return Scene(name, mails, tuple(Crash(turn, moment) for turn, moment in zip(deaths, moments, strict=True)))


# -- what was seen -------------------------------------------------------------------------------------------


@dataclass
class Turn:
    """One turn as a process began it: its number in the whole job and what the host then held."""

    number: int
    turns: int = 0
    tokens: int = 0
    cost: int = 0
    effect: str | None = None
    """The call that took effect in it."""
    saves: str = ""
    """The save points that were passed: "", "A" or "AB"."""


@dataclass
class Process:
    """One process, from its start or resume to its end."""

    began: dict[str, Any] = field(default_factory=dict)
    """The values it began with."""
    sentence: str | None = None
    """What the host said to the user when it resumed."""
    turns: list[Turn] = field(default_factory=list)
    compacted: int | None = None
    """The turn after which it compacted for the first time."""
    crash: Crash | None = None
    error: str | None = None
    message: str = ""
    ended: str | None = None


@dataclass
class Story:
    """What happened in a scene, with all fields or without one."""

    scene: Scene
    without: str | None
    processes: list[Process] = field(default_factory=list)
    found: Document = field(default_factory=dict)
    """The document that the last resume found on disk."""
    truth: dict[str, Any] = field(default_factory=dict)
    """What the dead process held when it was last saved, for the last resume."""
    done: list[str] = field(default_factory=list)
    """Every time a call took effect in the world, in order."""
    turns: int = 0
    """Turns booked, all processes together."""
    asked_back: bool = False
    """Whether the model had to ask what the task was."""

    @property
    def last(self) -> Process:
        """The last process."""
        return self.processes[-1]

    @property
    def compactions(self) -> list[int]:
        """Turns after which the history was compacted."""
        return [p.compacted for p in self.processes if p.compacted is not None]

    @property
    def effects(self) -> Counter[str]:
        """How often each call took effect."""
        return Counter(self.done)

    @property
    def named(self) -> bool:
        """Whether the host's sentence on resuming names the task."""
        return TASKS[self.scene.task] in (self.last.sentence or "")

    @property
    def repeated(self) -> int:
        """How many calls took effect more than once."""
        return sum(count > 1 for count in self.effects.values())

    @property
    def restarted(self) -> bool:
        """Whether everything that was done before the crash was done again."""
        before = {turn.effect for turn in self.processes[0].turns if turn.effect is not None}
        return len(before) > 1 and all(self.effects[call] > 1 for call in before)


VALUES = ("task", "turns", "tokensUsed", "pendingToolUse")


class _Died(BaseException):
    """The end of a process; nothing in minagent catches it."""


class _Reader(FakeModel):
    """A scripted model that reads the history so far that it asks back when the task is not in it."""

    def __init__(self, script: list[Response], task: str) -> None:
        super().__init__(script)
        self.task, self.asked_back = task, False

    def __call__(self, *, messages: list[Message], tools: list[dict[str, Any]]) -> Response:
        if not any(self.task in minagent.words_of(message) for message in messages):
            self.asked_back = True
            return minagent.says("What is it that I should do?")
        return super().__call__(messages=messages, tools=tools)


class _Host:
    """Runs a scene, process by process."""

    def __init__(self, scene: Scene, without: str | None, path: Path) -> None:
        self.scene, self.without, self.path = scene, without, path
        self.story = Story(scene, without)
        self.crashes = list(scene.crashes)
        self.task = TASKS[scene.task]
        self.on_disk: Document = {}
        self.held: dict[str, Any] = {}
        tool = minagent.Tool("work", self.work, writes=True, find=self.find)
        self.tools = minagent.toolbox(tool)
        self.before = 0

    # the world
    def work(self, number: int, call_id: str) -> str:
        """Do one thing in the world."""
        self.story.done.append(call_id)
        if self.story.processes[-1].turns:
            self.story.last.turns[-1].effect = call_id
        self.die(DONE)
        return f"{number} is done"

    def find(self, call_id: str) -> minagent.Finding:
        """Say whether a call took effect."""
        return minagent.Ran("done") if call_id in self.story.done else minagent.NOT_RUN

    def die(self, moment: str) -> None:
        """Die, if it is time."""
        turns = self.story.last.turns
        if self.crashes and turns and self.crashes[0] == Crash(turns[-1].number, moment):
            self.story.last.crash = self.crashes.pop(0)
            raise _Died

    # the host
    def model(self) -> _Reader:
        """Return a model at the beginning of its script."""
        script = [
            minagent.asks(
                minagent.tool_use(f"c{turn}", "work", {"number": turn}),
                input_tokens=self.scene.cost(turn) - 100,
                output_tokens=100,
            )
            for turn in range(1, self.scene.turns + 1)
        ]
        return _Reader([*script, minagent.says("All is done.")], self.task)

    def save(self, agent: Agent) -> None:
        """Keep the checkpoint, without the field, as what is on disk; note which save point it was."""
        document = minagent.checkpoint(agent)
        if self.scene.writer is not None and len(self.story.processes) == 1:
            document = WRITERS[self.scene.writer](document)
        if self.scene.keep is not None:
            document["messages"] = document["messages"][-2 * self.scene.keep :]
        if self.without is not None:
            document.pop(self.without, None)
        self.on_disk, self.held = document, _values(agent)
        self.story.turns = _booked(agent)
        process, step = self.story.last, agent.steps[-1:]
        if step and step[0]["kind"] == "compaction" and not agent.pending and process.compacted is None:
            process.compacted = _booked(agent)
        elif agent.pending:
            cost = agent.tokens_used - self.before
            process.turns.append(Turn(_booked(agent) + 1, agent.turns, agent.tokens_used, cost, saves="A"))
            self.before = agent.tokens_used
            self.die(NAMED)
        elif process.turns and process.turns[-1].saves == "A":
            process.turns[-1].saves, process.turns[-1].turns = "AB", agent.turns
            self.die(SAVED)

    def resume(self) -> Agent:
        """Begin a new process from what is on disk."""
        self.story.found, self.story.truth = self.on_disk, self.held
        self.path.write_bytes(minagent.encode(self.on_disk))
        agent = minagent.resume(self.path, self.model(), self.tools, forgiving=self.without is not None)
        self.story.last.sentence = agent.notices[-1]
        return agent

    def go(self) -> Story:
        """Run the whole scene."""
        limits: dict[str, Any] = {"compact_at": self.scene.compact_at}
        if self.scene.max_turns is not None:
            limits["max_turns"] = self.scene.max_turns
        first = True
        while True:
            self.story.processes.append(Process())
            process = self.story.last
            try:
                agent = minagent.start(self.task, self.model(), self.tools) if first else self.resume()
                process.began, self.before, first = _values(agent), agent.tokens_used, False
                process.ended = minagent.run(agent, self.save, **limits)
                self.story.asked_back = isinstance(agent.model, _Reader) and agent.model.asked_back
                return self.story
            except _Died:
                continue
            except minagent.MinagentError as error:
                process.error, process.message = type(error).__name__, str(error)
                return self.story


def _booked(agent: Agent) -> int:
    return sum(step["kind"] == "tool_call" for step in agent.steps)


def _values(agent: Agent) -> dict[str, Any]:
    pending = minagent.pack_pending(agent.pending)
    return {"task": agent.task, "turns": agent.turns, "tokensUsed": agent.tokens_used, "pendingToolUse": pending}


@lru_cache(maxsize=1024)
def play(scene: Scene, without: str | None) -> Story:
    """Run the reference agent through a scene and return what happened."""
    with tempfile.TemporaryDirectory(prefix="crash-course-") as folder:
        return _Host(scene, without, Path(folder) / "checkpoint.json").go()


# -- the key -------------------------------------------------------------------------------------------------


def loaded(story: Story) -> str:
    """Say what the loader did with a file of another version."""
    if story.last.error is not None:
        return "refused" if story.last.error == "UnknownVersion" else "odd-error"
    if story.last.began != story.truth:
        return "misread"
    return "migrated" if "version" in story.found else "lucky"


def told(story: Story) -> str:
    """Say what the host could tell the user, and how the task ended."""
    if story.last.error is not None:
        return "refused"
    end = "stops" if story.asked_back else "restarts" if story.restarted else "finishes"
    return f"{'named' if story.named else 'unnamed'}-{end}"


LOADED = ("refused", "migrated", "misread", "lucky", "odd-error")
TOLD = (
    "named-finishes",
    "named-restarts",
    "named-stops",
    "unnamed-finishes",
    "unnamed-restarts",
    "unnamed-stops",
    "refused",
)
OUTCOMES: dict[str, tuple[str, ...]] = {"version": LOADED, "task": TOLD}
"""The outcomes to choose from, where the prediction is no number."""


def seen(story: Story) -> int | str:
    """Return what a scene's question asks for, as it was seen."""
    if story.scene.field == "version":
        return loaded(story)
    if story.scene.field == "task":
        return told(story)
    if story.scene.field == "turns":
        return story.turns
    if story.scene.field == "tokensUsed":
        return story.compactions[0] if story.compactions else 0
    return len(story.done)


def answer(scene: Scene) -> int | str:
    """Return what the right prediction is: the scene, played without its field."""
    return seen(play(scene, scene.field))


def _first(story: Story) -> int:
    return story.compactions[0] if story.compactions else 10**6


SAFE = ("refused", "migrated")

CONSEQUENCES: dict[str, Callable[[Story, Story], bool]] = {
    "format-unknown": lambda w, a: (
        "version" in (w.without or "")
        and loaded(a) in ("refused", "migrated")
        and loaded(w) not in ("refused", "migrated")
    ),
    "task-unknown": lambda w, a: a.named and not w.named,
    "model-lost": lambda w, a: w.asked_back and not a.asked_back,
    "stop-late": lambda w, a: w.turns > a.turns and a.last.error is None,
    "stop-early": lambda w, a: w.turns < a.turns and w.last.error is None,
    "compaction-late": lambda w, a: _first(w) > _first(a),
    "compaction-early": lambda w, a: _first(w) < _first(a),
    "call-repeated": lambda w, a: w.repeated > a.repeated and not w.restarted,
    "all-repeated": lambda w, a: w.restarted and not a.restarted,
    "load-error": lambda w, a: w.last.error is not None and a.last.error is None,
    "no-harm": lambda w, a: (
        (w.turns, w.compactions, w.done, w.named, w.asked_back, w.last.began, w.last.error)
        == (a.turns, a.compactions, a.done, a.named, a.asked_back, a.last.began, a.last.error)
    ),
}
"""Each consequence to choose from, and how it shows: in the run without the field (first) against the run with all."""


def consequences(scene: Scene) -> set[str]:
    """Return the consequences that were seen when the scene was played without its field."""
    without, whole = play(scene, scene.field), play(scene, None)
    return {name for name, shows in CONSEQUENCES.items() if shows(without, whole)}
