"""Judges Level 2: what the disk held at every moment of a learner's run, and what the loop did.

A pure function of what runs leave behind: the judge asks for runs (:class:`~grader.levels.trial.Trial`), gets their
recordings, and reads them. It never calls anything of the learner's.

Three questions, judged apart, so that a fault in one leaves the others standing:

``atomic``
    Killed at any moment of any save, is ``checkpoint.json`` the previous document or the new one? What a save's
    new document is, its argument says; where a program saves under another name, the document that is left.
``point-a``
    What does the file say while a tool runs, and what when the model is called next?
``runs``
    Does the loop do its work, twice in one process?
"""

from __future__ import annotations

import ast
import errno
import json
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from grader.crash import Image, Mark, Operation, Recording
from grader.crash.operations import Escape, Fsync, Link, Rename, SyncAll, Truncate, Unlink, Where, Write
from grader.crash.replay import answer
from grader.criteria import criteria
from grader.levels import level2_scripts as scripts
from grader.levels.literals import last_cell_with, literal
from grader.levels.places import Sources, place_of
from grader.levels.replay import after, disks, places, written
from grader.levels.starts import starts
from grader.levels.trial import ALIEN, FORKS, Failure, Outcome, Runner, Trial, alien
from grader.verdict import Text, Verdict
from grader.words import catalogue, join, plain

EXERCISE = "level2"
CELL = "level2-code"
CELL_WRITTEN = "level2-hazards"
HAZARDS = ("hazard_1", "hazard_2")
CODE = ("level2-atomic", "level2-point-a", "level2-runs")
WRITTEN = {
    "level2-hazard-overwrite": HAZARDS,
    "level2-hazard-no-point-a": HAZARDS,
}
FIELDS = ("version", "task", "turns", "tokensUsed", "messages", "pendingToolUse")
NAME = "checkpoint.json"
SECONDS, SECONDS_AGAIN = 3.0, 2.0
"""How long a run may take, and one in a directory that a killed run left."""
RERUNS_OF_ONE_LOOK = 5
RERUNS = 16
"""At most so many runs in directories that a killed run left."""

_words = catalogue("levels/level2.toml")


# ------------------------------------------------------------------------------------------------ the film of a run


@dataclass
class Save:
    """One save: a call of the learner's ``save_checkpoint``, or changes between two other marks."""

    run: int
    nth: int
    """Its number within its run, from 1."""
    begin: int
    end: int
    given: list[list[Any]]
    """The arguments of each call, as they were when it began and when it ended; empty for changes outside a call."""
    raised: bool = False
    returned: bool = True

    @property
    def called(self) -> bool:
        """Whether it went through ``save_checkpoint``."""
        return bool(self.given)


@dataclass
class Film:
    """A recording, played once: the disk after each operation, and the checkpoint's bytes."""

    recording: Recording
    path: str
    images: list[Image]
    contents: list[bytes | None]
    """Of the checkpoint, before the first operation and after each one."""
    saves: list[Save] = field(default_factory=list)

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The recording's operations."""
        return self.recording.operations

    def marks(self) -> Iterator[tuple[int, Mark]]:
        """Yield the driver's marks with their index."""
        for index, operation in enumerate(self.operations):
            if isinstance(operation, Mark):
                yield index, operation


def film(recording: Recording, images: list[Image], path: str) -> Film:
    """Play a recording with ``path`` as the checkpoint."""
    contents: list[bytes | None] = []
    for number, image in enumerate(images):
        if number and image is images[number - 1]:
            contents.append(contents[-1])
            continue
        data = image.read(path)
        contents.append(contents[-1] if contents and contents[-1] == data else data)
    found = Film(recording, path, images, contents)
    _find_saves(found)
    return found


def _find_saves(played: Film) -> None:
    run, nth, depth = -1, 0, 0
    current: Save | None = None
    gap = 0
    open_saves: dict[int, list[Any]] = {}
    saves = played.saves

    def close_gap(end: int) -> None:
        nonlocal nth
        if not nth and all(content in (None, played.contents[gap]) for content in played.contents[gap : end + 1]):
            return  # a run that clears away what an earlier one left: none of its own is lost
        if run >= 0 and played.contents[end] != played.contents[gap]:
            nth += 1
            saves.append(Save(run, nth, gap, end, []))
        elif run >= 0 and any(c != played.contents[gap] for c in played.contents[gap:end]):
            saves.append(Save(run, max(nth, 1), gap, end, []))

    for index, mark in played.marks():
        data = mark.data if isinstance(mark.data, dict) else {}
        if depth == 0:
            close_gap(index)
            gap = index + 1
        if mark.kind == "run-begin":
            run, nth = run + 1, 0
        elif mark.kind == "save-begin" and run >= 0:
            depth += 1
            open_saves[_int(data.get("save"))] = _list(data.get("given"))
            if current is None:
                nth += 1
                current = Save(run, nth, index + 1, index + 1, [], returned=False)
            current.given.append(_list(data.get("given")))
        elif mark.kind == "save-end" and current is not None:
            depth = max(0, depth - 1)
            current.given.append(_list(data.get("given")))
            current.raised = current.raised or data.get("raised") is True
            if depth == 0:
                current.end, current.returned = index, True
                saves.append(current)
                current, gap = None, index + 1
    if current is not None:
        current.end = len(played.operations)
        saves.append(current)
    else:
        close_gap(len(played.operations))


def _int(value: Any) -> int:
    return value if type(value) is int else -1


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


