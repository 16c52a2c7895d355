"""The rubric: reads a written answer against the points to make, and accepts, rejects or abstains.

No network, no model, nothing random: patterns and weights lie in the TOML files beside this one.
docs/rubric.md says how it reads, how a teacher extends it, and how well it does.
"""

import re
from collections.abc import Mapping

from grader.verdict import Text

from .lexicon import rules, table
from .reading import Decision, Reading, certain, weigh

LEVEL1 = ("version", "task", "turns", "tokensUsed", "pendingToolUse")
LEVEL2 = ("hazard_overwrite", "hazard_no_point_a")

__all__ = [
    "LEVEL1",
    "LEVEL2",
    "Decision",
    "Reading",
    "field_name",
    "model_points",
    "read",
    "read_level1",
    "read_level2",
]


def _label(criterion: str) -> str:
    """A criterion's label in points.toml, from its label or its id in the kit."""
    if criterion in rules():
        return criterion
    for label, rule in rules().items():
        if rule["id"] == criterion:
            return str(label)
    raise KeyError(f"no written criterion {criterion!r}; there are {', '.join(rules())}")


_SNAKE = {"tokens_used": "tokensUsed", "pending_tool_use": "pendingToolUse"}


def field_name(key: str) -> str:
    """The protocol's name for a field that may be written in snake_case."""
    return _SNAKE.get(key, key)


def _wrong_type(text: object, sentence: str = "type") -> Reading:
    entry = table()["sentence"][sentence]
    kind = type(text).__name__
    return Reading("reject", Text(en=entry["en"].format(kind=kind), zh=entry["zh"].format(kind=kind)))


def read(criterion: str, text: object, *, others: Mapping[str, str] | None = None) -> Reading:
    """Read one text for one criterion (label or id); ``others`` are the texts under the other headings."""
    label = _label(criterion)
    if not isinstance(text, str):
        return _wrong_type(text)
    beside = {field_name(k): v for k, v in (others or {}).items() if isinstance(v, str) and v.strip()}
    return certain(label, text, beside) or weigh(label, text)


def read_level1(answer: object) -> dict[str, Reading]:
    """Read a Level 1 answer, a dict of texts by field: ``fields`` (the keys alone), then each explanation."""
    if not isinstance(answer, Mapping):
        return dict.fromkeys(("fields", *LEVEL1), _wrong_type(answer, "type_dict"))
    named = {field_name(key): text for key, text in answer.items()}
    right = len(named) == len(answer) == len(LEVEL1) and set(named) == set(LEVEL1)
    entry = table()["sentence"]["fields" if right else "fields_not"]
    listed = Reading("accept" if right else "reject", Text(en=entry["en"], zh=entry["zh"]), (), float(right))
    out = {"fields": listed}
    for label in LEVEL1:
        others = {key: text for key, text in named.items() if key != label}
        out[label] = read(label, named.get(label, ""), others=others)
    return out


def read_level2(hazard_1: object, hazard_2: object) -> dict[str, Reading]:
    """Read the two hazards of Level 2: in either order, and one text may name both."""
    texts = [hazard_1, hazard_2]
    strings = [text for text in texts if isinstance(text, str)]
    same = len(strings) == 2 and strings[0].strip() == strings[1].strip()
    out = {}
    for label in LEVEL2:
        readings = [read(label, text) for text in (texts[:1] if same else texts)]
        out[label] = max(readings, key=_standing)
    if any(reading.decision != "accept" for reading in out.values()):
        for text in strings:
            out = _both_in_one(text) or out
    return out


def _standing(reading: Reading) -> tuple[int, int]:
    return {"reject": 0, "abstain": 1, "accept": 2}[reading.decision], len(reading.points_made)


def _both_in_one(text: str) -> dict[str, Reading] | None:
    """Both hazards in one text: it can be cut between two sentences so that each part names one of them."""
    pieces = re.split(r"(?<=[.;。；\n])(?=\s|[^\x00-\x7f]|$)", text)
    for cut in range(1, min(len(pieces), 12)):
        parts = "".join(pieces[:cut]), "".join(pieces[cut:])
        for first, second in (LEVEL2, LEVEL2[::-1]):
            readings = {first: read(first, parts[0]), second: read(second, parts[1])}
            if all(reading.decision == "accept" for reading in readings.values()):
                return {label: readings[label] for label in LEVEL2}
    return None


def model_points(criterion: str) -> tuple[Text, ...]:
    """The points to compare with, shown after an abstention in self-study."""
    return tuple(Text(en=point["en"], zh=point["zh"]) for point in rules()[_label(criterion)]["model"])
