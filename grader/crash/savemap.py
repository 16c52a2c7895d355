"""The crash map of one save out of a longer recording, for who has worked out already what each kill leaves.

A level's judge records a whole run and knows, for each moment of it, what lay on disk; with the letters of ``strips``
it gets the same picture that ``explore`` gives for a save of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.crash.crashmap import MOST, card, legend, picture
from grader.crash.describe import Story
from grader.crash.models import Moment
from grader.crash.operations import Recording
from grader.crash.report import map_as_text, width_of
from grader.crash.sentences import language
from grader.crash.strips import save_map

Outcomes = Sequence[tuple[Moment, str, int]]
"""Moments of the save, the letter of what was found, and how many images each stands for."""


def as_html(recording: Recording, outcomes: Outcomes, worst: Moment | None, *, lang: str | None = None) -> str:
    """The crash map as a self-contained HTML fragment.

    Args:
        recording: the save's part of a recording; it ends with the mark ``save-end``.
        outcomes: what lay on disk at each moment.
        worst: the moment to point at.
        lang: ``"en"`` or ``"zh"``; what the environment says when None.
    """
    lang = language(lang)
    story = Story(recording)
    shown = save_map(outcomes, story, worst, MOST)
    return card(picture(shown, story, lang) + legend([shown], lang), lang)


def as_text(
    recording: Recording, outcomes: Outcomes, worst: Moment | None, *, lang: str | None = None, width: int = 80
) -> str:
    """The crash map in letters, ``width`` columns wide at most; arguments as for ``as_html``."""
    lang = language(lang)
    story = Story(recording)
    lines: list[str] = []
    for most in (24, 20, 17, 15, 13, 11, 9, 7):
        lines = map_as_text(save_map(outcomes, story, worst, most), story, lang, width)
        if max(map(width_of, lines)) <= width:
            break
    return "\n".join(lines)
