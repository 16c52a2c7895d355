"""Fit the weights on labelled answers: ``python -m grader.answers.rubric.fit [--cross] FILE.jsonl …``.

Not used when reading. First a logistic regression over the named evidence, the same for every criterion but for one
number each; then, on what that leaves open, small weights for words and for concepts under each criterion. They go to
weights.toml and phrases.toml, the order of function words to order.toml. To the answers given, the fit adds some that
are wrong by construction (right answers under another heading) and each right answer with one point unread.
"""

import hashlib
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import LEVEL1, LEVEL2, field_name
from .evidence import Evidence, look
from .figures import Line, measure, read_item
from .lexicon import Found, rules
from .reading import Weights, certain, trying
from .shape import heap, tokens
from .text import normalise

HERE = Path(__file__).parent
UNREAD = 0.4
"""How often a point of a right answer in a voice never seen is not recognised (measured: about one in four)."""
NOT_CONCEPTS = {"near", "before", "sum", "compare", "apart"}
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """One text (or the two of Level 2) under one criterion, with its label."""

    id: str
    criterion: str
    texts: tuple[str, ...]
    right: bool


def samples(items: Iterable[Mapping[str, Any]]) -> list[Sample]:
    """The labelled texts of a corpus file's lines."""
    out = []
    for item in items:
        if "criterion" in item:
            out.append(Sample(item["id"], item["criterion"], (item["text"],), item["right"]))
            continue
        labels = item["labels"]
        if "answer" in item:
            named = {field_name(k): v for k, v in item["answer"].items()}
            out += [Sample(item["id"], c, (named.get(c, ""),), labels[c]) for c in LEVEL1]
        else:
            both = (item["hazard_1"], item["hazard_2"])
            out += [Sample(item["id"], c, both, labels[c]) for c in LEVEL2]
    return out


def unread(criterion: str, found: Found, which: int) -> Found | None:
    """A right text as it looks when one of its points is made in words that the lexicon does not know."""
    points = rules()[criterion]["point"]
    named = [set(re.findall(r"[a-z]+", point["strong"])) - NOT_CONCEPTS for point in points]
    which %= len(points)
    own = named[which] - set().union(*(n for i, n in enumerate(named) if i != which))
    if not own:
        return None
    return Found(found.text, {name: [] for name in own})


def rows(data: Iterable[Sample], *, made_up: bool = True) -> tuple[list[Evidence], list[bool], list[float]]:
    """Evidence, labels and importance of each, one for every text to learn from."""
    seen: list[Evidence] = []
    labels: list[bool] = []
    importance: list[float] = []

    def add(evidence: Evidence, right: bool, weight: float) -> None:
        seen.append(evidence)
        labels.append(right)
        importance.append(weight)

    for sample in data:
        texts = [t for t in sample.texts if certain(sample.criterion, t, {}) is None]
        found = [look(sample.criterion, Found.of(t)) for t in texts]
        if not found:
            continue
        if not sample.right:
            for evidence in found:
                add(evidence, False, 1.0)
            continue
        best = max(range(len(found)), key=lambda i: (found[i].row["mean point"], found[i].row["own mentions"]))
        lost = unread(sample.criterion, found[best].found, len(texts[best]))
        add(found[best], True, 1.0 - UNREAD if lost else 1.0)
        if lost:
            add(look(sample.criterion, lost), True, UNREAD)
        if made_up:
            family = LEVEL1 if sample.criterion in LEVEL1 else LEVEL2
            other = family[(family.index(sample.criterion) + 1 + len(texts[best]) % (len(family) - 1)) % len(family)]
            if other != sample.criterion and len(sample.texts) == 1:
                add(look(other, Found.of(texts[best])), False, 0.3)
    return seen, labels, importance


def regression(x: Matrix, y: Matrix, importance: Matrix, penalty: Matrix) -> Matrix:
    """Logistic regression by Newton's steps."""
    b = np.zeros(x.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ b))
        curve = importance * p * (1 - p) + 1e-9
        slope = x.T @ (importance * (p - y)) + penalty * b
        step = np.linalg.solve((x.T * curve) @ x + np.diag(penalty), slope)
        b = b - step
        if float(np.abs(step).max()) < 1e-7:
            break
    return b


def remainder(x: Matrix, y: Matrix, importance: Matrix, start: Matrix, penalty: float) -> Matrix:
    """What many small signs add to a score already there (the same regression, solved sample by sample)."""
    kernel = x @ x.T
    a = np.zeros(len(y))
    for _ in range(40):
        p = 1 / (1 + np.exp(-(start + kernel @ a)))
        curve = importance * p * (1 - p) + 1e-6
        slope = importance * (p - y) + penalty * a
        step = np.linalg.solve(kernel * curve[:, None] + penalty * np.eye(len(y)), slope)
        a = a - step
        if float(np.abs(step).max()) < 1e-6:
            break
    return np.asarray(x.T @ a)


@dataclass(frozen=True)
class Settings:
    """What is chosen by cross-validation."""

    penalty: float = 3.0
    many_penalty: float = 0.1
    concept_scale: float = 0.3
    seen_least: int = 5
    smallest: float = 0.25


