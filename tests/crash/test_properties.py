"""Generated sequences of file operations: the fake disk against the real one, replays, and what each model promises."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.crash import ROOT, Disk, Image, PowerLoss, ProcessKill
from grader.crash.operations import Fsync, SyncAll, Write
from grader.crash.replay import replay

MANY = int(os.environ.get("CRASH_EXAMPLES", "120"))
"""``CRASH_EXAMPLES=5000 pytest tests/crash/test_properties.py`` searches longer, and elsewhere each time."""
FEW = settings(
    max_examples=MANY, deadline=None, derandomize=MANY == 120, database=None, suppress_health_check=list(HealthCheck)
)
FEWER = settings(FEW, max_examples=MANY // 3)

names = st.sampled_from(["a", "b", "d", "d/a", "d/e", "d/e/c", "l", "a/x", "d/..", "./b", "l/a", "d/"])
data = st.binary(min_size=0, max_size=6)
flags = st.sampled_from(
    [
        os.O_WRONLY | os.O_CREAT,
        os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
        os.O_RDWR | os.O_CREAT | os.O_EXCL,
        os.O_WRONLY | os.O_APPEND,
        os.O_RDWR,
        os.O_RDONLY,
        os.O_RDONLY | os.O_DIRECTORY,
        os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW,
        os.O_WRONLY | os.O_TRUNC,
    ]
)
slots = st.integers(0, 2)

steps = st.one_of(
    st.tuples(st.just("open"), slots, names, flags),
    st.tuples(st.just("write"), slots, data),
    st.tuples(st.just("pwrite"), slots, data, st.integers(0, 9)),
    st.tuples(st.just("read"), slots, st.integers(0, 9)),
    st.tuples(st.just("seek"), slots, st.integers(-3, 9), st.sampled_from([0, 1, 2])),
    st.tuples(st.just("ftruncate"), slots, st.integers(0, 9)),
    st.tuples(st.just("truncate"), names, st.integers(0, 9)),
    st.tuples(st.just("fsync"), slots),
    st.tuples(st.just("close"), slots),
    st.tuples(st.just("dup"), slots, slots),
    st.tuples(st.just("rename"), names, names),
    st.tuples(st.just("replace"), names, names),
    st.tuples(st.just("link"), names, names),
    st.tuples(st.just("symlink"), st.sampled_from(["a", "d", "d/e", "../b", "nowhere", "l"]), names),
    st.tuples(st.just("unlink"), names),
    st.tuples(st.just("mkdir"), names),
    st.tuples(st.just("rmdir"), names),
    st.tuples(st.just("makedirs"), names),
    st.tuples(st.just("listdir"), names),
    st.tuples(st.just("stat"), names),
    st.tuples(st.just("lstat"), names),
    st.tuples(st.just("exists"), names),
    st.tuples(st.just("write_text"), names, st.text("xyz", max_size=5)),
    st.tuples(st.just("append_text"), names, st.text("xyz", max_size=5)),
    st.tuples(st.just("read_bytes"), names),
    st.tuples(st.just("chmod"), names, st.sampled_from([0o600, 0o644, 0o755])),
    st.tuples(st.just("copyfile"), names, names),
    st.tuples(st.just("move"), names, names),
    st.tuples(st.just("rmtree"), names.filter(lambda name: name != "d/..")),
    st.tuples(st.just("touch"), names),
)
programs = st.lists(steps, min_size=1, max_size=14)


def look(path, follow):
    found = os.stat(path) if follow else os.lstat(path)
    kind = stat.S_IFMT(found.st_mode)
    size = found.st_size if stat.S_ISREG(found.st_mode) else None
    links = found.st_nlink if stat.S_ISREG(found.st_mode) else None
    return kind, stat.S_IMODE(found.st_mode) if not stat.S_ISLNK(found.st_mode) else None, size, links


class Interpreter:
    """Carries a program out through ``os``, ``open``, ``pathlib`` and ``shutil``, as whoever runs it has them."""

    def __init__(self):
        self.held = {}

    def step(self, what, *given):
        try:
            return "ok", self.do(what, *given)
        except (OSError, shutil.Error) as error:
            return "error", type(error).__name__, getattr(error, "errno", None)
        except KeyError:
            return "no such slot", None

    def do(self, what, *given):
        if what == "open":
            slot, path, how = given
            descriptor = os.open(path, how, 0o644)
            self.close(slot)
            self.held[slot] = descriptor
        elif what == "write":
            return os.write(self.held[given[0]], given[1])
        elif what == "pwrite":
            return os.pwrite(self.held[given[0]], given[1], given[2])
        elif what == "read":
            return os.read(self.held[given[0]], given[1])
        elif what == "seek":
            return os.lseek(self.held[given[0]], given[1], given[2])
        elif what == "ftruncate":
            os.ftruncate(self.held[given[0]], given[1])
        elif what == "fsync":
            os.fsync(self.held[given[0]])
        elif what == "close":
            self.held[given[0]]
            self.close(given[0])
        elif what == "dup":
            descriptor = os.dup(self.held[given[0]])
            self.close(given[1])
            self.held[given[1]] = descriptor
        elif what == "listdir":
            return sorted(os.listdir(given[0]))
        elif what in ("stat", "lstat"):
            return look(given[0], what == "stat")
        elif what == "exists":
            return os.path.exists(given[0]), os.path.isfile(given[0]), os.path.isdir(given[0]), os.path.islink(given[0])
        elif what == "write_text":
            return Path(given[0]).write_text(given[1])
        elif what == "append_text":
            with open(given[0], "a") as file:
                return file.write(given[1])
        elif what == "read_bytes":
            return Path(given[0]).read_bytes()
        elif what == "touch":
            Path(given[0]).touch()
        elif what in ("copyfile", "move", "rmtree"):
            getattr(shutil, what)(*given)
        elif what == "mkdir":
            os.mkdir(given[0], 0o755)
        elif what == "makedirs":
            os.makedirs(given[0], exist_ok=True)
        else:
            getattr(os, what)(*given)
        return None

    def close(self, slot):
        if slot in self.held:
            os.close(self.held.pop(slot))

    def close_all(self):
        for slot in list(self.held):
            self.close(slot)


def tree():
    found = {}
    for place, folders, files in os.walk("."):
        for name in folders + files:
            path = os.path.join(place, name)
            if os.path.islink(path):
                found[path] = os.readlink(path)
            elif os.path.isdir(path):
                found[path] = None
            else:
                with open(path, "rb") as file:
                    found[path] = file.read(), stat.S_IMODE(os.stat(path).st_mode)
    return found


def carried_out(program):
    interpreter = Interpreter()
    told = [(step, interpreter.step(*step)) for step in program]
    left = tree()
    interpreter.close_all()
    return told, left


@pytest.fixture(scope="module")
def scratch():
    with tempfile.TemporaryDirectory() as folder:
        yield folder


@given(programs)
@FEW
def test_the_fake_disk_does_what_the_real_one_does(scratch, program):
    """Each call's result or errno, and the tree at the end."""
    folder, before = os.path.join(scratch, "disk"), os.getcwd()
    os.makedirs(os.path.join(folder, "d"))
    Path(folder, "a").write_bytes(b"first")
    os.chmod(os.path.join(folder, "a"), 0o644)
    os.chdir(folder)
    try:
        really = carried_out(program)
    finally:
        os.chdir(before)
        shutil.rmtree(folder)
    with Disk(Image.of({"a": b"first", "d/": b""}, cwd=ROOT), tmp_elsewhere=False):
        fake = carried_out(program)
    for (step, real_told), (_, fake_told) in zip(really[0], fake[0], strict=True):
        assert fake_told == real_told, step
    assert fake[1] == really[1]


