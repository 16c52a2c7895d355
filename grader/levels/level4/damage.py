"""A flipped byte: at every place of every file, what ``load`` makes of it and what becomes of the task."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grader.crash import Image, Inode, Mark
from grader.crash.operations import EFFECT
from grader.crash.replay import replay
from grader.levels.level4.documents import read
from grader.levels.level4.lives import FLIPS, Life, Worker
from grader.levels.level4.rules import Problem, Start, check_refused
from grader.levels.level4.runs import Search

MOST_PLACES = (640, 64)
"""Places that are flipped in each of the two disks; where the files are longer, they are spread evenly."""
FIRST_PLACES = 64
"""The same in the disk after the first save of all, when there is no older copy yet."""


class Damage:
    """Flips bytes of the disks of a run that nothing interrupted."""

    def __init__(self, worker: Worker, search: Search, life: Life, first: Image) -> None:
        self.worker, self.search = worker, search
        self.disks = _disks(life)
        self.first = first
        self.places = 0

    def problem(self) -> Problem | None:
        """Return the first problem there is."""
        lived: list[tuple[Image, Start]] = []
        alone = self._loads(self.first, FIRST_PLACES)
        if isinstance(alone, Problem):
            return alone
        for image, most in zip(self.disks, MOST_PLACES, strict=False):
            found = self._loads(image, most)
            if isinstance(found, Problem):
                return found
            lived += found
        lives = self.search.lives([image for image, _ in lived])
        begun = [(start, life) for (_, start), life in zip(lived, lives, strict=False)]
        for start, life in begun:
            if life.failure is not None:
                return Problem("stopped", start, life, life.failure.place)
            if life.data["before"]["raised"] is not None:
                wrong = check_refused(start, life)
            else:
                wrong = self.search.first(start, life)
            if wrong is not None:
                return wrong
        sound = [(start, life) for start, life in begun if life.data["before"]["raised"] is None]
        return self.search.crash_all(sound)

    def _loads(self, image: Image, most: int) -> Problem | list[tuple[Image, Start]]:
        """Load with each byte flipped; return a disk for each kind of answer in each file, to be lived on."""
        files = {number: inode for number, inode in image.inodes.items() if inode.kind == "file" and inode.data}
        places = [(number, at) for number, inode in files.items() for at in range(len(inode.data))]
        if len(places) > most:
            step = (len(places) - 1) / (most - 1)
            places = [places[round(number * step)] for number in range(most)]
        kinds: dict[tuple[int, Any], list[tuple[int, int]]] = {}
        for first in range(0, len(places), FLIPS):
            some = places[first : first + FLIPS]
            outcome, answers = self.worker.flips(image, some)
            if outcome.failure is not None:
                life = Life(image, outcome.recording, {}, outcome.failure)  # type: ignore[arg-type]
                return Problem("stopped", Start("flip_any"), life, outcome.failure.place)
            self.places += len(some)
            for (number, at), found in zip(some, answers, strict=True):
                problem = self._answered(image, number, at, found)
                if problem is not None:
                    return problem
                kind = "raised" if found["raised"] else read(found["loaded"], self.search.script).progress
                kinds.setdefault((number, kind), []).append((number, at))
        chosen = [places[len(places) // 2] for places in kinds.values()]
        return [(flipped(image, *one), told(image, *one)) for one in chosen]

    def _answered(self, image: Image, number: int, at: int, found: dict[str, Any]) -> Problem | None:
        if found["raised"] is not None:
            return None
        reading = read(found["loaded"], self.search.script)
        if found["loaded"] is not None and not reading.fault:
            return None
        life = Life(flipped(image, number, at), self.search.base.recording, {"before": found})
        start = told(image, number, at)
        if found["loaded"] is None:
            return Problem("flip_nothing", start, life)
        return Problem(f"load_wrong.{reading.fault}", start, life, values=reading.values)


def _disks(life: Life) -> list[Image]:
    """Return the disk while a tool of the second turn runs, its effect done, and the disk at the end."""
    operations = life.running.operations
    effects = [at for at, op in enumerate(operations) if isinstance(op, Mark) and op.kind == EFFECT]
    return [replay(life.running, at + 1).image() for at in effects[1:2]] + [replay(life.running).image()]


def flipped(image: Image, number: int, at: int) -> Image:
    """Return a disk with the lowest bit of one byte turned over."""
    inode: Inode = image.inodes[number]
    data = inode.data[:at] + bytes([inode.data[at] ^ 1]) + inode.data[at + 1 :]
    return replace(image, inodes={**image.inodes, number: replace(inode, data=data)})


def told(image: Image, number: int, at: int) -> Start:
    """Return how a byte turned over, for the telling."""
    data = image.inodes[number].data
    name = next((path for path in image.files() if image.find(path) == number), "?")
    values = {
        "file": name.removeprefix(image.cwd + "/"),
        "byte": at + 1,
        "size": len(data),
        "was": _sign(data[at]),
        "now": _sign(data[at] ^ 1),
    }
    return Start("flip", values)


def _sign(byte: int) -> str:
    return chr(byte) if 32 < byte < 127 and chr(byte) != "`" else f"0x{byte:02x}"
