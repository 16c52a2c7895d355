"""``level2-atomic``: killed at any moment of any save, is the checkpoint the previous document or the new one?"""

from __future__ import annotations

import errno
import posixpath
from typing import Any

from grader.crash import Image, Mark
from grader.crash.operations import Fsync, Link, Rename, SyncAll, Truncate, Unlink, Write
from grader.crash.replay import answer, images_along
from grader.levels import level2_scripts as scripts
from grader.levels.level2.case import Case
from grader.levels.level2.documents import document, no_object, no_text
from grader.levels.level2.facts import NAME, RERUNS, RERUNS_OF_ONE_LOOK, words
from grader.levels.level2.faults import Fault, faults, had_copy
from grader.levels.level2.film import Film, left_at, moments_of
from grader.levels.level2.leftovers import in_tmp, left_behind
from grader.levels.level2.picture import picture
from grader.levels.places import place_of
from grader.levels.trial import Failure, Outcome
from grader.verdict import Text, Verdict
from grader.words import join, plain


class _Seen:
    """Disks on which a run can't but do what an earlier one did: all that it asks has been answered so before."""

    def __init__(self) -> None:
        self._answers: dict[tuple[Any, ...], set[tuple[Any, ...]]] = {}

    def knows(self, image: Image) -> bool:
        """Tell whether a run on this disk would learn nothing that an earlier one has not."""
        return any(tuple(answer(image, one) for one in asked) in known for asked, known in self._answers.items())

    def add(self, image: Image, outcome: Outcome) -> None:
        """Note what a run asked of a disk."""
        asked = tuple(query for query, _ in outcome.observations)
        self._answers.setdefault(asked, set()).add(tuple(answer(image, one) for one in asked))


