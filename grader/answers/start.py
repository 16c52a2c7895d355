"""Starts the worker's process, and imports next to nothing: a command begins with it and imports the rest meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.answers.sandbox import Enclosure

_BOOT = """import sys
sys.path += {paths!r}
sys.path.insert(0, {package!r})  # the judge's own grader, whatever another one is installed
from grader.answers.{module} import be_zygote
del sys.path[0]
be_zygote({how})"""
SETTINGS = {"LANG": "C.UTF-8", "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_early: list[subprocess.Popen[bytes]] = []


def launch(enclosure: Enclosure | None = None, module: str = "worker") -> subprocess.Popen[bytes]:
    """Start a zygote; it serves jobs from its standard input once it has imported what learners import.

    Args:
        enclosure: how it is isolated; not at all when None.
        module: which kind of zygote.
    """
    if enclosure is None:
        return _popen(_command(module), ())
    how = f"user={enclosure.user}, isolated={enclosure.isolated}, sandboxed={enclosure.sandboxed}"
    with enclosure.command(_command(module, how)) as (command, passed):
        return _popen(command, passed)


def _popen(command: list[str], passed: tuple[int, ...]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=os.path.abspath(os.sep),
        env=_environment(),
        start_new_session=True,
        pass_fds=passed,
    )


def begin() -> None:
    """Start a zygote for whoever asks first; it ends with this process."""
    if sys.platform != "emscripten" and not _early:
        _early.append(launch())


def take() -> subprocess.Popen[bytes] | None:
    """Return the zygote that was started ahead, once."""
    return _early.pop() if _early else None


def package_paths() -> list[str]:
    """Return the folders of installed packages, which a process started with ``-I`` may not find by itself."""
    here = os.getcwd()
    return [path for path in sys.path if path and os.path.abspath(path) != here and "packages" in path]


def _command(module: str, how: str = "") -> list[str]:
    package = str(Path(__file__).resolve().parents[2])
    boot = _BOOT.format(paths=[*package_paths(), package], package=package, module=module, how=how)
    return [sys.executable, "-I", "-X", "utf8", "-c", boot]


def _environment() -> dict[str, str]:
    kept = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, **SETTINGS}
