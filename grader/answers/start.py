"""Starts the worker's process, and imports next to nothing: a command begins with it and imports the rest meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_BOOT = "import sys; sys.path.extend({paths!r}); from grader.answers.worker import zygote; zygote()"
_SETTINGS = {"LANG": "C.UTF-8", "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_early: list[subprocess.Popen[bytes]] = []


def launch() -> subprocess.Popen[bytes]:
    """Start a zygote; it serves jobs from its standard input once it has imported what learners import."""
    return subprocess.Popen(
        _command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=os.path.abspath(os.sep),
        env=_environment(),
        start_new_session=True,
    )


def begin() -> None:
    """Start a zygote for whoever asks first; it ends with this process."""
    if sys.platform != "emscripten" and not _early:
        _early.append(launch())


def take() -> subprocess.Popen[bytes] | None:
    """Return the zygote that was started ahead, once."""
    return _early.pop() if _early else None


def _command() -> list[str]:
    package = str(Path(__file__).resolve().parents[2])
    here = os.getcwd()
    kept = [path for path in sys.path if path and os.path.abspath(path) != here and "packages" in path]
    return [sys.executable, "-I", "-X", "utf8", "-c", _BOOT.format(paths=[*kept, package])]


def _environment() -> dict[str, str]:
    kept = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, **_SETTINGS}
