"""Predictions compared, and "your turn" cells that check themselves: what the learner wrote is really run.

`answer(name, namespace)` is what the notebook's `check` shows: in one or two sentences, what was tried, what came
out, what to do next. A cell that nobody has filled in yet is not an error. The sentences come in English and Chinese.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from html import escape
from typing import Any

from .pictures import STYLE


@dataclass(frozen=True)
class Answer:
    """What there is to say about an attempt: right (True), not yet (False), or not tried (None)."""

    passed: bool | None
    en: str
    zh: str

    @property
    def mark(self) -> str:
        """The sign that stands before the sentence."""
        return {True: "✓", False: "✕", None: "○"}[self.passed]

    def __str__(self) -> str:
        return self.zh if speaks_chinese() else self.en

    def __repr__(self) -> str:
        return f"{self.mark} {self}"

    def _repr_html_(self) -> str:
        colour = {True: "green", False: "red", None: "faint"}[self.passed]
        words = escape(str(self)).replace("\n", "<br>")
        return (
            f'{STYLE}<div class="cc-pic" style="border-left:3px solid var(--{colour});padding:.2em .7em">'
            f'<b style="color:var(--{colour})">{self.mark}</b>&nbsp; {words}</div>'
        )


def speaks_chinese() -> bool:
    """Say whether the learner's language is Chinese: CRASH_COURSE_LANG, else the locale."""
    for name in ("CRASH_COURSE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "").strip().lower()
        if value:
            return value.startswith("zh")
    return False


def compare(prediction: Any, happened: Any) -> Answer:
    """Set a prediction beside what happened."""
    open_parts = prediction if isinstance(prediction, tuple) else (prediction,)
    if (left := sum(part is ... for part in open_parts)) and left < len(open_parts):
        return Answer(
            None,
            f"{left} of {len(open_parts)} predictions are still open: replace the dots and run this again.",
            f"{len(open_parts)} 个预测里还有 {left} 个没写：把省略号换掉，再运行一遍。",
        )
    if left:
        return Answer(None, f"No prediction made. It was {happened!r}.", f"没有写预测。实际是 {happened!r}。")
    if prediction == happened:
        return Answer(True, f"You said {prediction!r}, and so it was.", f"你预测 {prediction!r}，正是如此。")
    return Answer(
        False,
        f"You said {prediction!r}; it was {happened!r}. Find out why before you read on.",
        f"你预测 {prediction!r}，实际是 {happened!r}。先想清楚原因，再往下读。",
    )


# -- the mechanism -------------------------------------------------------------------------------------------

Judge = Callable[[Any], Answer]
JUDGES: dict[str, Judge] = {}
ASKED_FOR: dict[str, str] = {}
"""By the cell's name, the variable or function that the learner fills in."""


def turn(name: str, asked_for: str) -> Callable[[Judge], Judge]:
    """Register the judge of one "your turn" cell, and the name of what the learner fills in there."""

    def register(judge: Judge) -> Judge:
        JUDGES[name] = judge
        ASKED_FOR[name] = asked_for
        return judge

    return register


def answer(name: str, namespace: Mapping[str, Any]) -> Answer:
    """Try what the learner wrote for the cell `name` in a notebook's `namespace`, and say how it went."""
    if name not in JUDGES:
        near = get_close_matches(name, JUDGES, n=1, cutoff=0.5)
        hint, hint_zh = (f" Do you mean {near[0]!r}?", f"是不是 {near[0]!r}？") if near else ("", "")
        return Answer(False, f"There is no cell {name!r} to check.{hint}", f"没有名为 {name!r} 的练习单元。{hint_zh}")
    asked_for = ASKED_FOR[name]
    if asked_for not in namespace:
        en, zh = f"{asked_for} is not there yet: run its cell first.", f"还没有 {asked_for}：先运行它的单元格。"
        return Answer(None, en, zh)
    return judged(name, namespace[asked_for])


def judged(name: str, value: Any) -> Answer:
    """Try one value for the cell `name`."""
    if value is ... or value is None:
        return UNTRIED
    return JUDGES[name](value)


UNTRIED = Answer(
    None,
    "Not tried yet: put your answer in place of the three dots and run the cell again.",
    "还没有作答：把三个点换成你的答案，再运行一次这个单元格。",
)


@dataclass(frozen=True)
class Case:
    """One call of the learner's function: with what, what should come out, and in words why."""

    arguments: tuple[Any, ...]
    expected: Any
    en: str
    zh: str


def try_function(function: Any, cases: list[Case], en: str, zh: str) -> Answer:
    """Run the learner's function on each case; stop at the first that goes wrong."""
    if not callable(function):
        kind = type(function).__name__
        return Answer(False, f"A function is wanted here; this is a {kind}.", f"这里需要一个函数，现在是 {kind}。")
    for case in cases:
        try:
            got = function(*copy.deepcopy(case.arguments))
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            return Answer(False, f"{case.en}: your function raised {what}.", f"{case.zh}：你的函数抛出了 {what}。")
        if got is ... or (got is None and case.expected is not None and case is cases[0]):
            return UNTRIED
        if type(got) is not type(case.expected):
            want, have = type(case.expected).__name__, type(got).__name__
            return Answer(
                False,
                f"{case.en}: a value of type {want} is wanted; your function returned {have} ({got!r}).",
                f"{case.zh}：应当返回 {want}，你的函数返回了 {have}（{got!r}）。",
            )
        if got != case.expected:
            return Answer(
                False,
                f"{case.en}: your function returned {got!r}; {case.expected!r} is right.",
                f"{case.zh}：你的函数返回 {got!r}，正确的是 {case.expected!r}。",
            )
    return Answer(True, en, zh)


def try_dict(value: Any, expected: dict[str, Any], why: dict[str, tuple[str, str]], en: str, zh: str) -> Answer:
    """Compare a dict of the learner's with what is so; explain the first difference, never the whole key."""
    if not isinstance(value, dict):
        kind = type(value).__name__
        return Answer(False, f"A dict is wanted here; this is a {kind}.", f"这里需要一个字典，现在是 {kind}。")
    if any(item is ... for item in value.values()):
        left = sum(item is ... for item in value.values())
        return Answer(
            None,
            f"{left} of {len(expected)} are still open.",
            f"还有 {left} 项没有填（共 {len(expected)} 项）。",
        )
    missing = [key for key in expected if key not in value]
    if missing:
        return Answer(False, f"The key {missing[0]!r} is missing.", f"缺少键 {missing[0]!r}。")
    for key, right in expected.items():
        if type(value[key]) is not type(right) or value[key] != right:
            reason_en, reason_zh = why[key]
            return Answer(
                False,
                f"{key!r}: you said {value[key]!r}; look again. {reason_en}",
                f"{key!r}：你写的是 {value[key]!r}，再想想。{reason_zh}",
            )
    return Answer(True, en, zh)