@lru_cache(maxsize=512)
def document(content: bytes | None) -> dict[str, Any] | None:
    """Return a checkpoint's document, or None when the bytes are not one whole JSON object."""
    if content is None:
        return None
    try:
        found = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _no_text(content: bytes | None) -> str | None:
    """Return the first bytes of a file that is not in UTF-8; a letter cut off at the end is no fault."""
    try:
        (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        return None if error.start >= len(error.object) - 3 else error.object[:3].hex(" ")
    return None


def _no_object(content: bytes | None) -> str | None:
    """Return how a file begins that is complete but no JSON object; None when it only breaks off."""
    if not content:
        return None
    text = content.decode("utf-8", errors="replace")
    if _no_text(content) is not None:
        return text[:1]
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        broken = "Unterminated" in error.msg or "escape" in error.msg or error.pos >= len(text.rstrip()) - 5
        if broken or "Extra data" in error.msg:
            return None
    except (ValueError, RecursionError):
        return None
    else:
        if isinstance(found, dict):
            return None
    return " ".join(text[:24].replace("`", "'").split())


def holds(found: dict[str, Any], given: Sequence[Any]) -> bool | None:
    """Tell whether a document is the state that a save was given; None when no argument looks like a state."""
    states = [value for value in given if isinstance(value, dict) and not alien(value) and set(FIELDS) & set(value)]
    if not states:
        return None
    state = max(states, key=lambda value: len(set(FIELDS) & set(value)))
    others = [value for value in given if value is not state]
    for name in FIELDS:
        if name not in state or (name in found and _same(found[name], state[name])):
            continue
        if name == "messages" and _as_long(found.get(name), state[name]):
            continue  # written in another form, as the save sees fit
        if name == "messages" or not any(_same(found.get(name), other) for other in others):
            return False
    return True


def _as_long(left: Any, right: Any) -> bool:
    """Tell whether as many messages were written as were given, and no text of any of them was lost."""
    if not (isinstance(left, list) and isinstance(right, list) and len(left) == len(right)):
        return False
    return all(_tells(found, given) for found, given in zip(left, right, strict=True))


def _tells(found: Any, given: Any) -> bool:
    whole = "\n".join(_texts(found))
    return all(
        text in whole or json.dumps(text)[1:-1] in whole or json.dumps(text, ensure_ascii=False)[1:-1] in whole
        for text in _texts(given)
    )


def _same(left: Any, right: Any) -> bool:
    """Compare plain data; what was no plain data in the learner's process matches anything."""
    if isinstance(right, dict) and ALIEN in right:
        return True
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))
    return bool(left == right)


# ------------------------------------------------------------------------------------------------ atomic


@dataclass(frozen=True)
class Fault:
    """The first moment at which the checkpoint was neither the old nor the new document."""

    kind: str
    save: Save
    content: bytes | None = None
    op: int = -1
    """Index of the operation after which, or within which, it died; -1: at the save's end."""
    cut: int | None = None
    detail: str = ""
    lost: bool = False
    """Whether an older document was there before this save."""


def faults(played: Film) -> list[Fault]:
    """Return one fault for each save that has one, those with an older document to lose first."""
    found = [fault for save in played.saves if (fault := _fault(played, save)) is not None]
    return sorted(found, key=lambda fault: (not fault.lost, fault.save.begin))


def _fault(played: Film, save: Save) -> Fault | None:
    before = played.contents[save.begin]
    end = played.contents[save.end]
    after_document = document(end)
    known: dict[bytes, bool] = {}

    def new(content: bytes) -> bool:
        if content not in known:
            found = document(content)
            known[content] = found is not None and _is_new(found, save, after_document)
        return known[content]

    def fine(content: bytes | None) -> bool:
        if content is None:
            return save.nth == 1
        return content == before or new(content)

    lost = save.nth > 1 and before is not None
    worst: Fault | None = None
    for index in range(save.begin, min(save.end, len(played.operations))):
        operation = played.operations[index]
        content = played.contents[index + 1]
        if isinstance(operation, Write) and content is not played.contents[index]:
            base = played.contents[index] or b""
            for cut in _cuts(len(operation.data)):
                partial = written(base, operation, cut)
                if not fine(partial):
                    return Fault(_kind(played, save, index), save, partial, index, cut, lost=lost)
        if save.called and content == end and after_document is not None:
            continue  # a whole document: what is wrong with it is said below
        if not fine(content) and worst is None:
            worst = Fault(_kind(played, save, index), save, content, index, lost=lost)
            if content is None:
                return worst
    if worst is not None:
        return worst
    if not save.called or not save.returned:
        return None
    if save.raised:
        return Fault("raised", save, end, lost=lost)
    if end is None:
        return Fault("absent", save, lost=lost)
    if after_document is None:
        return Fault("unfinished", save, end, lost=lost)
    if not new(end):
        if end == before:
            return Fault("unchanged", save, end, lost=lost)
        return Fault("other", save, end, detail=_difference(after_document, save), lost=lost)
    return None


