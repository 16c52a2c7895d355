"""The worker: where learners' code runs on a fake disk, and nothing else does.

A zygote forks a child for each run. The child takes limits on, enters a fake disk, runs the cells and the level's
driver, sends data back through a pipe and is gone.
"""

from __future__ import annotations

import _thread
import contextlib
import importlib
import io
import os
import pkgutil
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from grader import levels
from grader.answers import fence, wire, zygote
from grader.answers.frames import Order, Reply, framed, write_all
from grader.answers.patience import Clock
from grader.answers.play import CELL, Finished, Play, brief_sleep, failure_of, hide_grader, place_of
from grader.crash import Disk, Image, Mark
from grader.levels.trial import FORKS, Failure, Outcome, Past, Stage

DRIVERS: dict[str, Callable[[Stage, Any], Any]] = {
    name.removesuffix("_drive"): importlib.import_module(f"{levels.__name__}.{name}").drive
    for _, name, _ in pkgutil.iter_modules(levels.__path__)
    if name.endswith("_drive")
}
"""Every module of ``grader.levels`` that is named ``LEVEL_drive``, imported before the first fork."""


class _Real:
    """Functions of the real system, held where no fake disk looks for names to replace."""

    read = staticmethod(os.read)
    write = staticmethod(os.write)
    close = staticmethod(os.close)
    leave = staticmethod(os._exit)
    encode = staticmethod(wire.encode_outcome)
    frames = staticmethod(sys._current_frames)
    sleep = staticmethod(time.sleep)
    thread = staticmethod(_thread.start_new_thread)


class Run(Play):
    """One run of a learner's cells and a level's driver on one fake disk."""

    def __init__(self, job: wire.Job, send: Callable[[Outcome], NoReturn], disk: Disk) -> None:
        super().__init__(job.cells, job.trial.until)
        self.job = job
        self.send = send
        self.disk = disk
        self.cells: list[Failure] = []
        self.images = job.trial.images
        self.lived: list[Past] = []
        self._living = False
        self._flipped: tuple[int, int] | None = None
        self._sending = threading.Lock()

    def mark(self, kind: str, data: Any = None) -> None:
        """Put a mark into the disk's log."""
        self.disk.mark(kind, data)

    def life(self, image: Image, *, keep: bool = True) -> dict[str, Any]:
        """Put an image on the disk and run the cells on it, as a new process would."""
        if self._living and keep:
            self.lived.append(Past(self.disk.recording(), self.disk.observations()))
        self._living, self._flipped = True, None
        self.disk.load(image)
        return self.fresh()

    def damaged(self, image: Image, inode: int, position: int) -> dict[str, Any]:
        """As ``life``, with one bit of one byte turned over."""
        if self._flipped is None or any(not isinstance(op, Mark) for op in self.disk.recording().operations):
            self.disk.load(image)
        else:
            self.disk.flip(*self._flipped)
        self.disk.flip(inode, position)
        self._living, self._flipped = False, (inode, position)
        return self.fresh()

    def happened(self, key: str) -> int:
        """Return how often an effect outside the disk has happened."""
        return self.disk.ask_world(key)

    def finish(self, failure: Failure) -> NoReturn:
        """Send off what there is and end the process."""
        self.deliver(None, failure)

    def deliver(self, data: Any, failure: Failure | None) -> NoReturn:
        """Send the result; the first to come, the main thread or the watchdog, is the only one."""
        if not self._sending.acquire(blocking=False):
            while True:  # the other thread is sending and will end the process
                _Real.sleep(60)
        try:
            recording, seen = self.disk.recording(), self.disk.observations()
        except BaseException:
            recording, seen = None, ()
        self.send(Outcome(recording, data, failure, tuple(self.cells[:50]), "", seen, tuple(self.lived)))

    def go(self) -> NoReturn:
        """Run everything on the disk, which stands by, and send the result."""
        self.disk.begin(self.job.trial.image, tmp_elsewhere=self.job.trial.tmp_elsewhere)
        self.deliver(*self._inside())

    def _inside(self) -> tuple[Any, Failure | None]:
        self.run_cells(self.sources, self.cells)
        driver = DRIVERS.get(self.job.trial.driver)
        if driver is None:
            return None, Failure("broken", message=f"no driver {self.job.trial.driver}")
        try:
            return driver(self, self.job.trial.arguments), None
        except Finished:
            raise
        except BaseException as error:
            return None, failure_of(error)


