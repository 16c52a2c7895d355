"""The pictures of the lessons, drawn by code: one look, light and dark, readable without colour.

Each function returns a `Picture`. A notebook shows its SVG; a terminal, or ``print``, shows its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ..messages import Message, blocks, calls_in, words_of

LIGHT = (
    "--ink:#20242b;--faint:#6b7280;--line:#b6bcc6;--fill:#eef1f5;--blue:#1d5fd1;--bluefill:#dfeaff;"
    "--red:#b42318;--redfill:#fde7e4;--green:#146c43;--greenfill:#dcf3e6"
)
DARK = (
    "--ink:#e6e8ec;--faint:#a2a9b4;--line:#59616e;--fill:#262a31;--blue:#8ab4ff;--bluefill:#1e2f4d;"
    "--red:#ff9b8f;--redfill:#4a1f1b;--green:#7fdba8;--greenfill:#16382a"
)
# JupyterLab says on the body which theme it shows; elsewhere the browser's own preference decides.
STYLE = (
    f"""<style>
.cc-pic{{{LIGHT};max-width:880px;margin:.4em 0;color:var(--ink)}}
@media (prefers-color-scheme:dark){{.cc-pic{{{DARK}}}}}
[data-jp-theme-light="true"] .cc-pic{{{LIGHT}}}
[data-jp-theme-light="false"] .cc-pic,.vscode-dark .cc-pic{{{DARK}}}
"""
    + """
.cc-pic svg{width:100%;height:auto;display:block;
  font-family:system-ui,"Segoe UI","Noto Sans",sans-serif;font-size:13px}
