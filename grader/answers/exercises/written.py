"""Criteria that are answered in words: from strings to verdicts, through the rubric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grader.answers.rubric import read
from grader.answers.rubric.reading import Reading
from grader.criteria import Criterion
from grader.levels.trial import alien
from grader.verdict import Text, Verdict
from grader.words import catalogue, join

_words = catalogue()


def written(criterion: Criterion, names: Sequence[str], texts: Mapping[str, Any], why: Text | None) -> Verdict:
    """Judge a written criterion, which any of the strings ``names`` may answer; ``why`` one may not be there."""
    found: list[str] = []
    problem: Text | None = None
    for name in names:
        if name not in texts:
            gone = _words("written.missing", name=name, cell=criterion.cell)
            problem = problem or (join(_words("check.cell_raised", what=why), gone) if why else gone)
        elif not isinstance(texts[name], str):
            kind = alien(texts[name]) or type(texts[name]).__name__
            problem = problem or _words("written.type", name=name, found=kind)
        elif texts[name].strip():
            found.append(texts[name])
    if not found:
        text = problem or _words("written.empty", cell=criterion.cell)
        return Verdict(criterion.id, False, 0.0, criterion.points, text)
    readings = [read(criterion.id, text) for text in found]
    best = max(readings, key=lambda reading: (_RANK[reading.decision], len(reading.points_made)))
    if problem is not None and best.decision == "reject":
        return Verdict(criterion.id, False, 0.0, criterion.points, problem)
    return _verdict(criterion, best)


_RANK = {"accept": 2, "abstain": 1, "reject": 0}


def _verdict(criterion: Criterion, reading: Reading) -> Verdict:
    """Return what a reading means for a criterion that is one written answer."""
    most = criterion.points
    if reading.decision == "accept":
        return Verdict(criterion.id, True, most, most, reading.reason)
    if reading.decision == "reject":
        return Verdict(criterion.id, False, 0.0, most, reading.reason)
    text = join(reading.reason, points_to_compare(criterion))
    return Verdict(criterion.id, None, 0.0, most, text, suggested=reading.suggested * most)


def points_to_compare(criterion: Criterion) -> Text:
    """Return the points a full answer makes, for an answer that waits for a person."""
    points = Text(
        en=" ".join(f"({n}) {point.en}" for n, point in enumerate(criterion.compare, 1)),
        zh="".join(f"（{n}）{point.zh}" for n, point in enumerate(criterion.compare, 1)),
    )
    return _words("written.compare", points=points)
