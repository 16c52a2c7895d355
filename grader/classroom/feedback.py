"""The feedback page: each criterion with its verdict, then the learner's code. No script, nothing fetched."""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jinja2
import nbformat
from markupsafe import Markup
from nbconvert.exporters import Exporter
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution
from traitlets import default

from grader.classroom.sheet import made_from, sheet_of
from grader.criteria import criteria
from grader.verdict import Text
from grader.words import catalogue, language, say

words = catalogue("classroom/words.toml")


class FeedbackGrades(NbGraderPreprocessor):  # type: ignore[misc]
    """The marks for the page, from the gradebook."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Write them into the cells, and the totals into the resources."""
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            sheet = sheet_of(
                gradebook.find_submission_notebook(where["notebook"], where["assignment"], where["student"])
            )
        where["made_from"] = made_from(nbformat.v4.writes(nb) + "\n", sheet)
        sheet.into(nb)
        where.update(sheet.about())
        return nb, resources


class FeedbackPage(Exporter):  # type: ignore[misc]
    """Write the page of one graded notebook with a template of our own, every text escaped."""

    output_mimetype = "text/html"

    @default("file_extension")  # type: ignore[untyped-decorator]
    def _file_extension_default(self) -> str:
        return ".html"

    def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> tuple[str, Any]:
        """Return the page as text."""
        nb, resources = super().from_notebook_node(nb, resources=resources, **kw)
        return page(nb, resources["nbgrader"]), resources


def page(nb: Any, about: Any) -> str:
    """Return the feedback page of a graded notebook; ``about`` holds its score and names."""
    graded = [cell for cell in nb.cells if is_grade(cell)]
    why = nb.metadata.get("crash_course", {}).get("unreadable")
    waiting = sum(float(cell.metadata.nbgrader.points) for cell in graded if cell.metadata.nbgrader.get("waits"))
    return _template().render(
        made_from=about.get("made_from", ""),
        language={"en": "en", "zh": "zh-Hans"}[language()],
        notebook=about["notebook"],
        student=about["student"],
        score=float(about["score"] or 0),
        most=float(about["max_score"] or 0),
        late=float(about.get("late_penalty") or 0),
        waiting=waiting,
        unreadable=say(words("wait.unreadable", why=Text(**why))) if why else None,
        criteria=[_criterion(cell) for cell in graded if not is_solution(cell)],
        code=sorted((_code(cell) for cell in nb.cells if _learners_code(cell)), key=lambda code: not code["answer"]),
        style=_code_style(),
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["say"] = lambda key, **values: say(words(key, **values))
    return environment.get_template("feedback.html.j2")


def _criterion(cell: Any) -> dict[str, Any]:
    marks = cell.metadata.nbgrader
    known = criteria().get(marks.grade_id)
    return {
        "id": marks.grade_id,
        "statement": say(known.statement) if known else "",
        "score": float(marks.get("score") or 0),
        "most": float(marks.points),
        "waits": bool(marks.get("waits")),
        "by_person": bool(marks.get("by_person")),
        "verdict": _verdict(cell),
    }


def _verdict(cell: Any) -> Markup:
    """Return what the judge wrote into the cell; of other graded cells, their plain text, escaped."""
    judged = cell.metadata.get("crash_course")
    if judged is not None and judged.met is None and not cell.metadata.nbgrader.get("waits"):
        return Markup("<p>{}</p>").format(say(Text(**judged.message)))  # a person has decided since
    blocks = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if judged is not None and output.output_type == "display_data":
            blocks.append(Markup(data.get("text/html", "")))
        elif judged is None:
            text = data.get("text/plain") or output.get("text") or "\n".join(output.get("traceback", []))
            blocks.append(Markup("<pre>{}</pre>").format(re.sub(r"\x1b\[[0-9;]*m", "", str(text))))
    return Markup("").join(blocks)


def _learners_code(cell: Any) -> bool:
    if cell.cell_type != "code" or (is_grade(cell) and not is_solution(cell)):
        return False
    return not cell.metadata.get("nbgrader", {}).get("locked") and bool(cell.source.strip())


def _code(cell: Any) -> dict[str, Any]:
    marks = cell.metadata.get("nbgrader", {})
    return {
        "id": cell.get("id", ""),
        "answer": bool(marks.get("solution")),
        "comment": marks.get("comment") or "",
        "html": _highlighted(cell.source),
    }


@lru_cache(maxsize=256)  # a class hands in many cells unchanged
def _highlighted(source: str) -> Markup:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    return Markup(highlight(source, PythonLexer(), HtmlFormatter(linenos="inline")))


@cache
def _code_style() -> Markup:
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="friendly").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    ground = ".highlight, .highlight pre { background: var(--box); } .highlight span.linenos { background: none; }"
    return Markup(f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n{ground}")
