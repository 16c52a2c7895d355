"""``check`` in a running notebook: it finds the cells by itself and shows what it found."""

import os
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from grader.answers.session import Session, check
from grader.answers.show import Report, columns, html_report, text_report, wrap
from grader.verdict import Text, Verdict

PROGRAMS = Path(__file__).parents[1] / "levels" / "programs" / "level2"
GOOD = (PROGRAMS / "12_subdir_pid_tmp.py").read_text(encoding="utf-8")
BAD = (PROGRAMS / "17_single_write_in_place.py").read_text(encoding="utf-8")


def test_outside_a_notebook_a_sentence_says_what_to_do() -> None:
    report = check("level2-atomic")
    assert not report
    assert "crash-course check NOTEBOOK.ipynb" in repr(report)


class Shell:
    """As much of IPython's shell as a session looks at."""

    def __init__(self, *past: str) -> None:
        self.history_manager = type("History", (), {"input_hist_raw": ["", *past]})()
        self.user_ns: dict[str, Any] = {}
        self.heard: list[Callable[..., None]] = []
        self.events = self

    def register(self, name: str, callback: Callable[..., None]) -> None:
        assert name == "pre_run_cell"
        self.heard.append(callback)

    def run(self, source: str, cell_id: str | None = None, **more: Any) -> None:
        info = {"raw_cell": source, "cell_id": cell_id, "silent": False, "store_history": True, **more}
        for callback in self.heard:
            callback(type("Info", (), info)())


def cells_of(session: Session) -> list[tuple[str, str]]:
    return [(cell.id, cell.source) for cell in session.cells()]


def test_the_latest_source_of_each_cell_in_order_of_first_appearance() -> None:
    shell = Shell("import json", "from grader import check")
    session = Session(shell)
    session.begin()
    shell.run("x = 1", "a")
    shell.run("y = 1", "b")
    shell.run("x = 2", "a")
    shell.run("check()", "c")
    shell.run("secret", silent=True)
    shell.run("widget", store_history=False)
    shell.run("z = 1")
    assert cells_of(session) == [
        ("In [1]", "import json"),
        ("In [2]", "from grader import check"),
        ("a", "x = 2"),
        ("b", "y = 1"),
        ("In [3]", "z = 1"),
    ]


def test_a_cell_without_an_id_that_is_run_again_counts_once() -> None:
    shell = Shell()
    session = Session(shell)
    session.begin()
    for source in ("x = 1", "y = 1", "x = 1"):
        shell.run(source)
    assert [source for _, source in cells_of(session)] == ["y = 1", "x = 1"]


IPYTHON = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def run(source, cell_id=None):
    result = shell.run_cell(source, store_history=True, cell_id=cell_id)
    result.raise_error()
    return result.result
run("import json\\nimport os")
run("from grader import check", "setup")
good, bad = (open(name, encoding="utf-8").read() for name in sys.argv[1:3])
helper, rest = good.split("def run_agent", 1)
run(helper.replace("import json\\nimport os\\n", ""), "helpers")
run("def run_agent" + rest, "level2-code")
first = run("check('level2')", "x")
again = run("check('level2-atomic')", "y")
print("FIRST", [v.met for v in first.verdicts])
print("AGAIN", bool(again), again._repr_html_().startswith("<div"))
print("ALL", len(run("check()", "z").verdicts))
run(bad, "level2-code")
wrong = run("check('level2-atomic', 'level2-runs')", "y")
print("WRONG", [v.met for v in wrong.verdicts], wrong.verdicts[0].message.en.startswith("Killed at line "))
print(run("check('level2-atomik')", "w"))
print(run("check(3)", "w"))
"""


def test_in_ipython(tmp_path: Path) -> None:
    names = [PROGRAMS / "12_subdir_pid_tmp.py", PROGRAMS / "17_single_write_in_place.py"]
    environment = {**os.environ, "CRASH_COURSE_LANG": "en", "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", IPYTHON, *map(str, names)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.split(" ")[0].isupper())
    assert said["FIRST"] == "[False, False, True, True, True]"
    assert said["AGAIN"] == "True True"
    assert said["ALL"] == "5"
    assert said["WRONG"] == "[False, True] True"
    assert "did you mean 'level2-atomic'?" in done.stdout
    assert "There is no criterion '3'" in done.stdout


def test_in_a_real_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRASH_COURSE_LANG", "en")
    notebook = nbformat.v4.new_notebook()
    sources = [
        "from grader import check",
        GOOD,
        'check("level2-atomic")',
        BAD,
        '"""What it asks."""\ncheck("level2-atomic")',
        "print(check('level2-runs'))",
    ]
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert all(output.output_type != "error" for cell in outputs for output in cell)
    (right,) = outputs[2]
    assert "met  4 of 4" in right.data["text/plain"]
    assert "✓ level2-atomic" in right.data["text/html"]
    (wrong,) = outputs[4]
    assert "not met  0 of 4" in wrong.data["text/plain"]
    assert "the previous document is gone" in " ".join(wrong.data["text/plain"].split())
    assert "In [" not in wrong.data["text/plain"]
    assert "met  3 of 3" in outputs[5][0].text


EVIL = Verdict(
    "level2-atomic",
    False,
    0.0,
    4.0,
    Text("Killed at line 6 (`<script>alert(1)</script>`) & more", "第 6 行（`<b>`）"),
    advice=Text("<i>", "<i>"),
)


def test_html_is_safe_and_says_it_without_colour() -> None:
    seen: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.append(tag)
            assert all(not name.startswith("on") and name not in ("src", "href") for name, _ in attrs)

    waiting = Verdict("b", None, 0.0, 1.0, Text("m", "m"))
    page = html_report([EVIL, waiting, Verdict("a", True, 1.0, 1.0, Text("m", "m"))], [Text("n", "n")], "en")
    Reader().feed(page)
    assert not {"script", "b", "i", "img", "link", "style"} & set(seen)
    assert "✗" in page and "not met" in page and "… " in page and "to be read" in page and "✓" in page
    assert "color:" not in page.replace("currentColor", "")
    assert 'lang="zh-Hans"' in page


def test_text_is_wrapped_by_words_and_by_characters() -> None:
    english = wrap("one two three " * 10 + "x" * 200, 40, "  ")
    assert all(line.startswith("  ") and columns(line) <= 42 for line in english)
    assert "".join(english).split()[:3] == ["one", "two", "three"]
    chinese = wrap("在第六行被杀掉，文件里只有一半。" * 8, 30, "")
    assert all(columns(line) <= 30 for line in chinese)
    assert all(line[0] not in "，。" for line in chinese)
    assert "".join(chinese) == "在第六行被杀掉，文件里只有一半。" * 8


def test_a_report_adds_up() -> None:
    met = Verdict("a", True, 2.0, 2.0, Text("m", "m"), picture_text="old|new")
    text = text_report([met, EVIL], lang="en")
    assert "old|new" in text
    assert text.splitlines()[-1] == "2 of 6 points; met 1 of 2."
    assert Report([met]).met and not Report([met, EVIL]).met and not Report()
