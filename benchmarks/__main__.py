"""Measure the crash explorer and write ``benchmarks/results/<date>.json``.

    python -m benchmarks [--ckpt-chaos PATH/TO/ckpt-chaos] [--quick]

Every figure of one file comes from one run on one machine, so their ratios mean something; the seconds do not travel.
"""

from __future__ import annotations

import argparse
import datetime
import inspect
import itertools
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import subjects
from benchmarks.machine import machine
from grader.crash import Disk, Ledger, ProcessKill, explore, explore_run

SIZES = {"1 KB": 1_000, "100 KB": 100_000, "5 MB": 5_000_000}
TURNS = (3, 30, 300)
SAVES = {"temp + replace": subjects.save_by_replace, "in place": subjects.save_in_place}
LONGEST = 1200.0
"""Seconds above which a run is not explored but told to be too long."""
BARS = {"temp + replace, 5 MB": 3.0, "30 turns": 2.0}


def timed(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall seconds, processor seconds, result."""
    wall, processor = time.perf_counter(), time.process_time()
    result = run()
    return time.perf_counter() - wall, time.process_time() - processor, result


def one_save_again(save: Callable[[Any], None], size: int, times: int) -> float:
    """Seconds to save and load once more on a fake disk: what each crash point costs without a recording."""
    old, new = subjects.state(1, size), subjects.state(2, size)
    with Disk() as disk:
        save(old)
        before = disk.image()
        start = time.perf_counter()
        for _ in range(times):
            disk.load(before)
            save(new)
            subjects.load()
        return (time.perf_counter() - start) / times


def one_process_again(size: int) -> float:
    """Seconds to run the save once more in a process of its own: what each crash point costs in a real kill."""
    with tempfile.TemporaryDirectory() as folder:
        source = "".join(inspect.getsource(each) for each in (subjects.state, subjects.save_by_replace))
        program = f"import json, os, random\nNAME = {subjects.NAME!r}\n{source}\nsave_by_replace(state(1, {size}))"
        start = time.perf_counter()
        for _ in range(3):
            subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)
        return (time.perf_counter() - start) / 3


def measure_save(name: str, label: str, size: int) -> dict[str, object]:
    """One save at one size: kill, power loss, the next save."""
    save = SAVES[name]
    old, new = subjects.state(1, size), subjects.state(2, size)
    wall, processor, found = timed(lambda: explore(save, subjects.load, old=old, new=new))
    kill_wall, _, _ = timed(
        lambda: explore(save, subjects.load, old=old, new=new, crash=(ProcessKill(),), second_crash=False)
    )
    images = found.kill.images + found.power.images
    again, process = one_save_again(save, size, 3 if size > 10**6 else 20), one_process_again(size)
    return {
        "save": name,
        "size": label,
        "seconds": round(wall, 3),
        "processor_seconds": round(processor, 3),
        "seconds_kill_only": round(kill_wall, 3),
        "images": images,
        "images_per_second": round(images / wall),
        "loads": found.kill.looks + found.power.looks,
        "bound": found.kill.bound,
        "verdicts": [found.survives_kill, found.survives_power_loss, found.durable_on_return, found.next_save_works],
        "save_again_for_each_image": {
            "seconds_each": round(again, 5),
            "seconds_in_all": round(again * images, 1),
            "ratio": round(again * images / wall, 1),
        },
        "process_for_each_image": {
            "seconds_each": round(process, 4),
            "seconds_in_all": round(process * images, 1),
            "ratio": round(process * images / wall, 1),
        },
    }


def measure_run(turns: int) -> dict[str, object]:
    """A whole run: killed at every operation, resumed by its own code."""
    agent = subjects.agent(turns)
    with Disk() as disk:
        single, _, _ = timed(lambda: agent(Ledger(disk)))
        operations = len(disk.recording().operations)
    expected = single * operations / 4  # about every second operation needs a resume, each half a run on average
    if expected > LONGEST:
        return {
            "turns": turns,
            "not_run": f"about {expected:.0f} s: every distinct observation is resumed to the end of the run",
            "seconds_of_one_run": round(single, 3),
            "operations": operations,
        }
    wall, processor, found = timed(lambda: explore_run(agent))
    written = sum(len(op.data) for op in found.recording.operations if type(op).__name__ == "Write")
    images = found.survey.images
    return {
        "turns": turns,
        "seconds": round(wall, 3),
        "processor_seconds": round(processor, 3),
        "images": images,
        "images_per_second": round(images / wall),
        "resumes": found.survey.looks,
        "operations": len(found.recording.operations),
        "bytes_written": written,
        "bytes_written_by_all_runs": found.written,
        "survives": found.survives,
        "bound": found.survey.bound,
        "run_again_for_each_image": {
            "seconds_each": round(single, 4),
            "seconds_in_all": round(single * images, 1),
            "ratio": round(single * images / wall, 1),
        },
    }


def measure_ckpt_chaos(command: str, size: int) -> dict[str, object]:
    """The same two saves through ckpt-chaos and through the explorer, as far as the two compare."""
    return {
        "compares": "which crash points of the two saves are survived, and the seconds each point takes",
        "does_not_compare": "ckpt-chaos kills real processes of an unchanged command at each open, rename, remove and "
        "mkdir, and once more with the file cut in half; it resumes the whole command, knows several ranks, and runs "
        "without a fake disk. The explorer takes functions, every byte, every system call, power loss, the next save.",
        "saves": [_both(command, how, size) for how in ("atomic", "plain")],
    }


def _both(command: str, how: str, size: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.py")
        script.write_text(subjects.SCRIPT)
        arguments = ["run", "--step-regex", r"resumed from step (\d+)", "--result-file", "{out}/final.txt"]
        whole = [command, *arguments, "--", sys.executable, str(script), "{out}", str(size), how]
        wall, _, done = timed(lambda: subprocess.run(whole, cwd=folder, capture_output=True, text=True, check=False))
    points = re.findall(r" (PASS|HARD_FAIL|SILENT_DIVERGENCE|LOST_WORK)$", done.stdout, re.MULTILINE)
    save = subjects.save_by_replace if how == "atomic" else subjects.save_in_place
    states = {"old": subjects.state(1, size), "new": subjects.state(2, size)}
    ours, _, found = timed(lambda: explore(save, subjects.load, crash=(ProcessKill(),), second_crash=False, **states))
    each = wall / max(1, len(points))
    return {
        "save": how,
        "size": size,
        "seconds": round(wall, 2),
        "crash_points": len(points),
        "verdicts": {word: points.count(word) for word in sorted(set(points))},
        "seconds_for_each": round(each, 3),
        "explorer_seconds": round(ours, 3),
        "explorer_images": found.kill.images,
        "explorer_survives_kill": found.survives_kill,
        "ratio_for_each": round(each / (ours / found.kill.images), 1),
    }


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--ckpt-chaos", help="the command ckpt-chaos, installed in an environment of its own")
    parser.add_argument("--quick", action="store_true", help="without the 5 MB saves and the 300 turns")
    parser.add_argument("--least", action="store_true", help="only 1 KB and 3 turns: to see that it works")
    parser.add_argument("--out", help="the file to write; benchmarks/results/<date>.json if not given")
    given = parser.parse_args()
    result: dict[str, Any] = {"date": datetime.date.today().isoformat(), "machine": machine(), "saves": [], "runs": []}
    measure_save("temp + replace", "warm", 100)
    for name in SAVES:
        for label, size in SIZES.items():
            if size <= (1_000 if given.least else 10**6 if given.quick else 10**9):
                result["saves"].append(measure_save(name, label, size))
                print(json.dumps(result["saves"][-1]), flush=True)
    for turns in TURNS:
        if turns <= (3 if given.least else 30 if given.quick else 10**9):
            result["runs"].append(measure_run(turns))
            print(json.dumps(result["runs"][-1]), flush=True)
    result["bars"] = {
        bar: {"seconds": seconds, "at_most": BARS[bar], "met": seconds < BARS[bar]}
        for bar, seconds in [
            *((f"{s['save']}, {s['size']}", s["seconds"]) for s in result["saves"]),
            *((f"{r['turns']} turns", r["seconds"]) for r in result["runs"] if "seconds" in r),
        ]
        if bar in BARS
    }
    result["growth"] = growth([each for each in result["runs"] if "seconds" in each])
    if given.ckpt_chaos:
        result["ckpt_chaos"] = measure_ckpt_chaos(given.ckpt_chaos, 1_000)
    path = Path(given.out or f"benchmarks/results/{result['date']}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"\n{json.dumps(result['bars'], indent=1)}\nwritten to {path}")


def growth(runs: list[dict[str, Any]]) -> list[dict[str, object]]:
    """How the cost of a run grows, against the bytes written and the distinct observations (runs really resumed)."""
    return [
        {
            "from_turns": first["turns"],
            "to_turns": second["turns"],
            "seconds": round(second["seconds"] / first["seconds"], 2),
            "bytes_written": round(second["bytes_written"] / first["bytes_written"], 2),
            "bytes_written_by_all_runs": round(
                second["bytes_written_by_all_runs"] / first["bytes_written_by_all_runs"], 2
            ),
            "resumes": round(second["resumes"] / first["resumes"], 2),
        }
        for first, second in itertools.pairwise(runs)
    ]


if __name__ == "__main__":
    main()
