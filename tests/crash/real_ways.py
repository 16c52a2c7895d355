"""Run under strace by test_recording_kernel.py: every way of writing, in a process of its own, marked in the log."""

import contextlib
import os
import sys
from pathlib import Path


def mark(word: str) -> None:
    with contextlib.suppress(OSError):
        os.rmdir("/no-such-folder-for-marks/" + word)


def main(scratch: str) -> None:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import ways

    for name, run in ways.WAYS.items():
        root = Path(scratch, name)
        for path, data in ways.BEFORE.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        child = os.fork()
        if child == 0:
            os.chdir(root)
            status = 1
            try:
                mark("begin:" + name)
                run()
                mark("end:" + name)
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status:
            print(f"{name} failed", file=sys.stderr)
            sys.exit(1)


main(sys.argv[1])
