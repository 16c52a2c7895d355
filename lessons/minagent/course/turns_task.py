"""The judges of lesson 09's "your turn" cells."""

from __future__ import annotations

from typing import Any

from .yourturn import UNTRIED, Answer, Case, try_dict, try_function, turn


@turn("lesson09-key", "key")
def _key(function: Any) -> Answer:
    """A key says which write it is, and nothing of when or how often it was tried."""
    if not callable(function):
        return try_function(function, [], "", "")
    try:
        first, again = function("seo-july", "page-87", "notice"), function("seo-july", "page-87", "notice")
        others = [
            function("seo-july", "page-88", "notice"),
            function("seo-july", "page-87", "ticket"),
            function("seo-august", "page-87", "notice"),
        ]
        tricky = function("a", "bc", "d"), function("ab", "c", "d")
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        return Answer(False, f"Your function raised {what}.", f"你的函数抛出了 {what}。")
    if first is None or first is ...:
        return UNTRIED
    if not isinstance(first, str) or not first:
        kind = type(first).__name__
        return Answer(False, f"A key is text; this is a {kind}.", f"键应当是文本，现在是 {kind}。")
    if first != again:
        en = "Two tries of one write get different keys, so the second can't find the first: two notices."
        return Answer(False, en, "同一次写入的两次尝试得到不同的键，第二次查不到第一次：会发两条通知。")
    if first in others:
        en = "Two different writes get the same key: one of them will be taken for done."
        return Answer(False, en, "两次不同的写入得到同一个键：其中一次会被当成已经做过。")
    if tricky[0] == tricky[1]:
        en = "Nearly: ('a', 'bc') and ('ab', 'c') run together into one key. Put a sign between the parts."
        return Answer(False, en, "差一点：('a', 'bc') 和 ('ab', 'c') 拼成了同一个键。各部分之间要有分隔符。")
    en = "The same write, the same key; another write, another key."
    return Answer(True, en, "同一次写入同一个键，不同写入不同键。")


@turn("lesson09-recovery", "recovery")
def _recovery(function: Any) -> Answer:
    return try_function(
        function,
        [
            Case(("intent", None), "write", "The intent is saved, and nothing was sent", "意图已存，什么都没发出"),
            Case(("started", True), "book", "Started, and the ticket is there", "已开始，工单在"),
            Case(("started", False), "write", "Started, and there is no ticket", "已开始，工单不在"),
            Case(("done", True), "nothing", "Done, with its receipt", "已完成，有回执"),
            Case(("started", None), "ask", "Started, and nobody has asked yet", "已开始，还没有人问过"),
        ],
        "Right: one word on disk decides whether to write, to ask or to leave it.",
        "对：磁盘上的一个词决定是写、是问，还是不动。",
    )


@turn("lesson09-where", "belongs")
def _where(value: Any) -> Answer:
    return try_dict(
        value,
        {
            "the HTML of page 87": "a file",
            "the id of page 87's ticket": "the state",
            "the model's thoughts about page 12": "the conversation",
            "who approved the change of page 6": "the state",
            "how much is spent": "the state",
        },
        {
            "the HTML of page 87": ("It is big, and written again at every save.", "它很大，而且每次存盘都要重写。"),
            "the id of page 87's ticket": ("It proves the write.", "它是这次写入的凭据。"),
            "the model's thoughts about page 12": ("No program reads them.", "没有程序会读它。"),
            "who approved the change of page 6": ("A program must be able to check it.", "程序要能检查它。"),
            "how much is spent": ("It must survive, and a program compares it.", "它不能丢，程序还要拿它比较。"),
        },
        "Right: facts in the state, bulk beside it, talk in the conversation.",
        "对：事实放进状态，大块内容放在旁边，说的话留在对话里。",
    )
