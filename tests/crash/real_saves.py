"""Run by test_reality.py: saves of the library, really killed on the real disk, in a process of its own.

Two ways to die. Under strace, SIGKILL before a call that could change the disk: strace counts each child's calls of
each name by themselves and kills at the ``CALLS``-th of one name, so a child that is to die at its n-th ``rename``
first makes ``CALLS`` - n that fail. (One strace for all of them: it starts slowly.) And by RLIMIT_FSIZE: the kernel
writes up to that byte of the file, then sends SIGXFSZ.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

CALLS = 64


def forked() -> int:
    """Fork; return 0 in the child. ``os.fork`` itself opens a file since Python 3.12, to count the threads: a process
    that forks often would die of that, at its ``CALLS``-th.
    """
    return int(ctypes.PyDLL(None).fork())


def in_a_child(run: Callable[[], object]) -> int:
    """Run in a fork; return the signal it died of, 0 when it ended well."""
    child = forked()
    if child == 0:
        status = 1
        try:
            run()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit("a save failed without any crash")
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def traced(run: Callable[[], object], strace: str, options: list[str]) -> bytes:
    """Run in a fork that strace follows from a moment after the interpreter has started; return what it gives."""
    ready, go, answer = os.pipe(), os.pipe(), os.pipe()
    worker = os.fork()
    if worker == 0:
        with contextlib.suppress(Exception):
            ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)  # any process may trace this one
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        os.write(answer[1], json.dumps(run()).encode())
        os._exit(0)
    os.close(answer[1])
    os.read(ready[0], 1)
    tracer = subprocess.Popen([strace, "-f", "-qq", "-e", "signal=none", *options, "-p", str(worker)])
    while tracer.poll() is None and "TracerPid:\t0\n" in Path(f"/proc/{worker}/status").read_text():
        time.sleep(0.002)
    if tracer.poll() is not None:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
        return b""
    os.write(go[1], b"x")
    told = b""
    while piece := os.read(answer[0], 1 << 16):
        told += piece
    os.waitpid(worker, 0)
    tracer.wait()
    for end in (*ready, *go, answer[0]):
        os.close(end)
    if not told:
        raise SystemExit("the process that strace follows died before it had done its work")
    return told


def killed_at_calls(
    scratch: Path, jobs: list[tuple[str, int]], strace: str, calls: str, turn: Callable[[str, int, int], None]
) -> list[tuple[str, int, str, str, int]]:
    """Kill each save at each of its calls."""
    libc = ctypes.CDLL(None)
    log = scratch / "calls"
    quick = ["-e", "inject=fsync,fdatasync,sync:retval=0", "-e", f"trace={calls},fsync,fdatasync,sync"]

    def copied(name: str, size: int, folder: Path) -> None:
        in_a_child(lambda: shutil.copytree(scratch / f"{name}-{size}", folder, symlinks=True))

    def count() -> list[int]:
        pids = []
        for name, size in jobs:
            folder = scratch / f"{name}-{size}-whole"
            copied(name, size, folder)
            child = forked()
            if child == 0:
                os.chdir(folder)
                turn(name, 2, size)
                os._exit(0)
            os.waitpid(child, 0)
            pids.append(child)
        return pids

    told = traced(count, strace, [*quick, "-o", str(log)])
    if not told:
        return []
    seen: dict[str, dict[str, int]] = {}
    for pid, call in re.findall(r"^(\d+) +(\w+)\(", log.read_text(), re.MULTILINE):
        of_child = seen.setdefault(pid, {})
        of_child[call] = of_child.get(call, 0) + 1

    def killed(folder: Path, name: str, size: int, call: str, number: int) -> None:
        os.chdir(folder)
        for _ in range(CALLS - number):
            getattr(libc, {"openat": "open"}.get(call, call))(-1, b"x", -1, None, 0, 0)
        turn(name, 2, size)

    def kill() -> list[tuple[str, int, str, str, int]]:
        report = []
        for (name, size), pid in zip(jobs, json.loads(told), strict=True):
            report.append((name, size, "call", f"{name}-{size}-whole", 0))
            for call, most in seen.get(str(pid), {}).items():
                if call in ("fsync", "fdatasync", "sync"):
                    continue
                for number in range(1, most + 1):
                    folder = scratch / f"{name}-{size}-{call}-{number}"
                    copied(name, size, folder)
                    died = in_a_child(lambda: killed(folder, name, size, call, number))  # noqa: B023
                    report.append((name, size, "call", folder.name, died))
        return report

    inject = ["-e", f"inject={calls}:signal=SIGKILL:when={CALLS}", "-o", "/dev/null"]
    return json.loads(traced(kill, strace, [*quick, *inject]))


def main(scratch: Path, jobs: list[tuple[str, int]], strace: str | None, calls: str) -> None:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import saves

    done: list[tuple[str, int, str, str, int]] = []

    def turn(name: str, number: int, size: int) -> None:
        saves.BY_NAME[name].save(saves.state(number, size))

    def at(folder: Path, run: Callable[[], object]) -> None:
        os.chdir(folder)
        run()

    for name, size in jobs:
        base = scratch / f"{name}-{size}"
        base.mkdir()
        in_a_child(lambda: at(base, lambda: turn(name, 1, size)))  # noqa: B023

    def limited(base: Path, folder: Path, name: str, size: int, limit: int) -> None:
        shutil.copytree(base, folder, symlinks=True)
        os.chdir(folder)
        for call in ("fsync", "fdatasync", "sync"):  # slow, and nothing that a kill could show
            setattr(os, call, lambda *_: None)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        turn(name, 2, size)

    for name, size in jobs:
        for limit in [0, 1, 2, *range(3, 2 * size, max(1, size // 11)), size + 20]:
            folder = scratch / f"{name}-{size}-byte-{limit}"
            died = in_a_child(lambda: limited(scratch / f"{name}-{size}", folder, name, size, limit))  # noqa: B023
            done.append((name, size, "byte", folder.name, died))
            if not died and limit > size * 3 // 2:
                break

    if strace:
        done += killed_at_calls(scratch, jobs, strace, calls, turn)
    (scratch / "done.json").write_text(json.dumps(done))


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3] or None, sys.argv[4])
