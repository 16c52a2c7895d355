"""Level 1: whole answers in both languages, and for each criterion a right and a wrong one that fails there."""

import json
from pathlib import Path
from typing import Any

import pytest

from grader.answers.cells import Cell, decisions
from grader.answers.exercises import level1
from grader.answers.judge import decide, judge_cells, judge_notebook
from grader.answers.rubric import Reading
from grader.criteria import of_exercise
from grader.levels.level1_scenes import FIELDS
from grader.verdict import Text, Verdict

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent / "programs" / "level1"
IDS = [criterion.id for criterion in of_exercise("level1")]
IMPORT = Cell("import", "from grader import Loss, check, choices, scenes")


def source_of(folder: str) -> str:
    notebook = json.loads((ROOT / folder / "level1/level1.ipynb").read_text(encoding="utf-8"))
    return next("".join(cell["source"]) for cell in notebook["cells"] if cell["id"] == "level1-answer")


SOLVED = source_of("solutions")


def judged(source: str, student: str = "", *more: Cell) -> dict[str, Verdict]:
    cells = [IMPORT, *more, Cell("level1-answer", source)]
    return {verdict.criterion: verdict for verdict in judge_cells(cells, IDS, student_id=student)}


def mets(verdicts: dict[str, Verdict]) -> list[bool | None]:
    return [verdict.met for verdict in verdicts.values()]


# -- whole answers -------------------------------------------------------------------------------------------


def test_the_solution_meets_everything() -> None:
    notebook = json.loads((ROOT / "solutions/level1/level1.ipynb").read_text(encoding="utf-8"))
    verdicts = judge_notebook(notebook, "level1", student_id="ada")
    assert [verdict.criterion for verdict in verdicts] == IDS
    assert all(verdict.met is True and verdict.points == verdict.max_points for verdict in verdicts)
    assert sum(verdict.points for verdict in verdicts) == 11


@pytest.mark.parametrize("name", ["solved_zh.py", "plain_dicts.py"])
def test_an_answer_in_chinese_or_in_another_form_meets_everything(name: str) -> None:
    assert mets(judged((HERE / name).read_text(encoding="utf-8"))) == [True] * 6


def test_the_release_meets_nothing() -> None:
    verdicts = judged(source_of("exercises"))
    assert mets(verdicts) == [False] * 6
    assert sum(verdict.points for verdict in verdicts.values()) == 0


# -- one criterion at a time ---------------------------------------------------------------------------------

WRONG_PREDICTION = {
    "version": ('prediction="misread"', 'prediction="lucky"'),
    "task": ('prediction="unnamed-finishes"', 'prediction="unnamed-stops"'),
    "turns": ("prediction=19", "prediction=12"),
    "tokensUsed": ("prediction=10", "prediction=12"),
    "pendingToolUse": ("prediction=6", "prediction=7"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_wrong_prediction_fails_there_and_shows_another_scene(name: str) -> None:
    right, wrong = WRONG_PREDICTION[name]
    assert SOLVED.count(right) == 1
    verdicts = judged(SOLVED.replace(right, wrong))
    verdict = verdicts.pop(f"level1-{name}")
    assert mets(verdicts) == [True] * 5
    assert (verdict.met, verdict.points) == (False, 1.0)
    assert "Prediction, 0 of 1" in verdict.message.en and "Explanation, 1 of 1" in verdict.message.en
    assert "预测（0/1 分）" in verdict.message.zh and "解释（1/1 分）" in verdict.message.zh
    assert right.split("=")[1].strip('"') not in verdict.message.en
    assert verdict.picture is not None and "<svg" in verdict.picture and "<script" not in verdict.picture
    assert verdict.picture_text is not None and "✗" in verdict.picture_text


@pytest.mark.parametrize("name", FIELDS)
def test_a_wrong_consequence_fails_there(name: str) -> None:
    entry = SOLVED.index(f'"{name}": Loss(')
    place = SOLVED.index("consequence=", entry)
    line = SOLVED[place : SOLVED.index("\n", place)]
    verdicts = judged(SOLVED[:place] + 'consequence="no-harm",' + SOLVED[place + len(line) :])
    verdict = verdicts.pop(f"level1-{name}")
    assert mets(verdicts) == [True] * 5
    assert (verdict.met, verdict.points) == (False, 1.0)
    assert '"no-harm" did not show' in verdict.message.en


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("why", ["", "It is bad practice.", "counter zero stop late limit total format refuse"])
def test_a_poor_explanation_fails_there(name: str, why: str) -> None:
    source = f'{SOLVED}\nmissing["{name}"] = Loss(missing["{name}"].consequence, missing["{name}"].prediction, {why!r})'
    verdicts = judged(source)
    verdict = verdicts.pop(f"level1-{name}")
    assert mets(verdicts) == [True] * 5
    assert (verdict.met, verdict.points) == (False, 1.0)
    assert verdict.picture is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('missing["created_at"] = Loss()', "`created_at` is not one of the fields that the save leaves out."),
        ('missing["messages"] = Loss()', "`messages` is what the save does keep."),
        ("missing[3] = Loss()", "should be the name of a field (str), and one is of type int."),
        (
            "missing[(1, 2)] = Loss()",
            "A key of `missing` should be the name of a field (str), and one is of type tuple.",
        ),
        ('missing["tokens_used"] = missing["tokensUsed"]', "`tokensUsed` is there twice, spelt in two ways."),
    ],
)
def test_what_is_too_much_is_named_in_one_sentence(change: str, said: str) -> None:
    verdicts = judged(f"{SOLVED}\n{change}")
    message = verdicts.pop("level1-fields").message.en
    assert said in message and message.count(". ") == 0
    assert mets(verdicts) == [True] * 5


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_left_out_or_misspelt_is_named(name: str) -> None:
    left_out = judged(f'{SOLVED}\ndel missing["{name}"]')
    assert left_out["level1-fields"].message.en.startswith("4 of the five fields named so far")
    assert left_out[f"level1-{name}"].message.en == f"`missing` has no entry `{name}` yet."
    assert mets(left_out).count(True) == 4
    misspelt = judged(f'{SOLVED}\nmissing["{name}s"] = missing.pop("{name}")')
    assert f"`{name}s` is not one of them; did you mean `{name}`?" in misspelt["level1-fields"].message.en
    assert f"是不是想写 `{name}`" in misspelt["level1-fields"].message.zh


