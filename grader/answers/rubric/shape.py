"""Whether a text is a statement at all: heaps of keywords, scrambled words, copies."""

import re
import tomllib
from functools import cache
from itertools import pairwise
from pathlib import Path

from .text import CJK, simplify

_GLUE_EN = re.compile(
    r"\b(?:the|a|an|is|are|was|were|be|been|it|its|that|this|of|to|and|or|but|not|can|could|will|would|has|have|had|do|"
    r"does|did|if|when|after|before|so|for|with|from|at|in|on|by|no|there|which|who|what|as|than|he|she|they|we|you|i|"
    r"until|only|while|once|still|then|nothing|never|nobody|because|without|into|up|out|again)\b"
)
_RELATION = re.compile(r"->|=>|→|⇒|=|<|>|\d|\?|≠|\b(?:no|not|nothing|never|nobody|none|without)\b|[不没无未谁哪]")
_GLUE_ZH = re.compile(r"[的了在不是没就把被也都还会要能着过这那而之其则为未无何谁从到给跟对向往让才又再]")
_FUNCTION_EN = frozenset(
    [
        "the",
        "a",
        "an",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "it",
        "its",
        "that",
        "this",
        "of",
        "to",
        "and",
        "or",
        "but",
        "not",
        "can",
        "could",
        "will",
        "would",
        "has",
        "have",
        "had",
        "do",
        "does",
        "did",
        "if",
        "when",
        "after",
        "before",
        "so",
        "for",
        "with",
        "from",
        "at",
        "in",
        "on",
        "by",
        "no",
        "there",
        "which",
        "who",
        "what",
        "as",
        "than",
        "he",
        "she",
        "they",
        "we",
        "you",
        "i",
    ]
)
_FUNCTION_ZH = frozenset("的了在是不没就把被也都还会要能着过这那而之其则为未无何谁从到给跟对向往让才又再有和与一个")


def heap(raw: str) -> float:
    """How much a text is a heap of keywords: 0 not, 0.5 perhaps, 1 surely."""
    text = simplify(raw.lower())
    pieces = [p for p in re.split(r"[\s、,，/;；:：|·+。.\-]+", text) if p]
    if len(pieces) < 4:
        return 0.0
    related = bool(re.search(r"->|=>|→|⇒|=|<|\d", text))
    if re.search(f"[{CJK}]", text):
        short = sum(len(p) <= 6 for p in pieces)
        glued = sum(bool(_GLUE_ZH.search(p) or _GLUE_EN.fullmatch(p)) for p in pieces)
        if short / len(pieces) >= 0.75 and glued / len(pieces) <= 0.2:
            return 0.5 if related else 1.0
        return 0.0
    words = re.findall(r"[a-z]+", text)
    slashes = len(re.findall(r"\w ?/ ?\w", text))
    if slashes >= 5 and slashes > 0.15 * len(words):
        return 1.0
    share = len(_GLUE_EN.findall(text)) / max(1, len(words))
    if related or share >= 0.16:
        return 0.0
    if len(re.findall(r"\w[.!?](?:\s|$)", text)) > 1:
        return 0.5
    return 0.5 if _RELATION.search(text) or share >= 0.1 else 1.0


def tokens(text: str) -> list[str]:
    """A text as function words in their places: everything else is ``x``, a stop is ``.``."""
    out = ["."]
    for token in re.findall(rf"[a-z]+|\d+|[.,;:!?。，；：！？]|[{CJK}]", text):
        if token in _FUNCTION_EN or token in _FUNCTION_ZH:
            out.append(token)
        else:
            out.append("." if not (token.isalnum()) else "x")
    return [*out, "."]


@cache
def _order() -> dict[str, float]:
    path = Path(__file__).parent / "order.toml"
    with path.open("rb") as stream:
        return {pair: value for pair, value in tomllib.load(stream)["pairs"].items()}


def disorder(text: str) -> float:
    """How unlikely the order of the function words is; above 0 no writer, however hurried, writes so."""
    line = tokens(re.sub(r"`[^`]*`|\"[^\"]*\"", " code ", text))
    pairs = _order()
    if len(line) < 10:
        return -1.0
    return -sum(pairs.get(f"{a} {b}", -1.5 if a != "x" and b != "x" else 0.0) for a, b in pairwise(line)) / len(line)


def _grams(text: str) -> set[str]:
    bare = re.sub(r"\W+", "", text)
    size = 2 if re.search(f"[{CJK}]", bare) else 4
    return {bare[i : i + size] for i in range(len(bare) - size + 1)}


def copied(text: str, original: str) -> float:
    """The share of a text that stands in another one."""
    grams = _grams(text)
    return len(grams & _grams(original)) / len(grams) if grams else 0.0
