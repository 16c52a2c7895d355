"""Lives on disks: what one did, run in batches in the worker, each kind of disk once.

A life is a function of what it looks at. What each looked at is kept in a tree: the first question it asked the disk,
the answer, the next question, and so on. A disk that gives the answers of a known life needs none of its own. This is
exact for code that depends on nothing else (not on the time or on chance).
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from grader.crash import Image, Mark, Memory, Recording
from grader.crash.operations import EFFECT, Observation, Query
from grader.crash.replay import Snapshot
from grader.levels.level4.facts import LARGE, OLD_NAME, SMALL, Script
from grader.levels.trial import Failure, Outcome, Place, Runner, Trial

T = TypeVar("T")
BATCH = 16
"""Lives in one run of the worker."""
FLIPS = 400
"""The same where a life is only a ``load``."""
SECONDS = 5.0


@dataclass(frozen=True)
class Event:
    """One call of the world."""

    at: int
    """Index of the operation in the life's recording."""
    who: str
    what: str
    data: Any
    held: bool
    """Whether its claim held."""
    place: Place


@dataclass(frozen=True, eq=False)
class Life:
    """What one life did, and what came of it."""

    image: Image
    """The disk, and what had happened in the world, when it began."""
    recording: Recording
    data: dict[str, Any]
    """What the driver said of it."""
    failure: Failure | None = None
    """Why it was stopped, when it was."""
    observations: tuple[Observation, ...] = ()
    known: dict[str, Any] = field(default_factory=dict)
    """What has been worked out about it, to be asked for again."""

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Return the calls of the world, in order."""
        try:
            return tuple(
                Event(at, str(mark.data[0]), str(mark.data[1]), mark.data[2], bool(mark.data[3]), place(mark.data[4]))
                for at, mark in enumerate(self.recording.operations)
                if isinstance(mark, Mark) and mark.kind == "event"
            )
        except (TypeError, LookupError, ValueError):
            raise Forged("an event that is none of the driver's") from None

    def mark(self, kind: str, data: Any = None) -> int | None:
        """Return the index of a mark of the driver's."""
        for at, mark in enumerate(self.recording.operations):
            if isinstance(mark, Mark) and mark.kind == kind and data in (None, mark.data):
                return at
        return None

    @cached_property
    def running(self) -> Recording:
        """Return the recording up to where ``resume`` had returned: the part in which it can be crashed."""
        end = self.mark("resume-end", "first")
        operations = self.recording.operations if end is None else self.recording.operations[: end + 1]
        return replace(self.recording, operations=operations)

    @cached_property
    def effects(self) -> tuple[str, ...]:
        """Return the calls that had taken effect in the end, those before it included."""
        operations = self.recording.operations
        new = [str(mark.data[1]) for mark in operations if isinstance(mark, Mark) and mark.kind == EFFECT]
        return (*(key for _, key in self.image.world), *new)


def place(data: Any) -> Place:
    """Return a line that travelled."""
    cell, line, function = data
    return Place(str(cell), int(line), str(function))


