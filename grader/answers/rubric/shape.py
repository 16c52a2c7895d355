"""Whether a text is a statement at all: heaps of keywords, scrambled words, copies."""

import math
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

from .text import CJK, simplify

_GLUE_EN = re.compile(
    r"\b(?:the|a|an|is|are|was|were|be|been|it|its|that|this|of|to|and|or|but|not|can|could|will|would|has|have|had|do|"
    r"does|did|if|when|after|before|so|for|with|from|at|in|on|by|no|there|which|who|what|as|than|he|she|they|we|you|i|"
    r"until|only|while|once|still|then|nothing|never|nobody|because|without|into|up|out|again)\b"
)
_SENTENCE_EN = re.compile(r"\b(?:is|are|was|were|the|it|they|has|had|does|did|will|would|that|because|there|so)\b")
_RELATION = re.compile(r"->|=>|→|⇒|=|<|>|\d|\?|≠|\b(?:no|not|nothing|never|nobody|none|without)\b|[不没无未谁哪]")
_JOIN_ZH = re.compile(r"就|所以|于是|因此|因而|也|了|却|而|还是|又|则|便|把|被|使|让|会|要|才|的(?=.)")
_GLUE_ZH = re.compile(r"[的了在不是没就把被也都还会要能着过这那而之其则为未无何谁从到给跟对向往让才又再]")


@cache
def _function_words() -> frozenset[str]:
    with (Path(__file__).parent / "points.toml").open("rb") as stream:
        table = tomllib.load(stream)["function"]
    return frozenset(table["en"].split()) | frozenset(table["zh"])


ENDINGS = ("ing", "ed", "ly", "s")


def _heap_zh(text: str, pieces: list[str], related: bool) -> float:
    short = sum(len(p) <= 6 for p in pieces) / len(pieces)
    if short < 0.7:
        return 0.0
    glued = sum(bool(_GLUE_ZH.search(p) or _GLUE_EN.fullmatch(p)) for p in pieces) / len(pieces)
    mixed = bool(re.search(r"[a-z].*[a-z]", text)) and len(pieces) > 8
    if short >= 0.75 and glued <= (0.1 if mixed else 0.2):
        return 0.5 if related else 1.0
    if related or mixed or len(pieces) < 5:
        return 0.0
    if text.count("、") >= 4 and short >= 0.75:
        return 1.0
    joined = sum(bool(_JOIN_ZH.search(p)) for p in pieces) / len(pieces)
    return 0.5 if joined <= 0.35 and max(map(len, pieces)) <= 9 else 0.0


def heap(raw: str) -> float:
    """How much a text is a heap of keywords: 0 not, 0.5 perhaps, 1 surely."""
    text = re.sub(r"\bpoint ([ab])\b", r"point-\1", simplify(raw.lower()))
    pieces = [p for p in re.split(r"[\s、,，/;；:：|·+。.\-]+", text) if p]
    if len(pieces) < 4:
        return 0.0
    related = bool(re.search(r"->|=>|→|⇒|=|<|\d", text))
    if len(re.findall(r"\d+", text)) > 2:
        return 0.0
    if re.search(f"[{CJK}]", text):
        return _heap_zh(text, pieces, related)
    words = re.findall(r"[a-z]+", text)
    slashes = len(re.findall(r"\w ?/ ?\w", text))
    if slashes >= 5 and slashes > 0.15 * len(words):
        return 1.0
    bits = [b for b in re.split(r"[,;/|\n]|\s-\s", text) if b.strip()]
    if len(bits) > 3 and len(words) <= 3.2 * len(bits) and not related and not _SENTENCE_EN.search(text):
        return 1.0 if len(bits) > 4 and not _RELATION.search(text) else 0.5
    share = len(_GLUE_EN.findall(text.replace("point-a", "point"))) / max(1, len(words))
    if not related and len(words) >= 8 and share <= 0.17 and not re.search(r"[.,;:!?]", text):
        return 1.0
    if related or share >= 0.16:
        return 0.0
    if len(re.findall(r"\w[.!?](?:\s|$)", text)) > 1:
        return 0.5
    return 0.5 if _RELATION.search(text) or share >= 0.1 else 1.0


def tokens(text: str) -> list[str]:
    """A text as function words in their places, other words by their endings, ``.`` and ``,`` for stops."""
    out = ["."]
    function = _function_words()
    for token in re.findall(rf"[a-z]+|\d+|[.,;:!?。，；：！？]|[{CJK}]", re.sub(r"`[^`]*`", " code ", text)):
        if token in function:
            out.append(token)
        elif not token.isalnum():
            out.append("." if token in ".;:!?。；：！？" else ",")
        elif token.isdigit():
            out.append("0")
        elif re.match(f"[{CJK}]", token):
            out.append("z")
        else:
            out.append("x" + next((end for end in ENDINGS if token.endswith(end)), ""))
    return [*out, "."]


