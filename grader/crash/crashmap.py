"""The crash map: what a crash leaves at each moment of a save, as a picture.

One strip for each way to die, one column for each operation; every verdict has a colour, a pattern and a letter, so the
picture can be read in grey. HTML with inline SVG: no scripts, nothing from the network, light and dark.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from grader.crash.describe import Story, source
from grader.crash.diagnose import diagnose
from grader.crash.explore import Counterexample, Exploration
from grader.crash.report import ANSWERS, as_text, bound_of, explained, headline, on_disk, recovered, surveys
from grader.crash.sentences import language, number_of_bytes, sentence, translated
from grader.crash.strips import LETTERS, UNSOUND, Cell, Column, CrashMap, crash_map

if TYPE_CHECKING:
    from grader.crash.runs import RunExploration

WIDTH = 920
MOST = 56
"""Columns at most; longer recordings are put together."""

_LABEL = 96
_ROOM = WIDTH - _LABEL - 2
_STRIP = 42
_DEEP = 56
"""The height of a strip with three verdicts or more in one column."""
_GAP = 8
_TOP = 26
_NAMED = 56
"""A column at least so wide has its operation named in words below it."""

_NAMES = {
    "O": "old",
    "N": "new",
    "R": "raises",
    "W": "wrong",
    "L": "lost",
    "F": "fails",
    "+": "left",
    ".": "works",
    "=": "new",
    "D": "fails",
    "M": "lost",
}

_LIGHT = """--bg:#fff;--fg:#1c2126;--mut:#59636e;--rule:#cdd5dc;--box:#f5f7f9;--ok:#1a6b41;--bad:#b3261e;
--ink:#1c2126;--inv:#fff;--old:#d5e2f1;--new:#a5d8ba;--raises:#c5332c;--wrong:#7c3aa5;--lost:#d9730d;
--fails:#7d2a3a;--left:#c9b458;--works:#eaeef2;--line:#fff;--dot:#5b7c69"""
_DARK = """--bg:#15191e;--fg:#e6eaee;--mut:#9aa6b1;--rule:#3a434c;--box:#1d2329;--ok:#6fce9b;--bad:#ff8a80;
--ink:#f2f5f7;--inv:#fff;--old:#2d4056;--new:#1f6543;--raises:#d2453d;--wrong:#9a55c4;--lost:#c8660a;
--fails:#a03a4d;--left:#7d6c1f;--works:#262d34;--line:#1b1f24;--dot:#8fd0ad"""

