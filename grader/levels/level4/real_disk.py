"""Code that held on a fake disk, lived again on a real one, each life in a process that knows of nothing else.

The fake disk and the log are in the learner's own process, and the driver's variables too: code that looks for them can
behave well only there, or mend what the check has broken. So a few of the lives that were judged are lived again (drawn
unforeseeably): saves, whose syncs the kernel tells of; flipped bytes; what crashes left; other versions; a task, alone
and with a second resumer. Only a difference counts, and it makes the verdict a person's. Where no real disk can be
given, nothing changes.
"""

from __future__ import annotations

import posixpath
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from grader.crash import ROOT, Image, Mark, Recording
from grader.crash.operations import Fsync, SyncAll
from grader.crash.replay import Files, images_along, replay
from grader.levels.level4.documents import read, same
from grader.levels.level4.facts import FIELDS, SMALL, Script, Turn, words
from grader.levels.level4.lives import Drawn, Life, Lived, Worker
from grader.levels.level4.saves import DOCUMENTS, documents_of
from grader.levels.sightings import Entry, Flip, Play, Step, Sync
from grader.levels.trial import Trial
from grader.verdict import Text, Verdict

FLAG = "real disk: "
"""How the instructor's remark begins."""
SECONDS = 3.0
FLIPS = {"first": 8, "all": 3}
"""Bytes turned over after the first save, when there is one copy only, and after all of them."""
CHECKPOINT = "checkpoint.json"
SLOW = "real.ended_time"

Judged = Callable[[list[Play]], Text | None]


@dataclass(frozen=True)
class _Again:
    """Steps to live, and what is wrong with what was seen of them, if anything is."""

    steps: list[Step]
    judged: Judged
    processes: int = 0
    """How many processes they take, if not one each."""


def borne_out(verdict: Verdict, worker: Worker, saves: Life) -> Verdict:
    """Return the verdict on code that held, or hand it to a person where a real disk does not bear it out.

    Args:
        verdict: that of a fake disk.
        worker: what ran the lives there, and drew some of them.
        saves: the life that saved all documents there.
    """
    script = unforeseen(secrets.token_hex(4))
    parts = [*_saves(saves, script), *_flips(script), *_lives(worker.drawn)]
    steps = [step for part in parts for step in part.steps]
    processes = sum(part.processes or len(part.steps) for part in parts)
    trial = Trial("level4", steps, seconds=SECONDS, real=CHECKPOINT, processes=processes)
    seen = worker.run(trial).sightings
    if seen is None:
        return verdict
    wrong = _wrong(parts, list(seen.plays))
    if wrong is None:
        return verdict
    suggested = verdict.max_points if wrong.key == SLOW else 0.0
    return replace(
        verdict, met=None, points=0.0, message=words("real.differs", what=wrong), suggested=suggested, picture=None,
        picture_text=None, flags=(*verdict.flags, FLAG + wrong.en),
    )  # fmt: skip


def _wrong(parts: list[_Again], plays: list[Play]) -> Text | None:
    """Return the first thing that went otherwise."""
    for part in parts:
        mine, plays = plays[: len(part.steps)], plays[len(part.steps) :]
        for play in mine:
            if play.ended != "end":
                return words(f"real.ended_{play.ended}", detail=play.detail or "-")
        if len(mine) < len(part.steps):
            return words(SLOW)
        wrong = part.judged(mine)
        if wrong is not None:
            return wrong
    return None


# ---------------------------------------------------------------------------------------------- saves and flips


def unforeseen(token: str) -> Script:
    """Return a task whose documents nobody can know beforehand, of the same size as those of the small one."""

    def other(turn: Turn) -> Turn:
        calls = tuple((f"{id}-{token}", name, what) for id, name, what in turn.calls)
        return replace(turn, text=f"{turn.text} {token}", calls=calls)

    return Script(f"{SMALL.task} {token}", tuple(map(other, SMALL.turns)))


