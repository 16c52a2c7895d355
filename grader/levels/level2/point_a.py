"""``level2-point-a``: what does the file say while a tool runs, and what when the model is called next?"""

from __future__ import annotations

import json
from typing import Any

from grader.crash import Mark
from grader.crash.operations import Where
from grader.crash.replay import images_along
from grader.levels import level2_scripts as scripts
from grader.levels.level2.case import Case
from grader.levels.level2.documents import document
from grader.levels.level2.facts import NAME, words
from grader.levels.level2.film import Film, as_list, film
from grader.levels.level2.messages import has_result, names_call, shortened, texts_in, tool_use, turn_of
from grader.verdict import Text, Verdict
from grader.words import plain


def is_named(content: bytes | None, block: dict[str, Any]) -> bool:
    """Tell whether a checkpoint holds just this call as pending, and its assistant message last."""
    found = document(content) or {}
    pending = found.get("pendingToolUse")
    if isinstance(pending, list) and len(pending) == 1:
        pending = pending[0]
    same = isinstance(pending, dict) and all(
        key in pending and pending[key] == block.get(key) for key in ("id", "name", "input")
    )
    return same and names_call(found, block)


def is_booked(content: bytes | None, block: dict[str, Any], result: Any) -> bool:
    """Tell whether a checkpoint holds a call's result, and no call as pending."""
    found = document(content)
    if found is None or found.get("pendingToolUse"):
        return False
    # under which role the result stands, the loop's criterion asks
    return has_result(as_list(found.get("messages")), str(block.get("id")), result, of_user=False)


class PointA:
    """The judge of ``level2-point-a``."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def verdict(self) -> Verdict:
        """Judge it, once the runs are made."""
        wrong, calls = None, 0
        for outcome, which in ((self.case.first, scripts.FIRST), (self.case.second, scripts.SECOND)):
            if outcome is None or outcome.recording is None:
                continue
            played = self.case.film(outcome) or film(outcome.recording, images_along(outcome.recording), NAME)
            found, seen = self._pending(played, which)
            calls += seen
            wrong = wrong or found
        if wrong is not None:
            return self.case.verdict("level2-point-a", False, wrong)
        failure = self.case.first.failure if self.case.first else None
        if calls == 0:
            why = self.case.reason(failure) if failure else None
            text = words("point_a.stopped", why=why) if why else words("point_a.no_tool")
            return self.case.verdict("level2-point-a", False, text)
        return self.case.verdict("level2-point-a", True, words("point_a.met", calls=calls))

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
                    wrong = self._booked(content, tool_use(ran) or {}, ran.get("result"))
                    if wrong is not None:
                        return wrong, seen
                waiting, ran = False, None
                model += 1
                last_mark = index
            elif mark.kind == "run-end":
                if waiting and ran is not None:  # the model was not called again: what does the end leave?
                    waiting = self._booked(content, tool_use(ran) or {}, ran.get("result")) is not None
            elif mark.kind in ("tool-begin", "tool-end"):
                if mark.kind == "tool-begin":
                    ran = turn_of(mark.data, turns[:model])
                if ran is None:
                    continue
                if mark.kind == "tool-begin":
                    seen += 1
                    waiting = True
                wrong = self._named(played, index, last_mark, content, tool_use(ran) or {})
                if wrong is not None:
                    return wrong, seen
        if waiting:
            failure = (self.case.first and self.case.first.failure) or (self.case.second and self.case.second.failure)
            why = self.case.reason(failure) if failure else words("point_a.model_not_called")
            return words("point_a.not_seen", why=why), seen
        return None, seen

    def _named(self, played: Film, index: int, since: int, content: bytes | None, block: dict[str, Any]) -> Text | None:
        if is_named(content, block):
            return None
        call = plain(f"{block['name']} ({block['id']})")
        found = document(content)
        saved = any(save.begin > since and save.end <= index for save in played.saves)
        if found is None:
            if content is not None:
                return words("point_a.unreadable", call=call)
            later = self._saved_later(played, index, block)
            if later is not None or saved:
                return later or words("point_a.save_left_nothing", call=call)
            return words("point_a.assigned" if self._assigned() else "point_a.no_file", call=call)
        pending = found.get("pendingToolUse")
        within = next((key for key, value in found.items() if isinstance(value, dict) and "messages" in value), None)
        if within is not None and "messages" not in found:
            return words("point_a.nested", call=call, key=shortened(within))
        if isinstance(pending, list) and len(pending) == 1:
            pending = pending[0]
        if not pending:
            later = self._saved_later(played, index, block)
            if later is not None:
                return later
            if not saved:
                assigned = self._assigned()
                return words("point_a.assigned" if assigned else "point_a.not_saved", call=call)
            return words("point_a.saved_without", call=call)
        if not isinstance(pending, dict):
            return words("point_a.type", call=call, found=type(pending).__name__)
        for key in ("id", "name", "input"):
            if key not in pending:
                return words("point_a.key_missing", call=call, key=key)
        for key in ("id", "name", "input"):
            if pending[key] != block[key]:
                shown = json.dumps(pending[key], ensure_ascii=False)
                wanted = json.dumps(block[key], ensure_ascii=False)
                return words("point_a.key_wrong", call=call, key=key, found=shortened(shown), wanted=shortened(wanted))
        return words("point_a.message_missing", call=call)

    def _saved_later(self, played: Film, index: int, block: dict[str, Any]) -> Text | None:
        """Return the message for a call that is written down only after its tool has run."""
        for later in range(index, len(played.operations)):
            mark = played.operations[later]
            if isinstance(mark, Mark) and mark.kind == "model":
                break
            pending = (document(played.contents[later + 1]) or {}).get("pendingToolUse")
            if isinstance(pending, dict) and pending.get("id") == block["id"]:
                where = self._line_of_save(played, later)
                return words("point_a.saved_after", call=plain(f"{block['name']} ({block['id']})"), at=where)
        return None

    def _line_of_save(self, played: Film, index: int) -> Text:
        for op in reversed(played.operations[: index + 1]):
            if not isinstance(op, Mark) and isinstance(getattr(op, "where", None), Where):
                return self.case.sources.at(op.where)
        return self.case.sources.at(None)

    def _assigned(self) -> bool:
        return any(
            "pendingToolUse" in line and "=" in line and "None" not in line
            for source in self.case.sources.cells.values()
            for line in source.split("\n")
        )

    def _booked(self, content: bytes | None, block: dict[str, Any], result: Any) -> Text | None:
        if is_booked(content, block, result):
            return None
        call = plain(f"{block['name']} ({block['id']})")
        found = document(content)
        if found is None:
            return words("point_a.b_no_file" if content is None else "point_a.b_unreadable", call=call)
        pending = found.get("pendingToolUse")
        if pending:
            return words("point_a.not_cleared", call=call, found=shortened(json.dumps(pending, ensure_ascii=False)))
        messages = as_list(found.get("messages"))
        if any(isinstance(result, str) and result in text for message in messages[1:] for text in texts_in(message)):
            return words("point_a.result_elsewhere", call=call, id=plain(str(block["id"])))
        return words("point_a.result_missing", call=call)
