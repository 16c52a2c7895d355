"""Each save by itself: killed and without power at every moment, and the next save on what that leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from grader.crash import (
    ROOT,
    Exploration,
    Found,
    Image,
    Mark,
    Next,
    PowerLoss,
    ProcessKill,
    Recording,
    Survey,
    Verdict,
)
from grader.crash.models import CrashModel
from grader.crash.operations import Observation
from grader.crash.replay import images_along, replay
from grader.levels.level4.documents import differing, same_document
from grader.levels.level4.facts import SMALL, Document, Script
from grader.levels.level4.lives import FLIPS, Known, Life, Worker

KILL = ProcessKill(every_byte=0, cuts=48)


def documents_of(script: Script) -> list[Document]:
    """Return documents of a task, in the order in which they are saved."""
    return [script.document(1, True), script.document(1), script.document(2, True), script.final()]


DOCUMENTS = tuple(documents_of(SMALL))
FURTHER = SMALL.document(0)
"""What is saved on leftovers: none of the others."""
EMPTY = Image.of({}, cwd=ROOT)


@dataclass(frozen=True)
class Trouble:
    """What goes wrong with saves and loads before anything crashes."""

    kind: str
    number: int
    life: Life
    field: str = ""


@dataclass(frozen=True)
class Loaded:
    """What one load gave, or what it raised."""

    value: Any
    error: dict[str, Any] | None

    def words(self) -> str:
        """Return what happened, in short."""
        if self.error is not None:
            return f"{self.error['type']}: {self.error['message']}"[:160]
        return "None" if self.value is None else repr(self.value)[:80]


@dataclass(frozen=True)
class Following:
    """What a save on leftovers came to."""

    error: dict[str, Any] | None
    loaded: Loaded


class Saves:
    """Explores the saves."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.images = 0
        self.life: Life | None = None

    def trouble(self) -> Trouble | None:
        """Save every document in turn, and load the last: what must work before any crash."""
        life = self.worker.live([(EMPTY, {"do": "saves", "documents": list(DOCUMENTS)})])[0]
        if life.failure is not None:
            return Trouble("stopped", 0, life)
        if life.data["error"] is not None:
            return Trouble("save_raises", life.data["saved"], life)
        if life.data["raised"] is not None:
            return Trouble("load_raises", len(DOCUMENTS) - 1, life)
        if not same_document(life.data["loaded"], DOCUMENTS[-1]):
            field = differing(life.data["loaded"], DOCUMENTS[-1])
            return Trouble("load_differs", len(DOCUMENTS) - 1, life, field)
        self.life = life
        return None

    def first(self) -> Image:
        """Return the disk after the first save, with no older copy."""
        assert self.life is not None
        end = self.life.mark("save-end", 0)
        return replay(self.life.recording, (end or 0) + 1).image()

    def explorations(self) -> Iterator[Exploration[Any]]:
        """Explore each save in turn, as :func:`grader.crash.explore` would; until one is at fault."""
        assert self.life is not None
        loads: Known[Loaded] = Known(self._load)
        further: Known[Following] = Known(self._further)
        for number, recording in enumerate(_each(self.life.recording)):
            kill, power = self._surveyed(KILL, recording, loads), self._surveyed(PowerLoss(), recording, loads)
            found = [_judged(survey, number) for survey in (kill, power)]
            path = next((path for (kind, path), _ in self._seen if kind == "data"), None)
            path = path.removeprefix(ROOT + "/") if path else None
            yield Exploration(recording, None, found[0], found[1], None, path)
            following = self._surveyed(KILL, recording, further)
            yield Exploration(recording, None, found[0], found[1], _following(following), path)
            self.images += kill.images + power.images

    _seen: tuple[Observation, ...] = ()

    def _surveyed(self, model: CrashModel, recording: Recording, known: Known[Any]) -> Survey[Any]:
        before = known.lived
        while True:
            survey = model.survey(recording, known.look, memory=known)
            if not known.settle(FLIPS // 4):
                return replace(survey, looks=known.lived - before)

    def _load(self, images: list[Image]) -> list[tuple[Loaded, tuple[Observation, ...]]]:
        lives = self.worker.live([(image, {"do": "load"}) for image in images])
        self._seen = lives[-1].observations or self._seen
        return [(_loaded(life), life.observations) for life in lives]

    def _further(self, images: list[Image]) -> list[tuple[Following, tuple[Observation, ...]]]:
        lives = self.worker.live([(image, {"do": "again", "document": FURTHER}) for image in images])
        return [(Following(life.data.get("error"), _loaded(life)), life.observations) for life in lives]


def _loaded(life: Life) -> Loaded:
    if life.failure is not None:
        return Loaded(None, {"type": life.failure.kind, "message": life.failure.message, "place": ["", 0, ""]})
    return Loaded(life.data["loaded"], life.data["raised"])


def _each(whole: Recording) -> Iterator[Recording]:
    """Cut the recording of many saves into recordings of one."""
    images = images_along(whole)
    begin = 0
    for at, operation in enumerate(whole.operations):
        if isinstance(operation, Mark) and operation.kind == "save-begin":
            begin = at
        elif isinstance(operation, Mark) and operation.kind == "save-end":
            yield replace(whole, initial=images[begin], operations=whole.operations[begin : at + 1])


def _judged(survey: Survey[Any], number: int) -> Survey[Found]:
    new, old = DOCUMENTS[number], DOCUMENTS[number - 1] if number else None
    outcomes = tuple(replace(outcome, result=_found(outcome.result, old, new)) for outcome in survey.outcomes)
    return replace(survey, outcomes=outcomes)


def _found(loaded: Loaded, old: Document | None, new: Document) -> Found:
    if loaded.error is not None:
        return Found(Verdict.RAISES, loaded.words())
    if same_document(loaded.value, new):
        return Found(Verdict.NEW)
    if (loaded.value is None and old is None) or (old is not None and same_document(loaded.value, old)):
        return Found(Verdict.OLD)
    return Found(Verdict.WRONG, loaded.words())


def _following(survey: Survey[Any]) -> Survey[Next]:
    def judged(following: Following) -> Next:
        if following.error is not None:
            return Next(f"the next save raised {following.error['type']}: {following.error['message']}"[:160])
        if following.loaded.error is not None:
            return Next(f"the next save returned, but load then raised {following.loaded.words()}")
        if not same_document(following.loaded.value, FURTHER):
            return Next(f"the next save returned, but load then gave {following.loaded.words()}")
        return Next()

    outcomes = tuple(replace(outcome, result=judged(outcome.result)) for outcome in survey.outcomes)
    return replace(survey, outcomes=outcomes)