_CSS = (
    f".ccmap{{{_LIGHT}}}"
    f"@media (prefers-color-scheme:dark){{.ccmap{{{_DARK}}}}}"
    f'[data-jp-theme-light="true"] .ccmap{{{_LIGHT}}}'
    f'[data-jp-theme-light="false"] .ccmap,.vscode-dark .ccmap{{{_DARK}}}'
    """
.ccmap{background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,"Segoe UI","Noto Sans",sans-serif;
max-width:960px;border:1px solid var(--rule);border-radius:8px;padding:14px 18px 12px;margin:6px 0;
box-sizing:border-box}.ccmap svg.cc-map{display:block;width:100%;height:auto;margin:8px 0 2px;font-family:inherit}
.ccmap svg text{fill:var(--fg)}.ccmap svg .mut{fill:var(--mut)}
.ccmap svg .code,.ccmap code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,monospace}
.ccmap svg .let{font-weight:700;text-anchor:middle;fill:var(--ink);paint-order:stroke;stroke-width:4px;
stroke-linejoin:round}.ccmap svg .inv{fill:var(--inv)}.ccmap svg .mark{fill:none;stroke:var(--fg);stroke-width:3}
.ccmap svg .tri{fill:var(--fg)}.ccmap svg .edge{fill:none;stroke:var(--rule)}
.ccmap svg .ret{stroke:var(--fg);stroke-dasharray:4 3}.ccmap .cc-h{font-weight:650;font-size:15px;margin:0 0 6px}
.ccmap .cc-a{display:inline-block;border:1.5px solid var(--rule);border-radius:13px;padding:1px 11px;
margin:0 6px 5px 0}.ccmap .cc-a b{margin-left:4px}.ccmap .cc-yes{border-color:var(--ok)}
.ccmap .cc-yes b{color:var(--ok)}.ccmap .cc-no{border-color:var(--bad);border-width:2.5px}
.ccmap .cc-no b{color:var(--bad)}.ccmap .cc-key{color:var(--mut);font-size:13px;margin:2px 0 8px}
.ccmap .cc-key span{white-space:nowrap;margin-right:14px}
.ccmap .cc-key svg{width:22px;height:16px;vertical-align:-3px;margin-right:5px}
.ccmap .cc-box{background:var(--box);border-left:4px solid var(--fg);padding:8px 12px;margin:8px 0}
.ccmap .cc-box p{margin:0 0 4px}.ccmap .cc-t{border-collapse:collapse;margin:4px 0;font-size:13px}
.ccmap .cc-t td,.ccmap .cc-t th{border:0;padding:1px 14px 1px 0;text-align:left;vertical-align:top;
background:none;color:var(--fg);font-weight:400}
.ccmap table.cc-t tr:nth-child(n),.ccmap table.cc-t tr:nth-child(n):hover{background:none}
.ccmap.ccmap code{background:none;color:inherit;padding:0}
.ccmap .cc-t th{color:var(--mut)}
.ccmap .cc-t td:not(:last-child),.ccmap .cc-t th{white-space:nowrap}.ccmap .cc-t td.num{text-align:right}
.ccmap pre.cc-d{background:none;color:var(--fg);margin:2px 0 4px;padding:0;font-size:12px;line-height:1.35;
overflow-x:auto;font-family:ui-monospace,"SF Mono",Menlo,Consolas,monospace}
.ccmap ol{margin:4px 0 4px 20px;padding:0}.ccmap ol li{margin:0 0 5px}.ccmap ol b{display:block;font-weight:600}
.ccmap summary{cursor:pointer;color:var(--mut);font-size:13px}.ccmap .cc-f{color:var(--mut);font-size:12.5px}
.ccmap p.cc-f{margin:0 0 2px}.ccmap .cc-s{border-top:1px solid var(--rule);margin-top:12px;padding-top:10px}
"""
).replace("\n", "")


def as_html(exploration: Exploration[Any], *, lang: str | None = None, title: str = "") -> str:
    """The report with its crash map, as one self-contained HTML fragment.

    Args:
        exploration: what ``explore`` gave.
        lang: ``"en"`` or ``"zh"``; what the environment says when None.
        title: a heading, such as the name of the save.
    """
    lang = language(lang)
    head = f'<p class="cc-h">{escape(title)}</p>' if title else ""
    if exploration.cant_judge:
        words = escape(sentence("cant", lang, reason=translated(exploration.cant_judge, lang)))
        return card(head + f"<p>{words}</p>", lang)
    story = Story(exploration.recording)
    example = exploration.counterexample()
    shown = crash_map(exploration, story, example, MOST)
    parts = [head, _answers(exploration, lang), picture(shown, story, lang), legend([shown], lang)]
    parts.append(_example(exploration, example, story, lang))
    parts.append(_change(exploration, lang))
    parts.append(_operations(shown, story, lang))
    parts.append(_counts(exploration, lang))
    return card("".join(parts), lang)


