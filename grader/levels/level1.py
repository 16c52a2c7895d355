"""Judges Level 1: for each field, what was predicted against what the reference agent did, and the explanation.

A pure function of plain data: the learner's ``missing`` as the driver took it from their cells. The key is not here:
:mod:`~grader.levels.level1_scenes` runs minagent to find it.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from grader.criteria import criteria
from grader.levels import level1_scenes as scenes
from grader.levels.level1_drive import PARTS
from grader.levels.level1_timeline import timeline
from grader.levels.trial import ALIEN, alien
from grader.verdict import Text, Verdict
from grader.words import catalogue, join, of_kind, plain

EXERCISE = "level1"
CELL = "level1-answer"
FIELDS = scenes.FIELDS
LIST = "level1-fields"

_words = catalogue("levels/level1.toml")


class Reading(Protocol):
    """What a reader makes of one explanation."""

    @property
    def decision(self) -> Literal["accept", "reject", "abstain"]:
        """Accepted, rejected, or left to a person."""

    @property
    def reason(self) -> Text:
        """Which kind of point was found, is missing or is unsure."""

    @property
    def suggested(self) -> float:
        """The share of the mark to suggest to a person."""


Reader = Callable[[str, str, Mapping[str, str]], Reading]
"""Reads the explanation of a field; it is given the field, the text, and the texts under the other fields."""


# ------------------------------------------------------------------------------------------------ whose figures


def whose(shown: str, student: str) -> tuple[str, Text | None]:
    """Return by whose figures to judge, and a sentence when they are not the ones that the notebook shows.

    The figures that a notebook shows are the ones that count: those of everybody, or those of the learner it names.
    In a class a name that is not the student's own does not count, and with ``CRASH_COURSE_PERSONAL=1`` everybody is
    judged by their own figures.
    """
    shown, student = shown.strip(), student.strip()
    if not student:
        return shown or os.environ.get("CRASH_COURSE_LEARNER", "").strip(), None
    personal = os.environ.get("CRASH_COURSE_PERSONAL", "") not in ("", "0")
    if shown == student or (not shown and not personal):
        return shown, None
    everybody = Text("everybody", "所有人") if not shown else plain(shown)
    # With CRASH_COURSE_LEARNER in the learners' own environment a bare scenes() has shown them their own figures.
    return student, _words("learner.other", shown=everybody, student=plain(student)) if shown else None


# ------------------------------------------------------------------------------------------------ the list


def field_name(key: str) -> str:
    """Return a field's name in the protocol's spelling, when it is one in snake_case."""
    head, *tail = key.strip().split("_")
    camel = head + "".join(part[:1].upper() + part[1:] for part in tail)
    return camel if camel in (*FIELDS, "messages") else key


def judge_list(missing: Mapping[str, Any]) -> Verdict:
    """Judge the keys alone."""
    criterion = criteria()[LIST]
    names = [field_name(key) for key in missing]
    found = [name for name in FIELDS if name in names]
    problems: list[Text] = []
    for key, name in zip(missing, names, strict=True):
        if name in FIELDS:
            continue
        if name == "messages":
            problems.append(_words("fields.messages"))
            continue
        if key.startswith(ALIEN) or re.fullmatch(r"-?\d+(\.\d+)?|True|False|None", key):
            kind = key.removeprefix(ALIEN) if key.startswith(ALIEN) else _literal(key)
            problems.append(_words("fields.key", found=kind))
            continue
        near = _nearest(name, [field for field in FIELDS if field not in found])
        shown = plain(f"`{_cut(key)}`")
        problems.append(_words("fields.near", found=shown, near=near) if near else _words("fields.extra", found=shown))
    problems += [_words("fields.twice", name=name) for name in FIELDS if names.count(name) > 1]
    if len(found) < len(FIELDS):
        problems.append(_words("fields.short", count=len(found)) if missing else _words("fields.empty"))
    met = not problems
    text = _words("fields.met") if met else join(*problems[:4])
    return Verdict(LIST, met, criterion.points if met else 0.0, criterion.points, text)


def _literal(key: str) -> str:
    if key in ("True", "False"):
        return "bool"
    return "NoneType" if key == "None" else "float" if "." in key else "int"


def _nearest(name: str, known: list[str]) -> str | None:
    folded = {entry.lower(): entry for entry in known}
    found = difflib.get_close_matches(name.lower().replace("_", ""), list(folded), n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def _cut(text: str, widest: int = 40) -> str:
    text = re.sub(r"[\s`]+", " ", text)
    return text if len(text) <= widest else text[: widest - 1] + "…"


# ------------------------------------------------------------------------------------------------ one field


@dataclass(frozen=True)
class Part:
    """The judgement on one half of a field's answer, worth one point."""

    holds: bool | None
    text: Text
    suggested: float = 0.0
    wrong: bool = False
    """Whether a prediction that could be compared did not come true, so that a timeline helps."""


