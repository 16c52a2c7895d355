"""A learner's text made ready for reading: one script, one spelling, contractions written out."""

import re
import tomllib
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LONGEST = 12_000
"""Characters that are read; what goes on longer than this says nothing new about one field."""

CJK = "㐀-䶿一-鿿"

CONTRACTIONS = (
    (re.compile(r"\bcan'?t\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon'?t\b"), "will not"),
    (re.compile(r"\bshan't\b"), "shall not"),
    (re.compile(r"\bain't\b"), "is not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(does|do|did|is|was|could|would|has|had|have|are|were|should)nt\b"), r"\1 not"),
    (re.compile(r"\b(it|there|that|what|who|he|she|here|nothing|nobody|all|one)'s\b"), r"\1 is"),
    (re.compile(r"'(?:ve)\b"), " have"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"'s\b"), " s"),
    (re.compile(r"\b(dunno)\b"), "do not know"),
    (re.compile(r"\b(gonna)\b"), "going to"),
)


@cache
def _characters() -> tuple[dict[int, str], dict[str, str]]:
    with (HERE / "characters.toml").open("rb") as stream:
        table = tomllib.load(stream)
    simplified = str.maketrans(table["traditional"], table["simplified"])
    sound = {character: name for name, characters in table["sound"].items() for character in characters}
    return simplified, sound  # type: ignore[return-value]


@cache
def _points() -> dict[str, Any]:
    with (HERE / "points.toml").open("rb") as stream:
        return tomllib.load(stream)


@cache
def _spelling() -> tuple[dict[tuple[str, ...], str], tuple[str, ...]]:
    table = _points()["spelling"]
    sound = _characters()[1]
    return {tuple(sound.get(c, c) for c in word): word for word in table["zh"]}, tuple(table["en"])


def simplify(text: str) -> str:
    """Simplified characters and the mainland's words, whatever the text was written in."""
    text = text.translate(_characters()[0])
    for there, here in _points()["regional"].items():
        text = text.replace(there, here)
    return text


def _right_characters(text: str) -> str:
    """Words typed with a wrong character of the same sound, put right."""
    words, _ = _spelling()
    sound = _characters()[1]
    sounds = [sound.get(c, c) for c in text]
    out = list(text)
    for length in (4, 3, 2):
        for start in range(len(text) - length + 1):
            word = words.get(tuple(sounds[start : start + length]))
            if word is not None and "".join(out[start : start + length]) != word:
                out[start : start + length] = word
    return "".join(out)


def _one_slip(typed: str, word: str) -> bool:
    """One letter wrong, missing, too many, or two exchanged; the first letter right."""
    if typed[0] != word[0] or abs(len(typed) - len(word)) > 1:
        return False
    i = 0
    while i < min(len(typed), len(word)) and typed[i] == word[i]:
        i += 1
    a, b = typed[i:], word[i:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


def _right_spelling(text: str) -> str:
    _, words = _spelling()

    def right(match: re.Match[str]) -> str:
        typed = match.group()
        if typed in words:
            return typed
        return next((word for word in words if _one_slip(typed, word)), typed)

    return re.sub(r"[a-z]{6,}", right, text)


def said_once(text: str) -> str:
    """A text without what it says over again: the same sentence, words or character in a row."""
    text = re.sub(r"([^\d\s])\1{3,}", r"\1\1\1", text)
    text = re.sub(r"(?<!\w)([^\W\d].{7,100}?)(?:[ ,;.]+\1(?!\w)){2,}", r"\1", text)
    pieces = re.split(rf"(?<=[.!?。！？;；，\n])|(?<=[{CJK}],)", text)
    seen: set[str] = set()
    kept = []
    for piece in pieces:
        bare = re.sub(r"\W+", "", piece)
        if len(bare) < 8 or bare not in seen:
            kept.append(piece)
        seen.add(bare)
    return "".join(kept)


@lru_cache(maxsize=512)
def normalise(text: str) -> str:
    """The text that the patterns of points.toml are written for."""
    text = said_once(unicodedata.normalize("NFKC", text)[: 4 * LONGEST])[:LONGEST]
    text = re.sub(r"[​-‏⁠﻿]", "", text)
    text = text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"')
    text = re.sub(r"(?i)\btokens?[_ ]?used\b(?![ ]\w)", " fieldtokens ", text)
    text = re.sub(r"(?i)\bpending[_ ]?tool[_ ]?use\b", " fieldpending ", text)
    text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text)
    text = re.sub(r"(?<=[A-Za-z])_(?=[A-Za-z])", " ", text).lower()
    text = simplify(text)
    if re.search(f"[{CJK}]", text):
        text = _right_characters(text)
    for pattern, written_out in CONTRACTIONS:
        text = pattern.sub(written_out, text)
    text = _right_spelling(text)
    text = re.sub(f"(?<=[{CJK}])(?=[a-z0-9])|(?<=[a-z0-9])(?=[{CJK}])", " ", text)
    return re.sub(r"[ \t\r\f]+", " ", text).strip()
