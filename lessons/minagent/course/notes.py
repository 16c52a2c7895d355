"""Notes on a lesson, in a file of their own: the lesson itself is never touched.

The notebook's `note(...)` and the command `crash-course note` both write here, so that there is one place for notes.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..files import make_folder, write_atomically
from ..locks import locked
from .yourturn import Answer, speaks_chinese

MARKER = ".crash-course.json"
"""The file that shows which folder is the learner's."""
HARD = {"en": "[hard]", "zh": "[难]"}
"""What stands before a note on something that was hard."""
_NOTE = re.compile(r"^- (\d{4}-\d\d-\d\d \d\d:\d\d)  (\[hard\] |\[难\] )?(.*)$")


@dataclass(frozen=True)
class Note:
    """One note: when it was written, what it says, and whether its subject was hard."""

    when: str
    words: str
    hard: bool


def notes_folder(start: Path | None = None) -> Path:
    """Return where notes go: beside the learner's progress, else into `notes/` in the current folder."""
    chosen = os.environ.get("CRASH_COURSE_NOTES")
    if chosen:
        return Path(chosen)
    place = start or Path.cwd()
    for folder in (place, *place.parents):
        if (folder / MARKER).is_file():
            return folder / "notes"
    return Path("notes") if start is None else start / "notes"


def add_note(file: Path, words: str, hard: bool = False) -> bool:
    """Add a note to a file, and tell whether it was new: a notebook that is run again says its note again.

    What is there stays as it is, whatever happens in between.
    """
    make_folder(file.parent)
    with locked(file.parent):
        before = file.read_bytes() if file.is_file() else b""
        if before and not before.endswith(b"\n"):
            before += b"\n"
        mark = f"{HARD['zh' if speaks_chinese() else 'en']} " if hard else ""
        text = "\n  ".join(line.rstrip() for line in words.strip().splitlines())
        if (_told(text), hard) in [(_told(one.words), one.hard) for one in _notes_in(before)]:
            return False
        line = f"- {datetime.now():%Y-%m-%d %H:%M}  {mark}{text}\n"
        write_atomically(file, before + line.encode("utf-8", "replace"))
    return True


def read_notes(file: Path) -> list[Note]:
    """Return the notes in a file, oldest first. What else somebody wrote into it belongs to the note above."""
    return _notes_in(file.read_bytes())


def _notes_in(data: bytes) -> list[Note]:
    found: list[Note] = []
    for line in data.decode("utf-8", "replace").splitlines():
        if (match := _NOTE.match(line)) is not None:
            found.append(Note(match[1], match[3], bool(match[2])))
        elif line.strip():
            last = found.pop() if found else Note("", "", False)
            found.append(Note(last.when, f"{last.words}\n{line.strip()}".strip(), last.hard))
    return found


def _told(words: str) -> list[str]:
    """Return a note's words as they are compared: the file indents its lines, the learner may not."""
    return [line.strip() for line in words.splitlines() if line.strip()]


def _named(lesson: str, folder: Path) -> str:
    """Return the name of a lesson's notes: `5` means the lesson beside the notes that begins with `05_`."""
    number = re.fullmatch(r"\d{1,2}", str(lesson).strip())
    if number is None:
        return str(lesson)
    found = sorted((folder.parent / "lessons").glob(f"{int(number[0]):02}_*.ipynb"))
    return found[0].stem if found else str(lesson)


def note(lesson: str, words: str = "", hard: bool = False) -> Answer:
    """Add a note to `notes/<lesson>.md` and say where it is; with no words, say how to write one.

    With `hard=True` the lesson is remembered as hard, and `crash-course progress` shows it.
    """
    folder = notes_folder()
    file = folder / f"{_named(lesson, folder)}.md"
    if not words.strip():
        return Answer(
            None,
            f"Put your words between the empty quotes and run the cell: they go to {file}."
            " If it was hard, add hard=True.",
            f"在空引号里写下你的话，再运行这个单元格：笔记存到 {file}。觉得难的话，再加上 hard=True。",
        )
    try:
        added = add_note(file, words, hard)
    except OSError as error:
        why = error.strerror or type(error).__name__
        return Answer(False, f"The note can't be written to {file}: {why}.", f"笔记写不进 {file}：{why}。")
    if not added:
        return Answer(True, f"{file} has this note already.", f"{file} 里已经有这条笔记。")
    return Answer(True, f"Noted in {file}.", f"已记到 {file}。")
