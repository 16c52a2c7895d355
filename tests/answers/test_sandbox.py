"""A class's worker: what strangers' code can't see, can't reach, can't leave behind, with bubblewrap and without."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.answers import frames, sandbox, scratch
from grader.answers.runner import Worker
from grader.levels.trial import Outcome, Trial
from grader.verdict import Text
from grader.words import plain

PACKAGE = Path(sandbox.__file__).parents[1]

needs_bubblewrap = pytest.mark.skipif(sandbox.why_not() is not None, reason=f"no sandbox here: {sandbox.why_not()}")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


@pytest.fixture(scope="module")
def enclosed() -> Iterator[Worker]:
    made = Worker(isolation="required")
    yield made
    made.close()


@pytest.fixture(scope="module")
def bare() -> Iterator[Worker]:
    """A class's worker on a machine without bubblewrap."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "why_not", lambda: plain("there is none"))
        made = Worker(isolation="auto")
    yield made
    made.close()


@pytest.fixture(params=[pytest.param("enclosed", marks=needs_bubblewrap), pytest.param("bare", marks=linux)])
def either(request: pytest.FixtureRequest) -> Worker:
    worker: Worker = request.getfixturevalue(request.param)
    return worker


def run(worker: Worker, code: str, seconds: float = 2.0) -> Outcome:
    return worker.run([("mine", code)], Trial("level1", seconds=seconds))


def printed(worker: Worker, code: str) -> str:
    outcome = run(worker, code, 10.0)
    assert outcome.cells == () and outcome.failure is None, (outcome.cells, outcome.failure)
    return outcome.output


REAL = """
import ctypes, os, posix, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(act):
    try:
        return act()
    except OSError as error:
        return f"refused {error.errno}"
def called(name, *arguments):
    result = getattr(libc, name)(*arguments)
    return result if result >= 0 else f"refused {ctypes.get_errno()}"
def made(path):
    return called("open", path.encode(), os.O_CREAT | os.O_WRONLY, 0o600)
def content(path):
    number = libc.open(path.encode(), os.O_RDONLY)
    if number < 0:
        return f"refused {ctypes.get_errno()}"
    data = ctypes.create_string_buffer(100_000)
    size = libc.read(number, data, 100_000)
    libc.close(number)
    return data.raw[:max(size, 0)]
"""
"""Ways to the real system that no fake disk stands in."""


@needs_bubblewrap
def test_nothing_of_the_course_can_be_found(enclosed: Worker, tmp_path: Path) -> None:
    """Not by any path that is there, and not by the paths at which it lies outside."""
    secret = tmp_path / "gradebook.db"
    secret.write_text("other people's marks")
    seen = printed(
        enclosed,
        REAL
        + f"""
import json
found = []
def walk(path):
    try:
        names = posix.listdir(path)
    except OSError:
        return
    for name in names:
        inside = path.rstrip("/") + "/" + name
        found.append(inside)
        if inside.endswith(("site-packages", "dist-packages")) or inside == "/etc/ssl":
            walk(inside + "/grader")
            continue
        try:
            posix.readlink(inside)
        except OSError:
            walk(inside)
for top in posix.listdir("/"):
    if top not in ("proc", "usr", "lib", "lib64"):
        walk("/" + top)
print(json.dumps([p for p in found if "/lib/python3" not in p or "packages/" in p]))
print(posix.access({str(secret)!r}, 0), content({str(secret)!r}))
""",
    )
    listed, direct = seen.splitlines()[:2]
    found = json.loads(listed)
    own = [path.removeprefix(f"{PACKAGE}/") for path in found if path.startswith(f"{PACKAGE}/")]
    assert "crash" in own or "packages/" in str(PACKAGE)
    forbidden = "solutions exercises criteria rubric gradebook submitted tests level2/ judge."
    for word in forbidden.split():
        assert [path for path in found if word in path and "minagent" not in path] == []
    assert direct == "False refused 2"


@needs_bubblewrap
@pytest.mark.parametrize("path", ["/proc/1/root", "/proc/{parent}/root", "/proc/1/cwd", "/proc/{parent}/fd"])
def test_no_other_process_is_a_way_out(enclosed: Worker, path: str) -> None:
    code = REAL + f"print(tried(lambda: posix.listdir({path!r}.format(parent=posix.getppid()))))"
    assert printed(enclosed, code) == "refused 13\n"


