"""The pictures: the same thing in words, and marks that need no colour."""

import ast
from pathlib import Path

from minagent import tool_result, tool_use
from minagent.course import conversation, places, strips, table, tape, timeline

CRASH = "crash"
MINAGENT = Path(__file__).resolve().parents[2] / "lessons" / "minagent"


def test_a_timeline_names_its_lanes_and_marks_the_crash():
    picture = timeline([("model", "names c1"), ("disk", "A"), CRASH, ("disk", "load")], shade=(0, 1, "open"))
    assert "CRASH" in repr(picture) and "disk   A" in repr(picture)
    html = picture._repr_html_()
    assert "✕ crash" in html and "open" in html and 'role="img"' in html and "aria-label" in html


def test_a_history_marks_what_has_no_partner():
    call = {"role": "assistant", "content": [tool_use("c1", "add", {"a": 1})]}
    result = {"role": "user", "content": [tool_result("c2", "5")]}
    text = repr(conversation([call, result]))
    assert "no result for c1" in text and "no call c2" in text
    assert "✕" in conversation([call])._repr_html_()
    whole = conversation([call, {"role": "user", "content": [tool_result("c1", "5")]}])
    assert "✕" not in whole._repr_html_()


def test_a_file_is_drawn_with_signs_not_with_colour_alone():
    whole = b"x" * 48
    text = repr(strips([("whole", whole, "ok"), ("bad", b"x" * 12 + b"y" * 12 + bytes(12), "no")]))
    assert "#" * 48 in text
    assert "#" * 12 + "x" * 12 + "0" * 12 + "." * 12 in text


def test_places_tapes_and_tables_have_words_too():
    assert "the process (gone)" in repr(places({"the process": ["turns"], "the disk": []}, lost=["the process"]))
    assert "cursor 1" in repr(tape(("script", ["add", "text"], 1)))
    assert repr(table([{"a": 1, "b": "two"}])).splitlines() == ["a  b", "1  two"]


def test_what_is_drawn_is_escaped():
    html = conversation([{"role": "user", "content": "<script>alert(1)</script>"}])._repr_html_()
    assert "<script" not in html


def test_light_and_dark_follow_jupyterlab_and_the_browser():
    html = table([{"a": 1}])._repr_html_()
    for rule in ("prefers-color-scheme:dark", '[data-jp-theme-light="false"]', '[data-jp-theme-light="true"]'):
        assert rule in html


def imports(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_minagent_imports_nothing_of_grader_and_its_runtime_nothing_of_the_course():
    for file in MINAGENT.rglob("*.py"):
        assert not [name for name in imports(file) if name.startswith("grader")], file
    for file in MINAGENT.glob("*.py"):
        assert not [name for name in imports(file) if "course" in name], file
