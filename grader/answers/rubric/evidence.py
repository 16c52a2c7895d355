"""What a text offers for and against one criterion: a row of plain numbers, each with a name."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from .lexicon import Found, concepts, evaluate, rules
from .text import CJK

CAUSE = re.compile(
    r"\b(?:so|hence|therefore|thus|then|because|since|which means|as a result|instead)\b|=>|->|→|⇒|"
    r"所以|因此|于是|结果|那么?|就|因而|故|自然|从而|只能|只好|便|也就|导致"
)
GLUE = re.compile(
    r"\b(?:the|a|an|is|are|was|were|be|been|it|its|that|this|of|to|and|or|but|not|can|could|will|would|has|have|had|do|"
    r"does|did|if|when|after|before|so|for|with|from|at|in|on|by|no|there|which|who|what|as|than|he|she|they|we|you|i)\b|"
    r"[的了在是不没就把被也都还要会能着过这那有和跟与之而其者也矣则为于以未无何]"
)
UNITS = re.compile(rf"[a-z]+|\d+|[{CJK}]")


def units(text: str) -> int:
    """Length in words; Chinese characters count one each."""
    return len(UNITS.findall(text))


@dataclass(frozen=True)
class Evidence:
    """A text read for one criterion."""

    criterion: str
    found: Found
    points: tuple[float, ...]
    """For each point of the criterion: 1 made, 0.5 its words are there, 0 not."""
    row: Mapping[str, float]
    concepts: tuple[str, ...]
    """The concepts said, whichever."""
    phrases: tuple[str, ...]
    """Words and pairs of words, whatever the field: how people speak of something that goes wrong."""


def phrases(text: str) -> tuple[str, ...]:
    """The words, pairs of words and (in Chinese) runs of three characters of a text; numbers count as 0."""
    words = re.findall(rf"[a-z']+|0|[{CJK}]|[^\w\s]", re.sub(r"\d+", "0", text))
    out = set(words)
    out.update(" ".join(pair) for pair in pairwise(words))
    out.update(" ".join(words[i : i + 3]) for i in range(len(words) - 2) if re.match(f"[{CJK}]", words[i]))
    return tuple(sorted(out))


def strengths(criterion: str, found: Found) -> tuple[float, ...]:
    """How far each point of a criterion is made."""
    if criterion not in found.strengths:
        found.strengths[criterion] = _strengths(criterion, found)
    return found.strengths[criterion]


def _strengths(criterion: str, found: Found) -> tuple[float, ...]:
    return tuple(
        1.0 if evaluate(point["strong"], found) else 0.5 if evaluate(point["weak"], found) else 0.0
        for point in rules()[criterion]["point"]
    )


def siblings(criterion: str) -> list[str]:
    """The other criteria of the same exercise."""
    exercise = rules()[criterion]["id"].partition("-")[0]
    return [c for c in rules() if c != criterion and rules()[c]["id"].startswith(exercise)]


def own_words(criterion: str) -> list[str]:
    """The concepts that the criterion's rules speak of."""
    text = " ".join(p["strong"] + " " + p["weak"] for p in rules()[criterion]["point"])
    return sorted(set(re.findall(r"[a-z]+", text)) - {"near", "before", "sum", "compare", "apart"})


@lru_cache(maxsize=256)
def look(criterion: str, found: Found) -> Evidence:
    """Gather the evidence."""
    text = found.text
    own = strengths(criterion, found)
    others = [strengths(other, found) for other in siblings(criterion)]
    length = max(1, units(text))
    words = own_words(criterion)
    covered = [False] * len(text)
    for name in [*words, "denial", "fix", "vacuous", *rules()[criterion]["foreign"]]:
        for start, end in found.spans(name):
            covered[start:end] = [True] * (end - start)
    rest = units("".join(" " if c else t for c, t in zip(covered, text, strict=True)))
    foreign = sum(len(found.spans(name)) for name in rules()[criterion]["foreign"])
    anchors = len(found.spans("a_" + criterion))
    elsewhere = max((len(found.spans("a_" + other)) for other in siblings(criterion)), default=0)
    row = {
        "least point": min(own),
        "mean point": sum(own) / len(own),
        "all points": float(min(own) == 1.0),
        "own words": sum(found.has(w) for w in words) / len(words),
        "own mentions": math.log1p(min(14, sum(len(found.spans(w)) for w in words))),
        "other field": max((sum(o) / len(o) for o in others), default=0.0),
        "other field whole": max((float(min(o) == 1.0) for o in others), default=0.0),
        "own anchor": float(anchors > 0),
        "anchor share": (anchors + 0.5) / (anchors + elsewhere + 1),
        "denial": float(min(2, len(found.spans("denial")))),
        "fix": float(min(3, len(found.spans("fix")))),
        "fix share": len(found.spans("fix")) / length,
        "vacuous share": len(found.spans("vacuous")) / length,
        "grader": float(min(2, len(found.spans("grader")))),
        "firm denial": float(found.has("firm")),
        "contrary": float(any(found.has(name) for name in rules()[criterion].get("contrary", ()))),
        "foreign": float(min(3, foreign)),
        "foreign share": foreign / (foreign + sum(len(found.spans(w)) for w in words) + 1),
        "unknown": float(min(3, len(found.spans("unknown")))),
        "cause": float(min(3, len(CAUSE.findall(text)))),
        "glue share": len(GLUE.findall(text)) / length,
        "rest": math.log1p(min(rest, 60)),
        "numbers": float(min(4, len(re.findall(r"\d+", text)))),
        "question": float("?" in text),
        "quote": float('"' in text or "「" in text),
    }
    said = tuple(name for name in concepts() if found.has(name))
    return Evidence(criterion, found, own, row, said, phrases(text))