class Atomic:
    """The judge of ``level2-atomic``."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def verdict(self) -> Verdict:
        """Judge it, once the runs are made."""
        wrong = self._atomic_fault()
        if wrong is not None:
            return self.case.verdict("level2-atomic", False, wrong, drawn=self._drawn())
        played = [f for f in (self.case.film(self.case.first), self.case.film(self.case.second)) if f is not None]
        saves = sum(len(f.saves) for f in played)
        moments = sum(moments_of(f) for f in played)
        advice = next((text for f in played if (text := self._power(f)) is not None), None)
        text = words("atomic.met", saves=saves, moments=f"{moments:,}")
        return self.case.verdict("level2-atomic", True, text, advice, drawn=self._drawn())

    def _drawn(self) -> tuple[str, str] | None:
        """Return the crash map of the first save at fault, or of a sound one when there is none."""
        films = [f for f in (self.case.film(self.case.first), self.case.film(self.case.second)) if f is not None]
        at_fault = [(played, found[0]) for played in films if (found := faults(played))]
        played, fault = at_fault[0] if at_fault else (films[0] if films else None, None)
        try:
            return picture(played, fault, self.case.sources.cells) if played is not None else None
        except Exception:  # a recording made to be strange: its picture is not worth the verdict
            return None

    def _atomic_fault(self) -> Text | None:
        outcomes = [outcome for outcome in (self.case.first, self.case.second) if outcome is not None]
        films = [(outcome, self.case.film(outcome)) for outcome in outcomes]
        if not any(played is not None and played.saves for _, played in films):
            return self._never(outcomes)
        for outcome, played in films:
            found = faults(played) if played is not None else []
            if found and played is not None:
                spread = left_at(played) if found[0].kind in ("unchanged", "absent") else []
                if len(spread) > 1:
                    return words("atomic.moves", paths=plain(", ".join(map(self.case.shown, spread[:4]))))
                return self._explain(played, found[0], outcome)
        paths = {played.path for _, played in films if played is not None}
        if len(paths) > 1:
            return words("atomic.moves", paths=plain(", ".join(sorted(map(self.case.shown, paths)))))
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
            for path, data in images_along(outcome.recording)[-1].files().items()
        }
        others = sorted(files)
        if len(others) == 1 and called and document(files[others[0]]) is None and no_object(files[others[0]]) is None:
            return words("atomic.other_unfinished", names=plain(others[0]))
        if others:
            return words("atomic.other_name", names=plain(", ".join(others[:4])))
        return words("atomic.absent", file=plain(NAME)) if called else words("atomic.never")

    def _stopped_before(self, outcome: Outcome) -> Text:
        assert outcome.failure is not None
        return words("atomic.stopped_before", why=self.case.reason(outcome.failure))

    def _raised(self, outcome: Outcome, *, rerun: bool = False) -> Text:
        failure = outcome.failure
        if failure is None:
            return words("atomic.raised_quietly")
        why = self.case.reason(failure)
        if f"[Errno {errno.EXDEV}]" in failure.message:
            return words("atomic.exdev", why=why)
        if failure.type == "FileNotFoundError":
            if any(failure.message.endswith((f": '{name}'", f"/{name}'")) for name in _renamed(outcome)):
                return words("atomic.gone_already", why=why)
            wrong_way = f"{NAME}' -> " in failure.message
            return words("atomic.wrong_way" if wrong_way else "atomic.not_found", why=why)
        if failure.type == "FileExistsError" and f"-> '{NAME}'" in failure.message:
            return words("atomic.taken", why=why, file=plain(NAME))
        return words("atomic.raised", why=why)

    def _explain(self, played: Film, fault: Fault, outcome: Outcome) -> Text:
        save = fault.save
        where = played.operations[fault.op].where if fault.op >= 0 else None
        at = self.case.sources.at(where)
        held = self._held(fault)
        name = plain(self.case.shown(played.path))
        gone = words("atomic.old_gone") if fault.lost else Text("", "")
        common = {
            "at": at,
            "held": held,
            "file": name,
            "gone": gone,
            "progress": self._progress(played, fault),
        }
        if fault.kind == "in_place":
            source = self.case.sources.line(place_of(where))
            copied = any(word in source for word in ("copy", "shutil")) or had_copy(played, save)
            key = "atomic.moved_across" if "move" in source else "atomic.copy" if copied else "atomic.in_place"
            return words(key, **common)
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
            return words(f"atomic.{fault.kind}", earlier=earlier, backup=plain(backup), **common)
        if fault.kind == "renamed_unfinished":
            first = no_text(fault.content)
            if first is not None:
                return words("atomic.no_text", first=plain(first), **common)
            start = no_object(fault.content)
            if start is not None:
                return words("atomic.no_object", start=plain(start), **common)
            return words("atomic.renamed_unfinished", **common)
        if fault.kind == "raised":
            return self._raised(outcome)
        if fault.kind == "other":
            return words("atomic.other", field=fault.detail or "?", file=name)
        return words(f"atomic.{fault.kind}", **common)

    def _earlier(self, played: Film, fault: Fault) -> Text:
        """Return the line that took the old document away, or gave the new file its name too early."""
        name = posixpath.basename(played.path)
        for op in played.operations[fault.save.begin : fault.op + 1]:
            if isinstance(op, Rename) and name in (op.old_name, op.new_name):
                return self.case.sources.at(op.where)
            if isinstance(op, Unlink) and op.name == name:
                return self.case.sources.at(op.where)
        return self.case.sources.at(played.operations[fault.op].where)

    def _progress(self, played: Film, fault: Fault) -> Text:
        operation = played.operations[fault.op] if fault.op >= 0 else None
        if isinstance(operation, Write) and fault.cut is not None:
            closing = self.case.sources.line(place_of(operation.where)).startswith(("with ", "async with "))
            key = "progress.closing" if closing else "progress.write"
            return words(key, done=f"{fault.cut:,}", size=f"{len(operation.data):,}")
        if isinstance(operation, Truncate):
            return words("progress.truncated")
        if isinstance(operation, Link):
            return words("progress.opened")
        return words("progress.after")

    def _held(self, fault: Fault) -> Text:
        content = fault.content
        if content is None:
            return words("held.nothing")
        if not content:
            return words("held.empty")
        if document(content) is not None:
            return words("held.wrong", size=f"{len(content):,}")
        return words("held.torn", size=f"{len(content):,}")

    def _elsewhere(self) -> Text | None:
        """Judge a run with ``/tmp`` on another file system, when the program works there at all."""
        used = any(
            in_tmp(outcome.recording)
            for outcome in (self.case.first, self.case.second)
            if outcome is not None and outcome.recording is not None
        )
        if not used:
            return None
        outcome = self.case.trial(scripts.FIRST, tmp_elsewhere=True)
        played = self.case.film(outcome)
        found = faults(played) if played is not None else []
        if found and played is not None:
            if found[0].kind == "raised":
                return self._raised(outcome)
            return join(words("atomic.tmp_elsewhere"), self._explain(played, found[0], outcome))
        if outcome.failure is not None and (self.case.first is None or self.case.first.failure is None):
            return self._raised(outcome)
        return None

    def _leftovers(self) -> Text | None:
        """Run again in each kind of directory that a killed run left."""
        assert self.case.first is not None
        played = self.case.film(self.case.first)
        if played is None:
            return None
        baseline = self.case.first.failure
        seen = _Seen()
        firsts, others = left_behind(played)
        count = 0
        if baseline is None and 1 < len(firsts) <= RERUNS and self._hold_in_one_process(played, firsts, seen):
            count = len(firsts)
        for number, (index, image) in enumerate(firsts + others):
            if number >= len(firsts) and count >= RERUNS_OF_ONE_LOOK:
                break
            if seen.knows(image):
                continue
            if count >= RERUNS:
                break
            count += 1
            outcome = self.case.trial([scripts.AGAIN], image)
            seen.add(image, outcome)
            wrong = self._again(played, index, image, outcome, baseline)
            if wrong is not None:
                return wrong
        return None

    def _hold_in_one_process(self, played: Film, left: list[tuple[int, Image]], seen: _Seen) -> bool:
        """Tell whether nothing goes wrong in any of these directories, one life after the other: far quicker.

        What does go wrong may have been handed down from life to life, so it counts only if it goes wrong in a process
        of its own as well.
        """
        lived = self.case.lives([scripts.AGAIN], [image for _, image in left])
        if lived is None:
            return False
        for (index, image), outcome in zip(left, lived, strict=True):
            if self._again(played, index, image, outcome, None) is not None:
                return False
        for (_, image), outcome in zip(left, lived, strict=True):
            seen.add(image, outcome)
        return True

    def _again(self, played: Film, index: int, image: Image, outcome: Outcome, baseline: Failure | None) -> Text | None:
        again = self.case.film(outcome)
        found = faults(again) if again is not None else []
        died = self.case.sources.at(played.operations[index].where if index >= 0 else None)
        known = set(played.recording.initial.names())
        left = [name for name in image.names() if name not in known and name != self.case.shown(played.path)]
        names = plain(", ".join(left[:3]) or NAME)
        failure = outcome.failure
        if self.case.first is not None and len(outcome.cells) > len(self.case.first.cells):
            failure = failure and outcome.cells[-1]
        same = baseline is not None and failure is not None and (baseline.kind, baseline.type) == (
            failure.kind, failure.type,
        )  # fmt: skip
        if failure is not None and not same and (not found or found[0].kind == "raised"):
            opened = failure.type == "FileExistsError" and "open" in self.case.sources.line(failure.place)
            key = "atomic.leftover_exclusive" if opened else "atomic.leftover"
            return words(key, at=died, names=names, why=self.case.reason(failure))
        if found and again is not None:
            fault = found[0]
            if fault.kind == "raised":
                return words("atomic.leftover", at=died, names=names, why=words("atomic.raised_quietly"))
            if fault.kind == "renamed_unfinished":
                shown = plain(self.case.shown(played.path))
                return words("atomic.leftover_mixed", at=died, names=names, file=shown, held=self._held(fault))
            return join(words("atomic.leftover_then", at=died, names=names), self._explain(again, fault, outcome))
        if again is not None and again.saves and again.path != played.path:
            both = map(self.case.shown, sorted({again.path, played.path}))
            return words("atomic.moves", paths=plain(", ".join(both)))
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
                at = self.case.sources.at(op.where)
                if not file_safe:
                    return words("power.file", at=at)
                if not folder_safe:
                    return words("power.folder", at=at)
        return None


def _renamed(outcome: Outcome) -> set[str]:
    """Return the names, without their folders, from which files were renamed."""
    operations = outcome.recording.operations if outcome.recording is not None else ()
    return {op.old_name for op in operations if isinstance(op, Rename)}
