"""Real processes: run a program in one of its own, kill it with no chance to clean up, or lead it step by step."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import in_place

IN_BROWSER = sys.platform == "emscripten"


@dataclass(frozen=True)
class Outcome:
    """How a program ended, and what it said until then."""

    said: list[str]
    code: int

    def __str__(self) -> str:
        end = "was killed" if self.code < 0 or (os.name == "nt" and self.code == 1) else "ended by itself"
        return "\n".join([*self.said, f"-- the process {end} (exit code {self.code})"])


def _start(program: str | os.PathLike[str], *arguments: str) -> subprocess.Popen[str]:
    here = str(Path(__file__).resolve().parents[2])  # where minagent lies, so that the program finds it
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, "-u", "-X", "utf8", str(program), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        cwd=Path(program).parent,
        env={**os.environ, "PYTHONPATH": path},
    )


def run_program(program: str | os.PathLike[str], *arguments: str) -> Outcome:
    """Run a Python program to its end."""
    if IN_BROWSER:
        return Outcome(*in_place.run(program, *arguments))
    process = _start(program, *arguments)
    said, _ = process.communicate(timeout=60)
    return Outcome(said.splitlines(), process.returncode)


def run_and_kill(program: str | os.PathLike[str], when: str, *arguments: str, after: float = 0.0) -> Outcome:
    """Run a Python program and kill it (SIGKILL) when it has printed a line that contains `when`.

    ``after`` lets it live so many seconds longer.
    """
    if IN_BROWSER:
        return Outcome(*in_place.run(program, *arguments, when=when, after=after))
    process = _start(program, *arguments)
    assert process.stdout is not None and process.stdin is not None
    process.stdin.close()
    said = []
    for line in process.stdout:
        said.append(line.rstrip("\n"))
        if when in line:
            time.sleep(after)
            process.kill()
            break
    process.stdout.close()
    return Outcome(said, process.wait(timeout=60))


@dataclass
class Guided:
    """A program in a process of its own that goes on only when it is told to: its `input()` waits for `go`.

    So two of them race in an order that the reader decides, the same each time, and nobody has to sleep.
    """

    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)

    def until(self, words: str) -> str:
        """Wait for a line that contains `words`, and return it; raise RuntimeError if the program ends first.

        A program that says nothing for a minute is killed: it waits for something that will not come.
        """
        assert self.process.stdout is not None
        watchdog = threading.Timer(60, self.process.kill)
        watchdog.start()
        try:
            for line in self.process.stdout:
                self.said.append(line.rstrip("\n"))
                if words in line:
                    return self.said[-1]
        finally:
            watchdog.cancel()
        raise RuntimeError(f"The program ended before it said {words!r}. It said: {self.said}")

    def go(self) -> None:
        """Let the program's `input()` return."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self) -> Outcome:
        """Kill it (SIGKILL), wherever it stands."""
        self.process.kill()
        return self.end()

    def end(self) -> Outcome:
        """Let it run to its end; return how it ended and everything it said."""
        said, _ = self.process.communicate(timeout=60)
        return Outcome([*self.said, *said.splitlines()], self.process.returncode)


def guide(program: str | os.PathLike[str], *arguments: str) -> Guided:
    """Start a Python program that is to be led step by step.

    Raises:
        RuntimeError: in a browser, where there is no second process.
    """
    if IN_BROWSER:
        raise RuntimeError("Two processes are needed here, and a browser has one: run this lesson in Jupyter.")
    return Guided(_start(program, *arguments))
