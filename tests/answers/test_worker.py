"""The worker keeps its word whatever runs in it: limits, hostile code, and the same result in place."""

import time
from collections.abc import Iterator

import msgspec
import pytest

from grader.answers import frames, wire
from grader.answers.cells import Cell
from grader.answers.judge import judge_cells
from grader.answers.runner import Worker, read
from grader.answers.worker import run_here
from grader.levels import level2_scripts
from grader.levels.trial import ALIEN, Outcome, Trial, plain

GOOD = """
import json, os
def save_checkpoint(state):
    with open("checkpoint.json.tmp", "w") as f:
        json.dump(state, f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
def run_agent(task, tools, call_model, execute_tool):
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0, "messages": [], "pendingToolUse": None}
    save_checkpoint(state)
    return state
"""
SHORT = Trial("level2", {"scripts": [level2_scripts.NO_TOOL]}, seconds=1.5)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


def run(worker: Worker, code: str, trial: Trial = SHORT) -> Outcome:
    return worker.run([("level2-code", code)], trial)


def test_a_run_comes_back_whole(worker: Worker) -> None:
    outcome = run(worker, GOOD + "print('hello', flush=True)\nimport sys\nprint('there', file=sys.stderr)")
    assert outcome.failure is None
    assert outcome.recording is not None
    assert [op.where.line for op in outcome.recording.operations if getattr(op, "where", None)]
    assert outcome.data == {"texts": {}, "returned": 1}
    assert "hello" in outcome.output and "there" in outcome.output


def test_the_same_comes_out_in_place() -> None:
    job = wire.Job([("level2-code", GOOD + "print('hello')")], SHORT)
    outcome = run_here(job)
    assert outcome.failure is None and outcome.recording is not None
    assert outcome.recording.initial.read("checkpoint.json") is None
    assert outcome.output == "hello\n"
    ended = run_here(wire.Job([("level2-code", GOOD + "def run_agent(*a):\n    import sys; sys.exit()")], SHORT))
    assert ended.failure is not None and ended.failure.kind == "exit"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("while True: pass", "time"),
        ("try:\n    while True:\n        pass\nexcept BaseException:\n    pass", "time"),
        ("import time\nwhile True: time.sleep(60)", "time"),
        ("import threading\nthreading.Event().wait()", "time"),
        ("import os\nos._exit(0)", "exit"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "died"),
        ("import ctypes\nctypes.string_at(0)", "died"),
        ("import os\nwhile True: os.fork()", "fork"),
        ("import posix\nposix._exit(3)", "died"),
    ],
)
def test_what_ends_a_run_is_named(worker: Worker, code: str, kind: str) -> None:
    outcome = run(worker, code)
    assert outcome.failure is not None
    assert outcome.failure.kind == kind
    assert run(worker, GOOD).failure is None


def test_a_stack_that_overflows_ends_in_words(worker: Worker) -> None:
    """Python 3.12 raises where the others die: it counts C's calls by themselves."""
    outcome = run(worker, "import sys\nsys.setrecursionlimit(10**9)\ndef f(*_): sorted([1, 2], key=f)\nf()")
    assert outcome.failure is not None
    ended = [outcome.failure.kind, *(failure.type for failure in outcome.cells)]
    assert ended in (["died"], ["missing", "RecursionError"])
    assert run(worker, GOOD).failure is None


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("import sys; sys.exit(1)", "exit"),
        ("raise SystemExit", "exit"),
        ("input()", "input"),
        ("bytearray(10**11)", "memory"),
        ("raise ValueError('\\ud800')", "exception"),
    ],
)
def test_what_a_function_does_is_named_with_its_line(worker: Worker, call: str, kind: str) -> None:
    outcome = run(worker, f"def run_agent(*a):\n    {call}\n")
    assert outcome.failure is not None
    assert outcome.failure.kind == kind
    assert outcome.failure.place is not None and outcome.failure.place.line == 2


def test_a_long_computation_in_c_is_killed(worker: Worker) -> None:
    outcome = run(worker, "9 ** 9 ** 9")
    assert outcome.failure is not None and outcome.failure.kind == "time"


def test_output_is_cut_to_its_end(worker: Worker) -> None:
    outcome = run(worker, GOOD + "print('x' * 50_000_000)\nprint('the end')")
    assert outcome.failure is None
    assert len(outcome.output) <= 64 * 1024
    assert outcome.output.endswith("the end\n")


def test_a_log_too_large_is_refused() -> None:
    small = Worker(frames.Limits(result=100_000))
    outcome = run(small, GOOD + "open('big', 'w').write('x' * 1_000_000)")
    small.close()
    assert outcome.failure is not None and outcome.failure.kind == "damaged"


@pytest.mark.parametrize(
    "sent",
    [b"", b"x" * 4096, b"\x00" * 4096, frames.FRAME.pack(2**60), frames.FRAME.pack(3) + b"\x93\x01\x02"],
)
def test_whatever_is_written_to_the_pipes_harms_nobody(worker: Worker, sent: bytes) -> None:
    code = f"import posix\nfor fd in range(3, 40):\n    try: posix.write(fd, {sent!r})\n    except OSError: pass\n"
    outcome = run(worker, code + GOOD)
    assert outcome.failure is None or outcome.failure.kind in ("damaged", "died", "time")
    assert run(worker, GOOD).failure is None