# -- other types than asked ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind"),
    [("[1, 2]", "list"), ("'turns'", "str"), ("None", "NoneType"), ("{1, 2}", "set"), ("Loss()", "Loss")],
)
def test_no_dict_is_named_everywhere(value: str, kind: str) -> None:
    verdicts = judged(f"missing = {value}")
    assert mets(verdicts) == [False] * 6
    for verdict in verdicts.values():
        assert verdict.message.en.endswith(f"and is a value of type {kind}.")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('"stop-late"', "should be a `Loss(consequence=..., prediction=..., why=...)`, and is a value of type str."),
        ("(1, 2)", "and is a value of type tuple."),
        ("{'consequence': 'stop-late', 'number': 19}", "and has `number`."),
        ('Loss("stop-late", "19", W)', "`prediction` should be a whole number (int), and is a value of type str."),
        ('Loss("stop-late", 19.0, W)', "`prediction` should be a whole number (int), and is a value of type float."),
        ('Loss("stop-late", True, W)', "`prediction` should be a whole number (int), and is a value of type bool."),
        ('Loss("stop-late", ..., W)', "nothing is predicted yet."),
        ("Loss(4, 19, W)", "`consequence` should be a string (str) from the list, and is a value of type int."),
        ('Loss("stoplate", 19, W)', 'there is no consequence "stoplate" in the list; did you mean "stop-late"?'),
        ('Loss("the sky falls", 19, W)', 'there is no consequence "the sky falls" in the list.'),
        ('Loss("", 19, W)', "choose a `consequence` from the list."),
        ('Loss("stop-late", 19, 5)', "`why` should be a string (str), and is a value of type int."),
        ('Loss("stop-late", 19, ["a"])', "`why` should be a string (str), and is a value of type list."),
    ],
)
def test_another_type_is_named_and_the_rest_is_judged(entry: str, said: str) -> None:
    verdicts = judged(f'{SOLVED}\nW = missing["turns"].why\nmissing["turns"] = {entry}')
    verdict = verdicts.pop("level1-turns")
    assert said in verdict.message.en
    assert verdict.met is False and verdict.picture is None
    assert mets(verdicts) == [True] * 5


@pytest.mark.parametrize(
    ("prediction", "said"),
    [
        ("3", "should be a string (str) from the list of outcomes, and is a value of type int."),
        ('"unnamed-finish"', 'there is no outcome "unnamed-finish" in the list; did you mean "unnamed-finishes"?'),
    ],
)
def test_an_outcome_that_is_none_is_named(prediction: str, said: str) -> None:
    verdict = judged(SOLVED.replace('"unnamed-finishes"', prediction))["level1-task"]
    assert verdict.met is False and said in verdict.message.en


def test_a_cell_that_stops_says_where() -> None:
    verdicts = judged("import json\nmissing = json.loads('{')")
    assert mets(verdicts) == [False] * 6
    for verdict in verdicts.values():
        assert "JSONDecodeError at line 2" in verdict.message.en


def test_a_cell_that_never_ends_is_stopped() -> None:
    verdicts = judged("while True:\n    pass")
    assert mets(verdicts) == [False] * 6
    assert "still running after 5 seconds" in verdicts["level1-turns"].message.en


