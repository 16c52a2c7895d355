"""What ``crash-course demo`` prints."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from grader.answers import sandbox
from grader.build import find_checkout
from grader.classroom.demo import Demo, Graded, Mark, run_demo
from grader.verdict import Text
from grader.words import catalogue, say

words = catalogue("classroom/words.toml")
WAIT = "wait"


def _say(key: str, **values: object) -> str:
    return say(words(key, **values))


def demo(keep: Path | None, as_json: bool) -> int:
    """Grade the demo class and print its marks; return the exit code."""
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    checkout = find_checkout()
    if checkout is None:
        errors.print(_say("demo.checkout"), markup=False)
        return 2
    if keep is not None and keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        errors.print(_say("demo.taken", path=keep), markup=False)
        return 2
    if (notice := sandbox.notice()) is not None:
        errors.print(say(notice), markup=False)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    ) as progress:
        bar = progress.add_task("", total=None)

        def step(done: int, total: int, what: Text) -> None:
            progress.update(bar, completed=done, total=total, description=say(what))

        result = run_demo(checkout, keep, step)
    if as_json:
        print(json.dumps(demo_json(result), ensure_ascii=False, indent=2))
    else:
        print_demo(result, Console(highlight=False))
    for fault in result.faults():
        errors.print(_say("demo.fault", fault=fault), markup=False)
    return 1 if result.faults() else 0


def demo_json(result: Demo) -> dict[str, Any]:
    """Return the demo's result as plain data."""
    return {
        "folder": str(result.folder),
        "gradebook": str(result.folder / "classroom" / "gradebook.db"),
        "reports": [str(path) for path in result.reports],
        "seconds": round(result.seconds, 1),
        "levels": [
            {
                "exercise": level,
                "submissions": [_submission_json(one) for one in result.submissions if one.level == level],
            }
            for level in result.levels()
        ],
    }


def _submission_json(one: Graded) -> dict[str, Any]:
    return {
        "student": one.student,
        "about": one.about,
        "score": one.score,
        "max_score": one.max_score,
        "flags": list(one.flags),
        "problem": say(one.problem) if one.problem else None,
        "feedback": str(one.feedback) if one.feedback else None,
        "criteria": [
            {"id": mark.id, "points": mark.points, "max_points": mark.max_points, "waits": mark.waits}
            for mark in one.criteria
        ],
    }


def print_demo(result: Demo, console: Console) -> None:
    """Print the marks of the demo class, student by criterion, and where to look further."""
    for level in result.levels():
        submissions = [one for one in result.submissions if one.level == level]
        console.print(_say("demo.title", level=level, wait=WAIT), markup=False)
        table = Table(box=None, padding=(0, 1))
        table.add_column(_say("demo.student"))
        for mark in submissions[0].criteria:
            table.add_column(mark.id.removeprefix(f"{level}-").replace("-", " "), justify="right")
        table.add_column(_say("demo.score"), justify="right")
        for one in submissions:
            total = f"{one.score:g}/{one.max_score:g}"
            table.add_row(one.student, *(_cell(mark) for mark in one.criteria), total)
        console.print(table)
        console.print()
    unread = [one for one in result.submissions if one.problem is not None]
    if unread:
        console.print(_say("demo.unread"))
        for one in unread:
            why = say(one.problem) if one.problem else ""
            console.print(f"  {one.student} ({one.level}): {why}", markup=False)
        console.print()
    classroom = result.folder / "classroom"
    places = (
        ("demo.pages", classroom / "feedback"),
        ("demo.reports", classroom / "report"),
        ("demo.gradebook", classroom / "gradebook.db"),
    )
    for key, path in places:
        console.print(_say(key, path=path), markup=False, soft_wrap=True)
    console.print(_say("demo.done", count=len(result.submissions), seconds=f"{result.seconds:.0f}"))


def _cell(mark: Mark) -> str:
    return WAIT if mark.waits else f"{mark.points:g}/{mark.max_points:g}"
