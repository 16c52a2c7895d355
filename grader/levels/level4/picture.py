"""Pictures: the crash map of a save or of a run, and lives as rows of events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from grader.crash import Exploration, Mark, Moment
from grader.crash.crashmap import MOST, card, legend, picture
from grader.crash.crashmap import as_html as exploration_as_html
from grader.crash.describe import Story
from grader.crash.models import Outcome
from grader.crash.operations import Fsync, SyncAll
from grader.crash.report import map_as_text, width_of
from grader.crash.strips import CrashMap, crash_map, run_map
from grader.levels import lanes
from grader.levels.level4.lives import Event, Life
from grader.levels.level4.rules import Problem, check_found, check_life
from grader.levels.level4.runs import Search
from grader.levels.places import quotable
from grader.words import language

Picture = tuple[str, str]
_WIDTHS = (24, 20, 17, 15, 13, 11, 9, 7)
_MOST_EVENTS = 28
_LETTERS = {"load_raises": "R", "resume_raises": "R", "after_raises": "R", "twice": "D", "never": "M"}


def of_save(found: Exploration[Any], cells: Mapping[str, str]) -> Picture:
    """Return the crash map of one save, as HTML and as text."""
    with quotable(cells):
        html = exploration_as_html(found, lang=language())
        story, example = Story(found.recording), found.counterexample()
        return html, _text([crash_map(found, story, example, most) for most in _WIDTHS], story)


def of_run(problem: Problem, search: Search | None, cells: Mapping[str, str]) -> Picture:
    """Return the crash map of the life whose crash was not survived; where no crash was, the lives."""
    crashed = search.crashed if search is not None else None
    if search is None or crashed is None or not problem.start.deaths or problem.start.deaths[-1].life is not crashed[0]:
        return of_lives(problem)
    life, outcomes = crashed
    letters: list[tuple[Moment, str, int]] = []
    for outcome in outcomes:
        if outcome.result is not None:
            letters += _letters(problem, search, life, outcome)
    story, worst = Story(life.running), problem.start.deaths[-1].moment
    with quotable(cells):
        shown = run_map(letters, story, worst, MOST)
        html = card(picture(shown, story, language()) + legend([shown], language()), language())
        return html, _text([run_map(letters, story, worst, most) for most in _WIDTHS], story)


def _letters(problem: Problem, search: Search, life: Life, outcome: Outcome[Life]) -> Iterator[tuple[Moment, str, int]]:
    """Yield the letter of each moment at which the power may go and leave this disk."""
    for op in range(outcome.moment.op, outcome.moment.until + 1):
        moment = replace(outcome.moment, op=op, until=op)
        start = search.after(problem.start, life, moment)
        wrong = check_found(start, outcome.result, search.script) or check_life(start, outcome.result, search.script)
        yield moment, _LETTERS.get(wrong.kind, "W") if wrong else "=", outcome.images


def _text(maps: list[CrashMap], story: Story) -> str:
    lines: list[str] = []
    for shown in maps:
        lines = map_as_text(shown, story, language(), 78)
        if max(map(width_of, lines)) <= 78:
            break
    return "\n".join(lines)


def of_lives(problem: Problem) -> Picture:
    """Draw the lives as rows of events."""
    rows: lanes.Rows = []
    for number, death in enumerate(problem.start.deaths, 1):
        rows.append((str(number), [*_short(_chips(death.life, "first", death.moment.op)), ("death", "✕")]))
    last = problem.life
    if "returned" not in last.data and "before" in last.data:  # only load was asked, of a disk that was spoilt
        before = _short(_chips(last, "first", len(last.recording.operations)))
        return _drawn([("1", [*before, ("death", "✕")]), ("2", [("wrong", "load")])])
    whos = ["first", "second"] if last.data.get("second") is not None else ["first"]
    for who in whos:
        cells = _short(_chips(last, who, len(last.recording.operations), problem))
        rows.append((str(len(rows) + 1), cells or [("", "load")]))
    return _drawn(rows)


def _drawn(rows: lanes.Rows) -> Picture:
    return lanes.as_html(rows), lanes.as_text(rows)


def _chips(life: Life, who: str, end: int, problem: Problem | None = None) -> list[tuple[str, str]]:
    """Return what one process did, up to an operation; changes of the disk in a row as one."""
    events = {event.at: event for event in life.events}
    story = Story(life.recording)
    cells: list[tuple[str, str]] = []
    turn, since = "first", -1
    for at, operation in enumerate(life.recording.operations[:end]):
        if not isinstance(operation, Mark):
            since = at if not isinstance(operation, Fsync | SyncAll) else since
            continue
        if since >= 0 and turn == who:
            step = story.steps[since]
            cells.append(("save", f"disk: {step.other or step.name}"))
        since = -1
        if operation.kind == "resume-begin":
            turn = str(operation.data)
            if turn != who == "first":
                cells.append(("", "zzz"))
        elif operation.kind == "resume-end" and operation.data == "second":
            turn = "first"
        event = events.get(at)
        if event is None or event.who != who or (event.what == "renew" and event.data):
            continue
        wrong = problem is not None and _is_it(event, problem)
        done = {"claim": event.data, "renew": False, "find": event.data}.get(event.what)
        said = {"model": "call_model", "tool": f"run_tool {event.data}", "release": "release"}.get(event.what)
        if event.what == "find":
            said = f"find_result {event.data[0]}: {'done' if event.data[1] else None}"
        look = "wrong" if wrong else "write" if event.what == "tool" else ""
        cells.append((look, said or f"{event.what}: {done}"))
    return cells


def _is_it(event: Event, problem: Problem) -> bool:
    same = event.place == problem.place and event.what in ("model", "tool")
    return same and problem.values.get("id") in (None, event.data)


def _short(cells: list[tuple[str, str]]) -> list[tuple[str, str]]:
    if len(cells) <= _MOST_EVENTS:
        return cells
    half = _MOST_EVENTS // 2
    return [*cells[:half], ("", f"… {len(cells) - _MOST_EVENTS} …"), *cells[-half:]]