@pytest.mark.parametrize("name", ["environ", "mem", "maps"])
def test_no_process_above_can_be_read(either: Worker, name: str) -> None:
    above = "[1, posix.getppid()]" if either.isolation.sandboxed else "[posix.getppid()]"
    code = REAL + f"print([content(f'/proc/{{pid}}/{name}') for pid in {above}])"
    assert set(printed(either, code).strip("[]\n").replace("'", "").split(", ")) <= {"refused 13", "refused 1"}


@needs_bubblewrap
def test_only_the_judges_own_settings_are_in_the_environment(enclosed: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    worker = Worker(isolation="required")
    names = json.loads(printed(worker, REAL + "import json\nprint(json.dumps(list(os.environ)))"))
    assert printed(worker, REAL + "print(b'SECRET' in content('/proc/self/environ'))") == "False\n"
    worker.close()
    assert set(names) == {*sandbox.settings(), "PWD"}


@needs_bubblewrap
@pytest.mark.parametrize("place", ["/", "/dev/", "/usr/lib/", "/etc/", f"{sys.prefix}/lib/"])
def test_nothing_is_written_outside_the_scratch(enclosed: Worker, place: str) -> None:
    assert printed(enclosed, REAL + f"print(made({place!r} + 'x'))") in ("refused 13\n", "refused 30\n")


@needs_bubblewrap
def test_the_scratch_is_small_and_empty_for_each_run(enclosed: Worker) -> None:
    fill = """
blocks, number = 0, 0
piece = b"x" * 1_000_000
while blocks < 300:
    where = ["/tmp/", "/dev/shm/"][number % 2] + str(number)
    descriptor = libc.open(where.encode(), os.O_CREAT | os.O_WRONLY, 0o600)
    number += 1
    if descriptor < 0 or libc.write(descriptor, piece, len(piece)) < len(piece):
        break
    libc.close(descriptor)
    blocks += 1
os.makedirs("/tmp/deep/er", exist_ok=True)
print(blocks)
"""
    assert int(printed(enclosed, REAL + fill)) < 140
    look = "import posix\nprint([posix.listdir(p) for p in ('/tmp', '/dev/shm')])"
    nothing = json.loads(printed(enclosed, look).replace("'", '"'))
    assert [name for names in nothing for name in names if name.isdigit()] == []


def test_there_is_no_network(either: Worker) -> None:
    code = """
import socket
a, b = socket.socketpair()
a.send(b"x")
print(b.recv(1))
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    with socket.socket(socket.AF_INET, kind) as one:
        try:
            one.connect(("1.1.1.1", 53)) if kind == socket.SOCK_STREAM else one.sendto(b"x", ("1.1.1.1", 53))
        except OSError as error:
            print(type(error).__name__, error.errno)
"""
    assert printed(either, code) == "b'x'\nOSError 101\nOSError 101\n"


def test_a_network_of_this_machine_is_out_of_reach_too(either: Worker) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        code = f"import socket\ntry:\n    socket.create_connection({address!r})\nexcept OSError as e: print(e.errno)"
        assert printed(either, code) == "101\n"


@pytest.mark.parametrize(
    "act",
    [
        'called("fork")',
        'called("vfork")',
        'called("execv", b"/bin/true", None)',
        'called("posix_spawn", None, b"/bin/true", None, None, (ctypes.c_char_p * 2)(b"true", None), None)',
        'called("kill", posix.getppid(), 9)',
        'called("kill", -1, 9)',
        'called("kill", 1, 0)',
        'called("ptrace", 16, posix.getppid(), 0, 0)',
        'called("unshare", 0x10000000)',
        'called("shmget", 7, 4096, 0o1600)',
        'called("syscall", 425, 8, 0)',
    ],
)
def test_processes_can_neither_be_made_nor_reached(either: Worker, act: str) -> None:
    assert printed(either, REAL + f"print({act})").startswith(("refused 1\n", "1\n")), act
    assert printed(either, "print('still there')") == "still there\n"


def test_its_own_threads_and_signals_are_left_to_it(either: Worker) -> None:
    code = """
import signal, threading
got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append("signal"))
signal.raise_signal(signal.SIGUSR1)
import os
os.kill(os.getpid(), signal.SIGUSR1)
threads = [threading.Thread(target=got.append, args=("thread",)) for _ in range(20)]
for one in threads: one.start()
for one in threads: one.join()
print(len(got))
"""
    assert printed(either, code) == "22\n"


def test_a_fork_bomb_is_no_more_than_a_failed_run(either: Worker) -> None:
    assert (run(either, "import os\nwhile True: os.fork()").failure or Text).kind == "fork"  # type: ignore[union-attr]
    outcome = run(either, REAL + "for _ in range(100_000): libc.fork()\nprint(os.getpid() > 0)")
    assert outcome.output in ("True\n", "")
    threads = "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()"
    outcome = run(either, threads)
    assert outcome.failure or outcome.cells
    assert printed(either, "print('still there')") == "still there\n"


def test_memory_files_and_output_have_their_ends(either: Worker) -> None:
    hungry = run(either, "data = bytearray(10**9)\nmore = bytearray(10**9)")
    assert hungry.cells[0].kind == "memory"
    assert "refused 24" in printed(either, REAL + "print([called('dup', 0) for _ in range(300)][-1])")
    long = run(either, "for _ in range(2000): print('x' * 50_000)\nprint('the end')")
    assert long.output.endswith("the end\n") and len(long.output) <= frames.Limits().output


def test_what_sleeps_on_dies_with_its_run(either: Worker) -> None:
    """Processes made past the first line of defence: set apart, forked twice, deaf to signals."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "heavy_in", lambda sources: ())
        before = _processes()
        outcome = run(either, DAEMON)
    assert outcome.failure is None
    assert _processes() - before == set()


DAEMON = (
    REAL
    + """
import signal, time
if libc.fork() == 0:
    libc.setsid()
    if libc.fork() == 0:
        for number in range(1, 32):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        libc.prctl(15, b"left-behind", 0, 0, 0)
        libc.sleep(600)
    posix._exit(0)
"""
)


def _processes() -> set[str]:
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found.add(f"{folder.name} {(folder / 'comm').read_text()}")
            except OSError:
                continue
    return {one for one in found if "left-behind" in one}


@linux
def test_what_sleeps_on_dies_with_its_run_where_it_could_be_made() -> None:
    """A learner's own worker forbids nothing, and still leaves nobody behind."""
    worker = Worker()
    run(worker, DAEMON)
    worker.close()
    assert _processes() == set()


def test_a_run_knows_nothing_of_the_one_before(either: Worker) -> None:
    """Its text, its names, its modules and its settings: the next one finds none of them, in memory least of all."""
    first = """
secret = "only the " + "first one knows"
import sys, types, os, builtins, json, decimal
sys.modules["left"] = types.ModuleType("left")
builtins.left = secret
json.left = secret
os.environ["LEFT"] = secret
sys.path.append("/left")
"""
    assert printed(either, first) == ""
    names = """
import builtins, json, os, sys
print("left" in sys.modules, hasattr(builtins, "left"), hasattr(json, "left"), "LEFT" in os.environ)
print("/left" in sys.path)
"""
    assert printed(either, names) == "False False False False\nFalse\n"
    search = REAL + SEARCH
    assert int(printed(either, search)) == 0
    assert int(printed(either, first + search)) > 0


SEARCH = """
begin, rest = b" eno tsrif"[::-1], b"swonk"
hits = 0
number = libc.open(b"/proc/self/mem", 0)
for line in content("/proc/self/maps").decode().splitlines():
    span, mode = line.split()[:2]
    low, high = (int(x, 16) for x in span.split("-"))
    if mode.startswith("rw") and high - low < 200_000_000:
        data = ctypes.create_string_buffer(high - low)
        size = libc.pread(number, data, ctypes.c_size_t(high - low), ctypes.c_long(low))
        at = data.raw.find(begin)
        while at >= 0:
            hits += data.raw[at + len(begin):][:len(rest)][::-1] == rest
            at = data.raw.find(begin, at + 1)
print(hits)
"""
"""Looks for "first one knows" in all of the process's memory, and never holds it whole itself."""


@needs_bubblewrap
def test_it_is_nobody_in_there(enclosed: Worker) -> None:
    code = (
        REAL
        + """
for line in content("/proc/self/status").decode().splitlines():
    if line.startswith(("Uid", "CapEff", "CapPrm", "NoNewPrivs", "Seccomp:")): print(line)
print(called("setuid", 0), posix.getgroups())
"""
    )
    lines = printed(enclosed, code).splitlines()
    user = lines[0].split()[1]
    assert int(user) >= 65534
    assert lines[1:4] == ["CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "NoNewPrivs:\t1"]
    assert lines[-1].startswith("refused ")


@needs_bubblewrap
def test_where_python_is_for_root_alone_a_user_namespace_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_open_to_all", lambda *_, **__: False)
    worker = Worker(isolation="required")
    assert worker.isolation.user is None
    code = REAL + "import decimal\nprint(posix.getuid(), posix.access('/root', 2), called('kill', 1, 9))"
    assert printed(worker, code) == "65534 False refused 1\n"
    worker.close()


def test_required_without_bubblewrap_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    sandbox.why_not.cache_clear()
    try:
        with pytest.raises(sandbox.NoSandbox) as raised:
            Worker(isolation="required")
        notice = sandbox.notice()
    finally:
        sandbox.why_not.cache_clear()
    assert "bubblewrap" in raised.value.text.en and "bubblewrap" in raised.value.text.zh
    assert notice is not None and "without a sandbox" in notice.en and "沙箱" in notice.zh


@needs_bubblewrap
def test_with_bubblewrap_there_is_nothing_to_warn_of() -> None:
    assert sandbox.notice() is None


@pytest.mark.parametrize(("value", "isolation"), [(None, "auto"), ("", "auto"), ("0", "auto"), ("1", "required")])
def test_a_class_can_require_it_by_its_environment(
    monkeypatch: pytest.MonkeyPatch, value: str | None, isolation: str
) -> None:
    monkeypatch.delenv(sandbox.REQUIRE, raising=False)
    if value is not None:
        monkeypatch.setenv(sandbox.REQUIRE, value)
    assert sandbox.for_class() == isolation


@linux
def test_a_judge_that_is_killed_takes_its_worker_along() -> None:
    """Even in the middle of a run, and with bubblewrap in between."""
    program = (
        "from grader.answers.runner import Worker\nfrom grader.levels.trial import Trial\n"
        "w = Worker(isolation='auto')\nw.run([('a', '1')], Trial('level1'))\nprint(w.fake.started().pid, flush=True)\n"
        "w.run([('a', 'while True: pass')], Trial('level1', seconds=60.0))"
    )
    judge = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert judge.stdout is not None
    worker = int(judge.stdout.readline())
    judge.send_signal(signal.SIGKILL)
    judge.wait()
    judge.stdout.close()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{worker}").exists() and "\nState:\tZ" not in Path(f"/proc/{worker}/status").read_text():
        assert time.monotonic() < deadline


AWAY = """
from grader.answers.runner import Worker
from grader.levels.trial import Trial

worker = Worker(isolation="required")
zygotes = set()
for number in (1, 2):
    left = f"import os; os.makedirs('/tmp/a/{number}'); open('/tmp/a/{number}/left', 'w').close()"
    outcome = worker.run([("mine", left)], Trial("level1", seconds=5.0), number)
    assert outcome.cells == () and outcome.failure is None, outcome
    zygotes.add(worker.fake.started().pid)
print(len(zygotes))
"""


@needs_bubblewrap
def test_a_checkout_in_the_scratch_is_no_leftover(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "a kit" / "grader", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-c", AWAY]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "a kit")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr  # one sandbox for all, none given up for what is mounted there


def test_the_scratch_keeps_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "FOLDERS", (str(tmp_path), str(tmp_path / "none")))
    (tmp_path / "there").mkdir()
    made = scratch.Scratch()
    deep = tmp_path.joinpath("there", *["deep"] * 300)
    deep.mkdir(parents=True)
    (deep / "file").write_text("left")
    (tmp_path / "link").symlink_to("/")
    assert made.empty()
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]
