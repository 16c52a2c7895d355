"""Lives of a job: what one did, what a crash in it would leave, and the searches over all of them.

A life is run once, to its end, in the worker. A crash after any of its events leaves the last document that was
saved and what had happened in the world by then: a *point*. The next life starts from a point. So no code is ever
stopped half way, and equal points need only one life.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from grader.crash import Mark
from grader.levels.trial import Failure, Outcome, Place, Runner, Trial

WRITES = ("ticket", "notice")
FINAL = ("done", "rejected")
BATCH = 240
"""Lives in one run of the worker."""
SECONDS = 10.0
CLEAN = 6
"""Lives without a crash after which a job that is not finished counts as stuck."""


@dataclass(frozen=True)
class World:
    """What the ticket system and the people hold: (item, key, text or ticket) of each write, and the decisions."""

    tickets: tuple[tuple[str, str, str], ...] = ()
    notices: tuple[tuple[str, str, str], ...] = ()
    decisions: tuple[tuple[str, str], ...] = ()
    lost: int = 0
    """Calls that were made and never arrived."""

    def of(self, kind: str, item: str) -> list[tuple[str, tuple[str, str, str]]]:
        """Return the writes of one kind for an item, with their ids."""
        made, letter = (self.tickets, "T") if kind == "ticket" else (self.notices, "N")
        return [(f"{letter}-{1001 + number}", one) for number, one in enumerate(made) if one[0] == item]

    def writes(self) -> int:
        """Return how many writes took effect."""
        return len(self.tickets) + len(self.notices)

    def calls(self) -> int:
        """Return how many write calls were made, those that never arrived included: each of them costs."""
        return self.writes() + self.lost

    def decision(self, item: str) -> str | None:
        """Return what a person decided."""
        return dict(self.decisions).get(item)


@dataclass(frozen=True)
class Point:
    """What a crash leaves: the document on disk and the world."""

    saved: str
    world: World = World()


@dataclass(frozen=True)
class Event:
    """One thing that happened in a life."""

    kind: str
    data: tuple[Any, ...]
    place: Place


@dataclass(frozen=True)
class Life:
    """One life: the point it started from, the write calls that timed out, its events, and how it ended."""

    point: Point
    timeouts: tuple[tuple[int, str], ...]
    events: tuple[Event, ...]
    error: Failure | None = None

    def points(self) -> list[Point]:
        """Return what a crash leaves after 0, 1, 2 … of the events."""
        found = [self.point]
        for event in self.events:
            found.append(after(found[-1], event))
        return found

    @property
    def timed_out(self) -> bool:
        """Whether a call really timed out."""
        return any(event.kind in WRITES and event.data[3] != "answered" for event in self.events)


def after(point: Point, event: Event) -> Point:
    """Return the point that an event makes of another."""
    if event.kind == "save":
        return replace(point, saved=event.data[0])
    if event.kind in WRITES:
        world = point.world
        if event.data[3] == "lost":
            return replace(point, world=replace(world, lost=world.lost + 1))
        made = (event.data[0], event.data[1], event.data[2])
        if event.kind == "ticket":
            return replace(point, world=replace(world, tickets=(*world.tickets, made)))
        return replace(point, world=replace(world, notices=(*world.notices, made)))
    return point


# ------------------------------------------------------------------------------------------------ the jobs


@dataclass(frozen=True)
class Job:
    """A job to run: item ids, what people will say of those that need an approval, and the budget."""

    items: tuple[str, ...]
    answers: tuple[tuple[str, str], ...] = ()
    limit: int = 100

    def first(self) -> Point:
        """Return the point at which the job begins."""
        return Point(json.dumps(first_state(self), ensure_ascii=False))


def first_state(job: Job) -> dict[str, Any]:
    """Return the task state before anything was done, in the shape that the exercise gives."""
    need = dict(job.answers)
    return {
        "task_id": "seo-july",
        "goal": "Diagnose the pages of the shop; for each finding open a ticket and tell the page's owner.",
        "status": "running",
        "created_by": "mei",
        "created_at": "2026-07-01T09:00:00Z",
        "updated_at": "2026-07-01T09:00:00Z",
        "plan": ["ticket", "notice"],
        "items": [
            {
                "id": item,
                "text": f"{item}: the title is missing",
                "needs_approval": item in need,
                "stage": "pending",
                "steps": {name: blank_step() for name in WRITES},
            }
            for item in job.items
        ],
        "approvals": [],
        "artifacts": {"diagnosis": "reports/diagnosis.jsonl"},
        "budget": {"limit": job.limit, "spent": 0},
    }


def blank_step() -> dict[str, Any]:
    """Return a step of which nothing is done."""
    return {"status": "todo", "idempotency_key": None, "external_id": None, "at": None}


SMALL = Job(("page-12", "page-87", "page-90"), (("page-87", "approved"), ("page-90", "rejected")))
TIGHT = Job(("page-12", "page-13"), limit=3)
LARGE = Job(
    ("page-12", "page-31", "page-40", "page-87", "page-90", "page-121"),
    (("page-31", "approved"), ("page-87", "approved"), ("page-90", "rejected")),
)


# ------------------------------------------------------------------------------------------------ running lives


@dataclass(frozen=True)
class Ask:
    """A life to run."""

    point: Point
    timeouts: tuple[tuple[int, str], ...] = ()


class Lives:
    """Runs lives in the worker, in batches, and remembers those that were run."""

    def __init__(self, run: Runner) -> None:
        self.run = run
        self.known: dict[Ask, Life] = {}
        self.trouble: Outcome | None = None
        """A run that could not be judged at all."""
        self.files = False
        """Whether the learner's code keeps files of its own."""

    def live(self, asks: Sequence[Ask]) -> list[Life]:
        """Return the lives asked for; fewer, when one of them was stopped, which is then the last."""
        new = [ask for ask in dict.fromkeys(asks) if ask not in self.known]
        for start in range(0, len(new), BATCH):
            batch = new[start : start + BATCH]
            lives = self._batch(batch)
            self.known |= dict(zip(batch, lives, strict=False))
            if len(lives) < len(batch) or self.trouble or (lives[-1:] and _stopped(lives[-1])):
                break
        return [self.known[ask] for ask in asks if ask in self.known]

    def _batch(self, batch: list[Ask]) -> list[Life]:
        outcome = self.run(Trial("level3", {"lives": [wire(ask) for ask in batch]}, seconds=SECONDS))
        recording = outcome.recording
        if recording is None or recording.escapes:
            self.trouble = outcome
        if recording is None:
            return []
        texts: list[str] = []
        lives: list[Life] = []
        events: list[Event] = []
        begun = False
        for mark in recording.operations:
            if not isinstance(mark, Mark):
                self.files = True
                continue
            if mark.kind == "text":
                texts.append(str(mark.data))
            elif mark.kind == "life-begin":
                events, begun = [], True
            elif mark.kind == "event":
                events.append(_event(mark.data, texts))
            elif mark.kind == "life-end" and len(lives) < len(batch):
                ask = batch[len(lives)]
                lives.append(Life(ask.point, ask.timeouts, tuple(events), _failure(mark.data)))
                begun = False
        if outcome.failure is not None:
            if begun and len(lives) < len(batch):
                ask = batch[len(lives)]
                lives.append(Life(ask.point, ask.timeouts, tuple(events), outcome.failure))
            else:
                self.trouble = outcome
        return lives


