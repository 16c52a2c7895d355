"""The class report as a page: static, nothing fetched, no script, every text escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from grader.classroom.folders import Folders
from grader.classroom.judging import marked_up
from grader.classroom.report import STATES, Report
from grader.words import catalogue, language, say

words = catalogue("classroom/report.toml")

_NAMED = 40
"""Students named under a fault; the others are counted."""
_PAIRS = 100
"""Pairs shown, the most alike first; the others are counted, and ``--json`` has them."""


def report_page(report: Report, pages: Mapping[str, str] | None = None) -> str:
    """Return the page.

    Args:
        report: what there is to say.
        pages: where each student's feedback page lies, seen from this one.
    """
    links = pages or {}

    def name(student: str) -> Markup:
        if student not in links:
            return escape(student)
        return Markup('<a href="{}">{}</a>').format(links[student], student)

    return _template().render(
        report=report,
        states=STATES,
        most_pairs=_PAIRS,
        language={"en": "en", "zh": "zh-Hans"}[language()],
        name=name,
    )


def write_report(folders: Folders, report: Report) -> Path:
    """Write the page beside the graded work and return where it is: ``classroom/report/level2.html``.

    Raises:
        Refused: it can't be written there.
    """
    path = folders.autograded.parent / "report" / f"{report.exercise}.html"
    above = Path("..") / folders.feedback.relative_to(folders.autograded.parent)
    pages = {
        one.student: quote((above / one.student / report.exercise / found.name).as_posix())
        for one in report.submissions
        for found in sorted((folders.feedback / one.student / report.exercise).glob("*.html"))[:1]
    }
    folders.settle(folders.prepare(path, report_page(report, pages)), path)
    return path


def shortened(students: Sequence[str]) -> str:
    """Return the names, the first of them when they are many."""
    shown = ", ".join(students[:_NAMED])
    more = len(students) - _NAMED
    return shown if more <= 0 else f"{shown} {say(words('page.more', count=more))}"


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        say=lambda key, **values: say(words(key, **values)),
        text=say,
        mark=lambda text: Markup(marked_up(text)),
        shortened=shortened,
    )
    return environment.get_template("report.html.j2")
