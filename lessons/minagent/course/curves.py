"""Curves that were measured: drawn by matplotlib, coloured by the page's theme, told apart without colour."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec

from .pictures import Picture, table

Line = tuple[Sequence[float], Sequence[float]]

# What matplotlib is told to use, and the variable of the theme that takes its place in the SVG.
COLOURS = {
    "#20242b": "--ink",
    "#6b7280": "--faint",
    "#b6bcc6": "--line",
    "#1d5fd1": "--blue",
    "#146c43": "--green",
    "#b42318": "--red",
}
LOOKS = (("#1d5fd1", "-", "o"), ("#146c43", "--", "s"), ("#20242b", ":", "^"), ("#6b7280", (0, (6, 1)), "v"))
OTHER = ("#b42318", "-.", "D")


@dataclass(frozen=True)
class Panel:
    """One pair of axes: lines by name, each with its x and y values; perhaps one more on an axis of its own."""

    title: str
    x: str
    y: str
    lines: dict[str, Line]
    other_y: str = ""
    other: dict[str, Line] = field(default_factory=dict)
    log_x: bool = False
    log_y: bool = False


def curves(*panels: Panel, height: float = 3.3) -> Picture:
    """Draw panels side by side."""
    if find_spec("matplotlib") is None:  # in a browser: the figures themselves
        return _as_tables(panels)
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it tells the first time that it is slow
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    look = {
        "svg.fonttype": "none",
        "svg.hashsalt": "crash-course",
        "font.size": 10,
        "axes.spines.top": False,
        "text.color": "#20242b",
        "axes.labelcolor": "#20242b",
        "axes.edgecolor": "#b6bcc6",
        "xtick.color": "#6b7280",
        "ytick.color": "#6b7280",
        "axes.titlesize": 10.5,
    }
    with matplotlib.rc_context(look):
        layout = ConstrainedLayoutEngine(wspace=0.08)
        figure = Figure(figsize=(4.4 * len(panels) + (0.4 if len(panels) == 1 else 0), height), layout=layout)
        figure.patch.set_alpha(0)
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            _draw(axes, panel)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = "\n".join(_words(panel) for panel in panels)
    return Picture(_themed(out.getvalue(), text), text)


def _draw(axes: object, panel: Panel) -> None:
    from typing import Any

    ax: Any = axes
    handles = []
    for (name, (x, y)), (colour, style, marker) in zip(panel.lines.items(), LOOKS, strict=False):
        every = max(1, len(x) // 9)
        handles += ax.plot(x, y, style, c=colour, marker=marker, ms=4.5, markevery=every, lw=1.7, label=name)
    ax.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    ax.set_xscale("log" if panel.log_x else "linear")
    ax.set_yscale("log" if panel.log_y else "linear")
    if panel.log_x:
        ticks = next(iter(panel.lines.values()))[0]
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
    if not panel.log_y:
        ax.set_ylim(bottom=0)
    ax.spines["right"].set_visible(bool(panel.other))
    for name, (x, y) in panel.other.items():
        second = ax.twinx()
        colour, style, marker = OTHER
        handles += second.plot(x, y, linestyle=style, c=colour, marker=marker, ms=4.5, lw=1.7, label=name)
        second.set_ylabel(panel.other_y)
        second.set_ylim(bottom=0)
    ax.legend(handles=handles, frameon=False, loc="upper center" if panel.other else "best", handlelength=3.2)


def _themed(svg: str, label: str) -> str:
    """Make the SVG fit to stand in a page: colours of the theme, nothing that points to the network."""
    from html import escape

    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.S)  # the style is of the whole page
    svg = svg.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "").replace("xlink:href", "href")
    svg = re.sub(r"font: ([\d.]+px) [^;\"]+", r"font: \1 system-ui, 'Noto Sans', sans-serif", svg)
    for colour, name in COLOURS.items():
        svg = svg.replace(colour, f"var({name})")
    width = re.search(r'<svg [^>]*?width="([\d.]+)pt"', svg)
    most = f"{float(width.group(1)) * 4 / 3:.0f}px" if width else "100%"
    title = escape(label.replace("\n", "; "), quote=True)
    svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    return svg.replace("<svg ", f'<svg role="img" style="max-width:{most}" aria-label="{title}" ', 1)


def _words(panel: Panel) -> str:
    rows = [f"{panel.title} ({panel.x}: {panel.y})"]
    for name, (x, y) in {**panel.lines, **panel.other}.items():
        step = max(1, len(x) // 8)
        points = [f"{a:g}: {b:.3g}" for a, b in list(zip(x, y, strict=True))[::step]]
        rows.append(f"  {name:<24} {', '.join(points)}")
    return "\n".join(rows)


def _as_tables(panels: Sequence[Panel]) -> Picture:
    """Give what the panels would show as figures: a line for each x, a column for each curve."""
    rows: list[dict[str, object]] = []
    for panel in panels:
        lines = {**panel.lines, **panel.other}
        for place in dict.fromkeys(x for xs, _ in lines.values() for x in xs):
            values = {name: f"{dict(zip(xs, ys, strict=True)).get(place, '')}" for name, (xs, ys) in lines.items()}
            rows.append({"": panel.title, panel.x: f"{place:g}", **values})
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return table([{name: row.get(name, "") for name in columns} for row in rows])
