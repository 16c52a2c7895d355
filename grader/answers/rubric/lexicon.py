"""The concepts of points.toml and the small language its rules are written in."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from .text import CJK, normalise

NEAR = 48
"""How far apart two concepts may be and still be near, in English characters; a Chinese one counts two."""

MOST = 200
"""How many sayings of a concept are kept; an honest text has a few."""
REACH = 20
"""How far a negation reaches over what it bears on, counted likewise."""


@cache
def table() -> dict[str, Any]:
    """points.toml as it is."""
    with (Path(__file__).parent / "points.toml").open("rb") as stream:
        return tomllib.load(stream)


@cache
def concepts() -> dict[str, re.Pattern[str]]:
    """Every concept as one compiled pattern."""
    out = {}
    for name, forms in table()["words"].items():
        english = "|".join(forms.get("en", ()))
        chinese = "|".join(forms.get("zh", ())).replace(" ?", " ").replace(" ", " ?")
        parts = [rf"(?<![a-z0-9])(?:{english})"] if english else []
        parts += [f"(?:{chinese})"] if chinese else []
        out[name] = re.compile("|".join(parts))
    return out


@dataclass(eq=False)
class Found:
    """A text with what was found in it; concepts are searched when first asked for."""

    text: str
    _spans: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    strengths: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """How far the points of each criterion are made, once worked out."""

    @staticmethod
    @lru_cache(maxsize=64)
    def of(text: str) -> "Found":
        """Find concepts in a text as the learner wrote it, once for all the criteria that it is read for."""
        return Found(normalise(text))

    def spans(self, name: str) -> list[tuple[int, int]]:
        """Where the concept is said."""
        if name not in self._spans:
            spans = (m.span() for m in concepts()[name].finditer(self.text) if m.end() > m.start())
            self._spans[name] = list(islice(spans, MOST))
        return self._spans[name]

    def has(self, name: str) -> bool:
        """Whether the concept is said at all."""
        return bool(self.spans(name))

    def near(self, one: str, other: str, apart: Sequence[str] = ()) -> bool:
        """Whether two concepts are said close together.

        With ``apart``, a saying of the first does not count where it bears on one of those: in "it cannot refuse an old
        file" the "cannot" belongs to "refuse".
        """
        bound = self.bearing(one, apart) if apart else frozenset[int]()
        for a in self.spans(one):
            if a[0] in bound:
                continue
            for b in self.spans(other):
                between = self.text[min(a[1], b[1]) : max(a[0], b[0])]
                if a != b and len(between) + len(re.findall(f"[{CJK}]", between)) <= NEAR:
                    return True
        return False

    def bearing(self, one: str, others: Sequence[str]) -> frozenset[int]:
        """Where a saying of the first concept leads straight to one of the others, in the same clause."""
        starts = sorted(s for other in others for s, _ in self.spans(other))
        out = set()
        for start, end in self.spans(one):
            following = next((s for s in starts if s >= start), None)
            if following is None:
                continue
            between = self.text[end:following] if following > end else ""
            wide = len(between) + len(re.findall(f"[{CJK}]", between))
            if wide <= REACH and not re.search(r"[.,;:!?。，；：！？→\n>]", between):
                out.add(start)
        return frozenset(out)

    def before(self, one: str, other: str) -> bool:
        """Whether the first concept is said before the second somewhere."""
        a, b = self.spans(one), self.spans(other)
        return bool(a and b and min(s for s, _ in a) < max(s for s, _ in b))


# ---------------------------------------------------------------- the language of the rules
def _numbers(text: str) -> list[int]:
    out = []
    for whole, unit, rest in re.findall(r"(?<!\d)(?<!\d[.:])(\d{1,6})(?!\d|[.:]\d) ?(k\b|万)? ?(\d(?!\d))?", text):
        scale = {"k": 1000, "万": 10000}.get(unit, 1)
        out.append(int(whole) * scale + (int(rest) * scale // 10 if unit and rest else 0))
    for word in re.findall(r"\b(?:[a-z]+ty[- ])?[a-z]+\b", text):
        out += [n for n in (_english_number(word),) if n is not None]
    for word in re.findall(r"[零一二三四五六七八九十百两]+", text):
        out += [n for n in (_chinese_number(word),) if n is not None]
    return out


_UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def _english_number(words: str) -> int | None:
    tens, _, unit = words.replace("-", " ").partition(" ")
    if tens in _UNITS:
        return _UNITS.index(tens)
    if tens in _TENS:
        rest = _UNITS.index(unit) if unit in _UNITS[1:10] else 0
        return 20 + 10 * _TENS.index(tens) + rest
    return None


def _chinese_number(word: str) -> int | None:
    total, digit = 0, 0
    for character in word:
        if character in "十百":
            total += max(digit, 1) * (10 if character == "十" else 100)
            digit = 0
        else:
            digit = "零一二三四五六七八九".find(character) if character != "两" else 2
    return total + digit


def sum_shown(text: str) -> bool:
    """Whether the text shows a total: of its numbers one is the sum of two others (or one off, for large ones)."""
    numbers = {n for n in _numbers(text) if n > 1}
    return any(
        a + b in numbers or (min(a, b) >= 10 and {a + b - 1, a + b + 1} & numbers)
        for a in numbers
        for b in numbers
        if a != b and a + b > 4
    )


def comparison_shown(text: str) -> bool:
    """Whether the text compares two figures, as in ``4k < 150k``."""
    return bool(re.search(r"\d+ ?[k万w]?\s*(?:<|小于|less than|below)\s*\d", text))


def evaluate(rule: str, found: Found) -> bool:
    """Whether a rule of points.toml holds for a text."""
    return _holds(_parsed(rule), found)


@cache
def _parsed(rule: str) -> ast.expr:
    return ast.parse(rule, mode="eval").body


def _names(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.BinOp):
        yield from _names(node.left)
        yield from _names(node.right)


def _holds(node: ast.expr, found: Found) -> bool:
    if isinstance(node, ast.Name):
        if node.id == "sum":
            return sum_shown(found.text)
        if node.id == "compare":
            return comparison_shown(found.text)
        return found.has(node.id)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.BitAnd):
            return _holds(node.left, found) and _holds(node.right, found)
        return _holds(node.left, found) or _holds(node.right, found)
    if isinstance(node, ast.UnaryOp):
        return not _holds(node.operand, found)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        one, other = (list(_names(argument)) for argument in node.args[:2])
        apart = [name for keyword in node.keywords for name in _names(keyword.value)]
        if node.func.id == "before":
            return any(found.before(a, b) for a in one for b in other)
        return any(found.near(a, b, apart) for a in one for b in other)
    raise ValueError(f"not a rule: {ast.unparse(node)}")


def rules() -> Mapping[str, Any]:
    """The criteria of points.toml by label."""
    criteria: Mapping[str, Any] = table()["criterion"]
    return criteria