def run_as_html(exploration: RunExploration[Any], *, lang: str | None = None, title: str = "") -> str:
    """The report of a whole run with its crash map.

    Args:
        exploration: what ``explore_run`` gave.
        lang: ``"en"`` or ``"zh"``; what the environment says when None.
        title: a heading.
    """
    from grader.crash import runmap

    lang = language(lang)
    stop, colon = sentence("stop", lang), sentence("colon", lang)
    head = f'<p class="cc-h">{escape(title)}</p>' if title else ""
    if exploration.survey is None:
        reason = translated(exploration.cant_judge or "", lang)
        return card(head + f"<p>{escape(sentence('cant', lang, reason=reason))}</p>", lang)
    story = Story(exploration.recording)
    shown = runmap.map_of(exploration, story, MOST)
    kind = "cc-no" if exploration.broken else "cc-yes"
    parts = [head, f'<div><span class="cc-a {kind}">{escape(runmap.verdict(exploration, lang))}</span></div>']
    parts += [picture(shown, story, lang), legend([shown], lang)]
    if exploration.broken:
        first = exploration.broken[0]
        inside = [f"<p><b>{escape(runmap.headline(first, story, lang) + stop)}</b></p>"]
        if first.where is not None:
            line = escape(story.place(first.where, lang) + colon)
            inside.append(f"<p>{line} <code>{escape(source(first.where))}</code></p>")
        words = sentence("recovery", lang) + colon + translated(first.problem, lang) + stop
        inside.append(f"<p>{escape(words)}</p>")
        if len(exploration.broken) > 1:
            inside.append(f"<p>{escape(sentence('run.more', lang, n=len(exploration.broken)))}</p>")
        parts.append(f'<div class="cc-box">{"".join(inside)}</div>')
    survey = exploration.survey
    counts = sentence("semicolon", lang).join(
        [
            f"{survey.images:,} {sentence('images', lang)}",
            f"{survey.distinct:,} {sentence('distinct', lang)}",
            sentence("run.resumed", lang, n=f"{survey.looks:,}"),
            bound_of(survey, lang),
        ]
    )
    parts += [_operations(shown, story, lang), f'<p class="cc-f">{escape(counts)}</p>']
    return card("".join(parts), lang)


def as_page(exploration: Exploration[Any], *, lang: str | None = None, title: str = "") -> str:
    """The same as a page of its own, to be written to a file."""
    lang = language(lang)
    code = "zh-Hans" if lang == "zh" else "en"
    return (
        f'<!doctype html><html lang="{code}"><head><meta charset="utf-8">'
        f'<meta name="color-scheme" content="light dark"><title>{escape(title or "crash map")}</title></head>'
        f"<body>{as_html(exploration, lang=lang, title=title)}</body></html>"
    )


@dataclass(frozen=True)
class SideBySide:
    """Several explorations in one picture; a notebook shows it, ``print`` gives the texts one after the other."""

    explorations: tuple[Exploration[Any], ...]
    titles: tuple[str, ...]
    lang: str | None = None

    def _repr_html_(self) -> str:
        lang = language(self.lang)
        maps: list[CrashMap] = []
        parts: list[str] = []
        for title, exploration in zip(self.titles, self.explorations, strict=True):
            inside = [f'<p class="cc-h">{escape(title)}</p>']
            if exploration.cant_judge:
                words = sentence("cant", lang, reason=translated(exploration.cant_judge, lang))
                inside.append(f"<p>{escape(words)}</p>")
            else:
                story = Story(exploration.recording)
                shown = _essential(crash_map(exploration, story, exploration.counterexample(), MOST))
                maps.append(shown)
                inside += [_answers(exploration, lang), picture(shown, story, lang)]
                inside += [f'<p class="cc-f">{escape(d.advice(lang))}</p>' for d in diagnose(exploration)]
            parts.append(f'<div class="{"cc-s" if parts else ""}">{"".join(inside)}</div>')
        return card("".join(parts) + legend(maps, lang), lang)

    def __str__(self) -> str:
        return "\n\n".join(
            f"== {title} ==\n{as_text(exploration, lang=self.lang)}"
            for title, exploration in zip(self.titles, self.explorations, strict=True)
        )

    __repr__ = __str__


def _essential(shown: CrashMap) -> CrashMap:
    """Without the strip of the next save where it shows nothing, or only what the kill shows already."""
    sound = all(cell.worst not in UNSOUND for strip in shown.strips if strip.name == "kill" for cell in strip.cells)
    strips = tuple(
        strip
        for strip in shown.strips
        if strip.name != "next" or (sound and any(cell.worst != "." for cell in strip.cells))
    )
    return replace(shown, strips=strips)


