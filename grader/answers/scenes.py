"""``scenes``: the five scenes of Level 1 with a learner's figures, and the lists to choose from."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from grader.answers.show import WIDTH, columns, html_text, wrap
from grader.levels.level1_scenes import CONSEQUENCES, FIELDS, OUTCOMES, scene
from grader.levels.level1_timeline import describe, question
from grader.verdict import Text
from grader.words import catalogue, language, plain, say

_words = catalogue("levels/level1.toml")


@dataclass(frozen=True)
class Scenes:
    """What ``scenes`` returns; in a notebook it shows itself as HTML, in a terminal as text."""

    learner: str = ""
    lang: str = field(default_factory=language)

    def _title(self) -> Text:
        if not self.learner:
            return _words("scenes.fixed")
        return _words("scenes.own", learner=plain(self.learner[:60]))

    def __repr__(self) -> str:
        lines = wrap(say(self._title(), self.lang), WIDTH, "")
        for name in FIELDS:
            one = scene(name, self.learner)
            head = _words("scenes.head", field=name)
            lines += ["", say(head, self.lang), *wrap(say(describe(one), self.lang), WIDTH - 2, "  ")]
            asked = f"{say(_words('scenes.question'), self.lang)} {say(question(one), self.lang)}"
            lines += wrap(asked, WIDTH - 2, "  ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        body = f"<p><strong>{html_text(say(self._title(), self.lang))}</strong></p>"
        for name in FIELDS:
            one = scene(name, self.learner)
            head = say(_words("scenes.head", field=plain(f"`{name}`")), self.lang)
            body += (
                f'<div style="border-left:3px solid currentColor;padding:0 .8em;margin:.8em 0">'
                f"<strong>{html_text(head)}</strong>"
                f'<p style="margin:.3em 0">{html_text(say(describe(one), self.lang))}</p>'
                f'<p style="margin:.3em 0"><em>{html_text(say(_words("scenes.question"), self.lang))}</em> '
                f"{html_text(say(question(one), self.lang))}</p></div>"
            )
        tag = {"en": "en", "zh": "zh-Hans"}[self.lang]
        return f'<div class="crash-course-scenes" lang="{tag}" style="max-width:48em;line-height:1.45">{body}</div>'


def scenes(learner: str = "") -> Scenes:
    """Show the five scenes of Level 1.

    Args:
        learner: whose figures; without a name, those of ``CRASH_COURSE_LEARNER``, and without that, everybody's.
    """
    name = learner if isinstance(learner, str) else ""
    return Scenes(name.strip() or os.environ.get("CRASH_COURSE_LEARNER", "").strip())


@dataclass(frozen=True)
class Choices:
    """A list of values to choose from, with what each means."""

    entries: tuple[tuple[str, Text], ...]
    lang: str = field(default_factory=language)

    def __repr__(self) -> str:
        widest = max(len(name) for name, _ in self.entries) + 4
        lines: list[str] = []
        for name, text in self.entries:
            first, *rest = wrap(say(text, self.lang), WIDTH - widest, "")
            lines.append(f'"{name}"'.ljust(widest) + first)
            lines += [" " * widest + line for line in rest]
        assert all(columns(line) <= WIDTH for line in lines)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="text-align:left"><code>"{name}"</code></td>'
            f'<td style="text-align:left">{html_text(say(text, self.lang))}</td></tr>'
            for name, text in self.entries
        )
        return f"<table>{rows}</table>"


def choices(name: str = "consequence") -> Choices:
    """Show the values that ``consequence`` can take, or the outcomes for the field ``"version"`` or ``"task"``."""
    if name in OUTCOMES:
        return Choices(tuple((one, _words(f"outcome.{name}.{one}")) for one in OUTCOMES[name]))
    return Choices(tuple((one, _words(f"consequence.{one}")) for one in CONSEQUENCES))