def _saves(life: Life, script: Script) -> Iterator[_Again]:
    """Save what was saved there, for its syncs; and what nobody can know, to be loaded with and without damage."""

    def told(plays: list[Play]) -> Text | None:
        if any(look.data["error"] for look in plays[0].looks if look.kind == "saved"):
            return words("real.saves")
        return _synced(plays[0], syncs_of(life.recording))

    documents = documents_of(script)
    loaded = partial(_load_judged, {"loaded": documents[-1], "raised": None})
    yield _Again([Step({"do": "saves", "documents": list(DOCUMENTS)}, [])], told)
    yield _Again([Step({"do": "saves", "documents": documents}, [], "all"), Step({"do": "load"})], loaded)
    yield _Again([Step({"do": "saves", "documents": documents[:1]}, [], "first")], lambda _: None)


def _flips(script: Script) -> Iterator[_Again]:
    def judged(plays: list[Play]) -> Text | None:
        for play in plays:
            found = _loaded(play)
            if found["raised"] is None and (found["loaded"] is None or read(found["loaded"], script).fault):
                return words("real.flip", place=play.flipped)
        return None

    for kept, count in FLIPS.items():
        parts = [(number + secrets.randbelow(1 << 32) / (1 << 32)) / count for number in range(count)]
        yield _Again([Step({"do": "load"}, Flip(kept, where)) for where in parts], judged)


def _loaded(play: Play) -> dict[str, Any]:
    found = [look.data for look in play.looks if look.kind == "loaded"]
    return found[0] if found else {"loaded": None, "raised": {"type": "", "message": "", "place": ["", 0, ""]}}


def _same_load(real: dict[str, Any], fake: dict[str, Any]) -> bool:
    """Whether ``load`` came to the same; how it raises is its own affair, and so are fields of its own."""
    if (real["raised"] is None) != (fake["raised"] is None):
        return False
    one, other = real["loaded"], fake["loaded"]
    if isinstance(one, dict) and isinstance(other, dict):
        return all((name in one) == (name in other) and same(one.get(name), other.get(name)) for name in FIELDS)
    return same(one, other)


# ---------------------------------------------------------------------------------------------- lives that were drawn


def _lives(drawn: Drawn) -> Iterator[_Again]:
    for kind, lived in drawn.all():
        disk = laid_out(lived.life.image)
        if disk is None:
            continue
        if kind not in ("begun", "early", "late", "alone"):
            before = lived.life.data.get("before", lived.life.data)
            yield _Again([Step({"do": "load"}, disk)], partial(_load_judged, before))
        if kind not in ("load", "refused"):
            yield from _resume(kind, lived)


def _load_judged(fake: dict[str, Any], plays: list[Play]) -> Text | None:
    return None if _same_load(_loaded(plays[-1]), fake) else words("real.load")


def _resume(kind: str, lived: Lived) -> Iterator[_Again]:
    life, script = lived.life, lived.script
    begin = life.mark("resume-begin", "first")
    end = life.mark("resume-end", "first")
    image = replay(life.recording, (begin or 0) + 1).image()
    disk = laid_out(image)
    if begin is None or end is None or disk is None:
        return
    ask: dict[str, Any] = {key: value for key, value in lived.ask.items() if key != "image"}
    ask["happened"] = [key for _, key in image.world]

    def judged(plays: list[Play]) -> Text | None:
        found = [look.data for look in plays[0].looks if look.kind == "resumed"]
        if not found or not _same_life(found[0], life, script):
            return words("real.resume")
        if "rival" in ask:
            return None
        wrong = _load_judged(life.data["after"], plays) if kind == "begun" else None
        return wrong or _synced(plays[0], syncs_of(life.recording, begin, end))

    after = [Step({"do": "load"})] if kind == "begun" else []
    yield _Again([Step(ask, disk), *after], judged, 1 + (kind in ("begun", "early", "late")))


def _same_life(real: dict[str, Any], life: Life, script: Script) -> bool:
    """Whether ``resume`` did the same: what it asked the model and the tools, and how it ended."""
    acts = [(e[0], e[1], e[2], e[3]) for e in real["events"] if e[1] in ("model", "tool")]
    noted = [
        (e.who, e.what, len(e.data) if e.what == "model" else e.data, e.held)
        for e in life.events
        if e.what in ("model", "tool")
    ]
    if acts != noted:
        return False
    pairs = [(real, life.data), (real["second"], life.data["second"])]
    for there, here in pairs:
        if (there is None) != (here is None):
            return False
        if there is not None and _end(there, script) != _end(here, script):
            return False
    return real["second"] is None or real["second"].get("ended") == "end"


