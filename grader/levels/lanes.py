"""Lives as rows of events, one chip for each, for pictures of how something came about."""

from __future__ import annotations

import html

Rows = list[tuple[str, list[tuple[str, str]]]]
"""Each row's name, and its events: how each looks (a key of the looks below) and what it says."""

_LOOKS = {
    "": "border:1px dashed currentColor;opacity:.75",
    "save": "border:1px solid currentColor",
    "write": "border:1px solid currentColor;font-weight:bold",
    "death": "color:#c02020;font-weight:bold",
    "wrong": "border:2px solid #c02020;font-weight:bold",
}


def as_html(rows: Rows) -> str:
    """Draw the rows as a table of chips."""
    body = ""
    for number, cells in rows:
        chips = " ".join(
            f'<span style="{_LOOKS[look]};border-radius:4px;padding:0 .4em;margin:.1em 0;display:inline-block">'
            f"{html.escape(text)}</span>"
            for look, text in cells
        )
        body += (
            f'<tr><td style="vertical-align:top;text-align:right"><b>{number}</b></td>'
            f'<td style="text-align:left">{chips}</td></tr>'
        )
    return f'<table style="font-size:.9em;max-width:60em">{body}</table>'


def as_text(rows: Rows) -> str:
    """Write the rows in lines of 76 signs at most."""
    lines: list[str] = []
    for number, cells in rows:
        line = f"{number}  "
        for look, text in cells:
            text = f"<< {text} >>" if look == "wrong" else text
            if len(line) + len(text) + 3 > 76 and line.strip() != number:
                lines.append(line.rstrip())
                line = "   "
            line += text + " | "
        lines.append(line.rstrip(" |"))
    return "\n".join(lines)
