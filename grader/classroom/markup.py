"""Markdown of a learner's that somebody else's browser will show: the same text, without markup that acts or fetches.

nbgrader's formgrader turns Markdown cells into a page as they are, scripts and all, in the instructor's session.
"""

import re
from typing import Any

_JOINER = "\u2060"
"""Invisible and without width. After ``<`` it makes a tag a text, inside code as well as outside of it."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_PICTURE = re.compile(r"!(?=\[)")
_ENTITY = re.compile(r"&(?=#|(?:colon|tab|newline);)", re.IGNORECASE)
_ADDRESS = re.compile(r"(javascript|vbscript|data)(?=\s*\\?:)", re.IGNORECASE)
_ACTS = re.compile(r"(?i)<\s*(?:script|iframe|object|embed|svg|link|meta|style|form)\b|\bon[a-z]+\s*=|javascript:")


def harmless(source: str) -> str:
    """Return Markdown that reads the same and of which no browser runs or fetches anything."""
    source = _TAG.sub(f"<{_JOINER}", source)
    source = _PICTURE.sub(f"!{_JOINER}", source)
    source = _ENTITY.sub(f"&{_JOINER}", source)
    return _ADDRESS.sub(lambda found: f"{found[1][0]}{_JOINER}{found[1][1:]}", source)


def acts(source: str) -> bool:
    """Whether Markdown holds a script or something like it."""
    return _ACTS.search(source) is not None


def disarm(nb: Any) -> list[str]:
    """Make the Markdown of a restored submission harmless, in place, and return the flags for what acted."""
    flags = []
    for cell in nb.cells:
        if cell.cell_type == "markdown" and not cell.metadata.get("nbgrader", {}).get("locked"):
            if acts(cell.source):
                flags.append(f"markup that acts in cell {cell.id}")
            cell.source = harmless(cell.source)
    return flags