def entry(missing: Mapping[str, Any], name: str) -> Any:
    """Return what stands under a field, in whichever spelling."""
    return next((value for key, value in missing.items() if field_name(key) == name), None)


def parts_of(value: Any) -> dict[str, Any] | Text | str:
    """Return a field's three parts, blank where not given; else the odd keys' names, or the type that was found."""
    row = value.get("tuple") if isinstance(value, dict) and set(value) == {"tuple"} else value
    if isinstance(row, list) and len(row) == len(PARTS):
        return dict(zip(PARTS, row, strict=True))
    if row is not value:
        return "tuple"
    if not isinstance(value, dict) or alien(value):
        return kind_of(value)
    odd = [f"`{_cut(key)}`" for key in value if key not in PARTS]
    return plain(", ".join(odd[:4])) if odd else {"consequence": "", "prediction": None, "why": "", **value}


def kind_of(value: Any) -> str:
    """Return the type of a learner's value, as they know it."""
    return alien(value) or type(value).__name__


def judge_field(name: str, missing: Mapping[str, Any], learner: str, read: Reader) -> Verdict:
    """Judge prediction and explanation of one field."""
    value = entry(missing, name)
    if not any(field_name(key) == name for key in missing):
        return _nothing(name, _words("field.absent", name=name))
    parts = parts_of(value)
    if isinstance(parts, str):
        return _nothing(name, _words("field.type", name=name, found=parts))
    if isinstance(parts, Text):
        return _nothing(name, _words("field.keys", name=name, keys=parts))
    scene = scenes.scene(name, learner)
    prediction = judge_prediction(scene, parts["consequence"], parts["prediction"])
    others = {
        other: found["why"]
        for other in FIELDS
        if other != name
        and isinstance(found := parts_of(entry(missing, other)), dict)
        and isinstance(found["why"], str)
    }
    why = judge_why(name, parts["why"], others, read)
    return _together(name, scene, prediction, why)


def _nothing(name: str, text: Text) -> Verdict:
    most = criteria()[f"level1-{name}"].points
    return Verdict(f"level1-{name}", False, 0.0, most, text)


def _together(name: str, scene: scenes.Scene, prediction: Part, why: Part) -> Verdict:
    criterion = criteria()[f"level1-{name}"]
    label = "part.why_waits" if why.holds is None else "part.why"
    lines = [
        join(_words("part.prediction", points=int(prediction.holds is True)), prediction.text),
        join(_words(label, points=int(why.holds is True)), why.text),
    ]
    message = Text("\n".join(line.en for line in lines), "\n".join(line.zh for line in lines))
    short = [part.text for part in (prediction, why) if part.holds is not True]
    message = of_kind(message, *(short or [prediction.text, why.text]))
    points = float((prediction.holds is True) + (why.holds is True))
    picture, picture_text = timeline(scenes.another(scene)) if prediction.wrong else (None, None)
    met = why.holds if prediction.holds else False
    undecided = why.holds is None and not prediction.holds
    return Verdict(
        criterion.id,
        met,
        criterion.points if met else points,
        criterion.points,
        message,
        picture=picture,
        picture_text=picture_text,
        suggested=points + why.suggested if met is None else None,
        flags=(f"{criterion.id}: explanation not decided, suggested {why.suggested:g} of 1",) if undecided else (),
    )


