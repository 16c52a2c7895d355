"""Lesson 08: the curves, and the moments of its second "your turn" cell as minagent really saves them."""

import re

from minagent import FakeModel, Tool, asks, run_with_checkpoints, says, start, tool_use, toolbox
from minagent.course.curves import COLOURS, Panel, curves

PANELS = (
    Panel("Bytes", "turn", "MB", {"full": ([1, 2, 3], [1, 4, 9]), "deltas": ([1, 2, 3], [1, 2, 3])}),
    Panel("Loss", "N", "s", {"time": ([1, 2, 5], [9, 4, 2])}, "steps", {"lost": ([1, 2, 5], [0, 0.5, 2])}, log_x=True),
)


def test_curves_follow_the_theme_and_fetch_nothing():
    html = curves(*PANELS)._repr_html_()
    svg = html[html.index("<svg") :]
    assert not re.search(r"#[0-9a-f]{6}", svg), "every colour is the theme's"
    assert {name for name in COLOURS.values() if f"var({name})" in svg} >= {"--ink", "--blue", "--green", "--red"}
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert "<style" not in svg and "<script" not in svg and 'role="img"' in svg


def test_lines_are_told_apart_without_colour_and_the_numbers_are_there_in_words():
    picture = curves(*PANELS)
    assert len(set(re.findall(r"stroke-dasharray: ([^;]+);", picture.svg))) >= 2
    assert "full                     1: 1, 2: 4, 3: 9" in repr(picture)
    assert "lost                     1: 0, 2: 0.5, 5: 2" in repr(picture)


def test_the_same_numbers_give_the_same_picture():
    assert curves(*PANELS).svg == curves(*PANELS).svg


def test_what_is_saved_whatever_n_is_as_the_cell_says():
    def points(*turns):
        sent = {}
        tools = toolbox(
            Tool("read_page", lambda page: "text"),
            Tool("send_mail", lambda to, call_id: sent.setdefault(call_id, "sent"), writes=True, find=sent.get),
            Tool("send_sms", lambda to, call_id: "sent", writes=True),
        )
        inputs = {"read_page": {"page": 1}}
        script = [asks(tool_use(f"c{n}", name, inputs.get(name, {"to": "Ann"}))) for n, name in enumerate(turns)]
        saved = []

        def save(agent):
            saved.append((agent.turns, "A" if agent.pending else "B"))

        run_with_checkpoints(start("Do it.", FakeModel([*script, says("Done.")]), tools), save, every=50)
        return saved

    assert points("read_page", "read_page") == [(3, "B")]
    assert points("send_mail", "read_page") == [(0, "A"), (3, "B")]
    assert points("send_sms", "read_page") == [(0, "A"), (1, "B"), (3, "B")]
