"""Attacks on what a notebook says of itself: marks, tags, ids, kinds, order, copies, outputs, the file's own format."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from attack import ALL, EVERYTHING, NOTHING, Attack, Change, Work

CHECKS = ("hazard-overwrite", "hazard-no-point-a", "atomic", "point-a", "runs")
CHANGED = "changed marks of cell level2-atomic: "


def everywhere(change: Callable[[dict[str, Any]], None]) -> Change:
    def each(work: Work) -> None:
        for cell in work.notebook["cells"]:
            change(cell)

    return each


def tag(name: str) -> Change:
    return everywhere(lambda cell: cell["metadata"].update(tags=[name]))


def marks(**values: Any) -> Change:
    return lambda work: work.marks("level2-atomic").update(values)


def swap(work: Work) -> None:
    one, other = work.marks("level2-atomic"), work.marks("level2-runs")
    one["grade_id"], other["grade_id"] = other["grade_id"], one["grade_id"]
    one["points"], other["points"] = 1, 13


def path_in_ids(work: Work) -> None:
    work.marks("level2-atomic")["grade_id"] = "../../../../gradebook"
    work.cell("level2-atomic")["id"] = "../../etc/passwd"
    own = work.add("4.0")
    own["metadata"]["nbgrader"] = {"grade_id": "../../../../level2-atomic", "grade": True, "points": 4}


def look_alike(work: Work) -> None:
    copy = json.loads(json.dumps(work.cell("level2-atomic")))
    copy["id"] = copy["metadata"]["nbgrader"]["grade_id"] = "level2-\u0430tomic"  # a Cyrillic letter
    copy["source"] = "4.0"
    work.notebook["cells"].append(copy)


def foreign(work: Work) -> None:
    copy = json.loads(json.dumps(work.cell("level2-atomic")))
    copy["id"] = copy["metadata"]["nbgrader"]["grade_id"] = "level2-bonus"
    copy["metadata"]["nbgrader"]["points"], copy["source"] = 50, "50.0"
    work.notebook["cells"].append(copy)


def copied(name: str, source: str | None = None) -> Change:
    def change(work: Work) -> None:
        copy = json.loads(json.dumps(work.cell(name)))
        copy["id"] = "copy"
        if source is not None:
            copy["source"] = source
        work.notebook["cells"].append(copy)

    return change


def without(*names: str) -> Change:
    def change(work: Work) -> None:
        work.notebook["cells"] = [cell for cell in work.notebook["cells"] if cell["id"] not in names]

    return change


def turned_round(work: Work) -> None:
    work.notebook["cells"].reverse()


def kind(name: str, new: str) -> Change:
    def change(work: Work) -> None:
        cell = work.cell(name)
        cell["cell_type"] = new
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
        if new == "code":
            cell |= {"outputs": [], "execution_count": None}

    return change


def rewritten(name: str, source: str) -> Change:
    return lambda work: work.cell(name).update(source=source)


def own_verdict(work: Work) -> None:
    for name in CHECKS:
        cell = work.cell(f"level2-{name}")
        cell["outputs"] = [
            {"output_type": "execute_result", "data": {"text/plain": "4.0"}, "metadata": {}, "execution_count": 1}
        ]
        cell["metadata"]["crash_course"] = {"met": True, "points": 4.0, "message": {"en": "Met.", "zh": "达到。"}}
    work.notebook["metadata"]["crash_course"] = {"fingerprint": "0" * 64, "flags": [], "missing_checks": []}


def attached(work: Work) -> None:
    for cell in work.notebook["cells"]:
        cell["attachments"] = {"../../gradebook.db": {"application/octet-stream": "QUFBQQ=="}}
    work.add("![x](attachment:missing.png)", "markdown")


def deep(work: Work) -> None:
    text = json.dumps(work.notebook)
    work.raw = text.replace('"metadata":', '"metadata": {"x": ' + "[" * 200_000 + "]" * 200_000 + '}, "m":', 1).encode()


def not_json(work: Work) -> None:
    work.raw = json.dumps(work.notebook).replace('"nbformat": 4', '"nbformat": NaN').encode()


def formats(major: Any) -> Change:
    return lambda work: work.notebook.update(nbformat=major, nbformat_minor=99)


def odd_shapes(work: Work) -> None:
    for cell in work.notebook["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"] = ["nbgrader", cell["metadata"]["nbgrader"]["grade_id"]]
    work.notebook["metadata"] = "none"


def kernel(work: Work) -> None:
    work.notebook["metadata"]["kernelspec"] = {"name": "../../evil", "display_name": "<b>evil</b>", "language": "bash"}
    work.notebook["metadata"]["language_info"] = {"name": "bash"}


def many_ids(work: Work) -> None:
    for cell in work.notebook["cells"]:
        cell["id"] = "level2-atomic"


ATTACKS = [
    Attack("skip tag", "every cell is tagged to be skipped", tag("skip-execution"), flag="tag skip-execution"),
    Attack("error tag", "every cell is tagged to be allowed to fail", tag("raises-exception"), flag="raises-exception"),
    Attack("points 1000", "a check is worth 1000", marks(points=1000), flag=CHANGED + "points"),
    Attack("points NaN", "a check is worth NaN", marks(points=float("nan")), flag=CHANGED + "points"),
    Attack("points infinite", "a check is worth more than all", marks(points=float("inf")), flag=CHANGED + "points"),
    Attack("points negative", "a check is worth less than nothing", marks(points=-4), flag=CHANGED + "points"),
    Attack("points a text", "points of another type", marks(points="4"), flag=CHANGED + "points"),
    Attack("not graded", "a check is marked as no check", marks(grade=False, locked=False), flag=CHANGED + "grade"),
    Attack("answer to mark", "a check is marked as an answer", marks(solution=True), flag=CHANGED + "solution"),
    Attack("a task", "a check is marked as a task", marks(task=True, grade=False), flag=CHANGED + "grade, task"),
    Attack("newer schema", "marks of a schema that is not there yet", marks(schema_version=99), flag="schema_version"),
    Attack("older schema", "marks of a schema that is gone", marks(schema_version=1), flag="schema_version"),
    Attack("own checksum", "the checksum of a check is another", marks(checksum="0" * 32), flag=CHANGED + "checksum"),
    Attack("swapped ids", "two checks take each other's id and points", swap, flag="changed cell level2-"),
    Attack("paths as ids", "ids that are paths", path_in_ids, flag="to be graded: ../../../../"),
    Attack("look-alike id", "an id with a letter of another alphabet", look_alike, flag="level2-\\u0430tomic"),
    Attack("foreign check", "a check of one's own, worth 50", foreign, flag="to be graded: level2-bonus"),
    Attack("copied check", "a second check that says 4.0", copied("level2-atomic", "4.0"), flag="repeated cell"),
    Attack("copied answer", "the answer is there twice", copied("level2-code"), NOTHING, "repeated", waits=EVERYTHING),
    Attack(
        "deleted check", "a check is gone", without("level2-atomic"), {**ALL, "atomic": 0.0}, "missing cell",
        solved=True,
    ),
    Attack(
        "deleted checks", "all checks are gone", without(*(f"level2-{name}" for name in CHECKS)), NOTHING,
        "missing cell level2-runs", solved=True,
    ),
    Attack("deleted answer", "the answer is gone", without("level2-code"), NOTHING, "missing cell", waits=EVERYTHING),
    Attack("turned round", "all cells in the opposite order", turned_round, ALL, solved=True),
    Attack(
        "check as text", "a check becomes Markdown", kind("level2-atomic", "markdown"), ALL, solved=True,
    ),
    Attack("answer as text", "the answer becomes Markdown", kind("level2-code", "markdown"), ALL, solved=True),
    Attack(
        "text as code", "a locked text becomes code", kind("level2-before", "code"), ALL, solved=True,
    ),
    Attack("own check", "a check says 4.0", rewritten("level2-atomic", "4.0"), flag="changed cell level2-atomic"),
    Attack(
        "edited locked text", "a locked cell is edited", rewritten("level2-before", "Nothing to do."), ALL,
        "changed cell level2-before", solved=True,
    ),
    Attack("own verdict", "outputs and verdicts as the grader writes them", own_verdict, flag="a verdict was written"),
    Attack("attachments", "attachments with paths, a picture that is missing", attached),
    Attack("own kernel", "another kernel", kernel, ALL, solved=True),
    Attack("one id for all", "every cell has the id of a check", many_ids, ALL, solved=True),
    Attack("odd metadata", "metadata of other types", odd_shapes, ALL, solved=True),
    Attack("no metadata", "all metadata is gone", everywhere(lambda cell: cell.update(metadata={})), ALL, solved=True),
    Attack("deep JSON", "metadata nested 200,000 deep", deep, NOTHING, "unreadable", waits=EVERYTHING),
    Attack("format 9", "a format of the future", formats(9), NOTHING, "unreadable", waits=EVERYTHING),
    Attack("format NaN", "a format that is no number", not_json, NOTHING, "unreadable", waits=EVERYTHING),
    Attack("format true", "a format that only equals 1", formats(True), NOTHING, "unreadable", waits=EVERYTHING),
]  # fmt: skip
