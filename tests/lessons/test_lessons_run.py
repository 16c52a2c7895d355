"""Every lesson runs top to bottom in a fresh kernel, unsolved, and is what its text source makes."""

import ast
import os
import re
from pathlib import Path

import minagent
import nbformat
import pytest
from nbclient import NotebookClient

from grader.build import notebook_text

LESSONS = Path(__file__).resolve().parents[2] / "lessons"
SOURCES = sorted(LESSONS.glob("[0-9][0-9]_*.md"))


def read(source):
    return nbformat.read(source.with_suffix(".ipynb"), as_version=4)


def test_the_notebook_is_what_its_source_makes():
    for source in SOURCES:
        assert source.with_suffix(".ipynb").read_text(encoding="utf-8") == notebook_text(source), source.name


@pytest.fixture(scope="session")
def run_lessons(tmp_path_factory):
    """Return a function that runs a lesson once and keeps the result."""
    done = {}

    def run(source):
        if source.stem not in done:
            notebook = read(source)
            folder = tmp_path_factory.mktemp(source.stem)
            client = NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(folder)}})
            client.execute(env={**os.environ, "CRASH_COURSE_LANG": "en"})
            done[source.stem] = notebook
        return done[source.stem]

    return run


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_it_runs_top_to_bottom_and_says_nothing_on_stderr(source, run_lessons):
    notebook = run_lessons(source)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert outputs
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert sum("<svg" in str(output.get("data", {}).get("text/html", "")) for output in outputs) >= 1


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_it_has_the_parts_of_a_lesson(source):
    cells = read(source).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert re.match(r"# \d+ · .+\n\n\*\*[^*]+\?\*\*", cells[0].source), "opens with one question"
    for part in ("## Seen in the wild", "## Your turn", "## Summary", "## Notes"):
        assert part in prose, part
    assert re.search(r"#\d+\*\*", prose), "the box names project and number"
    assert "reported" in prose
    assert 2 <= len(re.findall(r'^check\("lesson', code, re.M)) <= 4
    assert "compare(" in code
    assert f'note("{source.stem}", "")' in code
    assert 'check("lesson' + source.stem[:2] in code


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_a_line_of_code_fits_the_page(source):
    for cell in read(source).cells:
        if cell.cell_type == "code":
            assert max(map(len, cell.source.splitlines())) <= 112, cell.source[:200]


# -- what a lesson defines is what minagent ships ------------------------------------------------------------


class Bare(ast.NodeTransformer):
    """Take docstrings and annotations away: a lesson leaves them out, the package does not."""

    def _body(self, node):
        self.generic_visit(node)
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(node.body) > 1:
            node.body = node.body[1:]
        return node

    def visit_FunctionDef(self, node):
        node.returns = None
        return self._body(node)

    visit_ClassDef = _body

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        if node.value is not None:
            return ast.copy_location(ast.Assign([node.target], node.value), node)
        node.annotation = ast.Constant("?")
        return node


def definitions(text):
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, ast.unparse(ast.fix_missing_locations(Bare().visit(node)))


def shipped():
    found = {}
    for file in (LESSONS / "minagent").glob("*.py"):
        found.update(definitions(file.read_text(encoding="utf-8")))
    return found


def defined(source):
    for cell in read(source).cells:
        if cell.cell_type == "code" and not cell.source.startswith("%%"):
            yield from definitions(cell.source)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_what_a_lesson_defines_is_what_minagent_ships(source):
    package = shipped()
    for name, code in defined(source):
        if name in package:
            assert code == package[name], f"{source.stem} and minagent differ in {name}"


def test_the_lessons_build_the_core_of_minagent():
    built = {name for source in SOURCES for name, _ in defined(source)} & set(shipped())
    core = {"FakeModel", "Session", "Tool", "execute", "step_once", "run", "book", "checkpoint", "restore"}
    assert core <= built
    assert set(minagent.__all__) >= core


# -- the picture in words ------------------------------------------------------------------------------------


def test_no_picture_fetches_anything(run_lessons):
    for source in SOURCES:
        for cell in run_lessons(source).cells:
            for output in cell.get("outputs", []):
                html = str(output.get("data", {}).get("text/html", ""))
                without_namespace = html.replace("http://www.w3.org/2000/svg", "")
                assert "http" not in without_namespace and "<script" not in html
