"""Checkpoint documents: read from bytes, and held against the state that a save was given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from grader.levels.level2.facts import FIELDS
from grader.levels.level2.messages import texts_in
from grader.levels.trial import ALIEN, alien


def document(content: bytes | None) -> dict[str, Any] | None:
    """Return a checkpoint's document, or None when the bytes are not one whole JSON object."""
    if content is None or content[-1:] not in _LAST:  # most that is looked at breaks off somewhere
        return None
    return _document(content)


_LAST = (b"}", b" ", b"\n", b"\r", b"\t")
"""How a JSON object can end."""


@lru_cache(maxsize=512)
def _document(content: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def no_text(content: bytes | None) -> str | None:
    """Return the first bytes of a file that is not in UTF-8; a letter cut off at the end is no fault."""
    try:
        (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        return None if error.start >= len(error.object) - 3 else error.object[:3].hex(" ")
    return None


def no_object(content: bytes | None) -> str | None:
    """Return how a file begins that is complete but no JSON object; None when it only breaks off."""
    if not content:
        return None
    text = content.decode("utf-8", errors="replace")
    if no_text(content) is not None:
        return text[:1]
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        broken = "Unterminated" in error.msg or "escape" in error.msg or error.pos >= len(text.rstrip()) - 5
        if broken or "Extra data" in error.msg:
            return None
    except (ValueError, RecursionError):
        return None
    else:
        if isinstance(found, dict):
            return None
    return " ".join(text[:24].replace("`", "'").split())


def holds(found: dict[str, Any], given: Sequence[Any]) -> bool | None:
    """Tell whether a document is the state that a save was given; None when no argument looks like a state."""
    states = [value for value in given if isinstance(value, dict) and not alien(value) and set(FIELDS) & set(value)]
    if not states:
        return None
    state = max(states, key=lambda value: len(set(FIELDS) & set(value)))
    others = [value for value in given if value is not state]
    for name in FIELDS:
        if name not in state or (name in found and same(found[name], state[name])):
            continue
        if name == "messages" and _as_long(found.get(name), state[name]):
            continue  # written in another form, as the save sees fit
        if name == "messages" or not any(same(found.get(name), other) for other in others):
            return False
    return True


def _as_long(left: Any, right: Any) -> bool:
    """Tell whether as many messages were written as were given, and no text of any of them was lost."""
    if not (isinstance(left, list) and isinstance(right, list) and len(left) == len(right)):
        return False
    return all(_tells(found, given) for found, given in zip(left, right, strict=True))


def _tells(found: Any, given: Any) -> bool:
    whole = "\n".join(texts_in(found))
    return all(
        text in whole or json.dumps(text)[1:-1] in whole or json.dumps(text, ensure_ascii=False)[1:-1] in whole
        for text in texts_in(given)
    )


def same(left: Any, right: Any) -> bool:
    """Compare plain data; what was no plain data in the learner's process matches anything."""
    if left == right:
        return True
    if isinstance(right, dict) and ALIEN in right:
        return True
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    return False