.cc-pic text{fill:var(--ink)} .cc-pic .faint{fill:var(--faint)} .cc-pic .small{font-size:11.5px}
.cc-pic .bold{font-weight:600} .cc-pic .mono{font-family:ui-monospace,Menlo,Consolas,monospace}
.cc-pic .redtext{fill:var(--red)} .cc-pic .mid{text-anchor:middle} .cc-pic .end{text-anchor:end}
.cc-pic .struck{text-decoration:line-through}
.cc-pic .box{fill:var(--fill);stroke:var(--line)} .cc-pic .blue{fill:var(--bluefill);stroke:var(--blue)}
.cc-pic .red{fill:var(--redfill);stroke:var(--red)} .cc-pic .green{fill:var(--greenfill);stroke:var(--green)}
.cc-pic .none{fill:none;stroke:var(--line)} .cc-pic .gone{fill:none;stroke:var(--red);stroke-dasharray:4 3}
.cc-pic .rule{stroke:var(--line);fill:none} .cc-pic .arrow{stroke:var(--faint);fill:none;stroke-width:1.4}
.cc-pic .crash{stroke:var(--red);stroke-width:2;stroke-dasharray:6 4}
.cc-pic .shade{fill:var(--redfill);opacity:.55} .cc-pic .head{fill:var(--faint)}
</style>"""
)


@dataclass(frozen=True)
class Picture:
    """A drawing, and the same thing in words."""

    svg: str
    text: str

    def _repr_html_(self) -> str:
        return f'{STYLE}<div class="cc-pic">{self.svg}</div>'

    def __repr__(self) -> str:
        return self.text


def _svg(width: float, height: float, parts: Iterable[str], label: str) -> str:
    title = escape(label.replace("\n", "; "), quote=True)
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" style="max-width:{width:g}px" role="img" '
        f'aria-label="{title}" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, words: str, look: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{look}">{escape(words)}</text>'


def _box(x: float, y: float, width: float, height: float, look: str = "box", round: float = 5) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round:g}" class="{look}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, look: str = "rule") -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{look}"/>'


def _width(words: str, size: float = 13) -> float:
    """Guess how wide words are drawn: a wide letter counts as one em, another as a bit more than half."""
    return sum(size if ord(letter) > 0x2E7F else size * 0.56 for letter in words)


def _wrap(words: str, room: float, size: float = 13) -> list[str]:
    lines: list[str] = []
    for word in words.split(" "):
        if lines and _width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _cut(words: str, letters: int) -> str:
    return words if len(words) <= letters else words[: letters - 1] + "…"


# -- what happens, in time -----------------------------------------------------------------------------------

LANES = ("model", "host", "tool", "disk")
CRASH = "crash"


def timeline(
    events: Sequence[tuple[str, str] | str],
    *,
    shade: tuple[int, int, str] | None = None,
    lanes: Sequence[str] = LANES,
    title: str = "",
) -> Picture:
    """Draw events from left to right, each in its lane; the string "crash" ends a process.

    ``shade=(first, last, words)`` marks the stretch from one event to another as dangerous.
    """
    marked = shade is not None or CRASH in events  # their words stand above the lanes, below the title
    left, column, row, top = 62.0, 74.0, 58.0, 14.0 + 28.0 * bool(title or marked) + 14.0 * bool(title and marked)
    width, height = left + column * len(events) + 14, top + row * len(lanes)
    parts: list[str] = []
    if title:
        parts.append(_text(8, 18, title, "bold"))
    if shade:
        x, x2 = left + column * shade[0], left + column * (shade[1] + 1)
        parts.append(_box(x, top - 8, x2 - x, height - top + 4, "shade"))
        parts.append(_text((x + x2) / 2, top - 14, shade[2], "small mid redtext"))
    for number, lane in enumerate(lanes):
        y = top + row * number + 22
        parts.append(_text(8, y + 4, lane, "faint"))
        parts.append(_line(left, y, width - 8, y))
    last: tuple[float, float] | None = None
    text = [title] if title else []
    for number, event in enumerate(events):
        x = left + column * number + column / 2
        if isinstance(event, str):
            parts.append(_line(x, top - 6, x, height - 8, CRASH))
            parts.append(_text(x, top - 14, "✕ crash", "small bold mid redtext"))
            last = None
            text.append("  ✕ CRASH: everything in the process is gone")
            continue
        lane, words = event
        y = top + row * list(lanes).index(lane) + 22
        if last:
            parts.append(_line(last[0], last[1], x - column / 2 + 5, y, "arrow"))
        look = {"disk": "green", "tool": "blue"}.get(lane, "box")
        lines = _wrap(words, column - 14, 11.5)[:3]
        tall = 14.0 * len(lines) + 10
        parts.append(_box(x - column / 2 + 4, y - tall / 2, column - 8, tall, look))
        for n, line in enumerate(lines):
            parts.append(_text(x, y - tall / 2 + 16 + 14 * n, line, "small mid"))
        last = (x + column / 2 - 4, y)
        text.append(f"  {lane:<6} {words}")
    if shade:
        text.append(f"  ({shade[2]}: from event {shade[0] + 1} to {shade[1] + 1})")
    joined = "\n".join(text)
    return Picture(_svg(width, height, parts, joined), joined)


# -- what is where -------------------------------------------------------------------------------------------


def places(holds: dict[str, Sequence[str]], *, lost: Iterable[str] = (), title: str = "") -> Picture:
    """Draw places side by side with what each holds; those that are lost are struck out."""
    gone, count = set(lost), len(holds)
    wide = 840.0 / count
    tall = 52 + 22 * max(1, *(len(items) for items in holds.values()))
    top = 28.0 if title else 4.0
    parts = [_text(4, 18, title, "bold")] if title else []
    text = [title] if title else []
    for number, (place, items) in enumerate(holds.items()):
        x, dead = 4 + wide * number, place in gone
        parts.append(_box(x, top, wide - 14, tall, "gone" if dead else "box"))
        parts.append(
            _text(x + 12, top + 22, f"{place}{'  ✕ gone' if dead else ''}", f"bold {'redtext' if dead else ''}")
        )
        text.append(f"  {place}{' (gone)' if dead else ''}:")
        for n, item in enumerate(items or ["nothing"]):
            look = "faint struck" if dead else ("" if items else "faint")
            parts.append(_text(x + 12, top + 46 + 22 * n, item, look))
            text.append(f"    {'x ' if dead else '- '}{item}")
    joined = "\n".join(text)
    return Picture(_svg(840, top + tall + 6, parts, joined), joined)


# -- a script and its cursor ---------------------------------------------------------------------------------


def tape(*rows: tuple[str, Sequence[str], int]) -> Picture:
    """Draw scripts as tapes: ``(caption, responses, cursor)``. What has been played is filled."""
    cell, left, high = 118.0, 170.0, 66.0
    longest = max(len(script) for _, script, _ in rows)
    parts: list[str] = []
    text: list[str] = []
    for number, (caption, script, cursor) in enumerate(rows):
        y = 6 + high * number
        for n, line in enumerate(_wrap(caption, left - 16, 13)[:2]):
            parts.append(_text(4, y + 17 + 16 * n, line))
        for n, words in enumerate(script):
            x = left + cell * n
            parts.append(_box(x, y, cell - 6, 30, "blue" if n < cursor else "none"))
            parts.append(_text(x + 7, y + 20, f"{n}", "faint small"))
            parts.append(_text(x + 20, y + 20, _cut(words, 15), "small"))
        tip = left + cell * cursor - 3
        parts.append(f'<path d="M{tip:g} {y + 33:g} l-5 9 h10 z" class="head"/>')
        parts.append(_text(tip + 9, y + 44, f"cursor {cursor}", "small faint"))
        cells = " ".join(f"[{'x' if n < cursor else ' '} {n} {words}]" for n, words in enumerate(script))
        text.append(f"  {caption}: {cells}  cursor {cursor}")
    joined = "\n".join(text)
    return Picture(_svg(left + cell * longest + 70, high * len(rows), parts, joined), joined)


# -- a history -----------------------------------------------------------------------------------------------


def _summary(message: Message) -> str:
    said = [words_of(message)] if words_of(message) else []
    said += [f"{call['name']}({', '.join(map(str, call['input'].values()))})" for call in calls_in(message)]
    said += [str(block["content"]) for block in blocks(message, "tool_result")]
    return ", ".join(said)


def conversation(messages: Sequence[Message], *, title: str = "") -> Picture:
    """Draw a history: a row for each message, a bow from call to result, a mark where one is alone."""
    row, top, right = 28.0, 26.0 if title else 4.0, 640.0
    calls = {call["id"]: n for n, message in enumerate(messages) for call in calls_in(message)}
    results = {b["tool_use_id"]: n for n, message in enumerate(messages) for b in blocks(message, "tool_result")}
    parts = [_text(4, 16, title, "bold")] if title else []
    text = [title] if title else []
    for number, message in enumerate(messages):
        y = top + row * number
        ids = [call["id"] for call in calls_in(message)] + [b["tool_use_id"] for b in blocks(message, "tool_result")]
        alone = [id for id in ids if (id in calls) != (id in results)]
        look = "red" if alone else "blue" if calls_in(message) else "green" if ids else "box"
        parts.append(_box(34, y, right - 34, row - 5, look))
        parts.append(_text(26, y + 16, str(number), "faint small end"))
        parts.append(_text(44, y + 16, message["role"], "small faint"))
        parts.append(_text(118, y + 16, _cut(_summary(message), 62)))
        kind = "call" if calls_in(message) else "result"
        tag = f"{kind} {', '.join(ids)}" if ids else ""
        parts.append(_text(right - 10, y + 16, tag, "small end mono"))
        mark = ""
        if alone:
            mark = f"no result for {', '.join(alone)}" if calls_in(message) else f"no call {', '.join(alone)}"
            parts.append(_text(right + 12, y + 16, f"✕ {mark}", "small bold redtext"))
        text.append(f"  {number} {message['role']:<9} {_cut(_summary(message), 44):<44} {tag} {mark}".rstrip())
    for id, start in calls.items():
        if id in results and results[id] > start:
            y1, y2 = top + row * start + 11, top + row * results[id] + 11
            bow = 16 + 4 * (results[id] - start)
            parts.append(f'<path d="M{right} {y1:g} q{bow:g} {(y2 - y1) / 2:g} 0 {y2 - y1:g}" class="arrow"/>')
    joined = "\n".join(text)
    return Picture(_svg(800, top + row * len(messages) + 4, parts, joined), joined)


# -- the bytes of a file -------------------------------------------------------------------------------------


def strips(files: Sequence[tuple[str, bytes, str]], *, cells: int = 48) -> Picture:
    """Draw files as strips of bytes: ``(name, bytes, verdict)``. The first one is the file as it should be.

    Each cell is a stretch of the file: filled where it is as it should be, ✕ where it differs, 0 where it is
    NUL, a dotted line where there is nothing.
    """
    whole = files[0][1]
    length = max(len(data) for _, data, _ in files) or 1
    cell, left, high = 8.0, 158.0, 30.0
    parts: list[str] = []
    text: list[str] = []
    for number, (name, data, verdict) in enumerate(files):
        y = 6 + high * number
        parts.append(_text(4, y + 14, _cut(name, 24)))
        drawn = ""
        for n in range(cells):
            first, last = length * n // cells, max(length * n // cells + 1, length * (n + 1) // cells)
            piece, ought = data[first:last], whole[first:last]
            kind = _kind_of_piece(piece, ought)
            x, look = left + cell * n, {"#": "blue", "0": "none", "x": "red"}.get(kind, "")
            if kind == ".":
                parts.append(_line(x, y + 9, x + cell / 2, y + 9))
            else:
                parts.append(_box(x, y, cell - 1, 18, look, 1))
            if kind in "0x":
                parts.append(_text(x + cell / 2 - 0.5, y + 13, {"0": "0", "x": "✕"}[kind], "small mid"))
            drawn += kind
        parts.append(_text(left + cell * cells + 10, y + 14, _cut(verdict, 44), "small"))
        text.append(f"  {name:<20} {drawn}  {verdict}")
    joined = "\n".join(text)
    return Picture(_svg(840, high * len(files) + 6, parts, joined), joined)


def _kind_of_piece(piece: bytes, ought: bytes) -> str:
    if not piece:
        return "."
    if not piece.strip(b"\0"):
        return "0"
    return "#" if piece == ought[: len(piece)] else "x"


def table(rows: Sequence[dict[str, Any]]) -> Picture:
    """Draw rows as a table; the keys of the first row are its head."""
    heads = list(rows[0])
    width = {head: max(len(head), *(len(str(row[head])) for row in rows)) for head in heads}
    lines = ["  ".join(f"{head:<{width[head]}}" for head in heads).rstrip()]
    lines += ["  ".join(f"{row[head]!s:<{width[head]}}" for head in heads).rstrip() for row in rows]
    starts, x = {}, 8.0
    for head in heads:
        starts[head] = x
        x += max(_width(head) * 1.15, *(_width(str(row[head])) for row in rows)) + 24
    parts = [_text(starts[head], 18, head, "bold") for head in heads]
    for number, row in enumerate(rows):
        y = 26 + 24 * number
        parts.append(_line(4, y, x, y))
        parts += [_text(starts[head], y + 17, str(row[head])) for head in heads]
    joined = "\n".join(lines)
    return Picture(_svg(x + 4, 30 + 24 * len(rows), parts, joined), joined)
