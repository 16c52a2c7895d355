"""The judges of lesson 08's "your turn" cells."""

from __future__ import annotations

from typing import Any

from .yourturn import Answer, Case, try_dict, try_function, turn


@turn("lesson08-lost", "steps_lost")
def _lost(function: Any) -> Answer:
    return try_function(
        function,
        [
            Case((5, 7), 2, "Saved every 5 steps, died after 7", "每 5 步保存，第 7 步之后崩溃"),
            Case((1, 7), 0, "Saved every step, died after 7", "每步保存，第 7 步之后崩溃"),
            Case((5, 10), 0, "Saved every 5 steps, died after 10", "每 5 步保存，第 10 步之后崩溃"),
            Case((50, 49), 49, "Saved every 50 steps, died after 49", "每 50 步保存，第 49 步之后崩溃"),
        ],
        "Right: never as many as N.",
        "对：损失总是小于 N。",
    )


@turn("lesson08-forced", "saved_anyway")
def _forced(value: Any) -> Answer:
    return try_dict(
        value,
        {
            "the model has named read_page": False,
            "read_page has run and is booked": False,
            "the model has named send_mail, which can be asked": True,
            "send_mail, which can be asked, has run and is booked": False,
            "send_sms, which can't be asked, has run and is booked": True,
            "the model has given its last answer": True,
        },
        {
            "the model has named read_page": (
                "Reading a page twice changes nothing: this save can wait.",
                "把页面再读一遍什么都不会改变：这次保存可以等。",
            ),
            "read_page has run and is booked": (
                "What can be lost is one step, and N says how many steps you accept.",
                "会丢的只是一步，而 N 说的正是能接受丢几步。",
            ),
            "the model has named send_mail, which can be asked": (
                "It is about to act on the world, and the disk knows nothing of it yet.",
                "它马上要改动外界，而磁盘上还没有它的记录。",
            ),
            "send_mail, which can be asked, has run and is booked": (
                "The save before it names the call, and the mail server can say that it ran.",
                "之前那次保存已经记下了这个调用，邮件服务器能说出它运行过。",
            ),
            "send_sms, which can't be asked, has run and is booked": (
                "After a crash nobody could say whether it ran, unless the disk says so.",
                "崩溃之后没人说得出它是否运行过，除非磁盘上有记录。",
            ),
            "the model has given its last answer": (
                "Nothing comes after it that could save it.",
                "它后面再没有别的保存了。",
            ),
        },
        "Right: six moments, three that can't wait for N.",
        "对：六个时刻，有三个等不到第 N 步。",
    )


@turn("lesson08-append", "to_append")
def _append(function: Any) -> Answer:
    return try_function(
        function,
        [
            Case((b'{"n":1}\n', b'{"n":2}'), b'{"n":2}\n', "The file ends in a whole line", "文件以完整的一行结尾"),
            Case((b'{"n":1}\n{"n', b'{"n":2}'), b'\n{"n":2}\n', "The last line is torn", "最后一行断了"),
            Case((b"", b'{"n":1}'), b'{"n":1}\n', "The file is empty", "文件是空的"),
            Case((b'{"n":1}\n\0\0\0', b'{"n":2}'), b'\n{"n":2}\n', "It ends in zeros", "文件以零字节结尾"),
        ],
        "Right: what is torn stays a line of its own, and the new record is whole.",
        "对：断掉的那行自成一行，新记录是完整的。",
    )


@turn("lesson08-best", "best_every")
def _best(function: Any) -> Answer:
    return try_function(
        function,
        [
            Case((0.02, 1.0, 0.001), 6, "Save 20 ms, step 1 s, risk 0.001", "保存 20 毫秒，一步 1 秒，风险 0.001"),
            Case((0.02, 60.0, 0.001), 1, "Save 20 ms, step 60 s, risk 0.001", "保存 20 毫秒，一步 60 秒，风险 0.001"),
            Case((0.5, 1.0, 0.01), 10, "Save 500 ms, step 1 s, risk 0.01", "保存 500 毫秒，一步 1 秒，风险 0.01"),
            Case(
                (0.02, 0.005, 0.0001),
                100,
                "Save 20 ms, step 5 ms, risk 0.0001: never would be best, 100 is the most asked for",
                "保存 20 毫秒，一步 5 毫秒，风险 0.0001：最好是不保存，这里最多取 100",
            ),
        ],
        "Right: dear steps are saved often, cheap ones seldom.",
        "对：贵的步骤常保存，便宜的少保存。",
    )