def _stopped(life: Life) -> bool:
    return life.error is not None and life.error.kind != "exception"


def wire(ask: Ask) -> dict[str, Any]:
    """Return a life as the driver is asked for it."""
    world = ask.point.world
    return {
        "saved": ask.point.saved,
        "world": {
            "tickets": [list(one) for one in world.tickets],
            "notices": [list(one) for one in world.notices],
            "decisions": dict(world.decisions),
        },
        "timeouts": {str(number): fate for number, fate in ask.timeouts},
    }


def _event(data: Any, texts: list[str]) -> Event:
    kind, *values, (cell, line, function) = data
    if kind == "save":
        values = [texts[values[0]]]
    return Event(str(kind), tuple(values), Place(str(cell), int(line), str(function)))


def _failure(data: Any) -> Failure | None:
    if data is None:
        return None
    cell, line, function = data["place"]
    place = Place(str(cell), int(line), str(function)) if line else None
    kind: Any = "exit" if data["type"] == "SystemExit" else "exception"
    return Failure(kind, str(data["type"]), str(data["message"]), place)


# ------------------------------------------------------------------------------------------------ histories


@dataclass(frozen=True)
class History:
    """How a point came about: the lives before it, each up to the event at which it ended."""

    point: Point
    lives: tuple[tuple[Life, int], ...] = ()
    """Each earlier life and how many of its events happened."""
    deaths: int = 0
    """Crashes and timeouts so far."""
    clean: tuple[Point, ...] = ()
    """The points since the last crash."""

    def died(self, life: Life, cut: int, point: Point) -> History:
        """Return the history after a crash in a life that started from here."""
        spent = self.deaths + 1 + life.timed_out
        return History(point, (*self.lives, (life, cut)), spent)

    def ended(self, life: Life, point: Point) -> History:
        """Return the history after a life that ended by itself."""
        clean = () if life.timed_out else (*self.clean, self.point)
        return History(point, (*self.lives, (life, len(life.events))), self.deaths + life.timed_out, clean)


def decided(point: Point, job: Job) -> Point:
    """Return the point after people have answered every approval that is on disk."""
    answers = dict(job.answers)
    new = tuple((item, answers[item]) for item in asked(point) if item in answers and not point.world.decision(item))
    if not new:
        return point
    return replace(point, world=replace(point.world, decisions=(*point.world.decisions, *new)))


def asked(point: Point) -> list[str]:
    """Return the items for which an approval is asked on disk."""
    return _asked(point.saved)


@lru_cache(512)
def _asked(saved: str) -> list[str]:
    try:
        entries = json.loads(saved)["approvals"]
        return list(dict.fromkeys(str(entry["item"]) for entry in entries if not entry["decision"]))
    except (ValueError, TypeError, KeyError):
        return []


