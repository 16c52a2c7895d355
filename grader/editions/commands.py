"""What ``crash-course edition`` does and prints."""

from pathlib import Path

from rich.console import Console

from grader import build as building
from grader.editions import NotBuilt, browser, reading, site
from grader.words import catalogue, say

words = catalogue("editions/words.toml")
BUILDS = {"reading": reading.build, "browser": browser.build}


def edition(name: str, folder: Path | None) -> int:
    """Build an edition, look at every link in it, and say where it is.

    Args:
        name: ``reading`` or ``browser``.
        folder: where it goes; ``build/NAME`` in the checkout when None.

    Returns the exit code.
    """
    out = Console(stderr=True, soft_wrap=True, highlight=False)
    root = building.find_checkout()
    if root is None:
        out.print(say(words("checkout")), markup=False)
        return 2
    with out.status("") as status:
        try:
            page = BUILDS[name](root, folder or root / "build" / name, lambda line: status.update(line[:70]))
        except NotBuilt as problem:
            out.print(say(words("failed", edition=name, reason=problem)), markup=False)
            return 1
    found = site.faults(page.parent) if name == "reading" else []  # the other's pages are JupyterLab's own
    for fault in found:
        out.print(say(words("fault", fault=fault)), markup=False)
    if not found:
        print(say(words(f"done.{name}", page=page, folder=page.parents[1])))
    return 1 if found else 0