def fitted(
    data: Sequence[Sample], settings: Settings = Settings(), *, low: float = 0.12, high: float = 0.66
) -> Weights:
    """The weights that fit the data best."""
    seen, labels, importance = rows(data)
    names = list(seen[0].row)
    criteria = [*LEVEL1, *LEVEL2]
    y, weight_of = np.array(labels, dtype=float), np.array(importance)
    plain = np.array([[e.row[n] for n in names] for e in seen])
    middle, spread = plain.mean(0), plain.std(0) + 1e-9
    which = np.array([[float(e.criterion == c) for c in criteria] for e in seen])
    x = np.hstack([(plain - middle) / spread, which, np.ones((len(seen), 1))])
    strict = np.array([settings.penalty] * (len(names) + len(criteria)) + [0.01])
    b = regression(x, y, weight_of, strict)
    weight = b[: len(names)] / spread
    base = float(b[-1] - (weight * middle).sum())

    said = Counter(p for e, w in zip(seen, importance, strict=True) if w > 0.5 for p in e.phrases)
    kept = {p: i for i, p in enumerate(sorted(p for p, n in said.items() if n >= settings.seen_least))}
    marks = Counter(f"{e.criterion}:{c}" for e, w in zip(seen, importance, strict=True) if w > 0.5 for c in e.concepts)
    flags = {m: len(kept) + i for i, m in enumerate(sorted(m for m, n in marks.items() if n >= 4))}
    many = np.zeros((len(seen), len(kept) + len(flags)))
    for i, e in enumerate(seen):
        share = 1 / math.sqrt(max(12, len(e.phrases)))
        for p in e.phrases:
            if p in kept:
                many[i, kept[p]] = share
        for c in e.concepts:
            if f"{e.criterion}:{c}" in flags:
                many[i, flags[f"{e.criterion}:{c}"]] = settings.concept_scale
    start = np.clip(x @ b, -9, 9)
    extra = remainder(many, y, weight_of, start, settings.many_penalty)
    phrase = {p: float(extra[i]) for p, i in kept.items() if abs(extra[i]) >= settings.smallest}
    concept: dict[str, dict[str, float]] = {c: {} for c in criteria}
    for mark, i in flags.items():
        criterion, _, name = mark.partition(":")
        concept[criterion][name] = float(extra[i]) * settings.concept_scale
    return Weights(
        low,
        high,
        {n: float(v) for n, v in zip(names, weight, strict=True)},
        {c: base + float(v) for c, v in zip(criteria, b[len(names) : -1], strict=True)},
        concept,
        phrase,
    )


def order(texts: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """How often one word follows another, and each word alone, as shape.tokens sees them."""
    pair: Counter[str] = Counter()
    one: Counter[str] = Counter()
    for text in texts:
        if heap(text) or len(text) < 20:
            continue
        line = tokens(normalise(text))
        pair.update(f"{a} {b}" for a, b in pairwise(line))
        one.update(line)
    return pair, one


def write(w: Weights, texts: int) -> None:
    """Write weights.toml and phrases.toml."""

    def table(name: str, values: Mapping[str, float]) -> list[str]:
        return [
            "",
            f"[{name}]",
            *(f"{json.dumps(k, ensure_ascii=False)} = {v:.3f}" for k, v in values.items()),
        ]

    lines = [
        f"# Written by fit.py from {texts} labelled texts. Positive speaks for an answer, negative against it.",
        "# threshold: a chance below reject: rejected; above accept: accepted; between: a person decides.",
        "[threshold]",
        f"reject = {w.reject}",
        f"accept = {w.accept}",
        *table("weight", w.weight),
        *table("criterion", w.criterion),
    ]
    for criterion, values in w.concept.items():
        lines += table(f"concept.{criterion}", values)
    (HERE / "weights.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    head = [
        "# Words and pairs of words, whatever the field, that speak for or against (negative) an answer.",
        "# Small signs: a text's are added and divided by the root of its length. Written by fit.py.",
    ]
    ordered = dict(sorted(w.phrase.items(), key=lambda item: (-item[1], item[0])))
    (HERE / "phrases.toml").write_text("\n".join(head + table("phrase", ordered)[1:]) + "\n", encoding="utf-8")


def half(name: str) -> int:
    """Which half an answer belongs to, for good: by a hash of its id."""
    return hashlib.sha1(name.encode()).digest()[0] % 2


def cross(named: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Print figures for answers that took no part in the fit: each half of all files by the weights of the other."""
    everything = [item for items in named.values() for item in items]
    named = {name: [item for item in items if "labels" in item] for name, items in named.items()}
    lines: dict[str, list[Line]] = {}
    for which in (0, 1):
        learnt = fitted(samples(item for item in everything if half(item["id"]) != which))
        with trying(learnt):
            for name, items in named.items():
                read = [read_item(item) for item in items if half(item["id"]) == which]
                lines.setdefault(f"{name}, half {which}", []).extend(read)
                lines.setdefault(name, []).extend(read)
    for name, read in sorted(lines.items()):
        f = measure(read)
        print(
            f"{name}: {f.labels} labels, {f.decided_right:.1%} of decided right, {f.abstention:.1%} abstained, "
            f"{f.false_rejection:.1%} of right rejected, {f.false_accepts} false accepts"
        )


def main(arguments: Sequence[str]) -> None:
    """Fit on the files named and write the three files; with ``--cross`` only measure what a fit is worth."""
    paths = [Path(argument) for argument in arguments if argument != "--cross"]
    named = {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        for path in paths
    }
    if "--cross" in arguments:
        cross(named)
        return
    data = samples(item for items in named.values() for item in items)
    pair, one = order(text for sample in data for text in sample.texts)
    head = [
        "# How often one function word follows another in real texts, and how often each occurs; other words by their",
        "# endings (x, xed, xing), Chinese characters z, figures 0. Written by fit.py; tells scrambled words.",
        "[words]",
        *(f'"{k}" = {v}' for k, v in sorted(one.items())),
        "",
        "[pairs]",
        *(f'"{k}" = {v}' for k, v in sorted(pair.items())),
    ]
    (HERE / "order.toml").write_text("\n".join(head) + "\n", encoding="utf-8")
    write(fitted(data), len(data))
    print(f"fitted on {len(data)} labelled texts")


if __name__ == "__main__":
    main(sys.argv[1:])