def side_by_side(*explorations: Exploration[Any], titles: Sequence[str] = (), lang: str | None = None) -> SideBySide:
    """Show several saves one under the other, on the same scale and with one legend.

    Args:
        explorations: what ``explore`` gave for each.
        titles: a heading for each; numbers when there are none.
        lang: ``"en"`` or ``"zh"``; what the environment says when None.
    """
    if titles and len(titles) != len(explorations):
        raise ValueError(f"{len(explorations)} explorations, but {len(titles)} titles")
    named = tuple(titles) or tuple(f"{sentence('save', language(lang))} {n}" for n in range(1, len(explorations) + 1))
    return SideBySide(explorations, named, lang)


def card(inside: str, lang: str) -> str:
    """A fragment of its own, with its style."""
    code = "zh-Hans" if lang == "zh" else "en"
    return f'<div class="ccmap" lang="{code}"><style>{_CSS}</style>{inside}</div>'


# -- the picture -------------------------------------------------------------------------------------------------------


def picture(shown: CrashMap, story: Story, lang: str) -> str:
    """The strips as SVG."""
    edges = _edges(shown)
    marker = hashlib.blake2b(repr(shown).encode(), digest_size=5).hexdigest()
    rows = _rows(shown)
    bottom = rows[-1][0] + rows[-1][1] + _GAP if rows else _TOP
    narrowest = min((b - a for a, b in edges[1:-1]), default=_ROOM)
    named = narrowest >= _NAMED
    crowded = narrowest < 30
    height = bottom + (60 if named else 36)
    whole_run = any(strip.name == "run" for strip in shown.strips)
    title = sentence("run.title" if whole_run else "title", lang, n=f"{shown.operations:,}")
    out = [
        f'<svg class="cc-map" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="cc{marker}t cc{marker}d" '
        f'xmlns="http://www.w3.org/2000/svg"><title id="cc{marker}t">{escape(title)}</title>'
        f'<desc id="cc{marker}d">{escape(_described(shown, story, lang))}</desc>',
        _patterns(marker, {letter for strip in shown.strips for cell in strip.cells for letter in cell.letters}),
    ]
    for strip, (top, tall) in zip(shown.strips, rows, strict=True):
        name = sentence(f"model.{strip.name}", lang)
        out.append(
            f'<text x="{_LABEL - 10}" y="{top + tall / 2 + 5:g}" text-anchor="end" font-size="14" '
            f'font-weight="600">{escape(name)}</text>'
        )
        letters: list[str] = []
        for column, cell, (left, right) in zip(shown.columns, strip.cells, edges, strict=True):
            out.append(f"<g><title>{escape(_tip(name, column, cell, story, lang))}</title>")
            pieces = _pieces(cell, left, right, top, tall)
            out += [_filled(piece, marker) for piece in pieces]
            out.append(f'<rect class="edge" x="{left:g}" y="{top}" width="{right - left:g}" height="{tall}"/></g>')
            if not crowded:
                letters += [_lettered(piece) for piece in pieces]
        for left, right, cell in _runs(strip.cells, edges, shown.marked) if crowded else ():
            letters += [_lettered(piece) for piece in _pieces(cell, left, right, top, tall)]
        out += letters
    if len(shown.columns) > 1 and not whole_run:
        x = edges[-1][0]
        out.append(f'<line class="ret" x1="{x:g}" x2="{x:g}" y1="{_TOP - 10}" y2="{bottom}" stroke-width="2"/>')
    out += _marked(shown, edges, lang)
    out += _labels(shown, story, edges, bottom, named, lang)
    return "".join([*out, "</svg>"])


