"""Plain data: how a learner's values leave their process, copied by exact type."""

from __future__ import annotations

from typing import Any

ALIEN = "\x00type"
"""Key of the mapping that stands for a value which is no plain data; its value is the type's name."""

_none, _bool, _int, _float, _str, _list, _tuple, _dict, _bytes = (
    type(None), bool, int, float, str, list, tuple, dict, bytes,
)  # fmt: skip
_type, _issubclass, _items, _iter = type, issubclass, dict.items, list.__iter__
_type_name = type.__dict__["__name__"].__get__


def plain(value: Any, depth: int = 40, room: list[int] | None = None) -> Any:
    """Copy a value as plain data: None, bool, int, float, str, and lists and str-keyed dicts of these.

    Types are compared exactly, so that no method of a learner's class is ever called. A tuple becomes a list, a
    subclass of dict, list or str its base, and anything else a mapping with the single key :data:`ALIEN`.
    """
    kind = _type(value)
    if kind is _str and depth > 0 and (room is None or room[0] > 0):  # most values, in the least time
        if room is not None:
            room[0] -= 1
        return value if value.isascii() else _text(value)
    room = [400_000] if room is None else room
    room[0] -= 1
    if kind is _none or kind is _bool or kind is _float:
        return value
    if kind is _int:
        return value if -(2**63) <= value < 2**64 else {ALIEN: "int"}
    if room[0] < 0 or depth <= 0:
        return {ALIEN: "..."}
    if _issubclass(kind, _str):
        return plain(_str.__str__(value), depth, room)
    if kind is _list or _issubclass(kind, _list):
        return [plain(item, depth - 1, room) for item in _iter(value)]
    if kind is _tuple:
        return [plain(item, depth - 1, room) for item in value]
    if kind is _dict or _issubclass(kind, _dict):
        copy = {}
        for key, item in [*_items(value)]:
            name = key if _type(key) is _str else _str.__str__(key) if _issubclass(_type(key), _str) else None
            if name is None:
                name = repr(key) if _type(key) in (_int, _float, _bool, _none) else ALIEN + _type_name(_type(key))
            copy[name if name.isascii() else _text(name)] = plain(item, depth - 1, room)
        return copy
    return {ALIEN: _type_name(kind)[:80]}


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode("utf-8")


def type_name(value: Any) -> str:
    """Return the name of a value's type, without asking the value."""
    return str(_type_name(_type(value))[:80])


def alien(value: Any) -> str | None:
    """Return the type's name when ``value`` stands for something that is no plain data."""
    if isinstance(value, dict) and len(value) == 1 and isinstance(name := value.get(ALIEN), str):
        return name
    return None
