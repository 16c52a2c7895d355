"""The kit's words in English and Simplified Chinese, and the choice between the two.

Sentences live in TOML files, one table for a sentence with its two languages side by side::

    ["session.no_cell"]
    en = "The cell {cell} has not been run yet."
    zh = "单元格 {cell} 还没有运行过。"

A value put into a sentence may itself be a :class:`~grader.verdict.Text`; each language then gets its own half.

A text remembers the sentences it is made of as its ``key``, so that messages of one kind can be counted.
"""

from __future__ import annotations

import os
import string
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path

from grader.verdict import Text

LANGUAGES = ("en", "zh")
_HERE = Path(__file__).parent
_chosen: str | None = None


def language() -> str:
    """Return the language to speak, ``"en"`` or ``"zh"``.

    In this order: what :func:`use_language` was told, the variable ``CRASH_COURSE_LANG``, the locale, English.
    """
    if _chosen is not None:
        return _chosen
    for name in ("CRASH_COURSE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "").strip().lower()
        if value:
            return "zh" if value.startswith("zh") else "en"
    return "en"


def use_language(lang: str | None) -> None:
    """Fix the language for this process; ``None`` goes back to the environment's choice."""
    global _chosen
    if lang is not None and lang not in LANGUAGES:
        raise ValueError(f"no such language: {lang!r} (one of {', '.join(LANGUAGES)})")
    _chosen = lang


def say(text: Text, lang: str | None = None) -> str:
    """Return a text in one language: the one given, else the one in use."""
    return text.zh if (lang or language()) == "zh" else text.en


def join(*texts: Text | None) -> Text:
    """Put sentences one after the other: with a space in English, without one in Chinese."""
    there = [text for text in texts if text is not None]
    keys = dict.fromkeys(text.key for text in there if text.key)
    return Text(" ".join(t.en for t in there if t.en), "".join(t.zh for t in there if t.zh), "+".join(keys))


def of_kind(text: Text, *kinds: Text | None) -> Text:
    """Return ``text`` with the key of ``kinds``: where it tells of details, these say what the matter is."""
    return replace(text, key=join(*kinds).key)


def plain(value: str) -> Text:
    """Make a text of something that reads the same in both languages (code, a file's name)."""
    return Text(value, value)


class Words:
    """A catalogue of sentences, read from one TOML file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: dict[str, Text] = {}
        with path.open("rb") as file:
            for key, entry in tomllib.load(file).items():
                self.entries[key] = Text(en=entry["en"], zh=entry["zh"])

    def __call__(self, key: str, /, **values: object) -> Text:
        """Return the sentence ``key`` with its values filled in, in both languages."""
        entry = self.entries[key]
        return Text(_fill(entry.en, values, "en"), _fill(entry.zh, values, "zh"), _key(key, values))

    def fields(self, key: str) -> tuple[set[str], set[str]]:
        """Return the names of the values that each language of a sentence asks for (for tests)."""
        entry = self.entries[key]
        return _names(entry.en), _names(entry.zh)


def _fill(template: str, values: dict[str, object], lang: str) -> str:
    given = {name: say(value, lang) if isinstance(value, Text) else value for name, value in values.items()}
    return template.format(**given)


_REASONS = ("why", "what", "reason")
"""Values whose own sentence tells kinds apart: "it stopped" is no kind of fault, "it stopped: time is up" is one."""


def _key(key: str, values: dict[str, object]) -> str:
    reasons = [value.key for name in _REASONS if isinstance(value := values.get(name), Text) and value.key]
    return f"{key}({','.join(reasons)})" if reasons else key


def _names(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@cache
def catalogue(path: str = "words.toml") -> Words:
    """Return the catalogue in ``path``, relative to the package ``grader``; each file is read once."""
    return Words(_HERE / path)