# ---------------------------------------------------------------------------------------------- a child


@contextlib.contextmanager
def standing_by() -> Iterator[Disk]:
    """A fake disk for learners' code that has been entered already, which takes longer than most runs."""
    with Disk(own=lambda filename: filename.startswith(CELL), aside=("grader.answers",)) as disk:
        disk.stand_by()
        yield disk


def _child(job: wire.Job, disk: Disk, result: int, isolated: bool, own_user: bool) -> NoReturn:
    """Be one run's process, from the fork to the end."""
    fence.limit(job.limits, job.trial.seconds, own_user=own_user)
    if isolated:
        fence.forbid()

    images = job.trial.disks

    def send(message: Outcome) -> NoReturn:
        try:
            payload = _Real.encode(message, images)
        except BaseException as error:
            failure = Failure("damaged", message=f"{type(error).__name__}: {error}"[:300])
            payload = _Real.encode(Outcome(None, failure=failure))
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        with contextlib.suppress(OSError):
            write_all(result, framed(payload), _Real.write)
        _Real.leave(0)
        raise AssertionError

    run = Run(job, send, disk)

    def gone(status: int = 0) -> None:
        if os_getpid() != own:
            _Real.leave(status)
        run.deliver(None, Failure("exit", "os._exit", str(status), place_of(sys._getframe(1)), run.current))

    def audit(event: str, _arguments: tuple[Any, ...]) -> None:
        if event not in FORKS:
            return
        frame: types.FrameType | None = sys._getframe(1)
        library = frame is not None and "multiprocessing" in frame.f_code.co_filename
        kind = "multiprocessing" if library else event
        run.deliver(None, Failure("fork", kind, "", place_of(frame), run.current))

    main = threading.get_ident()

    def watch() -> None:
        while (over := clock.read().over(job.trial.seconds)) is None:
            _Real.sleep(0.03)
        spent = clock.read()
        seconds = f"{job.trial.seconds if over == 'cpu' else spent.wall:.2g}"
        frame = _Real.frames().get(main)
        run.deliver(None, Failure("time", over, seconds, place_of(frame), run.current))

    own = os.getpid()
    os_getpid = os.getpid
    clock = Clock()
    os._exit = gone  # type: ignore[assignment]
    sys.addaudithook(audit)
    _Real.thread(watch, ())
    run.go()


def be_zygote(user: int | None = None, isolated: bool = False, sandboxed: bool = False) -> None:
    """Serve runs on fake disks from standard input until it closes.

    Args:
        user: whom to become before the first run.
        isolated: whether the code that is run is a stranger's.
        sandboxed: whether this process is the first one in a sandbox.
    """
    own_user = user is not None or (sandboxed and fence.counts_by_namespace())
    disks: list[Disk] = []

    @contextlib.contextmanager
    def ready() -> Iterator[None]:
        time.sleep = brief_sleep  # type: ignore[assignment]  # before the disk is entered, which wraps it
        hide_grader("grader.crash")
        with standing_by() as disk:
            disks[:] = [disk]
            yield

    def host(order: Order, data: bytes, source: int) -> Reply:
        job = wire.decode_job(data)
        return zygote.run_to_its_end(order, lambda result, _: _child(job, disks[0], result, isolated, own_user), source)

    zygote.serve(host, ready, user, sandboxed)


# ---------------------------------------------------------------------------------------------- in place


def run_here(job: wire.Job) -> Outcome:
    """Run a job in this process, where there is no other (a browser's kernel)."""
    kept: list[Outcome] = []

    def send(message: Outcome) -> NoReturn:
        kept.append(message)
        raise Finished

    modules, out, err = dict(sys.modules), sys.stdout, sys.stderr
    printed = io.StringIO()
    try:
        sys.stdout = sys.stderr = printed
        hide_grader("grader.crash")
        with standing_by() as disk:
            Run(job, send, disk).go()
    except Finished:
        pass
    finally:
        sys.stdout, sys.stderr = out, err
        for name in (
            "__main__",
            *(name for name in modules if name == "grader" or name.startswith("grader.")),
        ):
            sys.modules[name] = modules[name]
    result = kept[0]
    return Outcome(
        result.recording,
        result.data,
        result.failure,
        result.cells,
        printed.getvalue()[-job.limits.output :],
        result.observations,
        result.earlier,
    )
