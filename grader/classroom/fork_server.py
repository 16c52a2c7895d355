"""The server that forks the judges' processes, and imports next to nothing: ``grade`` starts it, and imports meanwhile.

Judges are not forked from the command's own process, which may have threads.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from typing import Any

PRELOAD = ["grader.cli", "grader.classroom.grading", "grader.classroom.feedback"]
"""What the server has imported when it forks the first judge; the command too, which each would import as its main."""


def context() -> Any:
    """Return how a judge's process is started on this machine, its server started if it is not there."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    found: Any = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(PRELOAD)
    _start()
    return found


def begin() -> None:
    """Start the server, if this is the command's own process and not one of a judge, which imports the same."""
    if multiprocessing.parent_process() is None:
        context()


def _start() -> None:
    """Start it deaf to Ctrl-C, which is this process's to handle: while it imports, it would end with a traceback."""
    from multiprocessing.forkserver import ensure_running

    if threading.current_thread() is not threading.main_thread():
        return
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ensure_running()
    finally:
        signal.signal(signal.SIGINT, heard)
