"""The edition to read: built from a course of two lessons, looked at as a reader's browser would."""

import re
import shutil
from pathlib import Path

import pytest

from grader.editions import NotBuilt, reading, site

pytest.importorskip("sphinx", reason="sphinx and myst-nb are missing: pip install 'crash-course[editions]'")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("a course")
    for name in ("lessons/04_what_a_checkpoint_holds.ipynb", "exercises/level2/level2.ipynb"):
        (root / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, root / name)
    lesson = "translations/zh/lessons/05_writes_that_survive.ipynb"
    (root / lesson).parent.mkdir(parents=True)
    shutil.copy(ROOT / lesson, root / lesson)
    return root


@pytest.fixture(scope="module")
def pages(course: Path) -> Path:
    return reading.build(course, course / "out").parent


def test_every_link_leads_somewhere_and_nothing_is_fetched(pages: Path) -> None:
    assert site.faults(pages) == []
    assert len(list(pages.rglob("*.html"))) > 4


def test_the_lessons_carry_what_they_put_out(pages: Path) -> None:
    english = (pages / "lessons/04_what_a_checkpoint_holds.html").read_text(encoding="utf-8")
    chinese = (pages / "chinese/05_writes_that_survive.html").read_text(encoding="utf-8")
    assert "Not tried yet" in english and "还没有作答" in chinese
    assert "Smallest counterexample" in chinese or "最小的反例" in chinese
    assert "Traceback" not in re.sub(r"<[^>]+>", "", english)


def test_the_index_lists_all_and_the_search_knows_their_words(pages: Path) -> None:
    index = (pages / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"#]+)"', index)
    for page in ("lessons/04_what_a_checkpoint_holds", "exercises/level2", "chinese/05_writes_that_survive"):
        assert f"{page}.html" in links
    assert "pendingtoolus" in (pages / "searchindex.js").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_a_lesson_that_fails_stops_the_build_and_is_named(course: Path, tmp_path: Path) -> None:
    root = tmp_path / "broken"
    (root / "lessons").mkdir(parents=True)
    text = (ROOT / "lessons/01_what_a_crash_takes.ipynb").read_text(encoding="utf-8")
    (root / "lessons/01_what_a_crash_takes.ipynb").write_text(text.replace("my_prediction = ...", "raise OSError", 1))
    with pytest.raises(NotBuilt, match="01_what_a_crash_takes"):
        reading.build(root, tmp_path / "out")


def test_a_broken_link_and_a_file_from_elsewhere_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#there">b</a><a href="c.html">c</a><a href="#gone">g</a>')
    (tmp_path / "b.html").write_text('<p id="there"></p><script src="https://example.org/x.js"></script>')
    assert site.faults(tmp_path) == [
        "a.html links to c.html, which is not there",
        "a.html links to #gone; there is no such place on that page",
        "b.html fetches https://example.org/x.js",
    ]