def _end(result: dict[str, Any], script: Script) -> Any:
    reading = read(result["returned"], script)
    return result["error"] is None, reading.progress, reading.complete, reading.fault


# ---------------------------------------------------------------------------------------------- disks


def laid_out(image: Image) -> list[Entry] | None:
    """Return a disk as it can be laid out elsewhere; None where files are outside of the folder, or name it."""
    found: list[Entry] = []
    first: dict[int, str] = {}
    stack = [("/", image.top)]
    while stack:
        path, number = stack.pop()
        inode = image.inodes[number]
        below = path.removeprefix(ROOT + "/") if path.startswith(ROOT + "/") else None
        if inode.kind == "directory":
            stack += [(posixpath.join(path, name), inode.entries[name]) for name in sorted(inode.entries, reverse=True)]
            if below is not None:
                found.append(Entry(below, "folder", b"", inode.mode & 0o777 | 0o700, inode.mtime))
            continue
        if below is None or ROOT.encode() in inode.data or ROOT in inode.target:
            return None
        if inode.kind == "symlink":
            found.append(Entry(below, "link", inode.target.encode()))
        elif number in first:
            found.append(Entry(below, "same", first[number].encode()))
        else:
            first[number] = below
            found.append(Entry(below, "file", inode.data, inode.mode & 0o777, inode.mtime))
    return found


# ---------------------------------------------------------------------------------------------- syncs


def _synced(play: Play, noted: list[Sync]) -> Text | None:
    """Return that the kernel told of other syncs than the fake disk noted."""
    if play.syncs is None:
        return None
    there, here = [_sign(sync) for sync in play.syncs], [_sign(sync) for sync in noted]
    if there == here:
        return None
    return words("real.synced", real=len(there), fake=len(here))


def _sign(sync: Sync) -> Any:
    return sync.what, sync.kept, sync.named


_ENDS = ("save-end", "event", "resume-end")
"""Marks at which the program stands still on a real disk too."""


def syncs_of(recording: Recording, begin: int = 0, end: int | None = None) -> list[Sync]:
    """Return the syncs that a fake disk noted between two operations, as ``answers.syncs`` would have told of them."""
    images = images_along(recording)
    operations = recording.operations
    stop = len(operations) if end is None else end + 1
    files = Files(recording.initial)
    found: list[Sync] = []
    waiting: list[tuple[Any, ...]] = []
    for at, operation in enumerate(operations[:stop]):
        files.apply(operation)
        now = images[at + 1]
        if at < begin:
            continue
        if isinstance(operation, SyncAll):
            waiting.append(("all", _everything(now)))
        elif isinstance(operation, Fsync) and operation.directory:
            waiting.append(("folder", operation.inode, _names_in(now, operation.inode)))
        elif isinstance(operation, Fsync):
            number = operation.inode
            waiting.append(("file", number, bytes(files.data(number)), _names_of(now, number)))
        elif isinstance(operation, Mark) and operation.kind in _ENDS:
            found += [_settled(one, now) for one in waiting]
            waiting.clear()
    return found + [_settled(one, images[stop]) for one in waiting]


def _settled(seen: tuple[Any, ...], now: Image) -> Sync:
    if seen[0] == "all":
        return Sync("all", seen[1] == _everything(now))
    if seen[0] == "folder":
        return Sync("folder", seen[2] == _names_in(now, seen[1]))
    names = _names_of(now, seen[1])
    kept = bool(names) and now.inodes[seen[1]].data == seen[2]
    return Sync("file", kept, names == seen[3])


def _names_in(image: Image, number: int) -> Any:
    return dict(image.inodes[number].entries) if number in image.inodes else None


def _names_of(image: Image, number: int) -> frozenset[str]:
    return frozenset(name for name, (inode, _) in _everything(image).items() if inode == number)


def _everything(image: Image) -> dict[str, tuple[int, bytes]]:
    """Return what lies below the working directory."""
    found: dict[str, tuple[int, bytes]] = {}
    top = image.find(ROOT)
    stack = [("", top)] if top is not None else []
    while stack:
        path, number = stack.pop()
        inode = image.inodes[number]
        if path:
            found[path] = number, inode.data
        stack += [(posixpath.join(path, name), child) for name, child in inode.entries.items()]
    return found
