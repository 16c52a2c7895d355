"""Level 2: the code is judged by the level, the two hazards are read by the rubric meanwhile."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from grader.answers.cells import Cell
from grader.criteria import Criterion
from grader.levels import level2
from grader.levels.trial import Runner
from grader.verdict import Verdict


def judge(cells: list[Cell], wanted: list[Criterion], run: Runner, student_id: str) -> list[Verdict]:
    """Judge criteria of Level 2."""
    judge = level2.Judge({cell.id: cell.source for cell in cells}, run)
    texts = [criterion for criterion in wanted if criterion.id in level2.WRITTEN]
    code = [criterion.id for criterion in wanted]
    if sys.platform == "emscripten":  # no threads
        return _in_order(wanted, judge.verdicts(code) + _written(judge, texts))
    with ThreadPoolExecutor(1) as aside:  # the rubric takes its time to load, the code takes its own to run
        early = aside.submit(_written, judge, texts) if texts and judge.literal_texts() is not None else None
        verdicts = judge.verdicts(code)
        verdicts += early.result() if early is not None else _written(judge, texts)
    return _in_order(wanted, verdicts)


def _in_order(wanted: list[Criterion], verdicts: list[Verdict]) -> list[Verdict]:
    found = {verdict.criterion: verdict for verdict in verdicts}
    return [found[criterion.id] for criterion in wanted]


def _written(judge: level2.Judge, wanted: list[Criterion]) -> list[Verdict]:
    if not wanted:
        return []
    from grader.answers.exercises.written import written

    texts, failure = judge.texts()
    why = judge.sources.reason(failure) if failure else None
    return [written(criterion, level2.WRITTEN[criterion.id], texts, why) for criterion in wanted]
