"""What an attack is: data that one engine (``test_attacks``) hands in, grades and checks. See ``catalogue``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CANARY = "canary-7c1f0e"
"""Lies where no learner may read: in solutions, in others' work, in the gradebook, in the grader's environment."""
LEFT = "left-behind-by-an-attack"
"""In the name of every file and process that an attack tries to leave behind."""

ALL = {"hazard-overwrite": 2.0, "hazard-no-point-a": 2.0, "atomic": 4.0, "point-a": 3.0, "runs": 3.0}
"""What the solved level2 earns."""
START = {"runs": 3.0}
"""What the level2 that learners are given earns once anything of it is changed: its loop runs."""
A_AND_RUNS = {"point-a": 3.0, "runs": 3.0}
NOTHING: dict[str, float] = {}
EVERYTHING = ("*",)
WRITTEN = ("hazard-overwrite", "hazard-no-point-a")


@dataclass
class Work:
    """A submission that an attack changes before it is handed in."""

    course: Path
    folder: Path
    """The learner's folder for the exercise; the notebook is written into it when the change is made."""
    level: str
    notebook: Any
    raw: bytes | None = None
    """Handed in instead of the notebook, when it is no notebook any more."""
    keep: bool = True
    """Whether a notebook is written at all."""

    @property
    def path(self) -> Path:
        return self.folder / f"{self.level}.ipynb"

    def cell(self, name: str) -> dict[str, Any]:
        """Return the cell with this id."""
        found: dict[str, Any] = next(cell for cell in self.notebook["cells"] if cell["id"] == name)
        return found

    def marks(self, name: str) -> dict[str, Any]:
        """Return nbgrader's marks on a cell."""
        found: dict[str, Any] = self.cell(name)["metadata"]["nbgrader"]
        return found

    def add(self, source: str, kind: str = "code", **more: Any) -> dict[str, Any]:
        """Add a cell of the learner's own at the end."""
        cell: dict[str, Any] = {"cell_type": kind, "id": f"own-{len(self.notebook['cells'])}", "metadata": {}}
        cell |= {"source": source, **({"outputs": [], "execution_count": None} if kind == "code" else {}), **more}
        self.notebook["cells"].append(cell)
        return cell

    def hand_in(self) -> None:
        """Write it."""
        if self.keep:
            content = self.raw if self.raw is not None else json.dumps(self.notebook).encode("utf-8", "surrogatepass")
            self.path.write_bytes(content)


Change = Callable[[Work], None]


@dataclass(frozen=True)
class Attack:
    """One attack.

    ``earns`` is what the honest part of the answer is worth, by criterion (without the level's name): exactly that must
    come out. Criteria that are in ``waits`` earn nothing and may wait for a person; those in ``EVERYTHING`` all do.
    ``flag`` stands in one of the instructor's flags.
    """

    name: str
    does: str
    change: Change
    earns: dict[str, float] = field(default_factory=dict)
    flag: str = ""
    level: str = "level2"
    solved: bool = False
    """Whether the reference's answers are in it before the change is made; else it is as learners are given it."""
    waits: tuple[str, ...] = ()


def code(
    name: str,
    does: str,
    source: str,
    *,
    earns: dict[str, float] = START,
    flag: str = "",
    where: str = "",
    level: str = "level2",
    solved: bool = False,
    waits: tuple[str, ...] = (),
) -> Attack:
    """Return an attack by code: put below the answer, or into the cell ``where``, in place of what is there.

    ``COURSE``, ``CANARY`` and ``LEFT`` are names that the code may use.
    """

    def change(work: Work) -> None:
        names = f"COURSE, CANARY, LEFT = {str(work.course)!r}, {CANARY[:6]!r} + {CANARY[6:]!r}, {LEFT!r}\n"
        answer = {"level2": "level2-code", "level1": "level1-answer"}.get(level, f"{level}-code-answer")
        cell = work.cell(where or answer)
        given = "" if where else f"{cell['source']}\n\n"
        if isinstance(cell["source"], list):
            given = "" if where else "".join(cell["source"]) + "\n\n"
        uses = any(word in source for word in ("COURSE", "CANARY", "LEFT"))
        cell["source"] = given + (names if uses else "") + source.strip("\n")

    return Attack(name, does, change, earns, flag, level, solved, waits)