def _cuts(size: int) -> list[int]:
    """Return where to cut a write: half way first, for it shows most; then every byte, or samples of a long one."""
    if size <= 1:
        return []
    step = max(1, size // 512)
    return [size // 2, *range(1, size, step), size - 1]


def _is_new(found: dict[str, Any], save: Save, end: dict[str, Any] | None) -> bool:
    inside = [found, *(value for value in found.values() if isinstance(value, dict))]
    answers = [held for given in save.given for doc in inside if (held := holds(doc, given)) is not None]
    if answers:
        return any(answers)
    return found == end or (not save.called and bool(set(FIELDS) & set(found)))


def _difference(found: dict[str, Any], save: Save) -> str:
    """Return the first protocol field in which the document is not the state that was given."""
    for given in reversed(save.given):
        for state in given:
            if isinstance(state, dict):
                for name in FIELDS:
                    if name in state and not (name in found and _same(found[name], state[name])):
                        return name
    return ""


def _kind(played: Film, save: Save, index: int) -> str:
    """Return what kind of fault it is that shows at operation ``index``, from how the save goes about its work."""
    name = posixpath.basename(played.path)
    operation = played.operations[index]
    earlier = played.operations[save.begin : index + 1]
    later = played.operations[index + 1 : save.end]
    if played.contents[index + 1] is None:
        if isinstance(operation, Rename):
            return "moved_away"
        if any(isinstance(op, Rename | Link) and _new_name(op) == name for op in later):
            return "unlinked"
        return "removed"
    if isinstance(operation, Write | Truncate):
        brought = [op for op in earlier if isinstance(op, Rename) and op.new_name == name]
        if brought and brought[-1].inode == operation.inode:
            return "renamed_early"
        if any(isinstance(op, Rename) and op.old_name == name for op in earlier):
            return "moved_then_in_place"
        return "in_place"
    if isinstance(operation, Rename | Link) and _new_name(operation) == name:
        if any(isinstance(op, Rename) and op.old_name == name for op in earlier) and isinstance(operation, Link):
            return "moved_then_in_place"
        if isinstance(operation, Link):
            return "in_place"
        return (
            "renamed_early"
            if any(isinstance(op, Write) and op.inode == operation.inode for op in later)
            else "renamed_unfinished"
        )
    return "in_place"


def _new_name(operation: Rename | Link) -> str:
    return operation.new_name if isinstance(operation, Rename) else operation.name


# ------------------------------------------------------------------------------------------------ the judge


class Judge:
    """One learner's Level 2. ``run`` makes the runs it asks for; ``cells`` are the sources, to quote lines from."""

    def __init__(self, cells: Mapping[str, str], run: Runner) -> None:
        self.sources = Sources(cells, _main_cell(cells))
        self.run = run
        self.runs = 0
        self.first: Outcome | None = None
        self.second: Outcome | None = None
        self._films: dict[int, Film | None] = {}
        self._path: str | None = None

    def verdicts(self, wanted: Collection[str]) -> list[Verdict]:
        """Judge the code criteria among ``wanted``."""
        asked = [criterion for criterion in CODE if criterion in wanted]
        if not asked:
            return []
        self.first = self._trial(scripts.FIRST)
        stop = self._hopeless(self.first)
        if stop is not None:
            return [self._verdict(criterion, False, stop) for criterion in asked]
        if self.first.failure is None or self.first.failure.kind not in ("time", "runaway"):
            self.second = self._trial(scripts.SECOND)
        escape = self._escape()
        if escape is not None:
            return [self._verdict(criterion, None, escape) for criterion in asked]
        judges = {"level2-atomic": self._atomic, "level2-point-a": self._point_a, "level2-runs": self._runs}
        return [judges[criterion]() for criterion in asked]

    def texts(self) -> tuple[dict[str, Any], Failure | None]:
        """Return the written answers as plain values, and why one may be missing.

        They are read where they are literals, so that nothing the code does takes them away; else the cells are run.
        """
        read = self._read_texts()
        if len(read) == len(HAZARDS):
            return read, None
        outcome = self.first
        if outcome is None or not isinstance(outcome.data, dict):
            until = last_cell_with(self.sources.cells.items(), HAZARDS, CELL_WRITTEN)
            outcome = self.run(Trial("level2", {"scripts": []}, seconds=SECONDS, until=until))
        found = outcome.data.get("texts") if isinstance(outcome.data, dict) else None
        texts = read | (found if isinstance(found, dict) else {})
        failures = [*outcome.cells, *([outcome.failure] if outcome.failure else [])]
        stopped = [failure for failure in failures if failure.cell in (CELL_WRITTEN, "")]
        return texts, next(iter(stopped or failures), None)

    def literal_texts(self) -> dict[str, Any] | None:
        """Return the written answers when reading them is enough; None when a run is needed."""
        read = self._read_texts()
        return read if len(read) == len(HAZARDS) else None

    def _read_texts(self) -> dict[str, Any]:
        cells = self.sources.cells.values()
        return {name: value[0] for name in HAZARDS if (value := literal(cells, name)) is not None}

    def _reason(self, failure: Failure) -> Text:
        return self.sources.reason(failure, SECONDS)

    # -- runs ------------------------------------------------------------------------------------------------------

    def _trial(
        self, which: list[dict[str, Any]], image: Image | None = None, *, tmp_elsewhere: bool = False
    ) -> Outcome:
        self.runs += 1
        seconds = SECONDS if image is None else SECONDS_AGAIN
        return self.run(Trial("level2", {"scripts": which}, image, tmp_elsewhere, seconds))

    def _hopeless(self, outcome: Outcome) -> Text | None:
        """Return the message when there is nothing at all to judge."""
        failure = outcome.failure
        recording = outcome.recording
        if recording is not None and (_begun(recording) is not None or self._escape_of(outcome) is not None):
            return None
        if failure is None:
            failure = Failure("damaged")
        if failure.kind == "missing" and outcome.cells:
            return join(_words("cells_raised", what=self._cells_raised(outcome)), _words("undefined"))
        if failure.kind == "missing":
            return _words("undefined")
        if failure.cell:
            return _words("stopped_in_cell", why=self._reason(failure))
        return _words("stopped", why=self._reason(failure))

    def _cells_raised(self, outcome: Outcome) -> Text:
        return self._reason(outcome.cells[0])

    def _escape(self) -> Text | None:
        for outcome in (self.first, self.second):
            escape = self._escape_of(outcome) if outcome is not None else None
            if escape is not None:
                return _words("escape", at=self.sources.at(escape.where), reason=plain(escape.reason))
        return None

    def _escape_of(self, outcome: Outcome) -> Escape | None:
        """Return how a run went past the fake disk, if it did; what cells did before the run does not count."""
        if outcome.recording is None:
            return None
        failure = outcome.failure
        if failure is not None and failure.kind == "fork":
            ended = failure.type not in FORKS
            return outcome.recording.escapes[-1] if ended and outcome.recording.escapes else None
        begun = _begun(outcome.recording)
        return next((e for e in outcome.recording.escapes if begun is not None and e.at > begun), None)

    def _film(self, outcome: Outcome | None) -> Film | None:
        """Return a run played with the checkpoint where it suits the learner best, the same place for all runs."""
        if outcome is None or outcome.recording is None:
            return None
        key = id(outcome)
        if key not in self._films:
            images = disks(outcome.recording)
            candidates = _standing(outcome.recording, images)[:6]
            if self._path in candidates:
                candidates = [self._path]
            films = [film(outcome.recording, images, path) for path in candidates]
            films = [f for f in films if _written_in(f)] or films
            best = min(films, key=lambda f: (len(faults(f)), len(f.path), f.path)) if films else None
            self._films[key] = best
            if best is not None and self._path is None and _written_in(best):
                self._path = best.path
        return self._films[key]

    def _verdict(
        self,
        criterion: str,
        met: bool | None,
        message: Text,
        advice: Text | None = None,
        flags: tuple[str, ...] = (),
    ) -> Verdict:
        full = criteria()[criterion].points
        return Verdict(criterion, met, full if met else 0.0, full, message, advice=advice, flags=flags)

    # -- atomic ----------------------------------------------------------------------------------------------------

    def _atomic(self) -> Verdict:
        wrong = self._atomic_fault()
        if wrong is not None:
            return self._verdict("level2-atomic", False, wrong)
        played = [f for f in (self._film(self.first), self._film(self.second)) if f is not None]
        saves = sum(len(f.saves) for f in played)
        moments = sum(_moments(f) for f in played)
        advice = next((text for f in played if (text := self._power(f)) is not None), None)
        return self._verdict(
            "level2-atomic", True, _words("atomic.met", saves=saves, moments=f"{moments:,}"), advice=advice
        )

    def _atomic_fault(self) -> Text | None:
        outcomes = [outcome for outcome in (self.first, self.second) if outcome is not None]
        films = [(outcome, self._film(outcome)) for outcome in outcomes]
        if not any(played is not None and played.saves for _, played in films):
            return self._never(outcomes)
        for outcome, played in films:
            found = faults(played) if played is not None else []
            if found and played is not None:
                spread = _spread(played) if found[0].kind in ("unchanged", "absent") else []
                if len(spread) > 1:
                    return _words("atomic.moves", paths=plain(", ".join(map(self._shown, spread[:4]))))
                return self._explain(played, found[0], outcome)
        paths = {played.path for _, played in films if played is not None}
        if len(paths) > 1:
            return _words("atomic.moves", paths=plain(", ".join(sorted(map(self._shown, paths)))))
        if any(outcome.failure is not None and outcome.failure.kind == "time" for outcome in outcomes):
            return None  # each further run would take as long
        return self._elsewhere() or self._leftovers()

    def _never(self, outcomes: list[Outcome]) -> Text:
        for outcome in outcomes:
            if outcome.failure is not None and outcome.recording is not None:
                raised = [op for op in outcome.recording.operations if isinstance(op, Mark) and op.kind == "save-begin"]
                if raised or outcome.failure.kind != "exception":
                    return self._raised(outcome) if raised else self._stopped_before(outcome)
                return self._stopped_before(outcome)
        called = any(
            isinstance(op, Mark) and op.kind == "save-begin"
            for outcome in outcomes
            if outcome.recording is not None
            for op in outcome.recording.operations
        )
        files = {
            posixpath.basename(path): data
            for outcome in outcomes
            if outcome.recording is not None
            for path, data in disks(outcome.recording)[-1].files().items()
        }
        others = sorted(files)
        if len(others) == 1 and called and document(files[others[0]]) is None and _no_object(files[others[0]]) is None:
            return _words("atomic.other_unfinished", names=plain(others[0]))
        if others:
            return _words("atomic.other_name", names=plain(", ".join(others[:4])))
        return _words("atomic.absent", file=plain(NAME)) if called else _words("atomic.never")

    def _stopped_before(self, outcome: Outcome) -> Text:
        assert outcome.failure is not None
        return _words("atomic.stopped_before", why=self._reason(outcome.failure))

    def _raised(self, outcome: Outcome, *, rerun: bool = False) -> Text:
        failure = outcome.failure
        if failure is None:
            return _words("atomic.raised_quietly")
        why = self._reason(failure)
        if f"[Errno {errno.EXDEV}]" in failure.message:
            return _words("atomic.exdev", why=why)
        if failure.type == "FileNotFoundError":
            wrong_way = f"{NAME}' -> " in failure.message
            return _words("atomic.wrong_way" if wrong_way else "atomic.not_found", why=why)
        return _words("atomic.raised", why=why)

    def _explain(self, played: Film, fault: Fault, outcome: Outcome) -> Text:
        save = fault.save
        where = played.operations[fault.op].where if fault.op >= 0 else None
        at = self.sources.at(where)
        held = self._held(fault)
        name = plain(self._shown(played.path))
        gone = _words("atomic.old_gone") if fault.lost else Text("", "")
        common = {
            "at": at,
            "held": held,
            "file": name,
            "gone": gone,
            "progress": self._progress(played, fault),
        }
        if fault.kind == "in_place":
            source = self.sources.line(place_of(where))
            copied = any(word in source for word in ("copy", "shutil")) or _copied(played, save)
            key = "atomic.moved_across" if "move" in source else "atomic.copy" if copied else "atomic.in_place"
            return _words(key, **common)
        if fault.kind in ("moved_away", "moved_then_in_place", "unlinked", "renamed_early", "removed"):
            earlier = self._earlier(played, fault)
            backup = next(
                (
                    op.new_name
                    for op in played.operations[save.begin : save.end]
                    if isinstance(op, Rename) and op.old_name == posixpath.basename(played.path)
                ),
                moved.new_name if isinstance(moved := played.operations[fault.op], Rename) else "",
            )
            return _words(f"atomic.{fault.kind}", earlier=earlier, backup=plain(backup), **common)
        if fault.kind == "renamed_unfinished":
            first = _no_text(fault.content)
            if first is not None:
                return _words("atomic.no_text", first=plain(first), **common)
            start = _no_object(fault.content)
            if start is not None:
                return _words("atomic.no_object", start=plain(start), **common)
            return _words("atomic.renamed_unfinished", **common)
        if fault.kind == "raised":
            return self._raised(outcome)
        if fault.kind == "other":
            return _words("atomic.other", field=fault.detail or "?", file=name)
        return _words(f"atomic.{fault.kind}", **common)

    def _earlier(self, played: Film, fault: Fault) -> Text:
        """Return the line that took the old document away, or gave the new file its name too early."""
        name = posixpath.basename(played.path)
        for op in played.operations[fault.save.begin : fault.op + 1]:
            if isinstance(op, Rename) and name in (op.old_name, op.new_name):
                return self.sources.at(op.where)
            if isinstance(op, Unlink) and op.name == name:
                return self.sources.at(op.where)
        return self.sources.at(played.operations[fault.op].where)

    def _progress(self, played: Film, fault: Fault) -> Text:
        operation = played.operations[fault.op] if fault.op >= 0 else None
        if isinstance(operation, Write) and fault.cut is not None:
            closing = self.sources.line(place_of(operation.where)).startswith(("with ", "async with "))
            key = "progress.closing" if closing else "progress.write"
            return _words(key, done=f"{fault.cut:,}", size=f"{len(operation.data):,}")
        if isinstance(operation, Truncate):
            return _words("progress.truncated")
        if isinstance(operation, Link):
            return _words("progress.opened")
        return _words("progress.after")

    def _held(self, fault: Fault) -> Text:
        content = fault.content
        if content is None:
            return _words("held.nothing")
        if not content:
            return _words("held.empty")
        if document(content) is not None:
            return _words("held.wrong", size=f"{len(content):,}")
        return _words("held.torn", size=f"{len(content):,}")

    def _shown(self, path: str) -> str:
        root = self.first.recording.root if self.first and self.first.recording else "/"
        return posixpath.relpath(path, root) if path.startswith(root.rstrip("/") + "/") else path

    def _elsewhere(self) -> Text | None:
        """Judge a run with ``/tmp`` on another file system, when the program works there at all."""
        used = any(
            _in_tmp(outcome.recording)
            for outcome in (self.first, self.second)
            if outcome is not None and outcome.recording is not None
        )
        if not used:
            return None
        outcome = self._trial(scripts.FIRST, tmp_elsewhere=True)
        played = self._film(outcome)
        found = faults(played) if played is not None else []
        if found and played is not None:
            if found[0].kind == "raised":
                return self._raised(outcome)
            return join(_words("atomic.tmp_elsewhere"), self._explain(played, found[0], outcome))
        if outcome.failure is not None and (self.first is None or self.first.failure is None):
            return self._raised(outcome)
        return None

    def _leftovers(self) -> Text | None:
        """Run again in each kind of directory that a killed run left."""
        assert self.first is not None
        played = self._film(self.first)
        if played is None:
            return None
        baseline = self.first.failure
        tables: dict[tuple[Any, ...], set[tuple[Any, ...]]] = {}
        count = 0
        firsts, others = _left(played)
        for number, (index, image) in enumerate(firsts + others):
            if number >= len(firsts) and count >= RERUNS_OF_ONE_LOOK:
                break
            if any(tuple(answer(image, query) for query in queries) in seen for queries, seen in tables.items()):
                continue
            if count >= RERUNS:
                break
            count += 1
            outcome = self._trial([scripts.AGAIN], image)
            queries = tuple(query for query, _ in outcome.observations)
            tables.setdefault(queries, set()).add(tuple(answer(image, query) for query in queries))
            wrong = self._again(played, index, image, outcome, baseline)
            if wrong is not None:
                return wrong
        return None

    def _again(self, played: Film, index: int, image: Image, outcome: Outcome, baseline: Failure | None) -> Text | None:
        again = self._film(outcome)
        found = faults(again) if again is not None else []
        died = self.sources.at(played.operations[index].where if index >= 0 else None)
        known = set(played.recording.initial.names())
        left = [name for name in image.names() if name not in known and name != self._shown(played.path)]
        names = plain(", ".join(left[:3]) or NAME)
        failure = outcome.failure
        if self.first is not None and len(outcome.cells) > len(self.first.cells):
            failure = failure and outcome.cells[-1]
        same = baseline is not None and failure is not None and (baseline.kind, baseline.type) == (
            failure.kind, failure.type,
        )  # fmt: skip
        if failure is not None and not same and (not found or found[0].kind == "raised"):
            opened = failure.type == "FileExistsError" and "open" in self.sources.line(failure.place)
            key = "atomic.leftover_exclusive" if opened else "atomic.leftover"
            return _words(key, at=died, names=names, why=self._reason(failure))
        if found and again is not None:
            fault = found[0]
            if fault.kind == "raised":
                return _words("atomic.leftover", at=died, names=names, why=_words("atomic.raised_quietly"))
            if fault.kind == "renamed_unfinished":
                shown = plain(self._shown(played.path))
                return _words("atomic.leftover_mixed", at=died, names=names, file=shown, held=self._held(fault))
            return join(_words("atomic.leftover_then", at=died, names=names), self._explain(again, fault, outcome))
        if again is not None and again.saves and again.path != played.path:
            return _words("atomic.moves", paths=plain(", ".join(map(self._shown, sorted({again.path, played.path})))))
        return None

    def _power(self, played: Film) -> Text | None:
        """Return what a power cut could still do, and which line needs what; None when nothing."""
        name = posixpath.basename(played.path)
        for save in played.saves:
            operations = played.operations[save.begin : save.end]
            for position, op in enumerate(operations):
                if not (isinstance(op, Rename) and op.new_name == name):
                    continue
                earlier, later = operations[:position], operations[position + 1 :]
                last = max(
                    (i for i, e in enumerate(earlier) if isinstance(e, Write) and e.inode == op.inode),
                    default=-1,
                )
                file_safe = any(
                    isinstance(e, SyncAll) or (isinstance(e, Fsync) and e.inode == op.inode)
                    for e in earlier[last + 1 :]
                )
                folder_safe = any(
                    isinstance(e, SyncAll) or (isinstance(e, Fsync) and e.directory and e.inode == op.new_parent)
                    for e in later
                )
                at = self.sources.at(op.where)
                if not file_safe:
                    return _words("power.file", at=at)
                if not folder_safe:
                    return _words("power.folder", at=at)
        return None

    # -- point A ---------------------------------------------------------------------------------------------------

    def _point_a(self) -> Verdict:
        wrong, calls = None, 0
        for outcome, which in ((self.first, scripts.FIRST), (self.second, scripts.SECOND)):
            if outcome is None or outcome.recording is None:
                continue
            played = self._film(outcome) or film(outcome.recording, disks(outcome.recording), NAME)
            found, seen = self._pending(played, which)
            calls += seen
            wrong = wrong or found
        if wrong is not None:
            return self._verdict("level2-point-a", False, wrong)
        failure = self.first.failure if self.first else None
        if calls == 0:
            why = self._reason(failure) if failure else None
            text = _words("point_a.stopped", why=why) if why else _words("point_a.no_tool")
            return self._verdict("level2-point-a", False, text)
        return self._verdict("level2-point-a", True, _words("point_a.met", calls=calls))

    def _pending(self, played: Film, which: list[dict[str, Any]]) -> tuple[Text | None, int]:
        """Return the first thing wrong with the pending call on disk, and how many tool calls were looked at."""
        run, model, seen = -1, 0, 0
        last_mark = 0
        waiting = False
        ran: dict[str, Any] | None = None
        for index, mark in played.marks():
            content = played.contents[index]
            if mark.kind == "run-begin":
                run, model, ran = run + 1, 0, None
            if not 0 <= run < len(which):
                continue
            turns = which[run]["turns"]
            if mark.kind == "model":
                if waiting and ran is not None:
                    wrong = self._booked(content, _tool_use(ran) or {}, ran.get("result"))
                    if wrong is not None:
                        return wrong, seen
                waiting, ran = False, None
                model += 1
                last_mark = index
            elif mark.kind == "run-end":
                if waiting and ran is not None:  # the model was not called again: what does the end leave?
                    waiting = self._booked(content, _tool_use(ran) or {}, ran.get("result")) is not None
            elif mark.kind in ("tool-begin", "tool-end"):
                if mark.kind == "tool-begin":
                    ran = _turn_of(mark.data, turns[:model])
                if ran is None:
                    continue
                if mark.kind == "tool-begin":
                    seen += 1
                    waiting = True
                wrong = self._named(played, index, last_mark, content, _tool_use(ran) or {})
                if wrong is not None:
                    return wrong, seen
        if waiting:
            failure = (self.first and self.first.failure) or (self.second and self.second.failure)
            why = self._reason(failure) if failure else _words("point_a.model_not_called")
            return _words("point_a.not_seen", why=why), seen
        return None, seen

    def _named(self, played: Film, index: int, since: int, content: bytes | None, block: dict[str, Any]) -> Text | None:
        call = plain(f"{block['name']} ({block['id']})")
        found = document(content)
        saved = any(save.begin > since and save.end <= index for save in played.saves)
        if found is None:
            if content is not None:
                return _words("point_a.unreadable", call=call)
            later = self._saved_later(played, index, block)
            if later is not None or saved:
                return later or _words("point_a.save_left_nothing", call=call)
            return _words("point_a.assigned" if self._assigned() else "point_a.no_file", call=call)
        pending = found.get("pendingToolUse")
        within = next((key for key, value in found.items() if isinstance(value, dict) and "messages" in value), None)
        if within is not None and "messages" not in found:
            return _words("point_a.nested", call=call, key=_cut(within))
        if isinstance(pending, list) and len(pending) == 1:
            pending = pending[0]
        if not pending:
            later = self._saved_later(played, index, block)
            if later is not None:
                return later
            if not saved:
                assigned = self._assigned()
                return _words("point_a.assigned" if assigned else "point_a.not_saved", call=call)
            return _words("point_a.saved_without", call=call)
        if not isinstance(pending, dict):
            return _words("point_a.type", call=call, found=type(pending).__name__)
        for key in ("id", "name", "input"):
            if key not in pending:
                return _words("point_a.key_missing", call=call, key=key)
        for key in ("id", "name", "input"):
            if pending[key] != block[key]:
                shown = json.dumps(pending[key], ensure_ascii=False)
                wanted = json.dumps(block[key], ensure_ascii=False)
                return _words("point_a.key_wrong", call=call, key=key, found=_cut(shown), wanted=_cut(wanted))
        if not _names_call(found, block):
            return _words("point_a.message_missing", call=call)
        return None

    def _saved_later(self, played: Film, index: int, block: dict[str, Any]) -> Text | None:
        """Return the message for a call that is written down only after its tool has run."""
        for later in range(index, len(played.operations)):
            mark = played.operations[later]
            if isinstance(mark, Mark) and mark.kind == "model":
                break
            pending = (document(played.contents[later + 1]) or {}).get("pendingToolUse")
            if isinstance(pending, dict) and pending.get("id") == block["id"]:
                where = self._line_of_save(played, later)
                return _words("point_a.saved_after", call=plain(f"{block['name']} ({block['id']})"), at=where)
        return None

    def _line_of_save(self, played: Film, index: int) -> Text:
        for op in reversed(played.operations[: index + 1]):
            if not isinstance(op, Mark) and isinstance(getattr(op, "where", None), Where):
                return self.sources.at(op.where)
        return self.sources.at(None)

    def _assigned(self) -> bool:
        return any(
            "pendingToolUse" in line and "=" in line and "None" not in line
            for source in self.sources.cells.values()
            for line in source.split("\n")
        )

    def _booked(self, content: bytes | None, block: dict[str, Any], result: Any) -> Text | None:
        call = plain(f"{block['name']} ({block['id']})")
        found = document(content)
        if found is None:
            return _words("point_a.b_no_file" if content is None else "point_a.b_unreadable", call=call)
        pending = found.get("pendingToolUse")
        if pending:
            return _words("point_a.not_cleared", call=call, found=_cut(json.dumps(pending, ensure_ascii=False)))
        messages = _list(found.get("messages"))
        if _has_result(messages, block["id"], result, of_user=False):
            return None  # under which role, the loop's criterion asks
        if any(isinstance(result, str) and result in text for message in messages[1:] for text in _texts(message)):
            return _words("point_a.result_elsewhere", call=call, id=plain(str(block["id"])))
        return _words("point_a.result_missing", call=call)

    # -- runs ------------------------------------------------------------------------------------------------------

    def _runs(self) -> Verdict:
        if self._untouched():
            return self._verdict("level2-runs", False, _words("runs.untouched"))
        wrong = None
        for outcome, which in ((self.first, scripts.FIRST), (self.second, scripts.SECOND)):
            if outcome is not None and wrong is None:
                wrong = self._run_of(outcome, which)
        if wrong is not None:
            return self._verdict("level2-runs", False, wrong)
        tools = sum(len(script["turns"]) - 1 for script in (*scripts.FIRST, *scripts.SECOND))
        return self._verdict("level2-runs", True, _words("runs.met", runs=4, tools=tools))

    def _untouched(self) -> bool:
        """Tell whether the solution cell still holds the code as it was found, and no other cell mends it."""
        now = self.sources.cells.get(CELL)
        if now is None or _tree(starts().get(CELL)) != _tree(now):
            return False
        others = [source for name, source in self.sources.cells.items() if name != CELL]
        return not any(
            re.search(
                r"\b(def|class)\s+(save_checkpoint|run_agent)\b|^(save_checkpoint|run_agent)\s*=",
                source,
                re.M,
            )
            for source in others
        )

    def _run_of(self, outcome: Outcome, which: list[dict[str, Any]]) -> Text | None:
        recording = outcome.recording
        marks: list[Mark] = [] if recording is None else [op for op in recording.operations if isinstance(op, Mark)]
        runs: list[list[Mark]] = []
        for mark in marks:
            if mark.kind == "run-begin":
                runs.append([])
            elif runs:
                runs[-1].append(mark)
        for number, script in enumerate(which):
            if number >= len(runs):
                failure = outcome.failure or Failure("damaged")
                return _words("runs.stopped", why=self._reason(failure))
            wrong = _loop(runs[number], script, self, outcome.failure)
            if wrong is not None:
                before = _words("runs.second_call") if number else None
                return join(before, wrong)
        return None


def _main_cell(cells: Mapping[str, str]) -> str:
    """Return the cell whose lines need no cell's name: the solution cell, else the last that defines a save."""
    if CELL in cells:
        return CELL
    return next((name for name in reversed(list(cells)) if "def save_checkpoint" in cells[name]), CELL)


def _tree(source: str | None) -> str:
    try:
        return ast.dump(ast.parse(source or ""))
    except (SyntaxError, ValueError, RecursionError):
        return source or ""


def _loop(marks: list[Mark], script: dict[str, Any], judge: Judge, failure: Failure | None) -> Text | None:
    """Return the first thing wrong with one run of the loop."""
    turns = script["turns"]
    expected = [block for turn in turns if (block := _tool_use(turn)) is not None]
    model = 0
    done: list[dict[str, Any]] = []
    for mark in marks:
        data = mark.data if isinstance(mark.data, dict) else {}
        if mark.kind == "model":
            if model < len(turns):
                wrong = _history(data.get("messages"), script, model, shown=True)
                if wrong is not None:
                    return wrong
            model += 1
        elif mark.kind == "tool-begin":
            wrong = _tool(data, done, expected, model)
            if wrong is not None:
                return wrong
            done.append(data)
    end = next((mark for mark in marks if mark.kind == "run-end"), None)
    if end is None:
        return _words("runs.stopped", why=judge._reason(failure or Failure("damaged")))
    if model > len(turns):
        return _words("runs.model_often", found=model, wanted=len(turns))
    if model < len(turns):
        return _words("runs.model_seldom", found=model, wanted=len(turns))
    if len(done) < len(expected):
        return _words("runs.tool_missing", call=plain(f"{expected[len(done)]['name']} ({expected[len(done)]['id']})"))
    data = end.data if isinstance(end.data, dict) else {}
    return _returned(data.get("returned"), script, str(data.get("type")))


def _tool(data: dict[str, Any], done: list[dict[str, Any]], expected: list[dict[str, Any]], model: int) -> Text | None:
    number = len(done)
    if model and done and done[-1].get("call") == data.get("call"):
        block = expected[min(number, len(expected)) - 1] if expected else {"name": "?", "id": "?"}
        return _words("runs.tool_twice", call=plain(f"{block['name']} ({block['id']})"))
    if number >= len(expected):
        return _words("runs.tool_extra", name=_cut(str(data.get("name"))))
    block = expected[number]
    if data.get("name") != block["name"]:
        return _words("runs.tool_name", found=_cut(json.dumps(data.get("name"))), wanted=block["name"])
    if data.get("input") != block["input"]:
        found = _cut(json.dumps(data.get("input"), ensure_ascii=False))
        return _words("runs.tool_input", name=block["name"], found=found)
    return None


def _returned(returned: Any, script: dict[str, Any], kind: str) -> Text | None:
    if returned is None:
        return _words("runs.returns_none")
    if not isinstance(returned, dict) or alien(returned):
        return _words("runs.returns_other", found=_cut(kind))
    if "messages" not in returned:
        return _words("runs.no_messages")
    turns = len(script["turns"]) - 1
    wrong = _history(returned["messages"], script, turns, shown=False)
    if wrong is not None:
        return wrong
    counted = returned.get("turns")
    if type(counted) is not int or counted != turns:
        return _words("runs.turns", found=_cut(json.dumps(counted)), wanted=turns)
    return None


def _history(messages: Any, script: dict[str, Any], turns: int, *, shown: bool) -> Text | None:
    """Check messages after ``turns`` booked turns; ``shown``: as the model is shown them, else as returned."""
    where = _words("runs.shown", call=turns + 1) if shown else _words("runs.in_state")
    if not isinstance(messages, list):
        return _words("runs.messages_type", where=where, found=alien(messages) or type(messages).__name__)
    wanted = 1 + 2 * turns
    if not messages or not _is_message(messages[0], "user") or _text_of(messages[0]) != script["task"]:
        if shown and turns and len(messages) < wanted:
            return _words("runs.part_shown", where=where, found=len(messages), wanted=wanted)
        return _words("runs.first_message", where=where)
    for number in range(turns):
        turn = script["turns"][number]
        block = _tool_use(turn)
        assert block is not None
        call = plain(f"{block['name']} ({block['id']})")
        position = 1 + 2 * number
        if len(messages) <= position or not _is_message(messages[position], "assistant"):
            return _words("runs.assistant_missing", where=where, call=call, n=position + 1)
        if not any(_is_call(item, block) for item in _blocks(messages[position])):
            return _words("runs.call_missing", where=where, call=call, n=position + 1)
        if len(messages) <= position + 1 or not _is_message(messages[position + 1], "user"):
            return _words("runs.result_missing", where=where, call=call, n=position + 2)
        results = [item for item in _blocks(messages[position + 1]) if item.get("type") == "tool_result"]
        if not any(item.get("tool_use_id") == block["id"] for item in results):
            return _words("runs.result_missing", where=where, call=call, n=position + 2)
        if len(results) > 1:
            return _words("runs.result_twice", where=where, call=call, n=position + 2)
        if not _has_result([messages[position + 1]], block["id"], turn["result"]):
            return _words("runs.result_wrong", where=where, call=call, n=position + 2)
    rest = messages[wanted:]
    answered = len(rest) == 1 and _is_message(rest[0], "assistant")
    if answered and not shown and not any(item.get("type") == "tool_use" for item in _blocks(rest[0])):
        return None
    if rest:
        return _words("runs.too_many", where=where, found=len(messages), wanted=wanted)
    return None


# ------------------------------------------------------------------------------------------------ messages and blocks


def _tool_use(turn: dict[str, Any]) -> dict[str, Any] | None:
    blocks: list[dict[str, Any]] = turn["content"]
    return next((block for block in blocks if block["type"] == "tool_use"), None)


def _turn_of(data: Any, turns: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the turn that a tool's call belongs to: the last that named this tool with this input, else the last."""
    called = data if isinstance(data, dict) else {}
    latest: dict[str, Any] | None = None
    for turn in turns:
        block = _tool_use(turn)
        if block is not None and called.get("name") == block["name"] and called.get("input") == block["input"]:
            latest = turn
    return latest or (turns[-1] if turns and _tool_use(turns[-1]) is not None else None)


def _is_message(message: Any, role: str) -> bool:
    return isinstance(message, dict) and message.get("role") == role and "content" in message


def _blocks(message: Any) -> list[dict[str, Any]]:
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text_of(message: Any) -> str | None:
    return _plain_text(message.get("content"))


def _plain_text(content: Any) -> str | None:
    """Return a content's text, whether it is a string or a list of text blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(b, dict) and isinstance(b.get("text"), str) for b in content):
        return "".join(b["text"] for b in content)
    return None


def _is_call(item: dict[str, Any], block: dict[str, Any]) -> bool:
    return item.get("type") == "tool_use" and all(item.get(key) == block[key] for key in ("id", "name", "input"))


def _names_call(found: dict[str, Any], block: dict[str, Any]) -> bool:
    messages = _list(found.get("messages"))
    return bool(
        messages
        and _is_message(messages[-1], "assistant")
        and any(item.get("type") == "tool_use" and item.get("id") == block["id"] for item in _blocks(messages[-1]))
    )


def _texts(value: Any) -> Iterator[str]:
    """Yield every string inside plain data, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict) and ALIEN not in value:
        for item in value.values():
            yield from _texts(item)


def _has_result(messages: list[Any], number: str, result: Any, *, of_user: bool = True) -> bool:
    return any(
        item.get("type") == "tool_result"
        and item.get("tool_use_id") == number
        and _plain_text(item.get("content")) == result
        for message in messages
        if not of_user or _is_message(message, "user")
        for item in _blocks(message)
    )


def _cut(text: str, widest: int = 60) -> str:
    return text if len(text) <= widest else text[: widest - 1] + "…"


# ------------------------------------------------------------------------------------------------ images


def _moments(played: Film) -> int:
    """Return how many moments of a run a kill can hit: after each operation, and between the bytes of each write."""
    return sum(
        len(op.data) if isinstance(op, Write) else 1
        for save in played.saves
        for op in played.operations[save.begin : save.end]
        if not isinstance(op, Mark)
    )


def _left(played: Film) -> tuple[list[tuple[int, Image]], list[tuple[int, Image]]]:
    """Return the directories that a run killed during a save leaves: one of each look, then the others.

    Two look the same when the same names are there, each empty, in part or whole; the largest of them goes first, for a
    save that does not empty an old file shows only with more left in it than it writes. A write stands for three
    moments: not begun, half done, done.
    """
    found: dict[tuple[Any, ...], list[tuple[int, Image]]] = {}
    for save in played.saves:
        if save.run:
            break
        writes = _first_and_last_writes(played, save)
        for index in range(save.begin, save.end):
            operation = played.operations[index]
            if isinstance(operation, Mark) or (isinstance(operation, Write) and index not in writes):
                continue
            moments = [played.images[index + 1]]
            if isinstance(operation, Write) and len(operation.data) > 1:
                moments.insert(0, after(played.images[index], operation, len(operation.data) // 2))
            for image in moments:
                look = tuple(
                    (path, "empty" if not data else "whole" if document(data) is not None else "part")
                    for path, data in image.files().items()
                )
                found.setdefault(look, []).append((index, image))
    largest = [max(entries, key=lambda entry: _size(entry[1])) for entries in found.values()]
    return largest, [entry for entries in found.values() for entry in entries]


def _first_and_last_writes(played: Film, save: Save) -> set[int]:
    """Return the indices of each file's first and last write within a save: the ones between leave nothing new."""
    seen: dict[int, tuple[int, int]] = {}
    for index in range(save.begin, save.end):
        operation = played.operations[index]
        if isinstance(operation, Write):
            seen[operation.inode] = (seen.get(operation.inode, (index, 0))[0], index)
    return {index for both in seen.values() for index in both}


def _size(image: Image) -> int:
    return sum(len(data) for data in image.files().values())


def _spread(played: Film) -> list[str]:
    """Return the places at which a checkpoint lay once the saves were done."""
    end = played.images[played.saves[-1].end]
    return [path for path in places(played.recording, played.images, NAME) if end.read(path) is not None]


def _begun(recording: Recording) -> int | None:
    """Return where in the log the first run begins."""
    return next(
        (i for i, op in enumerate(recording.operations) if isinstance(op, Mark) and op.kind == "run-begin"), None
    )


def _standing(recording: Recording, images: list[Image]) -> list[str]:
    """Return the places of a checkpoint in the runs, those where most saves left one first; not what cells did before.

    A cell that tries the code out leaves folders of its own, and a save may build its file in a new one each time.
    """
    begun = _begun(recording) or 0
    runs = [images[i] for i in range(begun, len(images)) if i == begun or images[i] is not images[i - 1]]
    ends = [
        images[index]
        for index, op in enumerate(recording.operations)
        if index >= begun and isinstance(op, Mark) and op.kind == "save-end"
    ]
    found = [path for path in places(recording, images, NAME) if any(image.read(path) is not None for image in runs)]
    return sorted(found, key=lambda path: -sum(image.read(path) is not None for image in ends))


def _written_in(played: Film) -> bool:
    """Tell whether any save changed the checkpoint at this path."""
    return any(
        content is not played.contents[save.begin]
        for save in played.saves
        for content in played.contents[save.begin : save.end + 1]
    )


def _in_tmp(recording: Recording) -> bool:
    """Tell whether a run made anything in ``/tmp``."""
    inside = {recording.initial.find("/tmp")}
    running = False
    for operation in recording.operations:
        if isinstance(operation, Mark):
            running = running or operation.kind == "run-begin"
        elif isinstance(operation, Link) and operation.parent in inside:
            if running:
                return True
            if operation.kind == "directory":
                inside.add(operation.inode)
        elif isinstance(operation, Rename) and operation.new_parent in inside and running:
            return True
    return False


def _copied(played: Film, save: Save) -> bool:
    """Tell whether the save had the same bytes whole in another file when it wrote them into the checkpoint."""
    end = played.contents[save.end]
    if not end or save.end >= len(played.images):
        return False
    for index in range(save.begin, save.end):
        operation = played.operations[index]
        if isinstance(operation, Write) and played.contents[index + 1] is not played.contents[index]:
            return any(data == end for path, data in played.images[index].files().items() if path != played.path)
    return False
