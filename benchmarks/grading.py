"""Measure the grading of a class and write ``benchmarks/results/grading-<date>.json``.

    python -m benchmarks.grading [--quick | --least] [--out FILE]

Three questions: how many times the throughput of stock ``nbgrader autograde`` on a class of 300 and the same work, in
the same run; how long 1,000 submissions take and how much memory; whether time grows with the number of submissions and
no faster. Stock's time for 300 is its start and 300 times what one more submission takes it, measured on a few, before
and after ours, since a machine is not equally fast all the time.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import datetime
import itertools
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from benchmarks.machine import machine
from grader.answers import sandbox
from grader.build import find_checkout
from grader.classroom import UNSETTLED
from grader.classroom.course import Course
from grader.classroom.demo import demo_class, hand_in

LEVEL = "level2"
BARS = {"times the throughput of stock": 15.0, "seconds for 1000": 180.0, "megabytes at most": 1500.0}
STOCK_KINDS = ("ada", "bo", "chen", "emil", "hana", "jun", "kofi", "lena")
"""Of the demo class, those that stock nbgrader gets through: right and wrong in about equal parts."""
FIFTY = 50
RARE = {7: "mateo", 23: "nour", 41: "olga"}
"""Of fifty submissions, who is rare: one that never ends and two that can't be read."""
CHECKOUT = find_checkout(Path(__file__).parent) or Path()


def make_course(folder: Path) -> None:
    """Make a course with the release in place and entered into the gradebook."""
    folder.mkdir()
    shutil.copy(CHECKOUT / "nbgrader_config.py", folder)
    (folder / "solutions" / LEVEL).mkdir(parents=True)
    shutil.copy(CHECKOUT / "solutions" / LEVEL / f"{LEVEL}.ipynb", folder / "solutions" / LEVEL)
    Course(folder).generate_assignment(LEVEL)


def make_stock(folder: Path) -> None:
    """Make the configuration nbgrader's own again: its preprocessors, its kernels."""
    config = folder / "nbgrader_config.py"
    own = "\nfor part in ('Autograde', 'GenerateFeedback'):\n    c.pop(part, None)\n"
    lines = config.read_text(encoding="utf-8") + own
    config.write_text(lines, encoding="utf-8")


def hand_in_class(folder: Path, count: int, kinds: tuple[str, ...] | None = None) -> None:
    """Hand in ``count`` submissions, the kinds of the demo class in turn, no two with the same text.

    What never ends and what is no notebook is handed in by one in fifty each, everything else in equal parts.
    """
    submitted = folder / "classroom" / "submitted"
    shutil.rmtree(submitted, ignore_errors=True)
    chosen = [one for one in demo_class() if one.level == LEVEL and (kinds is None or one.student in kinds)]
    models = {one.student: hand_in(folder, one).read_text(encoding="utf-8") for one in chosen}
    shutil.rmtree(submitted)
    common = itertools.cycle([name for name in models if name not in RARE.values()])
    turn = [RARE.get(number, "") for number in range(FIFTY)] if kinds is None else [""]
    for number in range(count):
        place = submitted / f"student-{number:04}" / LEVEL / f"{LEVEL}.ipynb"
        place.parent.mkdir(parents=True)
        place.write_text(_own(models[turn[number % len(turn)] or next(common)], number), encoding="utf-8")


def _own(text: str, number: int) -> str:
    try:
        notebook = json.loads(text)
    except ValueError:
        return text  # what is no notebook stays none
    for cell in notebook["cells"]:
        if cell["id"] == f"{LEVEL}-code":
            cell["source"] = f"# My answer, number {number}.\nMINE_{number} = {number}\n{''.join(cell['source'])}"
    return json.dumps(notebook)


class Memory:
    """Watches a process and all that it starts; remembers the most they had together."""

    def __init__(self, pid: int) -> None:
        self.most = 0
        self._process = psutil.Process(pid)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> float:
        """Stop watching; return megabytes."""
        self._end.set()
        self._thread.join()
        return self.most / 1e6

    def _watch(self) -> None:
        while not self._end.wait(2.0):  # reading it costs the processors a little
            total = 0
            try:
                family = [self._process, *self._process.children(recursive=True)]
            except psutil.Error:
                continue
            for process in family:
                try:
                    memory = process.memory_full_info()
                    total += getattr(memory, "pss", memory.rss)
                except psutil.Error:
                    continue  # it has just ended
            self.most = max(self.most, total)


def adopt_orphans() -> None:
    """Have every process that outlives its parent become a child of this one, so that its time is counted."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER, of Linux


def processor_seconds() -> float:
    """Return the processor time of all processes that were started from here and have ended."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Ran:
    """What a command took."""

    seconds: float
    processor: float
    megabytes: float
    printed: str


def run(folder: Path, *command: str) -> Ran:
    """Run a command in the course."""
    before, begun = processor_seconds(), time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    memory = Memory(process.pid)
    printed, told = process.communicate()
    if process.returncode != 0:
        raise SystemExit(told[-2000:])
    seconds, megabytes = time.perf_counter() - begun, memory.close()
    return Ran(seconds, processor_seconds() - before, megabytes, printed)


