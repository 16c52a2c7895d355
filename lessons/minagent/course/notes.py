"""Notes on a lesson, in a file of their own: the lesson itself is never touched."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from .yourturn import Answer


def note(lesson: str, words: str = "") -> Answer:
    """Add a note to `notes/<lesson>.md` and say where it is; with no words, say how to write one."""
    file = Path(os.environ.get("CRASH_COURSE_NOTES", "notes")) / f"{lesson}.md"
    if not words.strip():
        return Answer(
            None,
            f"Put your words between the empty quotes and run the cell: they go to {file}.",
            f"在空引号里写下你的话，再运行这个单元格：笔记存到 {file}。",
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "a", encoding="utf-8") as out:
        out.write(f"- {datetime.now():%Y-%m-%d %H:%M}  {words.strip()}\n")
    return Answer(True, f"Noted in {file}.", f"已记到 {file}。")
