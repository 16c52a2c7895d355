"""The edition to read: the lessons with their outputs, as a static site that needs no network and no server."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from grader.editions import NotBuilt

HERE = Path(__file__).parent


def build(root: Path, folder: Path, step: Callable[[str], None] = lambda page: None) -> Path:
    """Build the reading edition and return its first page.

    The notebooks are run, and what they put out is kept in ``folder/cache``: a second build runs only what has
    changed.

    Args:
        root: a checkout whose notebooks are built.
        folder: where the site (``site``), its sources and the cache go; made when it is not there.
        step: called with each line that Sphinx says while it works.

    Raises:
        NotBuilt: a notebook fails, a link leads nowhere, or Sphinx and its extensions are not installed.
    """
    if find_spec("sphinx") is None or find_spec("myst_nb") is None:
        raise NotBuilt("sphinx and myst-nb are not installed: pip install 'crash-course[editions]'")
    folder = folder.resolve()
    sources, site = folder / "sources", folder / "site"
    _lay_out(root, sources)
    settings = {"CRASH_COURSE_READING_CACHE": str(folder / "cache"), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    inherited = {name: value for name, value in os.environ.items() if name != "CRASH_COURSE_LANG"}
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-d", str(folder / "doctrees")]
    said = []
    with subprocess.Popen(
        [*command, str(sources), str(site)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**inherited, **settings},
    ) as sphinx:
        assert sphinx.stdout is not None
        for line in sphinx.stdout:
            said.append(line.rstrip())
            step(said[-1])
    if sphinx.returncode:
        raise NotBuilt("\n".join(said[-40:]))
    return site / "index.html"


def _lay_out(root: Path, sources: Path) -> None:
    """Copy the notebooks where Sphinx looks for them. What has not changed keeps its time, so nothing is read anew."""
    pages = {
        "LESSONS": sorted(root.glob("lessons/[0-9]*.ipynb")),
        "EXERCISES": sorted(root.glob("exercises/*/*.ipynb")),
        "CHINESE": sorted(root.glob("translations/zh/**/*.ipynb")),
    }
    wanted = {}
    names: dict[str, list[str]] = {}
    for part, notebooks in pages.items():
        for notebook in notebooks:
            name = f"{part.lower()}/{notebook.stem}"
            wanted[f"{name}.ipynb"] = notebook.read_bytes()
            names.setdefault(part, []).append(name)
    index = (HERE / "index.md").read_text(encoding="utf-8")
    for part, listed in names.items():
        index = index.replace(part, "\n".join(listed))
    wanted["index.md"] = index.encode()
    wanted["conf.py"] = (HERE / "conf.py").read_bytes()
    wanted["_static/reading.css"] = (HERE / "reading.css").read_bytes()
    for path in [path for path in sources.rglob("*") if path.is_file()]:
        if path.relative_to(sources).as_posix() not in wanted:
            path.unlink()
    for name, data in wanted.items():
        path = sources / name
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
