"""Level 1 in words and pictures: what a scene is, and what happened in it, as text and as HTML with an SVG."""

from __future__ import annotations

import html
import json
import unicodedata
from dataclasses import dataclass, field

from grader.levels.level1_scenes import TASKS, Crash, Process, Scene, Story, loaded, play, seen
from grader.verdict import Text
from grader.words import catalogue, plain, say

_words = catalogue("levels/level1.toml")

# -- a scene, described ---------------------------------------------------------------------------------------


def moment(crash: Crash) -> Text:
    """Return when in its turn the process dies."""
    return _words(f"moment.{crash.moment}")


def describe(scene: Scene) -> Text:
    """Return the story of a scene with its figures."""
    crash = scene.crashes[0]
    spent = sum(scene.cost(turn) for turn in range(1, crash.turn + 1))
    deaths = [_words("crash.turn", turn=one.turn, moment=moment(one)) for one in scene.crashes]
    return _words(
        "scene.task_short" if scene.keep is not None else f"scene.{scene.field}",
        crash=crash.turn,
        count=_words(f"count.{len(scene.crashes)}") if len(scene.crashes) > 1 else "",
        turns=scene.turns,
        mails=scene.turns,
        limit=scene.max_turns,
        threshold=scene.compact_at,
        first=scene.first_cost,
        more=scene.more,
        next=crash.turn + 1,
        cost=scene.cost(crash.turn + 1),
        tokens=spent,
        crashes=Text("; ".join(text.en for text in deaths), "；".join(text.zh for text in deaths)),
        task=_words(f"task.{scene.task}"),
        keep=scene.keep,
        writer=_words(f"writer.{scene.writer}") if scene.writer else "",
    )


def question(scene: Scene) -> Text:
    """Return what is to be predicted."""
    return _words(f"ask.{scene.field}")


# -- a story, as a timeline -----------------------------------------------------------------------------------


@dataclass
class Lane:
    """One process: how it begins, its turns in columns, how it ends."""

    title: Text
    turns: list[str] = field(default_factory=list)
    rows: list[tuple[Text, list[str]]] = field(default_factory=list)
    died: bool = False
    notes: list[Text] = field(default_factory=list)


def lanes(story: Story, whole: Story) -> list[Lane]:
    """Return what happened, process by process."""
    return [_lane(story, whole, number, process) for number, process in enumerate(story.processes, 1)]


def _lane(story: Story, whole: Story, number: int, process: Process) -> Lane:
    scene = story.scene
    turns = process.turns
    if scene.field == "tokensUsed" and process.compacted is not None:
        turns = [turn for turn in turns if turn.number <= process.compacted]
    made = Lane(_title(story, number, process), [str(turn.number) for turn in turns], died=process.crash is not None)
    rows: list[tuple[str, list[str]]] = {
        "turns": [("turns", [str(turn.turns) for turn in turns])],
        "tokensUsed": [
            ("cost", [str(turn.cost) for turn in turns]),
            ("tokens", [str(turn.tokens) for turn in turns]),
        ],
        "pendingToolUse": [("mail", [str(turn.number) if turn.effect else "-" for turn in turns])],
    }.get(scene.field, [])
    rows.append(("saves", [turn.saves if turn.saves == "AB" else f"{turn.saves}✗" for turn in turns]))
    made.rows = [(_words(f"row.{name}"), cells) for name, cells in rows]
    if process.crash is not None:
        made.notes.append(_words("line.dies", turn=process.crash.turn, moment=moment(process.crash)))
        if scene.field == "version":
            made.notes.append(_words("line.on_disk", truth=_values(story.truth), found=_values(story.found)))
    else:
        made.notes.append(_end(story, whole))
    return made


def _title(story: Story, number: int, process: Process) -> Text:
    scene = story.scene
    if number == 1:
        key = {"turns": "start_limit", "tokensUsed": "start_threshold", "version": "start_writer"}.get(
            scene.field, "start"
        )
        writer = _words(f"writer.{scene.writer}") if scene.writer else ""
        return _words(f"line.{key}", n=number, limit=scene.max_turns, threshold=scene.compact_at, writer=writer)
    if process.error is not None:
        return _words("line.resume_version_error", n=number, error=process.error, message=process.message)
    return _words(
        f"line.resume_{scene.field}",
        n=number,
        turns=process.began.get("turns"),
        tokens=process.began.get("tokensUsed"),
        sentence=_sentence(story),
        values=_values(process.began),
    )


def _sentence(story: Story) -> Text:
    said = story.last.sentence or ""
    task = _words(f"task.{story.scene.task}")
    return Text(said, said.replace(TASKS[story.scene.task], task.zh))


def _values(values: dict[str, object]) -> Text:
    hidden = ("task", "version", "modelCursor", "steps", "session", "messages", "pendingToolUse", "pending_tool_use")
    pairs = [f"{key} {json.dumps(value, ensure_ascii=False)}" for key, value in values.items() if key not in hidden]
    return plain(", ".join(pairs))


def _end(story: Story, whole: Story) -> Text:
    scene, with_all = story.scene, seen(whole)
    ending: object = with_all
    if scene.field == "version":
        ending = outcome("version", loaded(whole))
    elif scene.field == "task":
        ending = _sentence(whole)
    key = "task_stops" if story.asked_back else scene.field
    return _words(
        f"line.ends_{key}",
        limit=scene.max_turns,
        turns=story.turns,
        turn=seen(story),
        mails=scene.turns,
        sent=len(story.done),
        whole=ending,
    )


