"""A task's progress as a picture: one square for each item."""

from __future__ import annotations

from ..taskstate import TaskState, progress_bar
from .pictures import Picture, _box, _svg, _text, _width

LOOKS = {"done": "green", "failed": "red", "rejected": "none", "waiting_approval": "blue", "pending": "box"}
SIGNS = {"done": "", "failed": "x", "rejected": "-", "waiting_approval": "?", "pending": ""}


def pages_view(state: TaskState, *, columns: int = 40) -> Picture:
    """Draw a square for each item, by its stage; a half done one has a dot."""
    side, left, top = 19.0, 8.0, 34.0
    parts = [_text(8, 18, f"{state.goal}  ({state.status})", "bold")]
    for number, item in enumerate(state.items):
        x, y = left + side * (number % columns), top + side * (number // columns)
        parts.append(_box(x, y, side - 3, side - 3, LOOKS[item.stage], 3))
        begun = item.stage == "pending" and any(step.status != "todo" for step in item.steps.values())
        sign = "•" if begun else SIGNS[item.stage]
        if sign:
            parts.append(_text(x + 8, y + 12, sign, "small mid"))
    rows = -(-len(state.items) // columns)
    bottom = top + side * rows + 16
    bar = progress_bar(state)
    words = bar[bar.index("]") + 2 :] + ".   x failed   ? waits   - rejected   • half done"
    parts.append(_text(8, bottom, words, "small"))
    width = max(left + side * min(columns, len(state.items)) + 8, _width(words, 11.5) + 16)
    return Picture(_svg(width, bottom + 10, parts, bar), bar)