def _rows(shown: CrashMap) -> list[tuple[int, int]]:
    """Top and height of each strip."""
    rows, top = [], _TOP
    for strip in shown.strips:
        tall = _DEEP if any(len(cell.after) > 2 for cell in strip.cells) else _STRIP
        rows.append((top, tall))
        top += tall + _GAP
    return rows


def _edges(shown: CrashMap) -> list[tuple[float, float]]:
    """Left and right of each column; one with more to show is wider."""
    weights = []
    for index, column in enumerate(shown.columns):
        inside = max((len(strip.cells[index].during) for strip in shown.strips), default=0)
        weight = 0.75 if column.kind != "op" else 1.0 + 0.3 * min(3, max(0, inside - 1)) + (0.3 if inside else 0)
        weights.append(weight)
    whole = _ROOM / sum(weights)
    edges, left = [], float(_LABEL)
    for weight in weights:
        edges.append((round(left, 1), round(left + weight * whole, 1)))
        left += weight * whole
    return edges


def _id(marker: str, letter: str) -> str:
    """The id of a verdict's pattern."""
    return f"cc{marker}p{ord(letter):x}"


def _patterns(marker: str, letters: set[str]) -> str:
    """A fill for each verdict: its colour, and lines or dots of its own."""
    line = 'stroke="var(--line)" stroke-opacity=".55"'
    marks = {
        "O": "",
        ".": "",
        "N": '<circle cx="4" cy="4" r=".9" fill="var(--dot)"/>',
        "R": f'<path d="M-2 2l4-4M0 8l8-8M6 10l4-4" {line} stroke-width="1.6"/>',
        "W": f'<path d="M0 0l8 8M8 0l-8 8" {line} stroke-width="1.3"/>',
        "L": '<circle cx="4" cy="4" r="1.9" fill="var(--line)" fill-opacity=".6"/>',
        "F": f'<path d="M2 0v8M6 0v8" {line} stroke-width="1.5"/>',
        "=": '<circle cx="4" cy="4" r=".9" fill="var(--dot)"/>',
        "D": f'<path d="M2 0v8M6 0v8" {line} stroke-width="1.5"/>',
        "M": '<circle cx="4" cy="4" r="1.9" fill="var(--line)" fill-opacity=".6"/>',
        "+": f'<path d="M0 4h8" {line} stroke-width="1.6"/>',
    }
    made = "".join(
        f'<pattern id="{_id(marker, x)}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect width="8" height="8" fill="var(--{_NAMES[x]})"/>{marks[x]}</pattern>'
        for x in LETTERS
        if x in letters
    )
    return f"<defs>{made}</defs>"


@dataclass(frozen=True)
class _Piece:
    """A rectangle of one verdict."""

    letter: str
    x: float
    y: float
    width: float
    height: float


def _pieces(cell: Cell, left: float, right: float, top: float, tall: float) -> list[_Piece]:
    """A cell's rectangles: cuts of a write from left to right, then what is possible after it, one above the other."""
    width = right - left
    if len(cell.letters) == 1:
        return [_Piece(cell.letters, left, top, width, tall)]
    out: list[_Piece] = []
    if cell.during:
        within = list(cell.during)
        room = width * (0.72 if cell.after else 1.0)
        if len(within) > 1 and cell.after == within[-1][0]:
            within.pop()  # goes on to be what stands after the write
        shares = [max(count, sum(c for _, c in cell.during) * 0.12) for _, count in within]
        for (letter, _), share in zip(within, shares, strict=True):
            wide = room * share / sum(shares)
            out.append(_Piece(letter, left, top, wide, tall))
            left += wide
            width -= wide
    part = tall / max(1, len(cell.after))
    return out + [_Piece(letter, left, top + n * part, width, part) for n, letter in enumerate(cell.after)]


def _runs(
    cells: Sequence[Cell], edges: Sequence[tuple[float, float]], marked: int | None
) -> list[tuple[float, float, Cell]]:
    """Neighbouring cells that show the same, as one; the marked one apart."""
    runs: list[tuple[float, float, Cell]] = []
    for index, (cell, (left, right)) in enumerate(zip(cells, edges, strict=True)):
        apart = marked is not None and index in (marked, marked + 1)
        if runs and runs[-1][2].letters == cell.letters and not apart:
            runs[-1] = (runs[-1][0], right, cell if len(cell.letters) > 1 and not cell.during else runs[-1][2])
        else:
            runs.append((left, right, cell))
    return runs


