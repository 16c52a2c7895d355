"""Level 2 in a class: what passes on the fake disk is seen again on a real one, from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.answers import sandbox
from grader.answers.cells import Cell
from grader.answers.judge import judge_cells
from grader.answers.runner import Worker
from grader.levels import level2_scripts
from grader.levels.level2.real_disk import FLAG
from grader.levels.sightings import Sightings
from grader.levels.trial import Trial
from grader.verdict import Verdict

PROGRAMS = Path(__file__).parent / "programs"
CODE = ("level2-atomic", "level2-point-a", "level2-runs")

pytestmark = pytest.mark.skipif(sandbox.why_not() is not None, reason=f"no sandbox here: {sandbox.why_not()}")


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker(isolation="required")
    yield made
    made.close()


def judged(worker: Worker, source: str) -> dict[str, Verdict]:
    return {v.criterion: v for v in judge_cells([Cell("level2-code", source)], CODE, worker=worker)}


def watched(worker: Worker, source: str) -> Sightings:
    scripts = level2_scripts.unforeseen("abcd1234")
    seen = worker.run([("level2-code", source)], Trial("level2", scripts, real="checkpoint.json")).sightings
    assert seen is not None
    return seen


GOOD = """
import json, os, sys, time

def good(state):
    with open("checkpoint.json.tmp", "w") as f:
        json.dump(state, f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")

def bad(state):
    with open("checkpoint.json", "w") as f:
        json.dump(state, f)

def gone(state):
    with open("new.json", "w") as f:
        json.dump(state, f)
    if os.path.exists("checkpoint.json"):
        os.remove("checkpoint.json")
    os.rename("new.json", "checkpoint.json")

def beside(state):
    with open("checkpoint.json.1", "w") as f:
        json.dump(state, f)
    with open("checkpoint.json.1") as f, open("checkpoint.json.2", "w") as g:
        g.write(f.read()[: len(f.read()) // 2 - 1])
    os.replace("checkpoint.json.2", "checkpoint.json")

save_checkpoint = good
A = B = True

def run_agent(task, tools, call_model, execute_tool):
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
             "messages": [{"role": "user", "content": task}], "pendingToolUse": None}
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        state["tokensUsed"] += response.usage.input_tokens + response.usage.output_tokens
        if response.stop_reason != "tool_use":
            return state
        state["messages"].append({"role": "assistant", "content": response.content})
        block = next(b for b in response.content if b["type"] == "tool_use")
        state["pendingToolUse"] = {key: block[key] for key in ("id", "name", "input")}
        if A:
            save_checkpoint(state)
        result = execute_tool(block["name"], block["input"])
        state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": block["id"], "content": result}]})
        state["turns"] += 1
        state["pendingToolUse"] = None
        if B:
            save_checkpoint(state)
"""

SNIFFED = {
    "modules": 'any(name.startswith("pyfakefs") for name in sys.modules)',
    "classes": 'any("pyfakefs" in str(c.__module__) for c in object.__subclasses__())',
    "objects": 'any("fake" in type(o).__module__ for o in __import__("gc").get_objects())',
    "folder": '"crash" in os.getcwd()',
    "open": 'type(open).__name__ != "builtin_function_or_method"',
    "os": 'type(os).__name__ != "module"',
    "descriptor": 'os.open("probe", os.O_CREAT | os.O_WRONLY) > 5000',
    "device": "os.stat('.').st_dev < 5 and not os.path.ismount('/proc')",
    "proc": 'not os.path.exists("/proc/self/status")',
    "inode": "os.stat('.').st_ino < 10",
    "frames": '"level2_drive" in str([f.f_code.co_filename for f in frames()])',
    "recorder": 'any(hasattr(f.f_locals.get("self"), "disk") for f in frames())',
    "audit": 'type(os.replace).__name__ != "builtin_function_or_method"',
    "timing": "quickest_write() > 4e-6",
}
FRAMES = """
def frames():
    frame, found = sys._getframe(), []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found

def quickest_write():
    with open("probe.txt", "wb", buffering=0) as f:
        spent = []
        for _ in range(50):
            begun = time.perf_counter()
            f.write(b"x")
            spent.append(time.perf_counter() - begun)
    return min(spent)
"""


@pytest.mark.parametrize("sign", SNIFFED)
def test_code_that_behaves_only_on_a_fake_disk_gains_nothing(worker: Worker, sign: str) -> None:
    cheat = f"""
def save_checkpoint(state):
    global faked
    if "faked" not in globals():
        faked = {SNIFFED[sign]}
    (good if faked else bad)(state)
"""
    verdicts = judged(worker, GOOD + FRAMES + cheat)
    atomic = verdicts["level2-atomic"]
    assert (atomic.met, atomic.points) == (False, 0.0)
    assert "real disk" in atomic.message.en and "真实磁盘" in atomic.message.zh
    assert atomic.flags and atomic.flags[0].startswith(FLAG)
    assert verdicts["level2-point-a"].met and verdicts["level2-runs"].met


@pytest.mark.parametrize(
    ("really", "criterion", "said"),
    [
        ("save_checkpoint = good if fake else bad", "level2-atomic", "no whole document"),
        ("save_checkpoint = good if fake else gone", "level2-atomic", "taken away"),
        ("save_checkpoint = good if fake else beside", "level2-atomic", "no whole document"),
        ("save_checkpoint = good if fake else (lambda state: None)", "level2-atomic", "never was"),
        ("A = fake", "level2-point-a", "while a tool was running"),
        ("B = fake", "level2-point-a", "after a tool had run"),
        (
            "def run_agent(*a, honest=run_agent):\n    return honest(*a) if fake else {}",
            "level2-runs",
            "The model was called",
        ),
    ],
)
def test_each_criterion_is_seen_from_outside(worker: Worker, really: str, criterion: str, said: str) -> None:
    verdict = judged(worker, GOOD + '\nfake = "pyfakefs" in sys.modules\n' + really)[criterion]
    assert (verdict.met, verdict.points) == (False, 0.0)
    assert said in verdict.message.en


@pytest.mark.parametrize(
    "leaves", ["raise ValueError", "os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit()", "list(iter(int, 1))"]
)
def test_to_leave_the_real_disk_early_is_no_way_to_points(worker: Worker, leaves: str) -> None:
    away = f"""
honest = run_agent
def run_agent(*a):
    if "pyfakefs" not in sys.modules:
        {leaves}
    return honest(*a)
"""
    for verdict in judged(worker, GOOD + away).values():
        assert (verdict.met, verdict.points, verdict.suggested) == (None, 0.0, verdict.max_points)
        assert verdict.flags[0].startswith(FLAG)


def test_a_log_and_marks_written_by_the_learners_own_hand_gain_nothing(worker: Worker) -> None:
    forged = """
import copy
def run_agent(task, tools, call_model, execute_tool):
    here = sys._getframe(1).f_locals
    if "stage" not in here:
        return None
    mark, script = here["stage"].mark, here["script"]
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
             "messages": [{"role": "user", "content": task}], "pendingToolUse": None}
    for number, turn in enumerate(script["turns"]):
        mark("model", {"call": number, "messages": copy.deepcopy(state["messages"])})
        block = next((b for b in turn["content"] if b["type"] == "tool_use"), None)
        if block is None:
            return state
        state["messages"].append({"role": "assistant", "content": turn["content"]})
        state["pendingToolUse"] = {key: block[key] for key in ("id", "name", "input")}
        save_checkpoint(state)
        for kind in ("tool-begin", "tool-end"):
            mark(kind, {"call": number + 1, "name": block["name"], "input": block["input"]})
        state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": block["id"], "content": turn["result"]}]})
        state["turns"] += 1
        state["pendingToolUse"] = None
        save_checkpoint(state)
"""
    verdicts = judged(worker, GOOD + forged)
    assert [verdict.points for verdict in verdicts.values()] == [0.0, 0.0, 0.0]
    plain = {v.criterion: v for v in judge_cells([Cell("level2-code", GOOD + forged)], CODE)}
    assert plain["level2-runs"].met  # alone with the fake disk it can't be told


FINE = {
    "level2": ("12_subdir_pid_tmp", "19_mkstemp_cleanup_reraise", "45_fsync_file_and_directory"),
    "level2_more": (
        "r05_thread_joined", "r07_link_then_rename", "r08_o_tmpfile_linkat", "r09_backup_copied_first",
        "r11_subdirs_absolute_cwd", "r27_named_tempfile_delete_false_close", "r33_resume_if_unfinished",
        "s09_chdir_context", "s10_queue_writer_thread", "s11_asyncio_to_thread", "s16_posix_writev_chunks",
        "t01_symlink_switched", "t13_directory_swap", "t18_start_clean", "w05_append_then_cut", "x05_pad_in_place",
        "w36_infinite_loop", "w37_system_exit_at_end", "w44_small_in_place_large_atomic",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("folder", "name"), [(folder, name) for folder in FINE for name in FINE[folder]])
def test_a_real_disk_changes_no_honest_verdict(worker: Worker, folder: str, name: str) -> None:
    label = json.loads((PROGRAMS / folder / "labels.json").read_text(encoding="utf-8"))[f"{name}.py"]
    verdicts = judged(worker, (PROGRAMS / folder / f"{name}.py").read_text(encoding="utf-8"))
    found = [verdicts[criterion].met for criterion in CODE]
    assert found == [label["atomic"], label["point_a"], label["runs"]]
    assert all(verdict.flags == () for verdict in verdicts.values())


def test_kills_are_real_and_hit_the_first_the_widest_and_the_last_save(worker: Worker) -> None:
    """Of a save in place, each kill at a byte leaves half a document; of one by rename, the document before."""
    torn = watched(worker, GOOD + "\nsave_checkpoint = bad")
    killed = [play for play in torn.plays if play.kill == "byte"]
    assert len(killed) == 3 and all(play.killed for play in killed)
    assert [len(play.looks) for play in killed] == sorted(len(play.looks) for play in killed)
    for play in killed:
        left = torn.content(play.looks[-1])
        assert left is not None
        with pytest.raises(json.JSONDecodeError):
            json.loads(left)
    whole = watched(worker, GOOD)
    for play in whole.plays[1:]:
        assert play.killed
        left, before = whole.content(play.looks[-1]), whole.content(play.looks[-2])
        assert left == before or json.loads(left or b"")


def test_nothing_of_the_grader_is_there_to_be_found(worker: Worker) -> None:
    look = """
import gc
seen = sorted({name for name in sys.modules if "fake" in name or name.startswith("grader")}
              | {str(type(o).__module__) for o in gc.get_objects() if "fake" in str(type(o).__module__)})
def save_checkpoint(state):
    good({**state, "seen": seen, "where": os.getcwd(), "files": os.listdir(".")})
"""
    seen = watched(worker, GOOD + look)
    content = seen.content(seen.plays[0].looks[2])
    assert content is not None
    found = json.loads(content)
    assert found["seen"] == ["grader"]  # the stand-in that a notebook imports
    assert "crash" not in found["where"] and found["files"] == []


def test_a_learners_own_notebook_gets_no_real_disk() -> None:
    worker = Worker()
    outcome = worker.run([("level2-code", GOOD)], Trial("level2", [], real="checkpoint.json"))
    worker.close()
    assert outcome.sightings is None


def test_its_process_has_never_imported_a_fake_disk() -> None:
    asked = (
        "import sys, grader.answers.live; "
        "print([name for name in sys.modules if name.startswith(('grader.crash', 'pyfakefs'))])"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
