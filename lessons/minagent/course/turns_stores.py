"""The judges of lesson 10's "your turn" cells."""

from __future__ import annotations

from typing import Any

from .yourturn import UNTRIED, Answer, Case, try_dict, try_function, turn


class Crowded:
    """A store in memory in which others save while the learner's function works."""

    def __init__(self, conflicts: int) -> None:
        self.items: list[str] = ["first"]
        self.version = 1
        self.conflicts = conflicts
        self.loads = self.saves = 0

    def load(self) -> tuple[list[str], int]:
        """Return the list and its version."""
        self.loads += 1
        if self.loads > 50:
            raise RuntimeError("50 loads, and still no end")
        return list(self.items), self.version

    def save(self, items: list[str], expected: int) -> bool:
        """Save what was made from version `expected`; False when it is no longer the last one."""
        self.saves += 1
        if self.saves > 50:
            raise RuntimeError("50 saves, and still no end")
        if self.conflicts:
            self.conflicts -= 1
            self.items.append(f"theirs-{self.version}")
            self.version += 1
        if expected != self.version:
            return False
        self.items, self.version = list(items), self.version + 1
        return True


@turn("lesson10-retry", "add_message")
def _retry(function: Any) -> Answer:
    """The learner's read-modify-write is run while nobody, one, or two others save."""
    if not callable(function):
        return try_function(function, [], "", "")
    for conflicts in (0, 1, 2):
        store = Crowded(conflicts)
        try:
            got = function(store.load, store.save, "mine")
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            en = f"With {conflicts} others saving, your function raised {what}."
            return Answer(False, en, f"有 {conflicts} 个别的进程在存盘时，你的函数抛出了 {what}。")
        if not store.saves and (got is None or got is ...):
            return UNTRIED
        theirs = [f"theirs-{number}" for number in range(1, conflicts + 1)]
        lost = [item for item in ["first", *theirs] if item not in store.items]
        if lost:
            en = f"{conflicts} others saved meanwhile, and {lost[0]!r} is lost: your save was made from an old list."
            zh = f"期间有 {conflicts} 个别的进程存过盘，{lost[0]!r} 丢了：你的存盘用的是旧列表。"
            return Answer(False, en, zh)
        times = store.items.count("mine")
        if times != 1:
            en = f"{conflicts} others saved meanwhile; 'mine' is in the list {times} times, not once."
            zh = f"期间有 {conflicts} 个别的进程存过盘；'mine' 在列表里出现 {times} 次，应当是一次。"
            return Answer(False, en, zh)
    en = "Right: refused, load again, change what is there now, save with its version."
    return Answer(True, en, "对：被拒绝就重新读取，改现在的内容，再带着它的版本号存盘。")


@turn("lesson10-fence", "accept")
def _fence(function: Any) -> Answer:
    return try_function(
        function,
        [
            Case((3, 3), True, "The holder of the last claim saves", "持有最新认领的进程来存盘"),
            Case((2, 3), False, "Token 2 wakes up after token 3 was given out", "3 号已经发出，2 号才醒来"),
            Case((0, 1), False, "Token 0 wakes up after token 1 was given out", "1 号已经发出，0 号才醒来"),
            Case((9, 10), False, "Token 9 wakes up after token 10 was given out", "10 号已经发出，9 号才醒来"),
        ],
        "Right: two numbers, and no clock.",
        "对：只比两个数，不看时钟。",
    )


@turn("lesson10-which", "protects")
def _which(value: Any) -> Answer:
    return try_dict(
        value,
        {
            "two processes save within the same second": "version",
            "the agent's next step costs an hour, and two hosts are about to start it": "claim",
            "a host slept through its lease and now saves": "token",
            "a host was killed and never gave its claim back": "lease",
        },
        {
            "two processes save within the same second": (
                "Nobody has to keep anybody away: it is enough to refuse the second save.",
                "不必拦住谁：拒绝后一次存盘就够了。",
            ),
            "the agent's next step costs an hour, and two hosts are about to start it": (
                "To refuse the second save would come an hour too late.",
                "等到存盘时再拒绝，已经白干了一小时。",
            ),
            "a host slept through its lease and now saves": (
                "It believes to hold the claim. What tells its claim from the newer one?",
                "它以为自己还持有认领。靠什么分辨它的认领和更新的那个？",
            ),
            "a host was killed and never gave its claim back": (
                "Nobody will ever release it. So what must a claim have from the start?",
                "永远不会有人来释放它。那么认领从一开始就要带着什么？",
            ),
        },
        "Right: each of the four closes another gap.",
        "对：四样东西各补一个缺口。",
    )