def _filled(piece: _Piece, marker: str) -> str:
    return (
        f'<rect x="{piece.x:.5g}" y="{piece.y:.5g}" width="{piece.width:.5g}" height="{piece.height:.5g}" '
        f'fill="url(#{_id(marker, piece.letter)})"/>'
    )


def _lettered(piece: _Piece) -> str:
    size = min(17.0, piece.height - 1, piece.width * 0.85)
    if size < 8 or piece.letter == ".":
        return ""
    inverse = " inv" if piece.letter in UNSOUND else ""
    x, y = piece.x + piece.width / 2, piece.y + piece.height / 2 + size * 0.36
    return (
        f'<text class="let{inverse}" x="{x:.5g}" y="{y:.5g}" font-size="{size:.3g}" '
        f'stroke="var(--{_NAMES[piece.letter]})" pointer-events="none" aria-hidden="true">{piece.letter}</text>'
    )


def _marked(shown: CrashMap, edges: Sequence[tuple[float, float]], lang: str) -> list[str]:
    if shown.marked is None:
        return []
    left, right = edges[shown.marked]
    row = next((i for i, strip in enumerate(shown.strips) if strip.name == shown.marked_strip), 0)
    top, tall = _rows(shown)[row]
    middle = (left + right) / 2
    anchor, x = ("end", max(right, middle + 6)) if middle > WIDTH - 60 else ("middle", middle)
    return [
        f'<rect class="mark" x="{left:g}" y="{top}" width="{right - left:g}" height="{tall}"/>',
        f'<path class="tri" d="M{middle - 6:g} {_TOP - 11}h12l-6 9z"/>',
        f'<text x="{x:g}" y="{_TOP - 14}" text-anchor="{anchor}" font-size="12.5" font-weight="600">'
        f"{escape(sentence('crash.here', lang))}</text>",
    ]


def _labels(
    shown: CrashMap, story: Story, edges: Sequence[tuple[float, float]], bottom: float, named: bool, lang: str
) -> list[str]:
    out = []
    first, last = edges[0], edges[-1]
    narrowest = min((right - left for left, right in edges[1:-1]), default=_ROOM)
    ends = shown.columns[-1].kind != "op"
    start, end = sentence("start", lang), sentence("returned", lang) if ends else ""
    roomy = last[1] - last[0] >= 60
    if roomy:
        out.append(_text(start, sum(first) / 2, bottom + 12, 12, "mut"))
        out.append(_text(end, sum(last) / 2, bottom + 12, 12, "mut"))
    else:  # a second row, clear of the numbers
        out.append(_text(start, first[0], bottom + 27, 12, "mut", anchor="start"))
        out.append(_text(end, last[1], bottom + 27, 12, "mut", anchor="end"))
    free = first[0]
    for column, (left, right) in zip(shown.columns, edges, strict=True):
        if column.kind != "op":
            continue
        middle, room = (left + right) / 2, right - left
        if named and column.step is not None:
            head = column.step.head(lang)
            head = f"{head} ×{column.count:,}" if column.count > 1 else f"{column.first} {head}"
            size = min(13.0, max(10.5, narrowest / 6.2))
            out.append(_text(_fit(head, room / size * 1.75), middle, bottom + 12, size, "", 600))
            name = column.step.other if column.step.verb in ("replace", "rename") else column.step.name
            name += "/" if column.step.verb in ("mkdir", "fsyncdir") else ""
            out.append(_text(_fit(name, room / size * 1.6), middle, bottom + 28, size - 1, "code"))
            if column.step.where is not None:
                line = story.line(column.step.where, lang)
                out.append(_text(_fit(line, room / size * 1.85), middle, bottom + 44, size - 1, "mut"))
            continue
        number = str(column.first) if column.count == 1 else f"{column.first}–{column.last}"
        needed = 7.0 * len(number) + 6
        if middle - needed / 2 < free or middle + needed / 2 > last[1]:
            continue
        free = middle + needed / 2
        out.append(_text(number, middle, bottom + 12, 12, ""))
        if roomy and column.step is not None and column.step.where is not None and room >= 26:
            out.append(_text(f"L{column.step.where.line}", middle, bottom + 27, 11, "mut"))
    return out


