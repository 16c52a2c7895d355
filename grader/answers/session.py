"""``check`` in a notebook: it finds the session's cells by itself and lets the judge run them in a worker."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from grader.answers.cells import Cell, exercise_of, only_checks
from grader.answers.show import Report
from grader.criteria import Criterion, criteria, exercises, nearest, of_exercise
from grader.verdict import Text
from grader.words import catalogue, plain

if TYPE_CHECKING:
    from minagent.course import Answer

LESSON = "lesson"
"""How the names of the lessons' "your turn" cells begin."""

_words = catalogue()
_SIGNS = {
    "level1": ("missing",),
    "level2": ("save_checkpoint", "run_agent", "hazard_1", "hazard_2"),
    "level3": ("task_state", "three_saves", "handle", "recover"),
    "level4": ("resume",),
}
"""Names that show which exercise a session is about, when its cells' ids don't say."""


class Session:
    """The cells of a running IPython session: each one's latest source, in the order in which they first ran."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self._cells: dict[str, str] = {}
        self._unnamed = 0
        self.mine: dict[str, object] = {}
        """What the learner decided about answers that the rubric left to them."""

    def begin(self) -> None:
        """Take in what ran before, and listen from now on."""
        history = getattr(getattr(self.shell, "history_manager", None), "input_hist_raw", [])
        past = [source for source in list(history)[1:] if isinstance(source, str)]
        current = self._current_id()
        if current is not None and past:
            *past, last = past
            for source in past:
                self.add(None, source)
            self.add(current, last)
        else:
            for source in past:
                self.add(None, source)
        self.shell.events.register("pre_run_cell", self._before)

    def _current_id(self) -> str | None:
        """Return the id of the cell that is running, where the kernel knows it."""
        try:
            parent = self.shell.kernel.get_parent("shell")
            found = parent["metadata"].get("cellId")
        except Exception:  # a plain IPython, or another kernel
            return None
        return found if isinstance(found, str) else None

    def _before(self, info: Any = None) -> None:
        if info is None or getattr(info, "silent", False) or not getattr(info, "store_history", True):
            return
        source = getattr(info, "raw_cell", None)
        name = getattr(info, "cell_id", None)
        if isinstance(source, str):
            self.add(name if isinstance(name, str) and name else None, source)

    def add(self, name: str | None, source: str) -> None:
        """Take one cell in. A cell without an id counts as the one before when its source is the same."""
        if not source.strip() or only_checks(source):
            return
        if name is None:
            for known, text in self._cells.items():
                if known.startswith("In [") and text == source:
                    del self._cells[known]
                    break
            self._unnamed += 1
            name = f"In [{self._unnamed}]"
        self._cells[name] = source

    def cells(self) -> list[Cell]:
        """Return the cells in order."""
        return [Cell(name, source) for name, source in self._cells.items()]

    def defines(self, name: str) -> bool:
        """Tell whether the session has a variable of this name."""
        return name in getattr(self.shell, "user_ns", {})


_session: Session | None = None


def begin() -> Session | None:
    """Begin to listen to the IPython session this process is, if it is one, and warm the worker."""
    global _session
    if _session is None and "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
        if shell is not None:
            _session = Session(shell)
            _session.begin()
            from grader.answers.judge import worker

            worker().warm()
    return _session


def check(*names: str, mine: str | bool | None = None) -> Report | Answer:
    """Judge the session's own cells and show what they meet.

    Args:
        names: criteria such as ``"level2-atomic"``, or an exercise (``"level2"``) for all of its criteria; with none,
            every criterion of what the session defines. In a lesson, the name of a "your turn" cell.
        mine: your own word, ``"met"`` or ``"not met"``, on a written answer that the rubric could not decide. It is
            kept for the session; in a class a person decides instead.
    """
    session = begin()
    if session is None:
        return Report(notes=[_words("check.outside")])
    lessons = [name for name in names if isinstance(name, str) and name.startswith(LESSON)]
    if lessons:
        return _your_turn(lessons[0], session)
    wanted: list[Criterion] = []
    for name in names:
        found = _named(name)
        if isinstance(found, Text):
            return Report(notes=[found])
        wanted += found
    cells = session.cells()
    if not names:
        exercise = _exercise(session, cells)
        if exercise is None:
            some = [sign for signs in _SIGNS.values() for sign in signs]
            return Report(notes=[_words("check.nothing", names=plain(", ".join(some)))])
        wanted = list(of_exercise(exercise))
    from grader.answers.judge import MINE, decide, judge_cells

    if mine is not None:
        if not isinstance(mine, str | bool) or mine not in MINE:
            return Report(notes=[_words("mine.unknown", found=repr(mine)[:40])])
        session.mine |= {criterion.id: mine for criterion in wanted}
    verdicts = decide(judge_cells(cells, [criterion.id for criterion in wanted]), session.mine)
    left = [v.criterion for v in verdicts if v.met is None and v.suggested is not None]
    return Report(verdicts, notes=[_words("mine.how", criterion=name) for name in left])


def _your_turn(name: str, session: Session) -> Answer:
    """A lesson's cell is tried at once, where it stands: it gives no points, so it needs no worker."""
    from minagent.course import answer

    return answer(name, session.shell.user_ns)


def _named(name: object) -> list[Criterion] | Text:
    if isinstance(name, str):
        if name in criteria():
            return [criteria()[name]]
        if name in exercises():
            return list(of_exercise(name))
        near = nearest(name)
        if near is not None:
            return _words("check.unknown_near", name=name, near=near)
    return _words("check.unknown", name=str(name)[:60], known=plain(", ".join(criteria())))


def _exercise(session: Session, cells: list[Cell]) -> str | None:
    found = exercise_of(cells)
    if found is None:
        found = next((e for e, signs in _SIGNS.items() if any(session.defines(sign) for sign in signs)), None)
    return found
