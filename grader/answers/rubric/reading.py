"""From a text to a decision: what is certain by its shape first, then the weighed evidence."""

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from grader.verdict import Text
from grader.words import join

from .doubts import doubtful as turned
from .evidence import Evidence, look, siblings
from .lexicon import Found, rules, table
from .shape import copied, heap, misplaced, orderly, scrambled
from .text import LONGEST, normalise, said_once

Decision = Literal["accept", "reject", "abstain"]


@dataclass(frozen=True)
class Reading:
    """What the rubric makes of one text."""

    decision: Decision
    reason: Text
    """Accepted: which points it found. Rejected: the kind of point missing. Abstained: what is unsure."""
    points_made: tuple[str, ...] = ()
    """The kinds of point found, in English, for the record."""
    suggested: float = 0.0
    """The share of the marks it would suggest to a person, 0 to 1."""


@dataclass(frozen=True)
class Weights:
    """What fit.py learnt: a number for each piece of evidence."""

    reject: float
    accept: float
    weight: Mapping[str, float]
    criterion: Mapping[str, float]
    concept: Mapping[str, Mapping[str, float]]
    phrase: Mapping[str, float]

    def chance(self, evidence: Evidence) -> float:
        """How likely the text is right."""
        score = self.criterion[evidence.criterion]
        score += sum(self.weight[name] * value for name, value in evidence.row.items())
        own = self.concept.get(evidence.criterion, {})
        score += sum(own.get(name, 0.0) for name in evidence.concepts)
        known = [self.phrase[p] for p in evidence.phrases if p in self.phrase]
        score += sum(known) / math.sqrt(max(12, len(evidence.phrases)))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


_tried: list[Weights] = []


@contextmanager
def trying(other: Weights) -> Iterator[None]:
    """Read with other weights than those beside this file: for measuring a fit."""
    _tried.append(other)
    try:
        yield
    finally:
        _tried.pop()


def weights() -> Weights:
    """The weights in use."""
    return _tried[-1] if _tried else _own_weights()


@cache
def _own_weights() -> Weights:
    here = Path(__file__).parent
    data = tomllib.loads((here / "weights.toml").read_text(encoding="utf-8"))
    phrase = tomllib.loads((here / "phrases.toml").read_text(encoding="utf-8"))
    return Weights(
        data["threshold"]["reject"],
        data["threshold"]["accept"],
        data["weight"],
        data["criterion"],
        data["concept"],
        phrase["phrase"],
    )


UNSEEN = 0.92
"""The chance above which a text is accepted although one of its points was not found."""
RIVAL = 1.0
"""By how much (log odds) a text may suit another heading better and still be accepted here."""


def logit(p: float) -> float:
    """Log odds of a chance."""
    p = min(1 - 1e-9, max(1e-9, p))
    return math.log(p / (1 - p))


def _sentence(name: str) -> Text:
    entry = table()["sentence"][name]
    return Text(entry["en"], entry["zh"], f"rubric.{name}")


def _kind(criterion: str, index: int) -> Text:
    kind = rules()[criterion]["point"][index]["kind"]
    return Text(kind["en"], kind["zh"], str(index + 1))


def _listed(kinds: Sequence[Text]) -> Text:
    if len(kinds) == 1:
        return kinds[0]
    first, last = kinds[:-1], kinds[-1]
    return Text(
        en="; ".join(k.en for k in first) + "; and " + last.en,
        zh="；".join(k.zh for k in first) + "；以及" + last.zh,
    )


def _filled(name: str, kinds: Sequence[Text]) -> Text:
    sentence, listed = _sentence(name), _listed(kinds)
    key = f"{sentence.key}({','.join(kind.key for kind in kinds)})"
    return Text(sentence.en.format(kinds=listed.en), sentence.zh.format(kinds=listed.zh), key)


def _reject(name: str) -> Reading:
    return Reading("reject", _sentence(name))


def certain(criterion: str, raw: str, others: Mapping[str, str]) -> Reading | None:
    """The rejections that need no weighing: nothing there, a copy, a heap of words."""
    raw = raw[: 4 * LONGEST]
    if not any(c.isalnum() for c in raw):
        return _reject("empty")
    text = normalise(raw)
    if any(normalise(other) == text for label, other in others.items() if label != criterion):
        return _reject("same")
    if any(copied(text, normalise(question)) > 0.8 for question in table()["question"]["texts"]):
        return _reject("question")
    if heap(raw) == 1.0:
        return _reject("heap")
    return None


def weigh(criterion: str, raw: str, found: Found | None = None) -> Reading:
    """Decide by the evidence; never certain where the shape is doubtful."""
    raw = said_once(raw[: 4 * LONGEST])
    found = found or Found.of(raw)
    evidence = look(criterion, found)
    p = weights().chance(evidence)
    low, high = weights().reject, weights().accept
    row, points = evidence.row, evidence.points
    kinds = [_kind(criterion, i) for i in range(len(points))]
    made = tuple(k.en for k, s in zip(kinds, points, strict=True) if s == 1.0)
    against = row["denial"] + row["foreign"] + row["grader"] + row["fix"]
    rival = max((weights().chance(look(other, found)) for other in siblings(criterion)), default=0.0)
    sure = p >= 0.95 and min(points) == 1.0
    doubtful = (
        (heap(raw) > 0 and not (sure and raw.isascii() and orderly(found.text) > 0.4))
        or scrambled(found.text, lenient=sure)
        or misplaced(raw)
        or row["grader"] + row["firm denial"] + row["contrary"] > 0
        or turned(criterion, found.text)
    )
    doubtful = doubtful or (rival > p and logit(rival) - logit(p) > RIVAL)
    if p >= (high if min(points) > 0 else UNSEEN) and not doubtful:
        clear = [k for k, s in zip(kinds, points, strict=True) if s == 1.0]
        whole = "accept_three" if len(kinds) == 3 else "accept"
        reason = _filled(whole, kinds) if len(clear) == len(kinds) else _sentence("accept_whole")
        return Reading("accept", reason, made, 1.0)
    plain = min(points) == 1.0 and against + row["other field whole"] == 0 and row["vacuous share"] < 0.1
    if p <= low and not plain:
        return Reading("reject", _why_not(criterion, evidence, kinds), made, 0.0)
    unsure = [k for k, s in zip(kinds, points, strict=True) if s < 1.0]
    reason = _filled("unsure", unsure) if unsure else _sentence("unsure_whole")
    return Reading("abstain", reason, made, 1.0 if p >= 0.5 else 0.5 if p >= 0.3 else 0.0)


def _why_not(criterion: str, evidence: Evidence, kinds: Sequence[Text]) -> Text:
    row = evidence.row
    missing = [k for k, s in zip(kinds, evidence.points, strict=True) if s < 1.0]
    if row["grader"]:
        return _sentence("grader")
    if row["denial"] and row["mean point"] > 0:
        return _sentence("denial")
    if row["contrary"]:
        return _sentence("contrary")
    if row["other field whole"] and missing:
        return _sentence("elsewhere")
    if row["fix"] >= 1 and row["mean point"] < 1:
        return _sentence("fix")
    if row["foreign"] and row["mean point"] < 1:
        return join(_sentence("foreign"), _filled("missing", missing or kinds))
    return _filled("missing", missing or kinds)


__all__ = ["Decision", "Reading", "Weights", "certain", "trying", "weigh", "weights"]
