"""The report on a class: how many met what, which faults are common, whom to look at, which answers are alike."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.classroom.alike import Likeness, pairs_alike, taken_apart
from grader.classroom.folders import Folders
from grader.classroom.results import MET, NOT, PARTLY, WAITS, Line, Result, Submission, code_of, results_of
from grader.criteria import of_exercise
from grader.verdict import Text
from grader.words import catalogue, say

words = catalogue("classroom/report.toml")

STATES = (MET, PARTLY, NOT, WAITS)


@dataclass(frozen=True)
class Spread:
    """How a class did on one criterion."""

    criterion: str
    counts: Mapping[str, int]
    """Submissions by state."""
    mean: float
    """Points, of those whose mark is settled."""
    most: float

    @property
    def settled(self) -> int:
        """How many marks are settled."""
        return self.of - self.counts[WAITS]

    @property
    def of(self) -> int:
        """How many submissions there are."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class Fault:
    """One kind of fault and who shares it."""

    criterion: str
    kind: str
    students: tuple[str, ...]
    example: str
    """The student whose message and picture stand for all."""
    message: Text
    picture: str


@dataclass(frozen=True)
class Look:
    """A submission that a person should look at, and why."""

    student: str
    reasons: tuple[Text, ...]
    urgent: bool
    """Something waits or is odd; else it only just missed."""


@dataclass(frozen=True)
class Pair:
    """Two answers that are alike, with the lines they share."""

    likeness: Likeness
    first: tuple[Line, ...]
    second: tuple[Line, ...]


@dataclass(frozen=True)
class Report:
    """What there is to say of a class's work on one exercise."""

    exercise: str
    submissions: tuple[Submission, ...]
    spreads: tuple[Spread, ...]
    faults: tuple[Fault, ...]
    looks: tuple[Look, ...]
    pairs: tuple[Pair, ...]
    ungraded: tuple[str, ...] = ()
    """Who handed in and has no marks yet."""

    @property
    def mean(self) -> float:
        """The mean score, of those whose marks are all settled."""
        return sum(one.score for one in self.settled) / len(self.settled) if self.settled else 0.0

    @property
    def settled(self) -> tuple[Submission, ...]:
        """The submissions in which no mark waits for a person."""
        return tuple(one for one in self.submissions if not one.waits)

    @property
    def summary(self) -> Text:
        """How many submissions there are, and how they did on the whole."""
        count, mean, most = len(self.submissions), f"{self.mean:.1f}", f"{self.most:g}"
        if len(self.settled) == count:
            return words("summary", count=count, mean=mean, most=most)
        if not self.settled:
            return words("summary.none", count=count)
        return words("summary.some", count=count, settled=len(self.settled), mean=mean, most=most)

    @property
    def most(self) -> float:
        """What can be reached."""
        return max((one.most for one in self.submissions), default=0.0)


def report_on(folders: Folders, exercise: str) -> Report:
    """Return the report on an exercise that has been graded."""
    submissions = results_of(folders, exercise)
    handed = {path.parent.name for path in folders.submitted.glob(f"*/{exercise}/")}
    return Report(
        exercise=exercise,
        submissions=tuple(submissions),
        spreads=tuple(_spreads(submissions)),
        faults=tuple(_faults(submissions)),
        looks=tuple(_looks(submissions)),
        pairs=tuple(_pairs(folders, exercise, submissions)),
        ungraded=tuple(sorted(handed - {one.student for one in submissions})),
    )


def _spreads(submissions: Sequence[Submission]) -> list[Spread]:
    found = []
    for name in dict.fromkeys(name for one in submissions for name in one.results):
        results = [one.results[name] for one in submissions if name in one.results]
        settled = [result.score for result in results if not result.waits]
        counts = Counter(result.state for result in results)
        mean = sum(settled) / len(settled) if settled else 0.0
        most = max(result.most for result in results)
        found.append(Spread(name, {state: counts[state] for state in STATES}, mean, most))
    return found