@given(programs)
@FEW
def test_a_replay_is_the_disk_at_every_prefix(program):
    with Disk(Image.of({"a": b"first", "d/": b""}, cwd=ROOT), tmp_elsewhere=False) as disk:
        interpreter, images = Interpreter(), {}
        images[0] = disk.image()
        for step in program:
            interpreter.step(*step)
            images[len(disk.recording().operations)] = disk.image()
        interpreter.close_all()
        recording = disk.recording()
    for count, image in images.items():
        again = replay(recording, count).image()
        assert again.fingerprint() == image.fingerprint()
        assert {n: (i.kind, i.mode, i.mtime) for n, i in again.inodes.items() if i.kind == "file"} == {
            n: (i.kind, i.mode, i.mtime) for n, i in image.inodes.items() if i.kind == "file"
        }


def recorded(program):
    with Disk(Image.of({"a": b"first", "d/": b""}, cwd=ROOT), tmp_elsewhere=False) as disk:
        interpreter = Interpreter()
        for step in program:
            interpreter.step(*step)
        interpreter.close_all()
        return disk.recording()


def images_of(model, recording):
    seen = []
    survey = model.survey(recording, lambda image: (seen.append(image), ()), prune=False)
    return seen, survey


@given(programs)
@FEWER
def test_a_kill_leaves_exactly_the_prefixes(program):
    recording = recorded(program)
    wanted = set()
    for count in range(len(recording.operations) + 1):
        wanted.add(replay(recording, count).image().fingerprint())
        if count < len(recording.operations) and isinstance(recording.operations[count], Write):
            for cut in range(1, len(recording.operations[count].data)):
                part = replay(recording, count, cut)
                wanted.add(part.image().fingerprint())
    seen, survey = images_of(ProcessKill(), recording)
    assert {image.fingerprint() for image in seen} == wanted
    assert survey.images == len(seen)


