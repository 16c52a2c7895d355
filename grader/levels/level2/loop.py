"""``level2-runs``: does the loop do its work, twice in one process?"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from grader.crash import Mark
from grader.levels import level2_scripts as scripts
from grader.levels.level2.case import Case
from grader.levels.level2.facts import CELL, words
from grader.levels.level2.messages import (
    blocks,
    has_result,
    is_call,
    is_message,
    shortened,
    text_of,
    tool_use,
)
from grader.levels.literals import tree_of
from grader.levels.starts import starts
from grader.levels.trial import Failure, Outcome, alien
from grader.verdict import Text, Verdict
from grader.words import join, plain


class Loop:
    """The judge of ``level2-runs``."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def verdict(self) -> Verdict:
        """Judge it, once the runs are made."""
        if self._untouched():
            return self.case.verdict("level2-runs", False, words("runs.untouched"))
        wrong = None
        for outcome, which in ((self.case.first, scripts.FIRST), (self.case.second, scripts.SECOND)):
            if outcome is not None and wrong is None:
                wrong = self._run_of(outcome, which)
        if wrong is not None:
            return self.case.verdict("level2-runs", False, wrong)
        tools = sum(len(script["turns"]) - 1 for script in (*scripts.FIRST, *scripts.SECOND))
        return self.case.verdict("level2-runs", True, words("runs.met", runs=4, tools=tools))

    def _untouched(self) -> bool:
        """Tell whether the solution cell still holds the code as it was found, and no other cell mends it."""
        now = self.case.sources.cells.get(CELL)
        if now is None or not _same(starts().get(CELL) or "", now):
            return False
        others = [source for name, source in self.case.sources.cells.items() if name != CELL]
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
                return words("runs.stopped", why=self.case.reason(failure))
            wrong = one_loop(runs[number], script, self.case, outcome.failure)
            if wrong is not None:
                before = words("runs.second_call") if number else None
                return join(before, wrong)
        return None


def one_loop(marks: list[Mark], script: dict[str, Any], case: Case, failure: Failure | None) -> Text | None:
    """Return the first thing wrong with one run of the loop."""
    turns = script["turns"]
    expected = [block for turn in turns if (block := tool_use(turn)) is not None]
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
        return words("runs.stopped", why=case.reason(failure or Failure("damaged")))
    if model > len(turns):
        return words("runs.model_often", found=model, wanted=len(turns))
    if model < len(turns):
        return words("runs.model_seldom", found=model, wanted=len(turns))
    if len(done) < len(expected):
        return words("runs.tool_missing", call=plain(f"{expected[len(done)]['name']} ({expected[len(done)]['id']})"))
    data = end.data if isinstance(end.data, dict) else {}
    return _returned(data.get("returned"), script, str(data.get("type")))


def _tool(data: dict[str, Any], done: list[dict[str, Any]], expected: list[dict[str, Any]], model: int) -> Text | None:
    number = len(done)
    if model and done and done[-1].get("call") == data.get("call"):
        block = expected[min(number, len(expected)) - 1] if expected else {"name": "?", "id": "?"}
        return words("runs.tool_twice", call=plain(f"{block['name']} ({block['id']})"))
    if number >= len(expected):
        return words("runs.tool_extra", name=shortened(str(data.get("name"))))
    block = expected[number]
    if data.get("name") != block["name"]:
        return words("runs.tool_name", found=shortened(json.dumps(data.get("name"))), wanted=block["name"])
    if data.get("input") != block["input"]:
        found = shortened(json.dumps(data.get("input"), ensure_ascii=False))
        return words("runs.tool_input", name=block["name"], found=found)
    return None


def _returned(returned: Any, script: dict[str, Any], kind: str) -> Text | None:
    if returned is None:
        return words("runs.returns_none")
    if not isinstance(returned, dict) or alien(returned):
        return words("runs.returns_other", found=shortened(kind))
    if "messages" not in returned:
        return words("runs.no_messages")
    turns = len(script["turns"]) - 1
    wrong = _history(returned["messages"], script, turns, shown=False)
    if wrong is not None:
        return wrong
    counted = returned.get("turns")
    if type(counted) is not int or counted != turns:
        return words("runs.turns", found=shortened(json.dumps(counted)), wanted=turns)
    return None


def _history(messages: Any, script: dict[str, Any], turns: int, *, shown: bool) -> Text | None:
    """Check messages after ``turns`` booked turns; ``shown``: as the model is shown them, else as returned."""
    where = words("runs.shown", call=turns + 1) if shown else words("runs.in_state")
    if not isinstance(messages, list):
        return words("runs.messages_type", where=where, found=alien(messages) or type(messages).__name__)
    wanted = 1 + 2 * turns
    if not messages or not is_message(messages[0], "user") or text_of(messages[0]) != script["task"]:
        if shown and turns and len(messages) < wanted:
            return words("runs.part_shown", where=where, found=len(messages), wanted=wanted)
        return words("runs.first_message", where=where)
    for number in range(turns):
        turn = script["turns"][number]
        block = tool_use(turn)
        assert block is not None
        call = plain(f"{block['name']} ({block['id']})")
        position = 1 + 2 * number
        if len(messages) <= position or not is_message(messages[position], "assistant"):
            return words("runs.assistant_missing", where=where, call=call, n=position + 1)
        if not any(is_call(item, block) for item in blocks(messages[position])):
            return words("runs.call_missing", where=where, call=call, n=position + 1)
        if len(messages) <= position + 1 or not is_message(messages[position + 1], "user"):
            return words("runs.result_missing", where=where, call=call, n=position + 2)
        results = [item for item in blocks(messages[position + 1]) if item.get("type") == "tool_result"]
        if not any(item.get("tool_use_id") == block["id"] for item in results):
            return words("runs.result_missing", where=where, call=call, n=position + 2)
        if len(results) > 1:
            return words("runs.result_twice", where=where, call=call, n=position + 2)
        if not has_result([messages[position + 1]], block["id"], turn["result"]):
            return words("runs.result_wrong", where=where, call=call, n=position + 2)
    rest = messages[wanted:]
    answered = len(rest) == 1 and is_message(rest[0], "assistant")
    if answered and not shown and not any(item.get("type") == "tool_use" for item in blocks(rest[0])):
        return None
    if rest:
        return words("runs.too_many", where=where, found=len(messages), wanted=wanted)
    return None


def _same(one: str, other: str) -> bool:
    """Tell whether two cells are the same program, whatever their comments and blanks."""
    trees = [tree.body for source in (one, other) if (tree := tree_of(source)) is not None]
    if len(trees) < 2 or len(trees[0]) != len(trees[1]):
        return one == other
    try:
        return all(ast.dump(a) == ast.dump(b) for a, b in zip(*trees, strict=True))
    except RecursionError:
        return one == other