def ours(folder: Path, count: int, kinds: tuple[str, ...] | None = None, *options: str) -> dict[str, Any]:
    """Grade ``count`` submissions with the command."""
    hand_in_class(folder, count, kinds)
    command = ("-c", "from grader.cli import main; main()", "grade", LEVEL, "--json", *options)
    first = run(folder, *command)
    graded = json.loads(first.printed)["submissions"]
    assert len(graded) == count
    faults = [flag for one in graded for flag in one["flags"] if flag.startswith(UNSETTLED)]
    assert not faults, faults[0]
    again = run(folder, *command)
    return {
        "submissions": count,
        "seconds": round(first.seconds, 2),
        "seconds_each": round(first.seconds / count, 4),
        "processor_seconds": round(first.processor, 1),
        "megabytes": round(first.megabytes),
        "full_marks": sum(one["score"] == one["max_score"] for one in graded),
        "seconds_again_unchanged": round(again.seconds, 2),
    }


def stock(folder: Path, count: int) -> dict[str, Any]:
    """Grade a few with stock nbgrader, once one and once ``count``: the difference tells its start from the rest."""
    hand_in_class(folder, count, STOCK_KINDS)
    command = ("-m", "nbgrader", "autograde", LEVEL, "--force")
    one = run(folder, *command, "--student", "student-0000")
    all_of_them = run(folder, *command)
    done = list((folder / "classroom" / "autograded").glob(f"*/{LEVEL}/*.ipynb"))
    assert len(done) == count, f"stock nbgrader graded {len(done)} of {count}"
    return {
        "submissions": count,
        "seconds": round(all_of_them.seconds, 2),
        "seconds_for_one": round(one.seconds, 2),
        "seconds_each": round((all_of_them.seconds - one.seconds) / max(1, count - 1), 3),
        "processor_seconds": round(all_of_them.processor, 1),
        "megabytes": round(all_of_them.megabytes),
    }


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grading", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="30 and 60 submissions, 3 by stock nbgrader")
    parser.add_argument("--least", action="store_true", help="a handful: to see that it works")
    parser.add_argument("--out", help="the file to write; benchmarks/results/grading-<date>.json if not given")
    given = parser.parse_args()
    sizes, sample = ((100, 300, 1000), 8) if not (given.quick or given.least) else ((30, 60), 3)
    if given.least:
        sizes, sample = (3, 6), 2
    adopt_orphans()
    why_not = sandbox.why_not()
    result: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "isolation": "bubblewrap" if why_not is None else why_not.en,
    }
    with tempfile.TemporaryDirectory(prefix="crash-course-benchmark-") as scratch:
        folder = Path(scratch).resolve() / "course"
        make_course(folder)
        plain = Path(shutil.copytree(folder, folder.with_name("stock")))
        make_stock(plain)
        result["stock"] = [stock(plain, sample)]
        result["same_kinds"] = ours(folder, 3 * sizes[0], STOCK_KINDS, "--no-feedback")
        result["stock"].append(stock(plain, sample))
        print(json.dumps({name: result[name] for name in ("stock", "same_kinds")}), flush=True)
        result["class"] = []
        for count in sizes:
            shutil.rmtree(folder)
            make_course(folder)
            result["class"].append(ours(folder, count))
            print(json.dumps(result["class"][-1]), flush=True)
    result["machine"]["load_after"] = [round(each, 2) for each in os.getloadavg()]
    result["bars"] = bars(result)
    first, last = result["class"][0], result["class"][-1]
    result["growth"] = {
        "submissions": round(last["submissions"] / first["submissions"], 2),
        "seconds": round(last["seconds"] / first["seconds"], 2),
    }
    path = Path(given.out or f"benchmarks/results/grading-{result['date']}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"\n{json.dumps(result['bars'], indent=1)}\nwritten to {path}")


def stock_seconds(result: dict[str, Any]) -> float:
    """Return how long stock nbgrader would take for as many submissions of the same kinds."""
    more = result["same_kinds"]["submissions"] - 1
    return statistics.fmean(one["seconds_for_one"] + more * one["seconds_each"] for one in result["stock"])


def bars(result: dict[str, Any]) -> dict[str, Any]:
    """Return what was to be reached and whether it was."""
    ratio = stock_seconds(result) / result["same_kinds"]["seconds"]
    last = result["class"][-1]
    found = {"times the throughput of stock": {"measured": round(ratio, 1), "met": ratio >= 15.0}}
    if last["submissions"] == 1000:
        for name, measured in (("seconds for 1000", last["seconds"]), ("megabytes at most", last["megabytes"])):
            found[name] = {"measured": measured, "met": measured < BARS[name]}
    return {name: {**each, "bar": BARS[name]} for name, each in found.items()}


if __name__ == "__main__":
    main()
