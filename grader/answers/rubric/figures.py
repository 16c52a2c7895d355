"""Reading a file of answers, one a line, and measuring the readings against labels."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.verdict import Text

from . import LEVEL1, LEVEL2, read, read_level1, read_level2
from .reading import Reading


@dataclass(frozen=True)
class Line:
    """One answer read, or a line that is not one."""

    number: int
    id: str
    readings: Mapping[str, Reading]
    labels: Mapping[str, bool] | None
    texts: Mapping[str, str]
    fault: Text | None = None


@dataclass(frozen=True)
class Figures:
    """How the readings compare with the labels."""

    labels: int
    right_labels: int
    abstained: int
    wrong: int
    false_accepts: int
    false_rejects: int

    @property
    def decided_right(self) -> float:
        """The share of decided labels that are right."""
        decided = self.labels - self.abstained
        return 1 - self.wrong / decided if decided else 1.0

    @property
    def abstention(self) -> float:
        """The share of labels left to a person."""
        return self.abstained / self.labels if self.labels else 0.0

    @property
    def false_rejection(self) -> float:
        """The share of right answers that were rejected."""
        return self.false_rejects / self.right_labels if self.right_labels else 0.0


def _fault(number: int, en: str, zh: str) -> Line:
    text = Text(en=f"line {number}: {en}; it is left out.", zh=f"第 {number} 行：{zh}，略过。")
    return Line(number, "", {}, None, {}, text)


def read_item(item: Mapping[str, Any], number: int = 1) -> Line:
    """Read one answer as the corpus has it."""
    name = str(item.get("id", number))
    found = item.get("labels")
    labels = {k: v for k, v in found.items() if isinstance(v, bool)} if isinstance(found, dict) else None
    if "answer" in item:
        if not isinstance(item["answer"], dict):
            return _fault(number, '"answer" is not an object of field and text', "answer 不是“字段: 文字”的对象")
        return Line(number, name, read_level1(item["answer"]), labels, item["answer"])
    if "hazard_1" in item or "hazard_2" in item:
        texts = {key: item.get(key, "") for key in ("hazard_1", "hazard_2")}
        return Line(number, name, read_level2(texts["hazard_1"], texts["hazard_2"]), labels, texts)
    if item.get("criterion") in (*LEVEL1, *LEVEL2):
        criterion, text, right = item["criterion"], item.get("text", ""), item.get("right")
        labels = {criterion: right} if isinstance(right, bool) else None
        return Line(number, name, {criterion: read(criterion, text)}, labels, {criterion: text})
    return _fault(
        number,
        'no "answer", "hazard_1" and "hazard_2", or known "criterion"',
        "没有 answer，没有 hazard_1 和 hazard_2，也没有已知的 criterion",
    )


def read_line(number: int, line: str) -> Line:
    """Read one line of a file of answers."""
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        return _fault(number, "not JSON", "不是 JSON")
    if not isinstance(item, dict):
        return _fault(number, "not a JSON object", "不是 JSON 对象")
    return read_item(item, number)


def read_file(path: Path) -> Iterator[Line]:
    """Read every line of a file; a line that cannot be read comes back with its fault."""
    with path.open(encoding="utf-8", errors="replace") as stream:
        for number, line in enumerate(stream, 1):
            if line.strip().lstrip("\ufeff"):
                yield read_line(number, line.strip().lstrip("\ufeff"))


def measure(lines: Sequence[Line]) -> Figures:
    """Count the readings against the labels."""
    labels = right = abstained = accepts = rejects = 0
    for line in lines:
        for name, label in (line.labels or {}).items():
            reading = line.readings.get(name)
            if reading is None:
                continue
            labels += 1
            right += label
            abstained += reading.decision == "abstain"
            accepts += reading.decision == "accept" and not label
            rejects += reading.decision == "reject" and label
    return Figures(labels, right, abstained, accepts + rejects, accepts, rejects)


def misjudged(lines: Sequence[Line]) -> Iterator[tuple[Line, str, bool, Reading]]:
    """The labels decided wrongly: line, label's name, label, reading."""
    for line in lines:
        for name, label in (line.labels or {}).items():
            reading = line.readings.get(name)
            if reading is not None and reading.decision != "abstain" and (reading.decision == "accept") != label:
                yield line, name, label, reading


def as_json(line: Line) -> dict[str, Any]:
    """What ``crash-course rubric --json`` prints for an answer."""
    return {"id": line.id, "verdicts": {name: reading.decision for name, reading in line.readings.items()}}