class Stopped(Exception):
    """A run that gives nothing to judge by: the functions are not there, or it went past the fake disk."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


class Forged(Exception):
    """What came back is not what the driver says: somebody else wrote it, or the driver was tampered with."""


@dataclass(frozen=True)
class Lived:
    """A life, and what was asked for."""

    ask: dict[str, Any]
    life: Life

    @property
    def script(self) -> Script:
        """Return whose task it was."""
        return next(script for script in (SMALL, LARGE) if script.task == self.ask["script"]["task"])


class Drawn:
    """Some lives of each kind, drawn so that nobody can foresee which."""

    def __init__(self) -> None:
        self._dice = secrets.SystemRandom()
        self._drawn: dict[str, list[Lived]] = {}
        self._seen: Counter[str] = Counter()

    def see(self, lived: Lived) -> None:
        """Take a life, perhaps in place of another."""
        kind = _kind(lived)
        if kind is None:
            return
        self._seen[kind] += 1
        drawn = self._drawn.setdefault(kind, [])
        if len(drawn) < KINDS[kind]:
            drawn.append(lived)
        elif (place := self._dice.randrange(self._seen[kind])) < len(drawn):
            drawn[place] = lived

    def all(self) -> list[tuple[str, Lived]]:
        """Return the lives drawn, each with its kind."""
        return [(kind, lived) for kind, drawn in self._drawn.items() for lived in drawn]


KINDS = {
    "load": 2, "begun": 1, "resumed": 1, "refused": 1, "old": 1, "early": 1, "late": 1, "alone": 1,
}  # fmt: skip
"""How many lives of each kind are drawn: to be lived again elsewhere."""


def _kind(lived: Lived) -> str | None:
    ask, life = lived.ask, lived.life
    if life.failure is not None or ask["do"] not in ("load", "resume"):
        return None
    if ask["do"] == "load":
        return "load"
    rival = ask.get("rival")
    if rival is not None:
        return "early" if not rival["late"] else "late" if rival["comes"] else "alone"
    if list(life.image.names()) == [OLD_NAME] and b'"version": 1' in (life.image.read(OLD_NAME) or b""):
        return "old"
    if life.data["before"]["raised"] is not None:
        return "refused"
    return "begun" if life.data["before"]["loaded"] is None else "resumed"


class Worker:
    """Runs what is asked for, counts it, and draws some of it."""

    def __init__(self, run: Runner) -> None:
        self.run = run
        self.lives = 0
        self.drawn = Drawn()

    def live(self, asks: Sequence[tuple[Image, dict[str, Any]]]) -> list[Life]:
        """Return the lives asked for; fewer, when one of them was stopped, which is then the last."""
        images = tuple(image for image, _ in asks)
        wanted = [{**ask, "image": number} for number, (_, ask) in enumerate(asks)]
        outcome = self.ask(wanted, images)
        pasts = [(past.recording, past.observations) for past in outcome.earlier]
        if outcome.recording is None or len(pasts) >= len(asks):
            raise Forged("another number of lives than were asked for")
        pasts.append((outcome.recording, outcome.observations))
        results = _results(outcome, [ask for _, ask in asks])
        if len(pasts) < len(asks) and outcome.failure is None:
            raise Forged("fewer lives than were asked for")
        lives: list[Life] = []
        for number, ((recording, seen), (image, ask)) in enumerate(zip(pasts, asks, strict=False)):
            self.lives += 1
            if recording.escapes:
                raise Stopped(replace(outcome, recording=recording))
            recording = replace(recording, initial=image)
            if number < len(results):
                lives.append(Life(image, recording, results[number], None, seen))
            else:
                failure = outcome.failure if number == len(pasts) - 1 else None
                lives.append(Life(image, recording, {}, failure, seen))
            self.drawn.see(Lived(ask, lives[-1]))
        return lives

    def ask(self, asks: list[dict[str, Any]], images: tuple[Image, ...]) -> Outcome:
        """Run the driver once."""
        outcome = self.run(Trial("level4", {"asks": asks}, images=images, seconds=SECONDS))
        if outcome.recording is None or (outcome.failure is not None and outcome.failure.kind == "missing"):
            raise Stopped(outcome)
        if outcome.recording.escapes:
            raise Stopped(outcome)
        return outcome

    def flips(self, image: Image, places: Sequence[tuple[int, int]]) -> tuple[Outcome, list[dict[str, Any]]]:
        """Load with one byte turned over, for each of the places; return what ``load`` made of each of them."""
        ask = {"do": "flips", "image": 0, "places": [list(place) for place in places]}
        outcome = self.ask([ask], (image,))
        if outcome.failure is not None:
            return outcome, []
        (result,) = _results(outcome, [ask]) or ({},)
        try:
            found = [result["answers"][which] for which in result["which"]]
        except (TypeError, LookupError):
            found = []
        if len(found) != len(places) or not all(_fits(one, _LOADED) for one in found):
            raise Forged("no answers to the flips")
        return outcome, found


_LOADED, _RESUMED = ("loaded", "raised"), ("returned", "error")
_SAYS = {
    "saves": ("error", "saved", *_LOADED),
    "load": _LOADED,
    "again": ("error", *_LOADED),
    "flips": ("answers", "which"),
    "resume": ("before", "returned", "error", "after", "second"),
}
"""What the driver says of each kind of life."""


def _results(outcome: Outcome, asks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the driver said of its lives; none where it was stopped."""
    if outcome.data is None and outcome.failure is not None:
        return []
    results = outcome.data.get("results") if isinstance(outcome.data, dict) else None
    if not isinstance(results, list) or len(results) != len(asks):
        raise Forged("another number of results than were asked for")
    for result, ask in zip(results, asks, strict=True):
        if not _fits(result, _SAYS[ask["do"]]):
            raise Forged(f"no result of {ask['do']}")
        if ask["do"] == "resume" and not all(_fits(result[when], _LOADED) for when in ("before", "after")):
            raise Forged("no result of load")
        if ask["do"] == "resume" and result["second"] is not None and not _fits(result["second"], _RESUMED):
            raise Forged("no result of a second resumer")
    return results