def outcome(name: str, value: str) -> Text:
    """Return the words of an outcome that can be chosen for a field."""
    return _words(f"outcome.{name}.{value}")


def timeline(scene: Scene) -> tuple[str, str]:
    """Return what happens in a scene without its field, as HTML and as text of at most 80 columns."""
    story, whole = play(scene, scene.field), play(scene, None)
    head = [_words("line.title", field=scene.field), describe(scene)]
    rows = lanes(story, whole)
    return as_html(head, rows), as_text(head, rows)


# -- text -----------------------------------------------------------------------------------------------------

WIDTH = 76


def as_text(head: list[Text], rows: list[Lane]) -> str:
    """Return a timeline as text, after a title and a paragraph."""
    lines = [line for text in head for line in _wrapped(say(text), WIDTH)]
    for lane in rows:
        lines += ["", *_wrapped(say(lane.title), WIDTH)]
        names = [say(_words("row.turn")), *(say(name) for name, _ in lane.rows)]
        label = max(columns(name) for name in names) + 2
        cells = [lane.turns, *(values for _, values in lane.rows)]
        width = max((len(cell) for row in cells for cell in row), default=1) + 2
        fits = max(1, (WIDTH - label - 2) // width)
        for first in range(0, len(lane.turns), fits):
            for name, row in zip(names, cells, strict=True):
                line = "".join(cell.rjust(width) for cell in row[first : first + fits])
                lines.append("  " + name + " " * (label - columns(name)) + line)
        for note in lane.notes:
            lines += ["  " + line for line in _wrapped(say(note), WIDTH - 2)]
    return "\n".join(lines)


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines: between words, and between Chinese characters."""
    pieces: list[str] = []
    for char in text:
        joins = pieces and pieces[-1][-1] != " " and columns(char) == 1 and columns(pieces[-1][-1]) == 1
        if joins or (pieces and char in "，。；：、！？）”") or (pieces and pieces[-1][-1] in "（“"):
            pieces[-1] += char
        else:
            pieces.append(char)
    lines, line = [], ""
    for piece in pieces:
        if line and columns(line) + columns(piece.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece if line or piece != " " else ""
    return [*lines, line.rstrip()] if line.strip() else lines


# -- HTML -----------------------------------------------------------------------------------------------------

_BOX, _ROW, _LETTER = 30, 18, 6.4


def as_html(head: list[Text], rows: list[Lane]) -> str:
    """Return a timeline as HTML, after a title and a paragraph: an SVG for each process, in the page's own colour."""
    widest = max([len(cell) for lane in rows for _, cells in lane.rows for cell in cells] + [2])
    step = max(_BOX, int(widest * _LETTER) + 10)
    names = [say(_words("row.turn")), *(say(name) for lane in rows for name, _ in lane.rows)]
    left = max(columns(name) for name in names) * 7 + 10
    offset, body = 0, ""
    total = left + step * sum(len(lane.turns) for lane in rows) + 40
    for lane in rows:
        body += f'<p style="margin:.5em 0 .1em">{_marked(say(lane.title))}</p>'
        if lane.turns:
            body += _strip(lane, step, left, left + step * offset, total)
        offset += len(lane.turns)
        body += "".join(f'<p style="margin:.1em 0">{_marked(say(note))}</p>' for note in lane.notes)
    heading = f"<strong>{html.escape(say(head[0]))}</strong>"
    heading += "".join(f'<p style="margin:.3em 0">{_marked(say(text))}</p>' for text in head[1:])
    return f'<div class="crash-course-timeline" style="max-width:60em;overflow-x:auto">{heading}{body}</div>'


def _strip(lane: Lane, step: int, left: int, begin: int, total: int) -> str:
    """Return the boxes of one process, where on the common axis its turns fall."""
    height = _ROW * (len(lane.rows) + 1) + 6
    parts = []
    for row, (name, cells) in enumerate([(_words("row.turn"), lane.turns), *lane.rows]):
        base = 14 + row * _ROW
        parts.append(
            f'<text x="{begin - 8}" y="{base}" text-anchor="end" opacity=".75">{html.escape(say(name))}</text>'
        )
        for number, cell in enumerate(cells):
            bold = ' font-weight="bold"' if row == 0 else ""
            middle = begin + number * step + step / 2
            parts.append(f'<text x="{middle:g}" y="{base}" text-anchor="middle"{bold}>{html.escape(cell)}</text>')
    for number, cell in enumerate(lane.rows[-1][1]):
        dash = "" if cell == "AB" else ' stroke-dasharray="3 3"'
        parts.append(
            f'<rect x="{begin + number * step + 1}" y="1" width="{step - 2}" height="{height - 4}" rx="3" '
            f'fill="none" stroke="currentColor"{dash}/>'
        )
    end = begin + len(lane.turns) * step
    if lane.died:
        parts.append(
            f'<path d="M{end + 4} {height / 2 - 7:g}l12 12m0 -12l-12 12" stroke="currentColor" stroke-width="3"/>'
        )
    else:
        parts.append(f'<rect x="{end + 5}" y="{height / 2 - 6:g}" width="11" height="11" fill="currentColor"/>')
    spoken = html.escape(" ".join([say(lane.title), *(say(note) for note in lane.notes)]), quote=True)
    return (
        f'<svg role="img" aria-label="{spoken}" width="{total}" height="{height}" viewBox="0 0 {total} {height}" '
        f'font-size="12" font-family="ui-monospace,monospace" fill="currentColor" '
        f'style="display:block">{"".join(parts)}</svg>'
    )


def _marked(text: str) -> str:
    parts = html.escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))