@given(programs)
@FEWER
def test_what_was_synced_is_never_lost(program):
    """After a sync of everything at the end, only the whole disk as it was can be found."""
    recording = recorded(program)
    last = recording.operations[-1] if recording.operations else None
    synced = (*recording.operations, SyncAll(getattr(last, "time", 0.0) + 1, None))
    survey = PowerLoss().survey(
        type(recording)(recording.initial, synced, (), recording.root),
        lambda image: (image.fingerprint(), ()),
        prune=False,
    )
    whole = replay(recording).image().fingerprint()
    assert {o.result for o in survey.outcomes if o.moment.until == len(synced)} == {whole}


@given(programs, st.sampled_from(["a", "b", "d/a"]), st.binary(min_size=1, max_size=9))
@FEWER
def test_a_file_synced_with_its_directories_is_never_lost(program, name, content):
    with Disk(Image.of({"a": b"first", "d/": b""}, cwd=ROOT), tmp_elsewhere=False) as disk:
        interpreter = Interpreter()
        for step in program:
            interpreter.step(*step)
        interpreter.close_all()
        with contextlib.suppress(OSError):
            descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.write(descriptor, content)
            os.fsync(descriptor)
            os.close(descriptor)
            for folder in (os.path.dirname(os.path.realpath(name)), "."):
                descriptor = os.open(folder, os.O_RDONLY)
                os.fsync(descriptor)
                os.close(descriptor)
            disk.mark("synced")
        recording = disk.recording()
    if not any(getattr(op, "kind", "") == "synced" for op in recording.operations):
        return
    end = len(recording.operations)
    survey = PowerLoss().survey(recording, lambda image: (image.read(name), ()), prune=False)
    assert {o.result for o in survey.outcomes if o.moment.until == end} == {content}


@given(programs)
@FEWER
def test_a_stronger_model_leaves_more(program):
    recording = recorded(program)
    usual = {image.fingerprint() for image in images_of(PowerLoss(), recording)[0]}
    lying = {image.fingerprint() for image in images_of(PowerLoss(fsync_lies=True), recording)[0]}
    anyhow = {image.fingerprint() for image in images_of(PowerLoss(ordered=False), recording)[0]}
    assert usual <= lying
    if not any(isinstance(op, (Fsync, SyncAll)) for op in recording.operations) and len(recording.operations) < 6:
        assert usual <= anyhow
    kills = {
        replay(recording, count).image().fingerprint()
        for count in range(len(recording.operations) + 1)
    }
    assert kills <= usual  # a power cut after everything reached the disk is a kill


@given(programs)
@FEWER
def test_pruned_or_not_a_look_finds_the_same(program):
    recording = recorded(program)

    def reading(image):
        with Disk(image, tmp_elsewhere=False) as disk:
            found = []
            for name in ("a", "b", "d/a", "l"):
                try:
                    found.append(Path(name).read_bytes())
                except OSError as error:
                    found.append(error.errno)
            return tuple(found), disk.observations()

    for model in (ProcessKill(), PowerLoss(points=8)):
        pruned, whole = (model.survey(recording, reading, prune=prune) for prune in (True, False))
        assert {o.result for o in pruned.outcomes} == {o.result for o in whole.outcomes}
        assert (pruned.images, pruned.distinct) == (whole.images, whole.distinct)
        assert pruned.looks <= whole.looks
