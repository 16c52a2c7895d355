"""Where the learner works, and which notebook a word on the command line means."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from minagent.course.notes import MARKER
from minagent.savefile import previous

from grader.answers.cells import BadNotebook
from grader.learner.material import Item, course
from grader.words import catalogue, plain

_words = catalogue("learner/words.toml")


def find_folder(start: Path | None = None) -> Path | None:
    """Return the learner's folder around ``start`` (else the current one): the one with the kept progress, or None."""
    try:
        place = Path(os.path.realpath(start or Path.cwd()))
    except OSError:  # the current folder was deleted
        return None
    for folder in (place, *place.parents):
        mark = folder / MARKER
        if mark.is_file() or previous(mark).is_file():
            return folder
    return None


def folder_or_raise() -> Path:
    """Return the learner's folder around the current one, or raise :class:`BadNotebook` that says where one is."""
    folder = find_folder()
    if folder is not None:
        return folder
    try:
        below = sorted(path.parent.name for path in Path.cwd().glob(f"*/{MARKER}"))
    except OSError:  # the current folder was deleted, or can't be listed
        below = []
    if below:
        raise BadNotebook(_words("folder.below", folder=plain(below[0]), shell=plain(shlex.quote(below[0]))))
    raise BadNotebook(_words("folder.none"))


def named(word: str) -> Item | None:
    """Return the lesson or level that a word means: ``level2``, ``5``, ``05``, ``lesson05`` or a notebook's name."""
    text = Path(word.strip()).name.lower().removesuffix(".ipynb")
    for item in course():
        if text == item.name:
            return item
    lesson = re.fullmatch(r"(?:lesson)?[ _-]*(\d{1,2})(?:_\w*)?", text)
    level = re.fullmatch(r"level[ _-]*(\d)", text)
    number, wanted = (lesson or level), bool(lesson)
    if number is None:
        return None
    return next((i for i in course() if i.is_lesson == wanted and i.number == int(number[1])), None)


def item_named(word: str) -> Item:
    """Return the lesson or level that a word means, or raise :class:`BadNotebook` with a sentence that lists them."""
    found = named(word)
    if found is None:
        known = ", ".join(item.name for item in course())
        raise BadNotebook(_words("folder.no_item", name=plain(word[:60]), known=plain(known)))
    return found


def notebook_of(word: str, start: Path | None = None) -> Path:
    """Return the notebook that a word means: a path that is there, else the learner's copy of a lesson or level.

    Raises:
        BadNotebook: it is neither.
    """
    path = Path(word)
    if path.is_file() or path.suffix == ".ipynb":
        return path
    item = named(word)
    if item is None:
        if path.is_dir() and (path / f"{path.name}.ipynb").is_file():
            return path / f"{path.name}.ipynb"
        return path  # reading it says what is the matter
    folder = find_folder(start)
    for root in ([folder] if folder else []) + [Path.cwd()]:
        if (root / item.path).is_file():
            return root / item.path
    if (Path.cwd() / Path(item.path).name).is_file():
        return Path(Path(item.path).name)
    if folder is not None:
        raise BadNotebook(_words("folder.gone", path=plain(item.path), name=plain(item.name)))
    raise BadNotebook(_words("folder.not_here", path=plain(item.path)))
