"""Level 3's design: states of both scenes hold; each thing that is missing or misplaced is named."""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from grader.answers.cells import Cell
from grader.answers.judge import judge_cells
from grader.levels import level3
from grader.levels.starts import starts
from grader.verdict import Verdict

CELL = "level3-design-answer"

SEO: dict[str, Any] = {
    "task_id": "seo",
    "goal": "Diagnose 200 pages.",
    "status": "running",
    "created_at": "2026-07-01T09:00:00Z",
    "updated_at": "2026-07-02T10:00:00+02:00",
    "plan": ["diagnose", "ticket", "notice"],
    "progress": {"total": 200, "done": 86, "failed": 2, "waiting_approval": 3, "pending": 109},
    "items": [
        {
            "id": "page-87",
            "stage": "pending",
            "steps": {
                "ticket": {
                    "status": "done",
                    "external_id": "T-1",
                    "idempotency_key": "seo/87/ticket",
                    "at": "2026-07-02T09:00:00Z",
                },
                "notice": {"status": "started", "external_id": None, "idempotency_key": "seo/87/notice"},
            },
        }
    ],
    "approvals": [
        {"item": "page-90", "action": "ticket", "requested_at": "2026-07-02T09:00:00Z", "decision": None},
    ],
    "artifacts": ["reports/seo.jsonl"],
    "budget": {"limit": 500, "spent": 173},
}

SUPPORT: dict[str, Any] = {
    "taskId": "refunds-july",
    "goal": "Answer 120 customers.",
    "createdAt": 1782896400,
    "updatedAt": 1782900000,
    "plan": "refund, then mail",
    "progress": {"total": 2, "done": 1, "failed": 0, "waitingApproval": 0, "pending": 1},
    "items": {
        "c-17": {
            "stage": "done",
            "steps": [
                {
                    "name": "refund",
                    "status": "done",
                    "externalId": 991,
                    "idempotencyKey": "c-17:refund",
                    "doneAt": 1782896500,
                }
            ],
        },
        "c-18": {
            "stage": "working",
            "steps": [{"name": "mail", "status": "started", "externalId": "", "idempotencyKey": "c-18:mail"}],
        },
    },
    "approvals": {"c-18": {"itemId": "c-18", "action": "refund 140 EUR", "requestedAt": 1782896500, "decision": None}},
    "artifacts": {"letters": "s3://letters/july/"},
    "budget": {"limit": 1000.0, "spent": 240.5},
}

SAVES: list[dict[str, Any]] = [
    {"status": "intent", "idempotency_key": "k"},
    {"status": "started", "idempotency_key": "k", "external_id": None},
    {"status": "done", "idempotency_key": "k", "external_id": "N-1"},
]


def judged(state: Any, saves: Any = SAVES) -> Verdict:
    source = f"task_state = {state!r}\nthree_saves = {saves!r}\n"
    return judge_cells([Cell(CELL, source)], [level3.DESIGN])[0]


@pytest.mark.parametrize(
    "state",
    [SEO, SUPPORT, json.dumps(SEO), json.dumps(SUPPORT, indent=2)],
    ids=["seo", "support", "seo as text", "support as text"],
)
def test_a_whole_state_holds(state: Any) -> None:
    verdict = judged(state)
    assert verdict.met is True and verdict.points == 4, verdict.message.en
    assert "10 of the table's 10 rows" in verdict.message.en
    assert re.search(r"[\u4e00-\u9fff]", verdict.message.zh)


def without(*names: str) -> dict[str, Any]:
    state = copy.deepcopy(SEO)
    for name in names:
        del state[name]
    return state


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    state = copy.deepcopy(SEO)
    change(state)
    return state


def test_eight_of_ten_rows_are_enough() -> None:
    verdict = judged(without("approvals", "artifacts"))
    assert verdict.met is True and "`approvals`, `artifacts`" in verdict.message.en
    assert judged(without("approvals", "artifacts", "budget")).met is False


def third(state: dict[str, Any]) -> dict[str, Any]:
    """Take two rows away, so that one more fault is one too many."""
    del state["approvals"], state["artifacts"]
    return state


def step(state: dict[str, Any], name: str = "ticket") -> dict[str, Any]:
    found: dict[str, Any] = state["items"][0]["steps"][name]
    return found


