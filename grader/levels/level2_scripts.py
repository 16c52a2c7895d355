"""The scripts that Level 2 is run on: what the model answers and what the tools return."""

from __future__ import annotations

from typing import Any

TOOLS: list[dict[str, Any]] = [
    {
        "name": "search_notes",
        "description": "Search the notes.",
        "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
    },
    {
        "name": "send_mail",
        "description": "Send a mail.",
        "input_schema": {
            "type": "object",
            "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
        },
    },
    {
        "name": "add",
        "description": "Add two numbers.",
        "input_schema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
    },
]


def _call(name: str, arguments: dict[str, Any], result: str, *, number: str, text: str | None = None) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    blocks.append({"type": "tool_use", "id": number, "name": name, "input": arguments})
    return {
        "content": blocks,
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 180 + 7 * len(result) // 20, "output_tokens": 41},
        "result": result,
    }


def _answer(text: str) -> dict[str, Any]:
    return {
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 512, "output_tokens": 23},
    }


def _script(task: str, *turns: dict[str, Any]) -> dict[str, Any]:
    return {"task": task, "tools": TOOLS, "turns": list(turns)}


def _pages(count: int) -> str:
    """Return a long result of about 30 KB: numbered lines in several scripts."""
    return "\n".join(f"{n:03d} | Seite {n} – naïve “Größe” | 第 {n} 页 | {'x' * 48}" for n in range(1, count + 1))


LONG = _script(
    "Find the café's opening hours, read all pages and mail 王芳 a summary – naïvely, if need be.",
    _call(
        "search_notes",
        {"query": "café “Größe” 营业时间", "limit": 3},
        "9:00–18:00, geschlossen am Montag；周一休息",
        number="call_é1",
        text="I look into the notes first. 先查笔记。",
    ),
    _call(
        "search_notes",
        {"query": "all pages", "nested": {"from": 1, "to": [2, None, True]}},
        _pages(330),
        number="call_2",
    ),
    _call("send_mail", {"to": "王芳", "text": "9:00–18:00 ✓"}, "sent: ✓ 已发送", number="call_3"),
    _answer("Done. 已经把摘要发给王芳。"),
)
"""Three turns; the second result is above 30 KB."""

SHORT = _script(
    "Add 2 and 3, then tell 李雷.",
    _call("add", {"a": 2, "b": 3}, "5", number="call_a"),
    _call("send_mail", {"to": "李雷", "text": "5"}, "sent", number="call_b", text="Now the mail."),
    _answer("It is 5."),
)

BIG_TASK = _script(
    "Read this and count the pages:\n" + _pages(240),
    _call("add", {"a": 200, "b": 40}, "240", number="call_big"),
    _answer("240 pages."),
)
"""The very first save is above 20 KB already."""

NO_TOOL = _script("Say hello in two languages.", _answer("Hello, 你好."))

AGAIN = _script(
    "Once more: add 1 and 1, then 2 and 2.",
    _call("add", {"a": 1, "b": 1}, "2", number="call_r1"),
    _call("add", {"a": 2, "b": 2}, "4", number="call_r2"),
    _answer("2 and 4."),
)
"""For the run in a directory that a killed run left."""

FIRST = [LONG, SHORT]
SECOND = [BIG_TASK, NO_TOOL]


def unforeseen(token: str) -> list[dict[str, Any]]:
    """Return scripts that nobody can know who does not know the token: it is in every text and result."""
    pages = "\n".join(f"{n:03d} {token} naïve 第 {n} 页" for n in range(1, 241))
    return [
        _script(
            f"Look {token} up, read its pages, then tell 王芳.",
            _call("search_notes", {"query": token}, f"{token}：周一休息", number="call_1"),
            _call("search_notes", {"query": "pages", "of": [token, None]}, pages, number="call_2"),
            _call("send_mail", {"to": "王芳", "text": token[::-1]}, f"sent {token}", number="call_3", text="Mail it."),
            _answer(f"{token} is done."),
        ),
        _script(
            f"Add what {token} stands for.",
            _call("add", {"a": len(token), "b": 1}, token[1:], number="call_4"),
            _answer(token),
        ),
    ]
