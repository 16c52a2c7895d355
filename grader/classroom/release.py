"""The release: what a learner's solution cells hold before any work is done."""

import re
from typing import Any

from nbgrader.preprocessors import ClearSolutions
from nbgrader.utils import is_solution

_FENCED = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class StartingPoint(ClearSolutions):  # type: ignore[misc]
    """Give a solution cell the code to start from, where nbgrader would leave an empty stub.

    In the source notebook a solution cell says where that code comes from, in its metadata ``crash_course``:
    ``start`` is the text itself, ``start_from`` the grade_id of a Markdown cell that shows it in a fenced
    block. Neither reaches the release. A solution cell that says nothing is cleared as nbgrader clears it.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Remember the cells that show code to start from, then clear the solutions."""
        self.shown = {
            cell.metadata.nbgrader.get("grade_id"): cell.source for cell in nb.cells if "nbgrader" in cell.metadata
        }
        nb, resources = super().preprocess(nb, resources)
        return nb, resources

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        """Clear one cell, and put its starting point in place."""
        says = cell.metadata.pop("crash_course", None)
        if says is None or not is_solution(cell):
            cell, resources = super().preprocess_cell(cell, resources, cell_index)
            return cell, resources
        if "start_from" in says:
            shown = _FENCED.search(self.shown.get(says["start_from"], ""))
            if shown is None:
                raise ValueError(f"no cell {says['start_from']!r} that shows code to start from")
            cell.source = shown[1].rstrip("\n")
        else:
            cell.source = says["start"].rstrip("\n")
        return cell, resources
