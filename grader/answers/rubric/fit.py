"""Fit the weights on labelled answers: ``python -m grader.answers.rubric.fit FILE.jsonl …``.

Not used when reading. The weights are a logistic regression over the named evidence, the same for every criterion but
for one number each; they are written to weights.toml, and the order of function words to order.toml. To the answers
given, the fit adds some that are wrong by construction: right answers with their words shuffled, or under another heading.
"""

import hashlib
import json
import math
import random
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
from .lexicon import Found
from .reading import certain
from .shape import heap, tokens
from .text import CJK, normalise

HERE = Path(__file__).parent
PENALTY = 3.0
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
        labels = item["labels"]
        if "answer" in item:
            named = {field_name(k): v for k, v in item["answer"].items()}
            out += [Sample(item["id"], c, (named.get(c, ""),), labels[c]) for c in LEVEL1]
        else:
            both = (item["hazard_1"], item["hazard_2"])
            out += [Sample(item["id"], c, both, labels[c]) for c in LEVEL2]
    return out


def shuffled(text: str, seed: str) -> str:
    """The words of a text in another order, the same on every run."""
    chance = random.Random(hashlib.sha1(seed.encode()).hexdigest())
    words = re.findall(rf"[{CJK}]{{1,2}}|[^\s{CJK}]+", text)
    chance.shuffle(words)
    return " ".join(words) if not re.search(f"[{CJK}]", text) else "".join(words)


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
        best = max(
            range(len(found)), key=lambda i: (found[i].row["mean point"], found[i].row["own mentions"])
        )
        add(found[best], True, 1.0)
        if made_up:
            mixed = shuffled(texts[best], sample.id + sample.criterion)
            if heap(mixed) < 1:
                add(look(sample.criterion, Found.of(mixed)), False, 0.4)
            family = LEVEL1 if sample.criterion in LEVEL1 else LEVEL2
            for other in family:
                if other != sample.criterion and len(sample.texts) == 1:
                    add(look(other, Found.of(texts[best])), False, 0.1)
    return seen, labels, importance


def regression(x: Matrix, y: Matrix, importance: Matrix, penalty: Matrix) -> Matrix:
    """Logistic regression by Newton's steps."""
    b = np.zeros(x.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ b))
        curve = importance * p * (1 - p) + 1e-9
        step = np.linalg.solve(
            (x.T * curve) @ x + np.diag(penalty), x.T @ (importance * (p - y)) + penalty * b
        )
        b = b - step
        if float(np.abs(step).max()) < 1e-7:
            break
    return b


def weights(data: Sequence[Sample], *, penalty: float = PENALTY) -> dict[str, dict[str, float]]:
    """The weights that fit the data best."""
    seen, labels, importance = rows(data)
    names = list(seen[0].row)
    criteria = [*LEVEL1, *LEVEL2]
    plain = np.array([[e.row[n] for n in names] for e in seen])
    middle, spread = plain.mean(0), plain.std(0) + 1e-9
    which = np.array([[float(e.criterion == c) for c in criteria] for e in seen])
    x = np.hstack([(plain - middle) / spread, which, np.ones((len(seen), 1))])
    strict = np.array([penalty] * (len(names) + len(criteria)) + [0.01])
    b = regression(x, np.array(labels, dtype=float), np.array(importance), strict)
    weight = b[: len(names)] / spread
    base = float(b[-1] - (weight * middle).sum())
    bias = {c: round(base + float(v), 4) for c, v in zip(criteria, b[len(names) : -1], strict=True)}
    return {"weight": {n: round(float(v), 4) for n, v in zip(names, weight, strict=True)}, "criterion": bias}


def order(texts: Iterable[str]) -> dict[str, float]:
    """How much more often than by chance one function word follows another."""
    pair: Counter[tuple[str, str]] = Counter()
    one: Counter[str] = Counter()
    for text in texts:
        if heap(text) or len(text) < 20:
            continue
        line = tokens(normalise(text))
        pair.update(pairwise(line))
        one.update(line)
    total = sum(one.values())
    out = {}
    for a in sorted(one):
        for b in sorted(one):
            expected = one[a] * one[b] / total
            if pair[a, b] or expected > 1.5:
                value = math.log((pair[a, b] + 0.5) / (expected + 0.5))
                out[f"{a} {b}"] = round(max(-3.0, min(2.0, value)), 2)
    return out


def write(data: Sequence[Sample], low: float, high: float) -> None:
    """Write weights.toml."""
    fitted = weights(data)
    lines = [
        f"# Written by fit.py from {len(data)} labelled texts. A positive weight speaks for the answer, a negative one against.",
        "# threshold: below reject the answer is rejected, above accept accepted, between them a person decides.",
        "[threshold]",
        f"reject = {low}",
        f"accept = {high}",
    ]
    for name, values in fitted.items():
        lines += ["", f"[{name}]", *(f'"{k}" = {v}' for k, v in values.items())]
    (HERE / "weights.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(paths: Sequence[str]) -> None:
    """Fit on the files named and write weights.toml and order.toml."""
    items = [
        json.loads(line) for path in paths for line in Path(path).read_text(encoding="utf-8").splitlines()
    ]
    data = samples(items)
    pairs = order(text for sample in data for text in sample.texts)
    head = (
        "# How much more (or less) often than by chance one function word follows another (log), in people's writing;\n"
        "# x is any other word, a dot a stop. Written by fit.py; it tells scrambled words from hurried writing.\n[pairs]\n"
    )
    (HERE / "order.toml").write_text(
        head + "".join(f'"{k}" = {v}\n' for k, v in pairs.items()), encoding="utf-8"
    )
    write(data, 0.13, 0.72)
    print(f"fitted on {len(data)} labelled texts")


if __name__ == "__main__":
    main(sys.argv[1:])
