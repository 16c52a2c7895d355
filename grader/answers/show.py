"""Verdicts as people read them: plain text of at most 80 columns, and HTML without scripts or fetched parts."""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.verdict import Text, Verdict
from grader.words import LANGUAGES, catalogue, join, language, say

_words = catalogue()
WIDTH = 80


@dataclass(frozen=True)
class Report:
    """What ``check`` returns: verdicts, or one sentence on why there are none.

    In a notebook it shows itself as HTML, in a terminal as text.
    """

    verdicts: Sequence[Verdict] = ()
    notes: Sequence[Text] = ()
    lang: str = field(default_factory=language)

    @property
    def met(self) -> bool:
        """Whether there are verdicts and every one of them is met."""
        return bool(self.verdicts) and all(verdict.met is True for verdict in self.verdicts)

    def __bool__(self) -> bool:
        return self.met

    def __repr__(self) -> str:
        return text_report(self.verdicts, self.notes, self.lang)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return html_report(self.verdicts, self.notes, self.lang)


def word_for(verdict: Verdict) -> Text:
    """Return "met", "not met" or "to be read"."""
    return _words({True: "mark.met", False: "mark.not_met", None: "mark.waits"}[verdict.met])


def _points(verdict: Verdict) -> Text:
    return _words("mark.points", points=verdict.points, max_points=verdict.max_points)


def _total(verdicts: Sequence[Verdict]) -> Text:
    return _words(
        "mark.total",
        points=sum(verdict.points for verdict in verdicts),
        max_points=sum(verdict.max_points for verdict in verdicts),
        met=sum(verdict.met is True for verdict in verdicts),
        count=len(verdicts),
    )


# ------------------------------------------------------------------------------------------------ text


def text_report(verdicts: Sequence[Verdict], notes: Sequence[Text] = (), lang: str | None = None) -> str:
    """Return verdicts as plain text; it reads the same without colour."""
    lines: list[str] = []
    for verdict in verdicts:
        right = f"{say(word_for(verdict), lang)}  {say(_points(verdict), lang)}"
        gap = max(2, WIDTH - columns(verdict.criterion) - columns(right))
        lines.append(f"{verdict.criterion}{' ' * gap}{right}")
        for part in say(verdict.message, lang).split("\n"):
            lines += wrap(part, WIDTH - 2, "  ")
        if verdict.picture_text:
            lines += ["", *(f"  {line}".rstrip() for line in verdict.picture_text.rstrip().split("\n"))]
        if verdict.advice is not None:
            lines += [""] if verdict.picture_text else []
            lines += wrap(say(join(_words("mark.advice"), verdict.advice), lang), WIDTH - 2, "  ")
        lines.append("")
    for note in notes:
        lines += [*wrap(say(note, lang), WIDTH, ""), ""]
    if len(verdicts) > 1:
        lines.append(say(_total(verdicts), lang))
    return "\n".join(lines).rstrip("\n")


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


_CHINESE = r"\u2e80-\u9fff\uff00-\uffef\u3000-\u303f"
_COMMAND = r"`crash-course [^`\n]{1,60}`"  # stays in one piece, so that it can be copied
_PIECES = re.compile(rf"\s+|{_COMMAND}|[{_CHINESE}]|(?:(?!{_COMMAND})[^\s{_CHINESE}])+")
_NOT_FIRST = set("，。、；：！？）》」』”’…")
_NOT_LAST = set("（《「『“‘")


def wrap(text: str, width: int, indent: str) -> list[str]:
    """Break a text into lines of a terminal, by words in English and by characters in Chinese."""
    lines, line, used = [], "", 0
    pieces = _PIECES.findall(text)
    for number, piece in enumerate(pieces):
        if piece.isspace():
            piece = " "
        size = columns(piece)
        follower = pieces[number + 1] if number + 1 < len(pieces) else ""
        need = size + (columns(follower) if follower in _NOT_FIRST else 0)
        if piece in _NOT_LAST:
            need += min(columns(follower), width - 4)
        if line and used + need > width and piece not in _NOT_FIRST and piece != " ":
            lines.append(indent + line.rstrip())
            line, used = "", 0
        if size > width:
            parts = textwrap.wrap(piece, width, break_long_words=True) or [piece]
            lines += [indent + part for part in parts[:-1]]
            piece = parts[-1]
            size = columns(piece)
        if piece == " " and not line:
            continue
        line += piece
        used += size
    if line.strip():
        lines.append(indent + line.rstrip())
    return lines


# ------------------------------------------------------------------------------------------------ HTML

_BOX = "border-left:4px {style} currentColor;padding:.3em .8em;margin:.5em 0;max-width:48em;line-height:1.45"
_STYLE = {True: "solid", False: "double", None: "dashed"}
_SIGN = {True: "✓", False: "✗", None: "…"}
_CODE = "background:rgba(128,128,128,.16);border-radius:3px;padding:0 .25em"


def html_report(verdicts: Sequence[Verdict], notes: Sequence[Text] = (), lang: str | None = None) -> str:
    """Return verdicts as HTML: in the page's own colours, so that it suits a light and a dark one."""
    chosen = lang or language()
    other = next(name for name in LANGUAGES if name != chosen)
    body = "".join(_html_verdict(verdict, chosen, other) for verdict in verdicts)
    body += "".join(html_box(html_text(say(note, chosen)), "dotted", chosen) for note in notes)
    if len(verdicts) > 1:
        body += f'<p style="margin:.5em 0"><strong>{html_text(say(_total(verdicts), chosen))}</strong></p>'
    return f'<div class="crash-course-report" lang="{_TAGS[chosen]}">{body}</div>'


_TAGS = {"en": "en", "zh": "zh-Hans"}
_NAMES = {"en": "English", "zh": "中文"}


def _html_verdict(verdict: Verdict, lang: str, other: str) -> str:
    head = (
        f"<strong>{_SIGN[verdict.met]} {html.escape(verdict.criterion)}</strong>: "
        f"{html.escape(say(word_for(verdict), lang))}, {html.escape(say(_points(verdict), lang))}"
    )
    advice = ""
    if verdict.advice is not None:
        label = html.escape(say(_words("mark.advice"), lang))
        advice = f'<p style="margin:.3em 0"><em>{label}</em> {html_text(say(verdict.advice, lang))}</p>'
    return (
        f'<div style="{_BOX.format(style=_STYLE[verdict.met])}">{head}'
        f"{''.join(_paragraph(part) for part in say(verdict.message, lang).split(chr(10)))}"
        f"{verdict.picture or ''}{advice}"
        f'<details lang="{_TAGS[other]}" style="opacity:.8"><summary>{_NAMES[other]}</summary>'
        f"{html_text(say(verdict.message, other))}</details></div>"
    )


def html_box(body: str, style: str, lang: str) -> str:
    """Return HTML with the bar at its left that everything this kit says in a notebook has."""
    return f'<div lang="{_TAGS[lang]}" style="{_BOX.format(style=style)}">{body}</div>'


def _paragraph(text: str) -> str:
    return f'<p style="margin:.3em 0">{html_text(text)}</p>'


def html_text(text: str) -> str:
    """Return a sentence as HTML; what stands between backquotes is code."""
    return re.sub(r"`([^`]*)`", rf'<code style="{_CODE}">\1</code>', html.escape(text))
