"""What the benchmarks rest on, in counts that do not depend on the machine; and that their command works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from grader.crash import explore, explore_run

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import subjects  # noqa: E402


def test_loads_do_not_grow_with_the_size():
    for size in (1_000, 100_000, 2_000_000):
        found = explore(
            subjects.save_by_replace, subjects.load, old=subjects.state(1, size), new=subjects.state(2, size)
        )
        assert found.kill.looks + found.power.looks == 4
        assert found.kill.images > size and found.kill.bound == "every byte of every write"
        assert found.survives_kill and found.survives_power_loss and found.durable_on_return and found.next_save_works


def test_resumes_grow_with_the_turns_not_with_the_bytes():
    counts = []
    for turns in (3, 6, 12):
        found = explore_run(subjects.agent(turns))
        assert found.survives
        counts.append(found.survey.looks)
        assert found.survey.images > 50 * found.survey.looks
    assert counts[1] <= 2 * counts[0] and counts[2] <= 2 * counts[1]


def test_the_command(tmp_path):
    out = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--least", "--out", str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(out.read_text())
    assert {"processor", "cores", "system", "python"} <= figures["machine"].keys()
    assert [run["turns"] for run in figures["runs"]] == [3]
    assert {save["save"] for save in figures["saves"]} == {"temp + replace", "in place"}