def _fits(result: Any, names: tuple[str, ...]) -> bool:
    """Whether a result has what it must; an error among it is one that the driver tells."""
    if not isinstance(result, dict) or any(name not in result for name in names):
        return False
    errors = [result[name] for name in ("raised", "error") if name in names and result[name] is not None]
    return all(isinstance(error, dict) and {"type", "message", "place"} <= error.keys() for error in errors)


@dataclass
class _Node:
    branches: dict[Query, dict[Any, _Node]] = field(default_factory=dict)
    result: Any = None
    queries: tuple[Query, ...] = ()


class Known(Memory[T], Generic[T]):
    """What is known of disks by the lives so far, and the disks that no life answers yet.

    It is given to ``survey`` as its memory. A disk that is not known yet is noted and answered by None; once ``settle``
    has lived on some of those, the survey is made again.
    """

    def __init__(self, live: Callable[[list[Image]], list[tuple[T, tuple[Observation, ...]]]]) -> None:
        super().__init__(self._never)
        self.live = live
        self.tree = _Node()
        self.waiting: dict[object, Image] = {}
        self.lived = 0

    @staticmethod
    def _never(_: Image) -> Any:
        raise AssertionError

    def see(self, snapshot: Snapshot) -> tuple[T, tuple[Query, ...]]:
        """Return what is known of this disk, or note it down."""
        node = self._find(self.tree, snapshot.answer)
        if node is not None:
            return node.result, node.queries
        self.waiting.setdefault(snapshot.fingerprint(), snapshot.image())
        return None, ()  # type: ignore[return-value]

    def _find(self, node: _Node, answer: Callable[[Query], Any]) -> _Node | None:
        if node.result is not None:
            return node
        for query, answers in node.branches.items():
            following = answers.get(answer(query))
            found = self._find(following, answer) if following is not None else None
            if found is not None:
                return found
        return None

    def settle(self, most: int = BATCH) -> int:
        """Live on some of the disks that wait, spread evenly; return on how many."""
        images = list(self.waiting.values())
        self.waiting.clear()
        if len(images) > most:
            step = (len(images) - 1) / (most - 1) if most > 1 else 0
            images = [images[round(number * step)] for number in range(most)]
        if images:
            for result, observations in self.live(images):
                self.lived += 1
                self.learn(result, observations)
        return len(images)

    def learn(self, result: T, observations: Sequence[Observation]) -> None:
        """Keep what one life came to."""
        node = self.tree
        for query, answer in observations:
            node = node.branches.setdefault(query, {}).setdefault(answer, _Node())
        node.result, node.queries = result, tuple(query for query, _ in observations)


def counts(image: Image, script: Script) -> tuple[Observation, ...]:
    """Return how often each call had taken effect: what comes of a life depends on it all."""
    return tuple((("world", id), sum(key == id for _, key in image.world)) for id in script.ids())
