"""Why a save does not survive: the kind of fault, the lines concerned, and which operation must come before which."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.crash.describe import Story
from grader.crash.explore import Counterexample, Exploration, Found, Next, Verdict
from grader.crash.models import Moment, Outcome
from grader.crash.operations import (
    Fsync,
    Link,
    Mark,
    Operation,
    Recording,
    Rename,
    SyncAll,
    Truncate,
    Unlink,
    Where,
    Write,
)
from grader.crash.replay import Files, Names
from grader.crash.sentences import known, language, sentence, translated

KINDS = (
    "in_place",
    "copied_over",
    "unlinked",
    "moved_away",
    "removed",
    "renamed_early",
    "visible_early",
    "appended",
    "two_files",
    "several",
    "not_fsynced",
    "not_fsynced_at_all",
    "fsync_late",
    "fsync_before_write",
    "directory_not_fsynced",
    "directory_fsync_early",
    "other_directory",
    "fsync_lies",
    "returned_early",
    "leftover_blocks",
    "next_fails",
    "second_crash",
    "load_guesses",
    "residue",
    "other",
)
"""Every kind of fault there is a sentence for."""

_INSTEAD = ("in_place", "copied_over", "appended", "visible_early", "renamed_early")
"""Faults whose remedy covers the fsyncs of the same file too."""


@dataclass(frozen=True)
class Diagnosis:
    """One fault, as plain data.

    Attributes:
        kind: one of ``KINDS``.
        model: the way to die that shows it: ``kill``, ``power`` or ``next``.
        at: the line at fault; None when it is not the learner's, or there is none.
        before: the line that it must come before or after, when two are concerned.
        names: ``target``, ``temp``, ``other``, ``directory``, ``verb``, ``error``, as far as they apply.
        operations: indices into the recording of the operations concerned: at ``at``, and at ``before``.
        at_text: ``at`` in words, in English and in Chinese; ``before_text`` likewise.
    """

    kind: str
    model: str
    at: Where | None = None
    before: Where | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    operations: tuple[int, ...] = ()
    at_text: tuple[str, str] = ("", "")
    before_text: tuple[str, str] = ("", "")

    def fault(self, lang: str | None = None) -> str:
        """What is wrong, in one sentence."""
        return self._say("fault", language(lang))

    def advice(self, lang: str | None = None) -> str:
        """What to do about it, in a sentence or two."""
        return self._say("advice", language(lang))

    def _say(self, part: str, lang: str) -> str:
        position = 1 if lang == "zh" else 0
        names = {key: "?" for key in ("target", "temp", "other", "directory", "verb", "error")} | dict(self.names)
        if known(f"verb.{names['verb']}"):
            names["verb"] = sentence(f"verb.{names['verb']}", lang)
        names["error"] = translated(names["error"], lang)
        names["directory"] = f'"{names["directory"]}"'
        return sentence(
            f"{part}.{self.kind}", lang, **names, at=self.at_text[position], before=self.before_text[position]
        )


def diagnose(exploration: Exploration[Any]) -> tuple[Diagnosis, ...]:
    """Every fault that an exploration shows, those that a kill shows first; empty when the save survives.

    Args:
        exploration: what ``explore`` gave.
    """
    return _Doctor(exploration).faults()


def diagnose_one(exploration: Exploration[Any], example: Counterexample) -> Diagnosis | None:
    """The fault behind one counterexample."""
    doctor = _Doctor(exploration)
    if example.model == "next":
        for outcome in exploration.following.outcomes if exploration.following else ():
            if outcome.moment == example.moment:
                return doctor.of_next(outcome)
        return None
    survey = exploration.power if example.model == "power" else None
    if survey is not None and getattr(survey.model, "fsync_lies", False):
        return next((d for d in doctor.faults() if d.kind == "fsync_lies"), None)
    if example.found.verdict is Verdict.LOST:
        return doctor.of_lost(example.moment, example.model)
    return doctor.of_unsound(example.moment, example.model)


def _key(diagnosis: Diagnosis) -> object:
    """Equal for what would be told in the same words."""
    return (diagnosis.kind, diagnosis.at, diagnosis.before, sorted(diagnosis.names.items()))


class _Doctor:
    """One exploration, asked for causes."""

    def __init__(self, exploration: Exploration[Any], story: Story | None = None) -> None:
        self.exploration = exploration
        self.recording: Recording = exploration.recording
        self.operations: Sequence[Operation] = self.recording.operations
        self.story = story or Story(self.recording)
        self.initial = Names(self.recording.initial)
        self.end = next(
            (i for i, op in enumerate(self.operations) if isinstance(op, Mark) and op.kind == "save-end"),
            len(self.operations),
        )
        self.created = {op.inode: i for i, op in reversed([*enumerate(self.operations)]) if isinstance(op, Link)}
        self.old_inodes = self.initial.reachable()

    def faults(self) -> tuple[Diagnosis, ...]:
        found: list[Diagnosis] = []
        for diagnosis in self._all():
            if any(_key(d) == _key(diagnosis) for d in found):
                continue
            if self._covered(diagnosis, found):
                continue
            found.append(diagnosis)
        return tuple(found)

    def _covered(self, new: Diagnosis, found: Sequence[Diagnosis]) -> bool:
        """Whether the remedy of a fault already found mends this one too."""
        kinds = {d.kind for d in found}
        if new.kind in ("not_fsynced", "not_fsynced_at_all", "fsync_late", "fsync_before_write"):
            return any(d.kind in _INSTEAD and d.names.get("target") == new.names.get("target") for d in found)
        if new.kind in ("next_fails", "second_crash", "other"):
            return bool(
                kinds
                & {"returned_early", *_INSTEAD, "unlinked", "moved_away", "removed", "two_files", "several", "other"}
            )
        if new.kind == "directory_not_fsynced":
            return "returned_early" in kinds
        return new.kind == "load_guesses" and bool(kinds & {"load_guesses", "several", "two_files"})

    def _all(self) -> Iterator[Diagnosis]:
        guessed: Found | None = None
        for survey in (self.exploration.kill, self.exploration.power):
            if survey is None:
                continue
            model = survey.model.name
            if getattr(survey.model, "fsync_lies", False):
                if not all(o.result.verdict.sound for o in survey.outcomes):
                    yield self._make("fsync_lies", model, target=self.exploration.path or "?")
                continue
            bad = [o for o in survey.outcomes if not o.result.verdict.sound]
            moments = self._beginnings() if model == "kill" else self._told_apart(bad)
            for moment in moments:
                cause = self.of_unsound(moment, model)
                if cause is not None:
                    yield cause
            guessed = guessed or next((o.result for o in bad if o.result.verdict is Verdict.WRONG), None)
            late = [o for o in survey.outcomes if o.moment.until > self.end and o.result.verdict is Verdict.OLD]
            for moment in self._told_apart(late):
                cause = self.of_lost(moment, model)
                if cause is not None:
                    yield cause
        if guessed is not None:
            yield Diagnosis("load_guesses", "kill", names={"error": guessed.detail})
        if self.exploration.following is None:
            return
        failed = [o for o in self.exploration.following.outcomes if o.result.error or o.result.second]
        seen: set[object] = set()
        for outcome in failed:
            key = (outcome.result.error, outcome.result.where, outcome.result.second)
            if key not in seen:
                seen.add(key)
                yield self.of_next(outcome)
        if self.exploration.residue:
            yield self._residue(self.exploration.residue)

    def _beginnings(self) -> list[Moment]:
        """The first moment of each stretch of a kill in which recovery fails."""
        found, sound = [], True
        for outcome in self.exploration.kill.outcomes if self.exploration.kill else ():
            now = outcome.result.verdict.sound
            if sound and not now:
                found.append(outcome.moment)
            sound = now
        return found

    def _told_apart(self, outcomes: Sequence[Outcome[Found]]) -> list[Moment]:
        """One moment for each set of files damaged and names missing: no more can be told apart."""
        told = self.exploration.kill is not None and bool(self._beginnings())
        found: dict[object, Moment] = {}
        for outcome in outcomes:
            moment = outcome.moment
            if told and not moment.data and not outcome.result.verdict.sound:
                continue  # all that was written is there: a kill has shown this
            found.setdefault((moment.names, frozenset(number for number, _, _ in moment.data)), moment)
        return list(found.values())[:200]

    # -- causes ----------------------------------------------------------------------------------------------------

    def of_unsound(self, moment: Moment, model: str) -> Diagnosis | None:
        """Why recovery fails at a moment."""
        for number, _, _ in moment.data:
            cause = self._unsynced(number, moment, model)
            if cause is not None:
                return cause
        index = self._last_change(moment)
        if index is None:
            return None
        return self._at_operation(index, model)

    def _last_change(self, moment: Moment) -> int | None:
        """The last operation whose effect is on the disk at a moment."""
        if moment.cut:
            return moment.op
        if moment.names and not moment.data:
            return moment.names[-1]
        done = range(min(moment.op, len(self.operations)) - 1, -1, -1)
        for index in done:
            operation = self.operations[index]
            if isinstance(operation, (Link, Unlink, Rename)) and moment.names is not None and index not in moment.names:
                continue
            if isinstance(operation, (Write, Truncate, Link, Unlink, Rename)):
                return index
        return None

    def _at_operation(self, index: int, model: str) -> Diagnosis:
        operation = self.operations[index]
        step = self.story.steps[index]
        if isinstance(operation, Unlink):
            taken = self._name_taken(operation.parent, operation.name, index)
            if taken is None:
                return self._make("removed", model, index, target=step.name)
            return self._make("unlinked", model, index, taken, target=step.name)
        if isinstance(operation, Rename):
            taken = self._name_taken(operation.old_parent, operation.old_name, index)
            if operation.inode in self.old_inodes and taken is not None:
                return self._make("moved_away", model, index, taken, target=step.name)
            later = self._write_after(operation.inode, index)
            if later is not None:
                return self._make("renamed_early", model, later, index, target=step.other, temp=step.name)
            again = self._name_taken(operation.new_parent, operation.new_name, index)
            if again is not None:
                return self._make("several", model, index, again, target=step.other)
            other = self._other_change(step.other, index)
            if other is not None:
                target, then = step.other, self.story.steps[other]
                name = then.other if then.verb in ("rename", "replace") else then.name
                return self._make("two_files", model, index, other, target=target, other=name)
            return self._make("other", model, index, target=step.other)
        if isinstance(operation, (Write, Truncate)):
            return self._written(operation, index, model)
        assert isinstance(operation, Link)
        before = self._name_left(operation.parent, operation.name, index)
        if before is not None:
            return self._make("unlinked", model, before, index, target=step.name)
        return self._make("visible_early", model, index, target=step.name)

    def _written(self, operation: Write | Truncate, index: int, model: str) -> Diagnosis:
        step = self.story.steps[index]
        number = operation.inode
        renames = [i for i, op in enumerate(self.operations[:index]) if isinstance(op, Rename) and op.inode == number]
        if renames and number not in self.old_inodes:
            temp = self.story.steps[renames[-1]].name
            return self._make("renamed_early", model, index, renames[-1], target=step.name, temp=temp)
        if number in self.old_inodes:
            first = next(
                i for i, op in enumerate(self.operations) if isinstance(op, (Write, Truncate)) and op.inode == number
            )
            if self._appends(number):
                return self._make("appended", model, first, target=step.name)
            copy = self._copy_of(number)
            if copy is not None:
                return self._make("copied_over", model, first, target=step.name, temp=copy)
            return self._make("in_place", model, first, target=step.name)
        made = self.created.get(number)
        link = self.operations[made] if made is not None else None
        if isinstance(link, Link) and made is not None:
            gone = self._name_left(link.parent, link.name, made)
            if gone is not None:
                return self._make("unlinked", model, gone, index, target=step.name)
        return self._make("visible_early", model, index, target=step.name)

    def _unsynced(self, number: int, moment: Moment, model: str) -> Diagnosis | None:
        """Why a file's bytes were not safe."""
        writes = [
            i
            for i, op in enumerate(self.operations[: moment.op])
            if isinstance(op, (Write, Truncate)) and op.inode == number
        ]
        if not writes:
            return None
        last = writes[-1]
        target = self._name_at(number, moment)
        syncs = [
            i
            for i, op in enumerate(self.operations)
            if isinstance(op, SyncAll) or (isinstance(op, Fsync) and op.inode == number and not op.directory)
        ]
        after = [i for i in syncs if i > last]
        early = [i for i in syncs if i < last]
        renamed = [
            i
            for i, op in enumerate(self.operations[: moment.op])
            if isinstance(op, Rename) and op.inode == number and (moment.names is None or i in moment.names)
        ]
        if number in self.old_inodes and not self._appends(number):
            return self._written(self._change(last), last, model)
        if early and not after:
            return self._make("fsync_before_write", model, early[-1], last, target=target, temp=self._name_of(last))
        if renamed:
            move = renamed[-1]
            step = self.story.steps[move]
            if move < last:
                return self._make("renamed_early", model, last, move, target=target, temp=step.name)
            if after:
                return self._make("fsync_late", model, after[0], move, target=target, temp=step.name, verb=step.verb)
            return self._make("not_fsynced", model, last, move, target=target, temp=step.name, verb=step.verb)
        if after and not self._appends(number):
            return self._make("visible_early", model, last, target=target)
        if after:
            return self._make("appended", model, last, target=target)
        return self._make("not_fsynced_at_all", model, last, target=target)

    def of_lost(self, moment: Moment, model: str) -> Diagnosis | None:
        """Why the old state can be found after the save has returned."""
        if model == "kill":
            return self._make("returned_early", model, target=self.exploration.path or "?")
        for number, _, _ in moment.data:
            cause = self._unsynced(number, moment, model)
            if cause is not None:
                return cause
        missing = [
            i
            for i, op in enumerate(self.operations[: self.end])
            if isinstance(op, (Link, Unlink, Rename)) and i not in (moment.names or ())
        ]
        if not missing:
            return self._make("returned_early", model, target=self.exploration.path or "?")
        index = next((i for i in reversed(missing) if not isinstance(self.operations[i], Unlink)), missing[-1])
        operation = self.operations[index]
        step = self.story.steps[index]
        parent = operation.new_parent if isinstance(operation, Rename) else operation.parent  # type: ignore[union-attr]
        target = step.other if isinstance(operation, Rename) else step.name
        names = {
            "target": target, "temp": step.name, "verb": step.verb, "directory": posixpath.dirname(target) or ".",
        }  # fmt: skip
        syncs = [(i, op) for i, op in enumerate(self.operations[: self.end]) if isinstance(op, Fsync) and op.directory]
        for sync, op in reversed(syncs):
            if op.inode == parent and sync < index:
                return self._make("directory_fsync_early", model, index, sync, **names)
            if op.inode != parent and sync > index:
                return self._make("other_directory", model, index, sync, **names)
        return self._make("directory_not_fsynced", model, index, **names)

    def of_next(self, outcome: Outcome[Next]) -> Diagnosis:
        """Why the next save fails on what a crash left."""
        result = outcome.result
        if result.error is None:
            return self._made("second_crash", "next", None, None, {"error": result.second or ""}, ())
        image = self.exploration.kill.model.image(self.recording, outcome.moment) if self.exploration.kill else None
        left = sorted(set(image.names() if image else ()) - set(self.recording.initial.names()))
        error = result.error
        names = {"error": error}
        if "FileExistsError" in error or "ENOTEMPTY" in error:
            mentioned = [name for name in left if repr(posixpath.basename(name.rstrip("/"))).strip("'") in error]
            names["temp"] = (mentioned or left or ["?"])[0]
            names["error"] = error.removeprefix("the next save raised ")
            return self._made("leftover_blocks", "next", result.where, None, names, ())
        return self._made("next_fails", "next", result.where, None, names, ())

    def _residue(self, names: Sequence[str]) -> Diagnosis:
        return self._made("residue", "next", None, None, {"temp": pattern_of(names)}, ())

    # -- looking things up -----------------------------------------------------------------------------------------

    def _change(self, index: int) -> Write | Truncate:
        operation = self.operations[index]
        assert isinstance(operation, (Write, Truncate))
        return operation

    def _name_of(self, index: int) -> str:
        return self.story.steps[index].name

    def _name_at(self, number: int, moment: Moment) -> str:
        """A file's name at a moment, as the story tells names."""
        names = Names(self.recording.initial)
        for index, operation in enumerate(self.operations[: moment.op]):
            if moment.names is None or index in moment.names:
                names.apply(operation)
        path = names.path_of(number)
        return path.removeprefix(self.recording.root.rstrip("/") + "/") if path else "?"

    def _name_taken(self, parent: int, name: str, after: int) -> int | None:
        """The operation after ``after`` that puts something under a name again."""
        for index, op in enumerate(self.operations[after + 1 :], after + 1):
            if isinstance(op, Rename) and (op.new_parent, op.new_name) == (parent, name):
                return index
            if isinstance(op, Link) and (op.parent, op.name) == (parent, name):
                return index
        return None

    def _name_left(self, parent: int, name: str, before: int) -> int | None:
        """The operation before ``before`` that left a name of the old state empty."""
        if name not in self.initial.directories.get(parent, {}):
            return None
        for index in range(before - 1, -1, -1):
            op = self.operations[index]
            if isinstance(op, Rename) and (op.old_parent, op.old_name) == (parent, name):
                return index
            if isinstance(op, Unlink) and (op.parent, op.name) == (parent, name):
                return index
        return None

    def _write_after(self, number: int, after: int) -> int | None:
        for index, op in enumerate(self.operations[after + 1 :], after + 1):
            if isinstance(op, Write) and op.inode == number:
                return index
        return None

    def _other_change(self, target: str, after: int) -> int | None:
        """The next change of another file of the old state."""
        for index, op in enumerate(self.operations[after + 1 :], after + 1):
            if isinstance(op, Rename) and op.replaced is not None and self.story.steps[index].other != target:
                return index
            if isinstance(op, (Write, Truncate)) and op.inode in self.old_inodes:
                return index
        return None

    def _appends(self, number: int) -> bool:
        """Whether all that happened to an old file was that bytes were added at its end."""
        inode = self.recording.initial.inodes.get(number)
        if inode is None:
            return False
        size = len(inode.data)
        for op in self.operations:
            if isinstance(op, Truncate) and op.inode == number:
                return False
            if isinstance(op, Write) and op.inode == number and op.offset < size:
                return False
        return size > 0

    def _copy_of(self, number: int) -> str | None:
        """The name of a file made in this save with the same bytes that ``number`` ends up with."""
        files = Files(self.recording.initial)
        for op in self.operations:
            files.apply(op)
        data = files.data(number)
        for index, op in enumerate(self.operations):
            if not isinstance(op, Link) or op.kind != "file" or op.inode in (number, *self.old_inodes):
                continue
            if data and files.data(op.inode) == data:
                return self._name_of(index)
        return None

    # -- making one ------------------------------------------------------------------------------------------------

    def _make(
        self, kind: str, model: str, at: int | None = None, before: int | None = None, /, **names: str
    ) -> Diagnosis:
        lines = [self.story.steps[i].where if i is not None else None for i in (at, before)]
        indices = tuple(i for i in (at, before) if i is not None)
        return self._made(kind, model, lines[0], lines[1], names, indices)

    def _made(
        self,
        kind: str,
        model: str,
        at: Where | None,
        before: Where | None,
        names: Mapping[str, str],
        operations: tuple[int, ...],
    ) -> Diagnosis:
        at_text = (self.story.line(at, "en"), self.story.line(at, "zh"))
        before_text = (self.story.line(before, "en"), self.story.line(before, "zh"))
        return Diagnosis(kind, model, at, before, dict(names), operations, at_text, before_text)


def pattern_of(names: Sequence[str]) -> str:
    """One name, or a pattern such as ``tmp*.json`` that stands for several, with an example."""
    first = names[0]
    if len(names) == 1:
        return first
    start = posixpath.commonprefix(list(names))
    end = posixpath.commonprefix([name[len(start) :][::-1] for name in names])[::-1]
    pattern = re.sub(r"\*+", "*", f"{start}*{end}")
    return pattern if all(fnmatch.fnmatchcase(name, pattern) for name in names) else first
