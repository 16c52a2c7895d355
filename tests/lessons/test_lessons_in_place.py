"""Programs run inside this process, as a browser has to: they end as in a process of their own, and leave the same."""

import sys
from pathlib import Path

import pytest
from minagent.course import crashes, in_place
from minagent.course.curves import Panel, curves

TIDY = """
import atexit, sys, time
from pathlib import Path
atexit.register(lambda: Path("atexit.txt").write_text("saved"))
kept = open("buffered.txt", "w")
kept.write("never flushed")
try:
    Path("early.txt").write_text("before")
    print("working", flush=True)
    if sys.argv[1] == "raise":
        raise RuntimeError("something went wrong")
    if sys.argv[1] == "leave":
        sys.exit(3)
    Path("early.txt").write_text("changed after")
    sys.stdin.read()
    while sys.argv[1] == "wait":
        time.sleep(0.01)
finally:
    Path("finally.txt").write_text("saved")
print("done")
"""


def left(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.txt")}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    both = tmp_path / "real", tmp_path / "in place"
    for folder in both:
        folder.mkdir()
        (folder / "tidy.py").write_text(TIDY)
    return both


@pytest.mark.parametrize("way", ["raise", "leave", "go on"])
def test_a_program_ends_as_in_a_process_of_its_own(folders: tuple[Path, Path], way: str) -> None:
    real, here = folders
    outcome = crashes.run_program(real / "tidy.py", way)
    said, code = in_place.run(here / "tidy.py", way)
    assert code == outcome.code
    assert said[0] == outcome.said[0] and said[-1] == outcome.said[-1]
    assert left(here) == left(real)


def test_a_kill_leaves_what_a_real_one_leaves(folders: tuple[Path, Path]) -> None:
    real, here = folders
    (real / "tidy.py").write_text(
        TIDY.replace('print("working", flush=True)', 'print("working", flush=True); sys.stdin.read(); time.sleep(60)')
    )
    outcome = crashes.run_and_kill(real / "tidy.py", "working", "wait")
    said, code = in_place.run(here / "tidy.py", "wait", when="working")
    assert (said, code) == (outcome.said, outcome.code) == (["working"], -9)
    assert left(here) == left(real) == {"early.txt": b"before", "buffered.txt": b""}


def test_a_later_kill_takes_a_program_that_never_ends(folders: tuple[Path, Path]) -> None:
    said, code = in_place.run(folders[1] / "tidy.py", "wait", when="working", after=0.05)
    assert (said, code) == (["working"], -9)
    assert "finally.txt" not in left(folders[1]) and left(folders[1])["early.txt"] == b"changed after"


def test_the_process_itself_is_as_it_was(folders: tuple[Path, Path]) -> None:
    before = sys.argv, sys.modules["__main__"], sys.stdin, Path.cwd(), sys.getprofile()
    in_place.run(folders[1] / "tidy.py", "wait", when="working")
    assert (sys.argv, sys.modules["__main__"], sys.stdin, Path.cwd(), sys.getprofile()) == before


def test_without_matplotlib_curves_are_given_as_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("minagent.course.curves.find_spec", lambda name: None)
    panel = Panel("bytes", "turns", "KB", {"full": ([1, 10], [2.5, 25]), "deltas": ([1, 10], [2.5, 4])})
    html = curves(panel)._repr_html_()
    for figure in ("turns", "full", "deltas", "10", "25", "4"):
        assert figure in html


def test_a_browser_takes_this_way(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crashes, "IN_BROWSER", True)
    monkeypatch.setattr(crashes, "_start", lambda *a: pytest.fail("a process was started"))
    assert crashes.run_and_kill(folders[1] / "tidy.py", "working", "wait").code == -9
    assert crashes.run_program(folders[1] / "tidy.py", "leave").code == 3
    with pytest.raises(RuntimeError, match="a browser has one"):
        crashes.guide(folders[1] / "tidy.py")
