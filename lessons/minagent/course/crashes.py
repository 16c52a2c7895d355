"""Real crashes: run a program in a process of its own, and kill it with no chance to clean up."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """How a program ended, and what it said until then."""

    said: list[str]
    code: int

    def __str__(self) -> str:
        end = "was killed" if self.code < 0 or (os.name == "nt" and self.code == 1) else f"ended with {self.code}"
        return "\n".join([*self.said, f"-- the process {end} (exit code {self.code})"])


def _start(program: str | os.PathLike[str], *arguments: str) -> subprocess.Popen[str]:
    here = str(Path(__file__).resolve().parents[2])  # where minagent lies, so that the program finds it
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, "-u", "-X", "utf8", str(program), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        cwd=Path(program).parent,
        env={**os.environ, "PYTHONPATH": path},
    )


def run_program(program: str | os.PathLike[str], *arguments: str) -> Outcome:
    """Run a Python program to its end."""
    process = _start(program, *arguments)
    said, _ = process.communicate(timeout=60)
    return Outcome(said.splitlines(), process.returncode)


def run_and_kill(program: str | os.PathLike[str], when: str, *arguments: str, after: float = 0.0) -> Outcome:
    """Run a Python program and kill it (SIGKILL) when it has printed a line that contains `when`.

    ``after`` lets it live so many seconds longer.
    """
    process = _start(program, *arguments)
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line.rstrip("\n"))
        if when in line:
            time.sleep(after)
            process.kill()
            break
    process.stdout.close()
    return Outcome(said, process.wait(timeout=60))
