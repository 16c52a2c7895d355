"""Level 2 judged on programs in many more styles and with one fault each.

The labels were measured: every program was run on a real disk and looked at before each of its file-changing system
calls and in the middle of writes, some really killed there, then run again in what was left behind. ``null`` is a
question that the criteria leave open.
"""

import json
from pathlib import Path

import pytest
from thorough import one_in

from grader.answers.cells import Cell, code_cells, context_cells, read_notebook
from grader.answers.judge import judge_cells
from grader.verdict import Verdict

PROGRAMS = Path(__file__).parent / "programs" / "level2_more"
LABELS = json.loads((PROGRAMS / "labels.json").read_text(encoding="utf-8"))
NOTEBOOK = Path(__file__).parents[2] / "exercises" / "level2" / "level2.ipynb"
A, P, R = CODE = ("level2-atomic", "level2-point-a", "level2-runs")


def source(name: str) -> str:
    return (PROGRAMS / f"{name}.py").read_text(encoding="utf-8")


def judged(text: str) -> dict[str, Verdict]:
    return {verdict.criterion: verdict for verdict in judge_cells([Cell("level2-code", text)], CODE)}


def test_every_program_has_a_label() -> None:
    assert {path.name for path in PROGRAMS.glob("*.py")} == set(LABELS)


@pytest.mark.parametrize("name", one_in(3, LABELS))
def test_a_program_is_judged_as_it_was_measured(name: str) -> None:
    label = LABELS[name]
    for criterion, verdict in judged(source(name.removesuffix(".py"))).items():
        wanted = label[criterion.removeprefix("level2-").replace("-", "_")]
        assert wanted is None or verdict.met is wanted, verdict.message.en


@pytest.mark.parametrize("name", ["r28_temporary_directory_same_fs", "r41_cached_absolute_path"])
def test_the_notebooks_own_try_out_changes_nothing(name: str) -> None:
    cells = [
        Cell(cell.id, source(name) if cell.id == "level2-code" else cell.source)
        for cell in code_cells(read_notebook(NOTEBOOK))
    ]
    assert any("try_it(" in cell.source for cell in cells)
    alone = {criterion: verdict.met for criterion, verdict in judged(source(name)).items()}
    assert {verdict.criterion: verdict.met for verdict in judge_cells(cells, CODE)} == alone


def test_only_a_cell_that_just_tries_is_left_out() -> None:
    cells = [
        Cell(str(n), text) for n, text in enumerate(["try_it(run_agent);", "s = try_it(run_agent)", "try_it(f())"])
    ]
    assert [cell.id for cell in context_cells(cells)] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "criterion", "said"),
    [
        ("t13_directory_swap", A, "moved to ckpt.old"),
        ("w15_rename_wrong_way", A, "wrong way round"),
        ("w16_swallowed_never_works", A, "breaks off unfinished"),
        ("w27_wrong_tool_use_id", P, "not as a tool_result with the tool_use_id call_2"),
        ("w40_truncates_large_results", A, "the field messages differs"),
        ("w42_str_of_state", A, "begins with `{'version'"),
        ("w56_no_final_answer_model_gets_last_only", R, "1 of the 3 messages so far were shown in call 2"),
        ("w60_double_encoded", A, 'begins with `"{'),
        ("w62_role_assistant_tool_then_string", P, "not as a tool_result"),
        ("x09_utf16", A, "first bytes are ff fe 7b"),
        ("x10_wrapped_document", P, 'under "state"'),
        ("x17_returns_tuple", R, "of type tuple"),
    ],
)
def test_a_message_says_what_is_wrong(name: str, criterion: str, said: str) -> None:
    assert said in judged(source(name))[criterion].message.en