@cache
def _order() -> tuple[Mapping[str, int], Mapping[str, int], int]:
    with (Path(__file__).parent / "order.toml").open("rb") as stream:
        table = tomllib.load(stream)
    return table["pairs"], table["words"], sum(table["words"].values())


def orderly(text: str) -> float:
    """How much more likely the words' order is than a shuffled one, per word; below 0.33 few people write so."""
    line = tokens(text)
    if len(line) < 10:
        return 1.0
    pairs, words, total = _order()
    score = 0.0
    for a, b in pairwise(line):
        if a in words and b in words:
            expected = words[a] * words[b] / total
            seen = pairs.get(f"{a} {b}", 0)
            value = math.log((seen + 0.5) / (expected + 0.5)) - (0.0 if seen else 0.3)
            score += max(-2.5, min(2.5, value))
    return score / (len(line) - 1)


_ODD_EN = re.compile(
    r"\bthe (?:the|an?|of|and|or|but|to|is|are|was|were|it|be|in|on|from|by|at|so|which|that|this|has|have|had|"
    r"would|does|did|not|no|because|its|their|we|they|you)\b(?!-)|"
    r"\b(?:the|an|its|their)\s*[.;:!?,)]|\b(?:and|or|but|because|than)\s*[.;!?)]|"
    r"\b(?:the|an|and|or|but|because|its|their|than|of the|into)\W*$|"
    r"\b(?:is|are|was|were) (?:is|are|was|were|does|do|did|has|have|can|could|will|would)\b|"
    r"\b(?:of|into) (?:of|to|by|is|are|was|has|will|does|did|if)\b|"
    r"(?<!point )(?<!at )(?<!between )(?<!no )(?<!only )\ba (?:of|the|it|in|on|be|by|with|which|being|an|is a)\b|"
    r"\b(?:can|could|will|would) (?:from|was|are|were|has|had|does|did|to|with|been)\b|"
    r"\b(?:does|did) (?:of|from|are|were|has|had|can|could|been)\b|"
    r"\bno (?:the|an?|of|is|are|was|were|has|does)\b|\bto (?:to|of|been|does)\b|\b(?:and|or) (?:and|or|of)\b"
)
"""Pairs of words that nobody writes side by side."""
_CAPITAL = re.compile(
    r"(?<=[a-z] )(?:The|It|An|So|If|When|And|But|This|That|Of|After|Without|Nothing|There|They|We|In|On|At|Between|"
    r"Each|Its|Then|Because|What|Which|Who|You|Since|As|Once|Now|With|From|By|To)\b"
)
_ODD_ZH = re.compile(
    rf"^[，。；：、,;:.!?的吗呢吧着]|(?<!\.)[，。；、：,;:] ?[，。；、,;]|[，。；：,;] ?[的吗呢吧]|"
    rf"[，。,;:] ?(?:们|了(?![解结无不然])|过(?![程了去后一两几来])|着(?![手火急]))|[.。] [.。]|"
    rf"的的|把[的了被,。]|被[的把,。]|从[的了]|向[的了被]|"
    rf"[和与从向给] ?[，。,；;]|。(?=.*[{CJK}]$)",
    re.DOTALL,
)


def scrambled(text: str, *, lenient: bool = False) -> bool:
    """Whether the words seem to stand in no order; ``lenient`` where everything else speaks for the text."""
    if re.search(f"[{CJK}]", text) is None and _ODD_EN.search(text):
        return True
    if re.search(r"->|=>|→|⇒", text):
        return False
    if re.search(f"[{CJK}]", text):
        return bool(_ODD_ZH.search(text.strip())) or orderly(text) < (-0.2 if lenient else -0.07)
    return len(re.findall(r"\d+", text)) < 3 and orderly(text) < (0.25 if lenient else 0.33)


def misplaced(raw: str) -> bool:
    """Whether a word that begins sentences stands in the middle of one."""
    return '"' not in raw and _CAPITAL.search(raw) is not None


def _grams(text: str) -> set[str]:
    bare = re.sub(r"\W+", "", text)
    size = 2 if re.search(f"[{CJK}]", bare) else 4
    return {bare[i : i + size] for i in range(len(bare) - size + 1)}


def copied(text: str, original: str) -> float:
    """The share of a text that stands in another one."""
    grams = _grams(text)
    return len(grams & _grams(original)) / len(grams) if grams else 0.0