def test_a_killed_zygote_is_replaced(worker: Worker) -> None:
    outcome = run(worker, "import os\nos.kill(os.getppid(), 9)\nwhile True: pass")
    assert outcome.failure is not None and outcome.failure.kind == "died"
    assert run(worker, GOOD).failure is None


def test_processes_left_behind_are_killed(worker: Worker, tmp_path: object) -> None:
    code = "import posix, time\nif posix.fork() == 0:\n    while True: pass\n"
    run(worker, code + GOOD)


def test_learners_find_no_judge(worker: Worker) -> None:
    code = """
import sys
print([name for name in sys.modules if "level2" in name or "answers" in name or "criteria" in name])
from grader import check
print(check("level2-atomic"))
try:
    import grader.levels.level2
    print("there")
except ImportError:
    print("not there")
"""
    assert run(worker, code + GOOD).output.split("\n")[:3] == ["[]", "None", "not there"]


def test_nothing_reaches_the_real_disk(worker: Worker, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("real")
    run(worker, f"import os\nos.makedirs({str(folder)!r})\nopen({str(folder / 'x')!r}, 'w').write('x')\n" + GOOD)
    assert list(folder.iterdir()) == []


def test_top_level_await_and_main(worker: Worker) -> None:
    code = (
        "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 7\nx = await f()\nprint(__name__, x)\n"
    )
    outcome = run(worker, code + GOOD)
    assert outcome.output == "__main__ 7\n"


def test_a_cell_that_raises_does_not_stop_the_rest(worker: Worker) -> None:
    outcome = worker.run([("a", "x = 1\n1 / 0"), ("b", GOOD), ("c", "def broken(:")], SHORT)
    assert outcome.failure is None
    assert [(failure.cell, failure.type) for failure in outcome.cells] == [
        ("a", "ZeroDivisionError"),
        ("c", "SyntaxError"),
    ]
    assert outcome.cells[0].place is not None and outcome.cells[0].place.line == 2


def test_a_damaged_payload_is_a_failure_and_no_exception() -> None:
    good = wire.encode_outcome(Outcome(None, data={"a": [1, None, "é"]}))
    assert wire.decode_outcome(good).data == {"a": [1, None, "é"]}
    for cut in range(len(good)):
        outcome = read(frames.Reply("result", good[:cut]))
        assert outcome.failure is not None and outcome.failure.kind == "damaged"
    for other in (b"\xc0", msgspec.msgpack.encode({"recording": 3, "data": 1, "failure": None, "cells": []})):
        failure = read(frames.Reply("result", other)).failure
        assert failure is not None and failure.kind == "damaged"


def test_plain_data_is_copied_by_exact_type() -> None:
    class Liar(dict):  # type: ignore[type-arg]
        def items(self) -> object:  # type: ignore[override]
            raise AssertionError("called")

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    class Text(str):
        def encode(self, *args: object) -> bytes:
            raise AssertionError("called")

    assert plain(Liar(a=(1, 2.5, True, None))) == {"a": [1, 2.5, True, None]}
    assert type(plain(Text("x"))) is str
    assert plain({1: object}) == {"1": {ALIEN: "type"}}
    assert plain(10**40) == {ALIEN: "int"}
    loop: list[object] = []
    loop.append(loop)
    assert plain(loop)


def test_a_strange_answer_never_stops_the_judge() -> None:
    strange = """
import sys
from types import SimpleNamespace
def save_checkpoint(*a, **k):
    pass
def run_agent(task, tools, call_model, execute_tool):
    call_model(tools, {"messages": object()})
    call_model(messages=[{"role": 3, "content": {4: 5}}])
    execute_tool(["x"], {("a", "b"): 1})
    execute_tool()
    return {"messages": [None, 3, {"role": "user", "content": [[]]}], "turns": float("nan")}
"""
    verdicts = judge_cells([Cell("level2-code", strange)], ["level2-atomic", "level2-point-a", "level2-runs"])
    assert [verdict.met for verdict in verdicts] == [False, False, False]
    assert all(verdict.flags == () for verdict in verdicts)


@pytest.mark.parametrize(
    "start",
    [
        "import subprocess\nsubprocess.run(['touch', {path!r}])",
        "import os\nos.system('touch ' + {path!r})",
        "import multiprocessing as m, os\nm.get_context('fork').Process(target=os.mkdir, args=({path!r},)).start()",
        "import os\nos.posix_spawn('/bin/touch', ['touch', {path!r}], {{}})",
        "import os\nos.execv('/bin/touch', ['touch', {path!r}])",
    ],
)
def test_no_process_is_started(worker: Worker, start: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("real") / "made"
    code = start.format(path=str(path))
    outcome = worker.run([("mine", code), ("level2-code", GOOD)], SHORT)
    assert (outcome.failure and outcome.failure.kind) in (None, "fork")
    assert len(outcome.cells) + (outcome.failure is not None) == 1
    lines = "".join(f"\n    {line}" for line in code.split("\n"))
    within = run(worker, GOOD.replace("(state):", f"(state):{lines}"))
    assert within.failure is not None
    assert within.recording is not None and within.recording.escapes
    time.sleep(0.2)
    assert not path.exists()