def _faults(submissions: Iterable[Submission]) -> list[Fault]:
    shared: dict[tuple[str, str], list[tuple[str, Result]]] = {}
    for one in submissions:
        for name, result in one.results.items():
            if result.state in (NOT, PARTLY) and result.message is not None and not result.by_person:
                shared.setdefault((name, result.kind or result.message.en), []).append((one.student, result))
    faults = []
    for (name, kind), members in shared.items():
        # The shortest message that has a picture shows the fault with the least around it.
        student, result = min(members, key=lambda each: (not each[1].picture, len(each[1].message.en), each[0]))  # type: ignore[union-attr]
        assert result.message is not None
        students = tuple(each for each, _ in members)
        faults.append(Fault(name, kind, students, student, result.message, result.picture))
    return sorted(faults, key=lambda fault: -len(fault.students))


def _looks(submissions: Iterable[Submission]) -> list[Look]:
    looks = []
    for one in submissions:
        if one.unreadable is not None:
            looks.append(Look(one.student, (words("look.unreadable", why=one.unreadable),), True))
            continue
        waiting = {name: result for name, result in one.results.items() if result.waits}
        reasons = [_wait(name, result) for name, result in waiting.items()]
        reasons += [words("look.flag", flag=flag) for flag in dict.fromkeys(one.flags)]
        urgent = bool(reasons)
        short = [name for name, result in one.results.items() if result.state in (NOT, PARTLY)]
        if len(short) == 1 and not waiting and len(one.results) > 1:
            result = one.results[short[0]]
            reasons.append(words("look.near", name=short[0], points=f"{result.score:g}", most=f"{result.most:g}"))
        if reasons:
            looks.append(Look(one.student, tuple(reasons), urgent))
    return sorted(looks, key=lambda look: not look.urgent)


def _wait(name: str, result: Result) -> Text:
    if result.by_person:
        return words("look.again", name=name, points=f"{result.score:g}", most=f"{result.most:g}")
    if result.suggested is None:
        return words("look.waits", name=name)
    return words("look.suggested", name=name, points=f"{result.suggested:g}", most=f"{result.most:g}")


def _pairs(folders: Folders, exercise: str, submissions: Sequence[Submission]) -> list[Pair]:
    by_name = {one.student: one for one in submissions if one.lines}
    given, prose = _given(folders, exercise)
    answers = {name: taken_apart(one.cells) for name, one in by_name.items()}
    found = []
    for likeness in pairs_alike(answers, [taken_apart(cells) for cells in given], prose):
        first = tuple(by_name[likeness.first].lines[number - 1] for number in likeness.lines)
        second = tuple(by_name[likeness.second].lines[number - 1] for number in likeness.other_lines)
        found.append(Pair(likeness, first, second))
    return found


def _given(folders: Folders, exercise: str) -> tuple[list[list[str]], list[str]]:
    """Return what every answer may have from the exercise: code and wording."""
    code: list[list[str]] = []
    prose: list[str] = []
    for folder in (folders.solutions, folders.root / str(folders.course.api.coursedir.release_directory)):
        for path in sorted((folder / exercise).glob("*.ipynb")):
            try:
                notebook = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            code += [[source for _, source in code_of(notebook, everything=everything)] for everything in (False, True)]
            prose += ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    for criterion in of_exercise(exercise):
        for text in (criterion.statement, *criterion.hints, *criterion.compare):
            prose += [text.en, text.zh]
    return code, prose


def as_data(report: Report) -> dict[str, Any]:
    """Return the report as plain data, messages in the language in use."""
    return {
        "exercise": report.exercise,
        "submissions": len(report.submissions),
        "ungraded": list(report.ungraded),
        "mean": round(report.mean, 3),
        "max_score": report.most,
        "criteria": [
            {
                "id": spread.criterion,
                **{state.replace("not", "not_met"): spread.counts[state] for state in STATES},
                "mean": round(spread.mean, 3),
                "max_points": spread.most,
            }
            for spread in report.spreads
        ],
        "faults": [
            {
                "criterion": fault.criterion,
                "kind": fault.kind,
                "students": list(fault.students),
                "message": say(fault.message),
            }
            for fault in report.faults
        ],
        "look_at": [
            {"student": look.student, "urgent": look.urgent, "reasons": [say(reason) for reason in look.reasons]}
            for look in report.looks
        ],
        "alike": [
            {
                "students": [pair.likeness.first, pair.likeness.second],
                "code": round(pair.likeness.code, 3),
                "prose": round(pair.likeness.prose, 3),
                "lines": [_places(pair.first), _places(pair.second)],
            }
            for pair in report.pairs
        ],
    }


def _places(lines: Iterable[Line]) -> list[str]:
    return [f"{line.cell}:{line.number}" for line in lines]
