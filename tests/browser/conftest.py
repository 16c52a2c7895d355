"""A real browser, a JupyterLab with the course in it, and a small class that has been graded."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from real_browser import Browser

from grader.build import find_checkout
from grader.classroom.course import Course
from grader.classroom.demo import demo_class, hand_in
from grader.classroom.folders import Folders
from grader.classroom.report import report_on
from grader.classroom.report_page import write_report

ROOT = find_checkout(Path(__file__).parent) or Path()
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HANDED_IN = {("fatou", "level1"), ("ada", "level2"), ("emil", "level2")}
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
SCRIPT = "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"
"""What the learner Mallory puts wherever text may come out again."""


@pytest.fixture(scope="session")
def _playwright() -> Any:
    """Return Playwright's module; whatever needs a browser is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no chromium: apt install chromium")
    return pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'crash-course[dev]'")


@pytest.fixture(scope="module")
def _chromium(_playwright: Any) -> Iterator[Any]:
    """A browser that is gone with its module: while it lives, this thread has a running event loop."""
    with _playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield chromium
        chromium.close()


@pytest.fixture
def browser(_chromium: Any, request: pytest.FixtureRequest) -> Iterator[Browser]:
    wanted = request.config.getoption("--screenshots")
    opened = Browser(_chromium, Path(wanted) if wanted else None)
    yield opened
    for context in _chromium.contexts:
        context.close()


def _mallory(folder: Path) -> None:
    """Hand in work whose every text is an attack on whoever looks at it."""
    release = json.loads((folder / "exercises" / "level2" / "level2.ipynb").read_text(encoding="utf-8"))
    cells = {cell["id"]: cell for cell in release["cells"]}
    cells["level2-hazards"]["source"] = f"hazard_1 = {SCRIPT!r}\nhazard_2 = hazard_1\n"
    code = "".join(cells["level2-code"]["source"])
    assert " as file:" in code
    cells["level2-code"]["source"] = code.replace(" as file:", f" as file:  # {SCRIPT}")
    more = {"cell_type": "markdown", "id": "more", "metadata": {}, "source": SCRIPT}
    release["cells"].insert(1, more)
    place = folder / "classroom" / "submitted" / "mallory" / "level2" / "level2.ipynb"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(release), encoding="utf-8")


@pytest.fixture(scope="session")
def graded(_playwright: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder: lessons, exercises, and a class graded through nbgrader, with its pages and reports."""
    folder = tmp_path_factory.mktemp("course") / "my course"
    folder.mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    for level in ("level1", "level2"):
        shutil.copytree(ROOT / "solutions" / level, folder / "solutions" / level)
    shutil.copytree(ROOT / "lessons", folder / "lessons", ignore=shutil.ignore_patterns("minagent", "__pycache__"))
    course = Course(folder)
    for level in ("level1", "level2"):
        course.generate_assignment(level)
    for one in demo_class():
        if (one.student, one.level) in HANDED_IN:
            hand_in(folder, one)
    _mallory(folder)
    for student, level in sorted(HANDED_IN | {("mallory", "level2")}):
        course.autograde(level, student)
        course.generate_feedback(level, student)
    folders = Folders(folder)
    for level in ("level1", "level2"):
        write_report(folders, report_on(folders, level))
    return folder


@pytest.fixture(scope="session")
def lab(graded: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running JupyterLab, formgrader in it, in the course's folder; its address."""
    state = tmp_path_factory.mktemp("jupyter")
    for name, values in SETTINGS.items():
        path = state / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--expose-app-in-browser"]
    command += [f"--ServerApp.root_dir={graded}"]
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    environment = {
        **os.environ,
        **{name: str(state / part) for name, part in places.items()},
        "CRASH_COURSE_LANG": "en",
    }
    with subprocess.Popen(
        command, cwd=graded, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        said: list[str] = []
        for line in server.stderr:
            said.append(line)
            if "is running at" in line:
                break
        else:
            pytest.fail("JupyterLab did not start:\n" + "".join(said[-20:]))
        threading.Thread(target=server.stderr.read, daemon=True).start()
        yield f"http://127.0.0.1:{port}"
        server.terminate()


@pytest.fixture
def solution_of() -> Callable[[str], dict[str, str]]:
    def find(level: str) -> dict[str, str]:
        notebook = json.loads((ROOT / f"solutions/{level}/{level}.ipynb").read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("solution")]
        return {cell["id"]: "".join(cell["source"]) for cell in cells}

    return find