def choices(point: Point, job: Job) -> Iterator[Point]:
    """Return what people may do next: nothing, or answer what they are asked."""
    yield point
    answered = decided(point, job)
    if answered != point:
        yield answered


Check = Callable[[History, Life, Job], "list[Any]"]
"""Returns the problems of a life, those that matter most first."""


@dataclass
class Found:
    """What a search found."""

    problems: list[Any] = field(default_factory=list)
    moments: int = 0
    lives: int = 0
    whole: bool = True
    """Whether the search went through everything within its bound."""

    @property
    def harmed(self) -> bool:
        """Whether one of the problems harms."""
        return any(problem.harm for problem in self.problems)


Timeouts = tuple[tuple[int, str], ...]
Search = Generator[list[Ask], list[Life], None]
"""Yields the lives it needs next and is sent them (the first of them, when one was stopped)."""


def together(lives: Lives, searches: Sequence[Search]) -> None:
    """Run searches side by side, so that they share the worker's runs, until all end or one finds harm."""
    asks: dict[int, list[Ask]] = {}
    for number, search in enumerate(searches):
        asks[number] = next(search, [])
    while any(asks.values()) and lives.trouble is None:
        lives.live([ask for wanted in asks.values() for ask in wanted])
        for number, search in enumerate(searches):
            if asks[number]:
                known = itertools.takewhile(lambda life: life is not None, map(lives.known.get, asks[number]))
                try:
                    asks[number] = search.send([life for life in known if life is not None])
                except StopIteration:
                    asks[number] = []


def explore(found: Found, job: Job, check: Check, deaths: int, most: int = 1500) -> Search:
    """Crash every life at every point, up to so many deaths in a row; each equal point is lived once."""
    seen: dict[Point, int] = {job.first(): 0}
    front = [History(job.first())]
    while front:
        lives = yield [Ask(history.point) for history in front]
        base = list(zip(front, lives, strict=False))
        timed: list[tuple[History, Timeouts]] = [
            (history, ((number, fate),))
            for history, life in base
            if history.deaths < deaths
            for number in range(sum(event.kind in WRITES for event in life.events))
            for fate in ("done", "lost")
        ]
        late: list[tuple[History, Life]] = []
        if timed:
            lives = yield [Ask(history.point, timeouts) for history, timeouts in timed]
            late = [(history, life) for (history, _), life in zip(timed, lives, strict=False)]
        ahead: list[History] = []
        for history, life in [*base, *late]:
            found.lives += 1
            found.problems += check(history, life, job)
            for following in _next(history, life, job, deaths):
                if seen.get(following.point, deaths + 1) > following.deaths:
                    seen[following.point] = following.deaths
                    ahead.append(following)
            found.moments += len(life.events) + 1
        if found.harmed:
            return
        if found.lives + len(ahead) > most:
            found.whole = False
            return
        front = ahead


def _next(history: History, life: Life, job: Job, deaths: int) -> Iterator[History]:
    points = life.points()
    last = points[-1]
    if life.error is None or life.timed_out:
        for point in choices(last, job):
            yield history.ended(life, point)
    spent = history.deaths + 1 + life.timed_out
    if spent <= deaths:
        for cut in range(1, len(points) - (life.error is None)):
            for point in choices(points[cut], job):
                yield history.died(life, cut, point)


def sample(found: Found, job: Job, check: Check, seed: int, walks: int = 24, deaths: int = 4) -> Search:
    """Crash runs of a job at moments drawn by chance; the same seed draws the same moments."""
    dice = [random.Random(f"{seed}/{walk}") for walk in range(walks)]
    open_walks = {walk: History(job.first()) for walk in range(walks)}
    for _ in range(deaths + 3 * CLEAN):
        names = list(open_walks)
        asks = []
        for walk in names:
            left, one = deaths - open_walks[walk].deaths, dice[walk]
            fate = one.choice(("done", "lost"))
            timeouts: Timeouts = ((one.randrange(6), fate),) if left > 0 and one.random() < 0.35 else ()
            asks.append(Ask(open_walks[walk].point, timeouts))
        lives = yield asks
        for walk, life in zip(names, lives, strict=False):
            history = open_walks[walk]
            found.lives += 1
            found.moments += 1
            found.problems += check(history, life, job)
            following = _step(history, life, job, dice[walk], deaths)
            if following is None:
                del open_walks[walk]
            else:
                open_walks[walk] = following
        if found.harmed or not open_walks:
            return


def _step(history: History, life: Life, job: Job, dice: random.Random, deaths: int) -> History | None:
    points = life.points()
    dies = dice.random() < 0.75 and history.deaths + 1 + life.timed_out <= deaths and len(points) > 2
    cut = dice.randrange(1, len(points)) if dies else len(points) - 1
    point = points[cut]
    if dice.random() < 0.6 or not dies:
        point = decided(point, job)
    if dies:
        return history.died(life, cut, point)
    following = history.ended(life, point)
    return None if point == history.point and not life.timed_out else following