def judge_prediction(scene: scenes.Scene, consequence: Any, prediction: Any) -> Part:
    """Compare a consequence and a prediction with what the reference agent did."""
    problem = _consequence_problem(consequence) or _prediction_problem(scene.field, prediction)
    if problem is not None:
        return Part(False, problem)
    name = scene.field
    found = _value(prediction)
    right = prediction == scenes.answer(scene)
    follows = consequence in scenes.consequences(scene)
    if right and follows:
        whole = _value(scenes.seen(scenes.play(scene, None)))
        return Part(True, _words("prediction.met", name=name, found=found, whole=whole))
    if follows:
        return Part(False, _words("prediction.wrong_but_consequence", name=name, found=found), wrong=True)
    wrong = _words("consequence.wrong", name=name, found=consequence)
    if right:
        return Part(False, join(_words("prediction.right_but_consequence", found=found), _capital(wrong)))
    return Part(False, join(wrong, _capital(_words("prediction.wrong", name=name, found=found))), wrong=True)


def _value(value: int | str) -> Text:
    return plain(str(value) if isinstance(value, int) else f"`{value}`")


def _capital(text: Text) -> Text:
    return replace(text, en=text.en[:1].upper() + text.en[1:])


def _consequence_problem(value: Any) -> Text | None:
    if not isinstance(value, str):
        return _words("consequence.type", found=kind_of(value))
    if not value.strip():
        return _words("consequence.blank")
    if value in scenes.CONSEQUENCES:
        return None
    near = difflib.get_close_matches(value.strip().lower().replace("_", "-"), scenes.CONSEQUENCES, n=1, cutoff=0.6)
    shown = plain(f'"{_cut(value)}"')
    return _words("consequence.near", found=shown, near=near[0]) if near else _words("consequence.none", found=shown)


def _prediction_problem(name: str, value: Any) -> Text | None:
    if value is None or value == "" or alien(value) == "ellipsis":
        return _words("prediction.blank")
    outcomes = scenes.OUTCOMES.get(name)
    if outcomes is None:
        return None if type(value) is int else _words("prediction.type_number", found=kind_of(value))
    if not isinstance(value, str):
        return _words("prediction.type_outcome", found=kind_of(value))
    if value in outcomes:
        return None
    near = difflib.get_close_matches(value.strip().lower().replace("_", "-"), outcomes, n=1, cutoff=0.6)
    shown = plain(f'"{_cut(value)}"')
    return _words("prediction.near", found=shown, near=near[0]) if near else _words("prediction.none", found=shown)


def judge_why(name: str, why: Any, others: Mapping[str, str], read: Reader) -> Part:
    """Have an explanation read."""
    if not isinstance(why, str):
        return Part(False, _words("why.type", found=kind_of(why)))
    if not why.strip():
        return Part(False, _words("why.empty"))
    reading = read(name, why, others)
    holds = {"accept": True, "reject": False, "abstain": None}[reading.decision]
    return Part(holds, reading.reason, reading.suggested)


# ------------------------------------------------------------------------------------------------ all of it


def judge(data: Any, wanted: list[str], student: str, read: Reader) -> list[Verdict]:
    """Judge the wanted criteria on what the driver sent."""
    data = data if isinstance(data, dict) else {}
    if "missing" not in data:
        return [_all(name, _words("missing.undefined")) for name in wanted]
    missing = data["missing"]
    if not isinstance(missing, dict) or alien(missing):
        return [_all(name, _words("missing.type", found=kind_of(missing))) for name in wanted]
    shown = data.get("shown")
    named = shown[-1] if isinstance(shown, list) and shown and isinstance(shown[-1], str) else ""
    learner, remark = whose(named, student)
    verdicts = []
    for name in wanted:
        if name == LIST:
            verdicts.append(judge_list(missing))
            continue
        verdict = judge_field(name.removeprefix("level1-"), missing, learner, read)
        verdicts.append(_remarked(verdict, remark, named) if remark else verdict)
    return verdicts


def _all(name: str, text: Text) -> Verdict:
    return Verdict(name, False, 0.0, criteria()[name].points, text)


def _remarked(verdict: Verdict, remark: Text, named: str) -> Verdict:
    said = verdict.message
    message = replace(said, en=f"{said.en}\n{remark.en}", zh=f"{said.zh}\n{remark.zh}")
    return replace(verdict, message=message, flags=(*verdict.flags, f"scenes of {named}"))