def _text(text: str, x: float, y: float, size: float, kind: str, weight: int = 400, anchor: str = "middle") -> str:
    heavy = f' font-weight="{weight}"' if weight != 400 else ""
    mark = f' class="{kind}"' if kind else ""
    return f'<text{mark} x="{x:.5g}" y="{y:g}" text-anchor="{anchor}" font-size="{size:g}"{heavy}>{escape(text)}</text>'


def _fit(text: str, room: float) -> str:
    most = max(3, int(room))
    return text if len(text) <= most else text[: most - 1] + "…"


def _moment_of(column: Column, story: Story, lang: str) -> str:
    if column.kind != "op":
        return sentence(column.kind, lang)
    number = str(column.first) if column.count == 1 else f"{column.first}–{column.last}"
    if column.step is None:
        return number
    return f"{number} {column.step.words(lang)}" if column.count == 1 else f"{number} {column.step.head(lang)}"


def _tip(name: str, column: Column, cell: Cell, story: Story, lang: str) -> str:
    colon = sentence("colon", lang)
    verdicts = ", ".join(sentence(f"v.{letter}", lang) for letter in cell.letters)
    where = f" ({story.line(column.step.where, lang)})" if column.step and column.step.where else ""
    return f"{name}{colon}{_moment_of(column, story, lang)}{where}{colon}{verdicts}"


def _described(shown: CrashMap, story: Story, lang: str) -> str:
    """The picture in words, for those who can't see it."""
    semicolon, colon = sentence("semicolon", lang), sentence("colon", lang)
    told = []
    for strip in shown.strips:
        runs: list[tuple[str, str]] = []
        for column, cell in zip(shown.columns, strip.cells, strict=True):
            words = ", ".join(sentence(f"v.{letter}", lang) for letter in cell.letters)
            if not runs or runs[-1][1] != words:
                runs.append((_moment_of(column, story, lang), words))
        told.append(
            sentence(f"model.{strip.name}", lang) + colon + semicolon.join(f"{m} → {words}" for m, words in runs)
        )
    return sentence("stop", lang).strip().join(told)


# -- the words around it -----------------------------------------------------------------------------------------------


def _answers(exploration: Exploration[Any], lang: str) -> str:
    out = []
    for name in ANSWERS:
        value = getattr(exploration, name)
        if value is None:
            continue
        kind, word = ("cc-yes", "yes") if value else ("cc-no", "no")
        out.append(
            f'<span class="cc-a {kind}">{escape(sentence(name, lang))} <b>{escape(sentence(word, lang))}</b></span>'
        )
    return f"<div>{''.join(out)}</div>"


def legend(maps: Sequence[CrashMap], lang: str) -> str:
    """The legend."""
    present = {letter for shown in maps for strip in shown.strips for cell in strip.cells for letter in cell.letters}
    if not present:
        return ""
    # A name of its own for each picture: a page that hides one of two equal names shows no pattern in the other.
    marker = "k" + hashlib.blake2b(repr(maps).encode(), digest_size=5).hexdigest()
    out = []
    for position, letter in enumerate(x for x in LETTERS if x in present):
        inverse = " inv" if letter in UNSOUND else ""
        stroke = f'stroke="var(--{_NAMES[letter]})"'
        shown = f'<text class="let{inverse}" x="11" y="13" font-size="13" {stroke}>{letter}</text>'
        shown = "" if letter == "." else shown
        defs = _patterns(marker + str(position), {letter})
        out.append(
            f'<span><svg viewBox="0 0 22 16" aria-hidden="true">{defs}<rect width="22" height="16" '
            f'fill="url(#{_id(f"{marker}{position}", letter)})"/>{shown}</svg>'
            f"{escape(explained(letter, lang)[2:])}</span>"
        )
    return f'<div class="cc-key">{"".join(out)}</div>'