WRONG: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no goal": (lambda s: s.pop("goal"), "`goal` is missing"),
    "no plan": (lambda s: s.pop("plan"), "`plan` is missing"),
    "the goal inside": (lambda s: s.update(task={"goal": s.pop("goal")}), "`goal` lies too deep"),
    "progress flat": (lambda s: s.update(s.pop("progress")), "belong together in `progress`"),
    "progress without failed": (lambda s: s["progress"].pop("failed"), "`failed`"),
    "progress that does not add up": (lambda s: s["progress"].update(done=90), "does not add up"),
    "no items": (lambda s: s.update(items=[]), "`items`"),
    "items without a stage": (lambda s: s["items"][0].pop("stage"), "`stage`"),
    "items without steps": (lambda s: s["items"][0].pop("steps"), "`steps`"),
    "steps at the top": (lambda s: s.update(steps=s["items"][0].pop("steps")), "inside the items"),
    "the ids at the top": (
        lambda s: (step(s).pop("external_id"), step(s, "notice").pop("external_id"), s.update(external_id="T-1")),
        "belongs to one step of one item",
    ),
    "no ids": (
        lambda s: (step(s).pop("external_id"), step(s, "notice").pop("external_id")),
        "No step has `external_id`",
    ),
    "one key for all": (lambda s: step(s).update(idempotency_key="seo/87/notice"), "share one `idempotency_key`"),
    "no keys": (
        lambda s: (step(s).pop("idempotency_key"), step(s, "notice").pop("idempotency_key")),
        "No step has `idempotency_key`",
    ),
    "nothing started": (lambda s: step(s, "notice").update(status="todo"), "status `started`"),
    "the item is started": (
        lambda s: (step(s, "notice").update(status="todo"), s["items"][0].update(stage="started")),
        "not in that of the item",
    ),
    "a budget of one number": (lambda s: s.update(budget=500), "`budget` is one number"),
    "a budget without spent": (lambda s: s["budget"].pop("spent"), "`spent`"),
    "a time that is none": (lambda s: s.update(updated_at="yesterday"), "is no time"),
    "no time in the steps": (lambda s: step(s).pop("at"), "No step says when"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_missing_or_misplaced_is_named(name: str) -> None:
    change, says = WRONG[name]
    verdict = judged(third(changed(change)))
    assert verdict.met is False and says in verdict.message.en, verdict.message.en
    assert re.search(r"[\u4e00-\u9fff]", verdict.message.zh)


MORE: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "an approval in its item": (
        lambda s: s["items"][0].update(approvals=s.pop("approvals")),
        "belongs at the top",
    ),
    "an approval without a time": (lambda s: s["approvals"][0].pop("requested_at"), "`requested_at`"),
    "an empty list of approvals": (lambda s: s["approvals"].clear(), "`approvals` is empty"),
    "bulk": (lambda s: s.update(artifacts={"page-87": "<html>" * 500}), "holds a result itself"),
    "no artifact": (lambda s: s.update(artifacts={}), "names nothing"),
}


@pytest.mark.parametrize("name", MORE)
def test_approvals_and_artifacts_too(name: str) -> None:
    change, says = MORE[name]
    state = changed(change)
    del state["goal"], state["progress"]
    verdict = judged(state)
    assert verdict.met is False and says in verdict.message.en, verdict.message.en


def test_done_without_proof_is_refused_though_all_rows_are_there() -> None:
    verdict = judged(
        changed(lambda s: s["items"].append({**copy.deepcopy(s["items"][0]), "id": "page-88"}) or step_of_88(s))
    )
    assert verdict.met is False and "without an `external_id`" in verdict.message.en


def step_of_88(state: dict[str, Any]) -> None:
    steps = state["items"][1]["steps"]
    steps["ticket"].update(idempotency_key="seo/88/ticket", external_id=None)
    steps["notice"].update(idempotency_key="seo/88/notice")


@pytest.mark.parametrize(
    ("saves", "says"),
    [
        ([], "still empty"),
        ("not JSON", "not JSON"),
        (SAVES[:2], "2 entries"),
        ([1, 2, 3], "a int"),
        ([{**SAVES[0], "status": "started"}, *SAVES[1:]], "first save says"),
        ([SAVES[0], {**SAVES[1], "status": "running"}, SAVES[2]], "second save says"),
        ([*SAVES[:2], {**SAVES[2], "status": "ok"}], "third save says"),
        ([*SAVES[:2], {**SAVES[2], "idempotency_key": "k2"}], "different idempotency keys"),
        ([SAVES[0], {**SAVES[1], "external_id": "N-1"}, SAVES[2]], "already has an `external_id`"),
        ([*SAVES[:2], {**SAVES[2], "external_id": ""}], "without an `external_id`"),
        ([{"status": "intent"}, *SAVES[1:]], "no `idempotency_key`"),
    ],
)
def test_three_saves_are_looked_at_one_by_one(saves: Any, says: str) -> None:
    verdict = judged(SEO, saves)
    assert verdict.met is False and says in verdict.message.en, verdict.message.en


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("", "no task_state"),
        ("task_state = {}", "still empty"),
        ("task_state = 7", "is a int"),
        ("task_state = '{\"goal\": '", "not JSON"),
        ("import datetime\ntask_state = {'created_at': datetime.datetime(2026, 7, 1)}", "is a datetime"),
        ("class D(dict):\n    def __eq__(self, other): return True\ntask_state = D()", "still empty"),
        ("task_state = {}\n1 / 0", "still empty"),
        ("1 / 0", "ZeroDivisionError"),
        ("task_state = [[[]]]", "is a list"),
        (starts()[CELL], "still empty"),
    ],
)
def test_odd_answers_are_said_in_one_sentence(source: str, says: str) -> None:
    verdict = judge_cells([Cell(CELL, source)], [level3.DESIGN])[0]
    assert verdict.met is False and verdict.points == 0 and says in verdict.message.en, verdict.message.en