def test_one_text_under_every_field_explains_none() -> None:
    same = 'for name in missing:\n    missing[name] = dict(vars(missing[name]), why=vars(kept["turns"])["why"])'
    verdicts = judged(f"{SOLVED}\nkept = dict(missing)\n{same}")
    assert verdicts.pop("level1-fields").met is True
    assert [(verdict.met, verdict.points) for verdict in verdicts.values()] == [(False, 1.0)] * 5


def test_explanations_under_the_wrong_field_are_not_accepted() -> None:
    turned = """
whys = [entry.why for entry in missing.values()]
missing = {name: Loss(entry.consequence, entry.prediction, why)
           for (name, entry), why in zip(missing.items(), whys[1:] + whys[:1])}
"""
    verdicts = judged(SOLVED + turned)
    assert verdicts.pop("level1-fields").met is True
    assert all(verdict.points == 1.0 and verdict.met is not True for verdict in verdicts.values())


def test_tricks_gain_nothing() -> None:
    trick = """
class Any(str):
    def __eq__(self, other): return True
    def __hash__(self): return hash(str(self))
class Number(int):
    def __eq__(self, other): return True
missing = {name: Loss(Any("x"), Number(5), Any("accept")) for name in
           ("version", "task", "turns", "tokensUsed", "pendingToolUse")}
"""
    verdicts = judged(trick)
    assert verdicts.pop("level1-fields").met is True
    assert mets(verdicts) == [False] * 5
    assert sum(verdict.points for verdict in verdicts.values()) == 0


# -- what the rubric leaves open -----------------------------------------------------------------------------


@pytest.fixture
def unsure(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading("abstain", Text("Not sure.", "拿不准。"), (), 0.5)
    monkeypatch.setattr(level1, "read", lambda criterion, text, others=None: reading)


def test_an_explanation_left_open_waits_with_the_points_to_compare(unsure: None) -> None:
    verdict = judged(SOLVED)["level1-turns"]
    assert (verdict.met, verdict.points, verdict.suggested) == (None, 1.0, 1.5)
    assert "Explanation, not decided: Not sure." in verdict.message.en
    assert "(1) After the resume the counter" in verdict.message.en


def test_with_a_wrong_prediction_it_is_not_met_and_the_instructor_is_told(unsure: None) -> None:
    verdict = judged(SOLVED.replace("prediction=19", "prediction=18"))["level1-turns"]
    assert (verdict.met, verdict.points, verdict.suggested) == (False, 0.0, None)
    assert verdict.flags == ("level1-turns: explanation not decided, suggested 0.5 of 1",)


@pytest.mark.parametrize(("word", "met", "points"), [("met", True, 2.0), (True, True, 2.0), ("not met", False, 1.0)])
def test_in_self_study_the_learner_decides(unsure: None, word: Any, met: bool, points: float) -> None:
    cells = [Cell("own", f'check("level1-turns", mine={word!r})'), Cell("other", 'check("level1-task")')]
    mine = decisions(cells)
    assert mine == {"level1-turns": word}
    decided = {one.criterion: one for one in decide(judged(SOLVED).values(), mine)}
    assert (decided["level1-turns"].met, decided["level1-turns"].points) == (met, points)
    assert decided["level1-task"].met is None


def test_a_decision_changes_nothing_that_is_decided() -> None:
    verdicts = judged(SOLVED.replace("prediction=19", "prediction=18"))
    assert decide(verdicts.values(), {"level1-turns": "met"}) == list(verdicts.values())


# -- whose figures -------------------------------------------------------------------------------------------


def numbers(learner: str) -> str:
    from grader.levels.level1_scenes import answer, scene

    lines = [
        f'missing["{name}"] = dict(vars(missing["{name}"]), prediction={answer(scene(name, learner))!r})'
        for name in FIELDS
    ]
    return "\n".join([SOLVED, *lines])


def test_the_figures_that_the_notebook_shows_count() -> None:
    show = Cell("scenes", 'scenes("mei")')
    assert mets(judged(numbers("mei"), "", show)) == [True] * 6
    assert mets(judged(numbers("mei"), "mei", show)) == [True] * 6
    assert False in mets(judged(SOLVED, "", show))
    assert mets(judged(SOLVED, "mei", Cell("scenes", "scenes()"))) == [True] * 6


def test_somebody_elses_figures_do_not_count_in_a_class() -> None:
    verdicts = judged(numbers("mei"), "ada", Cell("scenes", 'scenes("mei")'))
    assert False in mets(verdicts)
    said = verdicts["level1-turns"]
    assert "judged by the figures of ada" in said.message.en and said.flags == ("scenes of mei",)


def test_a_course_can_ask_for_everybodys_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRASH_COURSE_PERSONAL", "1")
    assert mets(judged(numbers("ada"), "ada")) == [True] * 6
    assert False in mets(judged(SOLVED, "ada"))