def _example(exploration: Exploration[Any], example: Counterexample | None, story: Story, lang: str) -> str:
    if example is None:
        words = "" if exploration.residue else escape(sentence("all.well", lang))
        return f'<div class="cc-box"><p>{words}</p></div>' if words else ""
    stop, colon = sentence("stop", lang), sentence("colon", lang)
    out = [f"<p><b>{escape(headline(example, story, lang) + stop)}</b></p>"]
    if example.where is not None:
        line = escape(story.place(example.where, lang) + colon)
        out.append(f"<p>{line} <code>{escape(source(example.where))}</code></p>")
    out.append(f"<p>{escape(sentence('on.disk', lang) + colon)}</p>")
    rows = []
    for lying in on_disk(exploration, example, lang):
        name, size, note = escape(lying.name), escape(lying.size), escape(lying.note)
        rows.append(f"<tr><td><code>{name}</code></td><td>{size}</td><td>{note}</td></tr>")
        if lying.rows:
            dump = escape("\n".join(lying.rows))
            rows.append(f'<tr><td colspan="3"><pre class="cc-d">{dump}</pre></td></tr>')
    out.append(f'<table class="cc-t">{"".join(rows)}</table>')
    words = sentence("recovery", lang) + colon + recovered(example, lang) + stop
    out.append(f"<p>{escape(words)}</p>")
    return f'<div class="cc-box">{"".join(out)}</div>'


def _change(exploration: Exploration[Any], lang: str) -> str:
    faults = diagnose(exploration)
    if not faults:
        return ""
    items = "".join(f"<li>{escape(d.fault(lang))}<b>{escape(d.advice(lang))}</b></li>" for d in faults)
    return f'<p class="cc-h">{escape(sentence("change", lang))}</p><ol>{items}</ol>'


def _operations(shown: CrashMap, story: Story, lang: str) -> str:
    rows = []
    for column in shown.columns:
        if column.kind != "op":
            continue
        number = str(column.first) if column.count == 1 else f"{column.first}–{column.last}"
        if column.step is None:
            rows.append(f'<tr><td class="num">{number}</td><td></td><td></td><td></td></tr>')
            continue
        words = column.step.words(lang)
        if column.count > 1:
            size = number_of_bytes(column.size, lang) if column.size else ""
            words = f"{column.step.head(lang)} ×{column.count:,}: {column.step.name} {size}".rstrip()
        rows.append(
            f'<tr><td class="num">{number}</td><td>{escape(words)}</td>'
            f"<td>{escape(story.line(column.step.where, lang)) if column.step.where else ''}</td>"
            f"<td><code>{escape(source(column.step.where))}</code></td></tr>"
        )
    if not rows:
        return ""
    head = f"{sentence('operations', lang)} ({shown.operations:,})"
    return f'<details><summary>{escape(head)}</summary><table class="cc-t">{"".join(rows)}</table></details>'


def _counts(exploration: Exploration[Any], lang: str) -> str:
    heads = "".join(f"<th>{escape(sentence(name, lang))}</th>" for name in ("images", "distinct", "loads", "bound"))
    rows = "".join(
        f"<tr><td>{escape(sentence(f'model.{name}', lang))}</td>"
        + "".join(f'<td class="num">{n:,}</td>' for n in (survey.images, survey.distinct, survey.looks))
        + f"<td>{escape(bound_of(survey, lang))}</td></tr>"
        for name, survey in surveys(exploration)
    )
    return f'<table class="cc-t cc-f"><tr><th></th>{heads}</tr>{rows}</table>'
