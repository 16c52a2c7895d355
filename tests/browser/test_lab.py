"""What a learner sees in JupyterLab: a lesson runs through; a level says what is wrong, and then that all is right."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from real_browser import Browser

READY = """() => {
  const session = window.jupyterapp?.shell?.currentWidget?.sessionContext;
  const kernel = session?.session?.kernel;
  return session?.isReady && kernel?.status === 'idle' && kernel.connectionStatus === 'connected';
}"""
DONE = """() => {
  const panel = window.jupyterapp.shell.currentWidget;
  const cells = panel.content.model.sharedModel.toJSON().cells;
  const code = cells.filter(cell => cell.cell_type === 'code' && String(cell.source).trim());
  const failed = code.some(cell => cell.outputs.some(output => output.output_type === 'error'));
  return panel.sessionContext.session.kernel.status === 'idle' && (failed || code.every(cell => cell.execution_count));
}"""
ERRORS = """() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells.flatMap(
  cell => (cell.outputs ?? []).filter(one => one.output_type === 'error').map(one => cell.id + ': ' + one.evalue))"""
ANSWER = """([id, source]) => {
  const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells;
  cells.find(cell => cell.id === id).setSource(source);
}"""
SHOWN = """id => {
  const widget = window.jupyterapp.shell.currentWidget.content.widgets.find(one => one.model.id === id);
  const output = widget.node.querySelector('.jp-OutputArea');
  const map = output?.querySelector('.ccmap svg.cc-map')?.getBoundingClientRect();
  return {text: output?.innerText ?? '', map: map ? [map.width, map.height] : null, there: widget.node.isConnected};
}"""
SCROLL = """id => window.jupyterapp.shell.currentWidget.content.widgets
  .find(one => one.model.id === id).node.scrollIntoView()"""


def opened(browser: Browser, lab: str, path: str) -> Any:
    page = browser.page()
    page.goto(f"{lab}/lab/workspaces/{re.sub('[^a-z0-9]', '', path)}/tree/{path}?reset")
    page.wait_for_function(READY)
    return page


def run_all(page: Any) -> None:
    """Run all cells as a learner does, through the menu; outputs and counts of earlier runs are cleared first."""
    page.evaluate("() => window.jupyterapp.commands.execute('editmenu:clear-all')")
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator('.lm-Menu-item[data-command="runmenu:run-all"]').click()
    page.wait_for_function(DONE)


def test_a_lesson_runs_through_without_an_error(browser: Browser, lab: str) -> None:
    page = opened(browser, lab, "lessons/05_writes_that_survive.ipynb")
    run_all(page)
    assert page.evaluate(ERRORS) == []
    assert page.locator(".jp-OutputArea .ccmap svg.cc-map:visible").count() >= 3
    browser.picture(page, "lab-lesson")
    assert browser.outside == []


@pytest.mark.parametrize(
    ("level", "failing", "mapped"),
    [
        ("level2", "level2-atomic", True),
        pytest.param("level1", "level1-turns", False, marks=pytest.mark.thorough),
    ],
)
def test_a_level_says_what_is_wrong_and_then_that_all_is_right(
    browser: Browser, lab: str, solution_of: Callable[[str], dict[str, str]], level: str, failing: str, mapped: bool
) -> None:
    page = opened(browser, lab, f"exercises/{level}/{level}.ipynb")
    run_all(page)
    assert page.evaluate(ERRORS) == []
    shown = page.evaluate(SHOWN, failing)
    assert shown["there"] and "not met" in shown["text"]
    if mapped:
        assert shown["map"] is not None and shown["map"][0] > 300 and shown["map"][1] > 50
    page.evaluate(SCROLL, failing)
    browser.picture(page, f"lab-{level}-unsolved")

    for cell, source in solution_of(level).items():
        page.evaluate(ANSWER, [cell, source])
    run_all(page)
    assert page.evaluate(ERRORS) == []
    checks = page.evaluate(
        """level => window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells
          .filter(cell => cell.cell_type === 'code' && String(cell.source).includes(`check("${level}-`))
          .map(cell => cell.id)""",
        level,
    )
    assert len(checks) >= 5
    texts = {cell: page.evaluate(SHOWN, cell)["text"] for cell in checks}
    assert {cell: re.search(rf"{cell}: (.*?),", text)[1] for cell, text in texts.items()} == dict.fromkeys(
        checks, "met"
    )
    page.evaluate(SCROLL, failing)
    browser.picture(page, f"lab-{level}-solved")
    assert browser.outside == []
