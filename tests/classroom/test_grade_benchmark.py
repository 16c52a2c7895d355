"""The benchmark of grading works from beginning to end, on a handful of submissions."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from class_to_grade import CHECKOUT


@pytest.mark.thorough
def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks.grading", "--least", "--out", str(out)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    figures = json.loads(out.read_text())
    assert {"processor", "cores", "system", "python"} <= figures["machine"].keys()
    assert [each["submissions"] for each in figures["class"]] == [3, 6]
    assert all(each["seconds"] > 0 and each["megabytes"] > 0 for each in figures["class"])
    assert all(each["seconds_each"] > 0 for each in figures["stock"])
    assert figures["bars"]["times the throughput of stock"]["measured"] > 0
