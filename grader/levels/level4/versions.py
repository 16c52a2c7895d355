"""Documents of other versions: last year's, which is migrated, and next year's, which is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator

from grader.crash import ROOT, Image
from grader.crash.replay import replay
from grader.levels.level4.documents import differing, same_document
from grader.levels.level4.facts import OLD_NAME, SMALL, Document, as_text, version_1
from grader.levels.level4.lives import Life, Worker
from grader.levels.level4.rules import Problem, Start, check_refused
from grader.levels.level4.runs import Search
from grader.levels.level4.saves import EMPTY

NEWER = {
    "version": 3,
    "job": {"goal": SMALL.task, "of": "2027"},
    "events": [{"n": 1, "did": "pay", "call": "c1"}],
}
EFFECT = "run"


class Versions:
    """Loads and resumes documents of other versions."""

    def __init__(self, worker: Worker, search: Search) -> None:
        self.worker, self.search = worker, search

    def problem(self) -> Problem | None:
        """Return the first problem there is."""
        return self._older() or self._newer() or self._newer_of_ones_own()

    def _older(self) -> Problem | None:
        cases = list(_old_documents())
        lives = self.search.lives([image for _, _, image in cases])
        begun: list[tuple[Start, Life]] = []
        for (pending, wanted, _), life in zip(cases, lives, strict=False):
            start = Start("old", {"pending": pending})
            wrong = _migrated(start, life, wanted) or self.search.first(start, life)
            if wrong is not None:
                return wrong
            begun.append((start, life))
        return self.search.crash_all(begun)

    def _newer(self) -> Problem | None:
        own = replay(self.search.base.running).image().files()
        text = json.dumps(NEWER).encode()
        for files in ({}, own):  # on an empty disk, and over or beside copies of one's own
            image = Image.of({**files, f"{ROOT}/{OLD_NAME}": text}, cwd=ROOT)
            wrong = self._refused(Start("newer"), self.search.life(image), image)
            if wrong is not None:
                return wrong
        return None

    def _newer_of_ones_own(self) -> Problem | None:
        before = SMALL.document(1)
        newer = {**SMALL.document(2, True), "version": 3}
        documents = [SMALL.document(1, True), before, newer]
        saved = self.worker.live([(EMPTY, {"do": "saves", "documents": documents})])[0]
        start = Start("newer_own")
        if saved.failure is not None:
            return Problem("stopped", start, saved, saved.failure.place)
        found = saved.data["loaded"]
        if saved.data["error"] is not None:
            if saved.data["raised"] is None and same_document(found, before):
                return None
            return Problem("newer_save_spoilt", start, saved)
        end = saved.mark("save-end", 2)
        image = replay(saved.recording, (end or 0) + 1).image()
        return self._refused(start, self.search.life(image), image)

    def _refused(self, start: Start, life: Life, image: Image) -> Problem | None:
        if life.failure is not None:
            return Problem("stopped", start, life, life.failure.place)
        before = life.data["before"]
        if before["raised"] is None:
            found = before["loaded"]
            version = found.get("version") if isinstance(found, dict) else None
            kind = "newer_nothing" if found is None else "newer_older" if version != 3 else "newer_taken"
            return Problem(kind, start, life)
        wrong = check_refused(start, life)
        if wrong is None and start.origin == "newer":
            now = replay(life.recording).image().read(OLD_NAME)
            if now != image.read(OLD_NAME):
                return Problem("newer_touched", start, life)
        return wrong


def _old_documents() -> Iterator[tuple[str, Document, Image]]:
    """Yield what is pending, the migrated document, and the disk."""
    first, second = SMALL.document(1, True), SMALL.document(2, True)
    (one,) = first["pendingToolUse"]
    many = second["pendingToolUse"]
    for pending, document, old, done in (
        ("null", SMALL.document(1), None, ["c1"]),
        ("one", first, one, []),
        ("one_done", first, one, ["c1"]),
        ("list", second, many, ["c1", "c2"]),
    ):
        image = Image.of({OLD_NAME: as_text(version_1(document, old))}, cwd=ROOT)
        world = tuple((EFFECT, id) for id in done)
        yield pending, document, Image(image.inodes, image.top, image.cwd, world)


def _migrated(start: Start, life: Life, wanted: Document) -> Problem | None:
    if life.failure is not None:
        return Problem("stopped", start, life, life.failure.place)
    before = life.data["before"]
    if before["raised"] is not None:
        return Problem("old_raises", start, life, values={"error": before["raised"]})
    if before["loaded"] is None:
        return Problem("old_nothing", start, life)
    if not same_document(before["loaded"], wanted):
        field = differing(before["loaded"], wanted)
        found = before["loaded"].get(field) if isinstance(before["loaded"], dict) else before["loaded"]
        values = {"field": field, "found": found, "wanted": wanted.get(field)}
        return Problem("old_differs", start, life, values=values)
    return None
