"""The scenes: one consequence each, a key that needs the crash, figures that differ, and pictures that fit."""

import re
from collections import Counter

import pytest

from grader.answers.scenes import choices, scenes
from grader.levels.level1_scenes import (
    CONSEQUENCES,
    FIELDS,
    LOADED,
    OUTCOMES,
    TOLD,
    another,
    answer,
    consequences,
    play,
    scene,
    seen,
)
from grader.levels.level1_timeline import columns, describe, question, timeline
from grader.words import catalogue, use_language

LEARNERS = ["", *(f"learner {number}" for number in range(8))]
EXPECTED = {
    "version": "format-unknown",
    "task": "task-unknown",
    "turns": "stop-late",
    "tokensUsed": "compaction-late",
    "pendingToolUse": "call-repeated",
}


@pytest.mark.parametrize("name", FIELDS)
def test_each_scene_shows_exactly_its_fields_consequence(name: str) -> None:
    for learner in LEARNERS:
        one = scene(name, learner)
        assert consequences(one) == {EXPECTED[name]}, one


def test_the_agent_does_what_can_be_worked_out_by_hand() -> None:
    for learner in LEARNERS:
        turns = scene("turns", learner)
        assert answer(turns) == turns.crashes[0].turn + (turns.max_turns or 0)
        tokens = scene("tokensUsed", learner)
        total, turn = 0, tokens.crashes[0].turn
        while total < (tokens.compact_at or 0):
            turn += 1
            total += tokens.cost(turn)
        assert answer(tokens) == turn
        mails = scene("pendingToolUse", learner)
        assert answer(mails) == mails.turns + sum(crash.moment == "done" for crash in mails.crashes)


@pytest.mark.parametrize("name", FIELDS)
def test_with_all_six_fields_the_agent_does_what_it_should(name: str) -> None:
    one = scene(name)
    assert (
        seen(play(one, None))
        == {
            "version": "refused",
            "task": "named-finishes",
            "turns": one.max_turns,
            "tokensUsed": 8,
            "pendingToolUse": one.turns,
        }[name]
    )


def test_figures_and_keys_vary_by_learner_and_not_from_run_to_run() -> None:
    for name in FIELDS:
        drawn = Counter(scene(name, f"learner {number}") for number in range(30))
        assert len(drawn) > 8
        assert len({answer(one) for one in drawn}) > 1
        assert scene(name, "mei") == scene(name, "mei")


@pytest.mark.parametrize("name", FIELDS)
def test_what_is_shown_after_a_wrong_prediction_is_not_the_key(name: str) -> None:
    for learner in LEARNERS:
        mine = scene(name, learner)
        other = another(mine)
        assert other != mine and other.crashes != mine.crashes
        assert answer(other) != answer(mine)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", FIELDS)
def test_a_timeline_fits_a_terminal_and_fetches_nothing(name: str, lang: str) -> None:
    use_language(lang)
    try:
        for learner in LEARNERS[:4]:
            picture, text = timeline(another(scene(name, learner)))
            assert max(columns(line) for line in text.split("\n")) <= 78
            assert "✗" in text and "■" in text
            assert "<svg" in picture and 'role="img"' in picture
            assert not re.search(r"<script|https?:|url\(|#[0-9a-f]{3}", picture)
    finally:
        use_language(None)


def test_every_choice_and_scene_has_words_in_both_languages() -> None:
    words = catalogue("levels/level1.toml")
    for key in words.entries:
        english, chinese = words.fields(key)
        assert english == chinese, key
    assert set(OUTCOMES) == {"version", "task"} and len(LOADED) == 5 and len(TOLD) == 7
    for learner in LEARNERS:
        for name in FIELDS:
            for text in (describe(scene(name, learner)), question(scene(name, learner))):
                assert text.en and text.zh and "None" not in text.en + text.zh and "{" not in text.en


def test_scenes_show_themselves_as_text_and_as_html(monkeypatch: pytest.MonkeyPatch) -> None:
    text = repr(scenes())
    assert max(columns(line) for line in text.split("\n")) <= 80
    assert "allows 12 turns" in text
    assert ">tokensUsed</code>" in scenes()._repr_html_()
    assert "<b>" not in scenes("<b>x</b>")._repr_html_()
    assert repr(scenes("mei")) != text
    monkeypatch.setenv("CRASH_COURSE_LEARNER", "mei")
    assert repr(scenes()) == repr(scenes("mei"))
    for name in ("consequence", "version", "task"):
        assert all(columns(line) <= 80 for line in repr(choices(name)).split("\n"))
    assert all(f'"{name}"' in repr(choices()) for name in CONSEQUENCES)
