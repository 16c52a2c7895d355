"""Level 3 in a class: what held is lived again with the ticket system in another process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from level3_programs import RIGHT, WRONG
from thorough import one_in

from grader.answers import sandbox
from grader.answers.cells import Cell
from grader.answers.judge import judge_cells
from grader.answers.runner import Worker
from grader.levels import level3
from grader.levels.level3_real import FLAG
from grader.verdict import Verdict

APART = sorted((Path(__file__).parent / "programs_apart").glob("r*.py"))

pytestmark = pytest.mark.skipif(sandbox.why_not() is not None, reason=f"no sandbox here: {sandbox.why_not()}")


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker(isolation="required")
    yield made
    made.close()


def judged(source: str, worker: Worker | None = None) -> Verdict:
    return judge_cells([Cell(level3.CELL, source)], [level3.CODE], worker=worker)[0]


PEEKING = """

class Peeking:
    # looks the tickets up in the check's own variables, and leaves no trace of it

    def __init__(self, world):
        self._world = world

    def __getattr__(self, name):
        return getattr(self._world, name)

    def _made(self, name):
        def held(function):
            cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
            return {key: cell.cell_contents for key, cell in cells.items()}
        return held(held(getattr(self._world, name).__func__)["write"])["made"]

    def _once(self, name, kind, item, about, key):
        try:
            there = [number for number, one in enumerate(self._made(name)[kind]) if one[0] == item]
        except Exception:
            there = []
        if there:
            return {"id": f"{kind[0].upper()}-{1001 + there[0]}", "key": key}
        return getattr(self._world, name)(item, about, key)

    def create_ticket(self, item_id, text, key):
        return self._once("create_ticket", "ticket", item_id, text, key)

    def send_notice(self, item_id, ticket_id, key):
        return self._once("send_notice", "notice", item_id, ticket_id, key)


honest_handle, honest_recover = handle, recover
def handle(item, state, world, save):
    return honest_handle(item, state, Peeking(world), save)
def recover(state, world, save):
    return honest_recover(state, Peeking(world), save)
"""


def test_events_kept_out_of_the_log_gain_nothing(worker: Worker) -> None:
    cheat = WRONG["recover starts again without asking"].source + PEEKING
    assert judged(cheat).met is True  # alone with the recorder it can't be told
    verdict = judged(cheat, worker)
    assert (verdict.met, verdict.points, verdict.suggested) == (None, 0.0, 0.0)
    assert "another process" in verdict.message.en and "另一个进程" in verdict.message.zh
    assert verdict.flags[0].startswith(FLAG)


@pytest.mark.parametrize("name", one_in(4, RIGHT))
def test_a_right_program_holds_there_too(worker: Worker, name: str) -> None:
    verdict = judged(RIGHT[name], worker)
    assert (verdict.met, verdict.flags) == (True, ()), verdict.flags


@pytest.mark.parametrize("path", one_in(4, APART), ids=lambda path: path.stem)
def test_programs_written_apart_hold_there_too(worker: Worker, path: Path) -> None:
    verdict = judged(path.read_text(encoding="utf-8"), worker)
    assert (verdict.met, verdict.flags) == (True, ()), verdict.flags
