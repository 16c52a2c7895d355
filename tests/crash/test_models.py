"""The crash models: what they count, what they promise, and the figures of ATOMIC_REPLACE."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import saves

from grader.crash import Disk, PowerLoss, ProcessKill, Verdict, explore, line_of
from grader.crash.image import Image
from grader.crash.operations import Mark, Write
from grader.crash.replay import replay

OLD, NEW = "the old state\n" * 80, "THE NEW STATE\n" * 163 + "12345"  # 2,287 bytes


def document(new: str) -> bytes:
    return new.encode()


def save_in_place(new):
    with open("c.json", "w") as file:
        file.write(new)


def save_by_replace(new, *, file_sync=False, folder_sync=False, unlink=False):
    with open("c.json.tmp", "w") as file:
        file.write(new)
        if file_sync:
            file.flush()
            os.fsync(file.fileno())
    if unlink:
        if os.path.exists("c.json"):
            os.unlink("c.json")
        os.rename("c.json.tmp", "c.json")
    else:
        os.replace("c.json.tmp", "c.json")
    if folder_sync:
        saves.sync_directory()


def with_options(**options):
    return lambda new: save_by_replace(new, **options)


FIGURES = [
    ("in place", save_in_place, (2287, 2289), (6, 8), {"broken", "old", "new"}),
    ("temp + replace", with_options(), (0, 2290), (6, 15), {"broken", "old", "new"}),
    ("+ fsync(file)", with_options(file_sync=True), (0, 2290), (0, 9), {"old", "new"}),
    ("+ fsync(directory)", with_options(file_sync=True, folder_sync=True), (0, 2290), (0, 9), {"new"}),
    ("unlink + rename", with_options(file_sync=True, folder_sync=True, unlink=True), (1, 2291), (1, 10), {"new"}),
]


def recorded(save):
    with Disk() as disk:
        save(OLD)
        disk.start()
        save(NEW)
        disk.mark("save-end")
        return disk.recording()


def verdict_of(image: Image) -> str:
    data = image.read("c.json")
    return {OLD.encode(): "old", NEW.encode(): "new"}.get(data, "broken")


def every_image(recording, model):
    """Every image of a model, one by one and unpruned: its look, its verdict, and until when it can be found."""
    found = []

    def look(image):
        found.append((image.fingerprint(), verdict_of(image)))
        return verdict_of(image), ()

    survey = model.survey(recording, look, prune=False)
    return found, survey


@pytest.mark.parametrize("name, save, kill, power, after", FIGURES, ids=[row[0] for row in FIGURES])
def test_the_figures_of_atomic_replace(name, save, kill, power, after):
    assert len(document(NEW)) == 2287
    recording = recorded(save)
    for model, (broken, everything) in ((ProcessKill(), kill), (PowerLoss(), power)):
        images, survey = every_image(recording, model)
        assert len(set(images)) == everything == survey.distinct
        assert len({image for image in images if image[1] == "broken"}) == broken
    end = len(recording.operations) - 1
    _, survey = every_image(recording, PowerLoss())
    assert {o.result for o in survey.outcomes if o.moment.until > end} == after


@pytest.mark.parametrize("name, save, kill, power, after", FIGURES, ids=[row[0] for row in FIGURES])
def test_explore_counts_the_same(name, save, kill, power, after):
    found = explore(save, lambda: Path("c.json").read_text(), old=OLD, new=NEW, second_crash=False)
    assert (found.kill.distinct, found.power.distinct) == (kill[1], power[1])
    assert found.survives_kill is (kill[0] == 0)
    assert found.survives_power_loss is (power[0] == 0)
    assert found.durable_on_return is (after == {"new"})
    assert found.kill.bound == "every byte of every write"


SMALL = [
    save for save in saves.SAVES if not save.threads and save.name != "tar_and_replace"
]  # that writes 10,240 bytes


@pytest.mark.parametrize("save", SMALL, ids=lambda save: save.name)
def test_the_images_of_a_kill_are_all_prefixes(save):
    """Brute force: every prefix of the operations, every byte prefix of each write, one image each."""
    with Disk(tmp_elsewhere=False) as disk:
        save.save(saves.state(1, 60))
        disk.start()
        save.save(saves.state(2, 60))
        recording = disk.recording()
    wanted = set()
    for count in range(len(recording.operations) + 1):
        wanted.add(replay(recording, count).image().fingerprint())
        if count < len(recording.operations) and isinstance(recording.operations[count], Write):
            for cut in range(1, len(recording.operations[count].data)):
                part = replay(recording, count, cut)
                wanted.add(part.image().fingerprint())
    seen = []

    def look(image):
        seen.append(image.fingerprint())
        return None, ()

    survey = ProcessKill().survey(recording, look, prune=False)
    assert set(seen) == wanted
    assert survey.images == sum(outcome.images for outcome in survey.outcomes) == len(seen)
    assert survey.distinct == len(wanted)


@pytest.mark.parametrize("model", [ProcessKill(), PowerLoss(), PowerLoss(ordered=False), PowerLoss(fsync_lies=True)])
@pytest.mark.parametrize("name", ["temp_fsync_replace", "two_slots", "swap_a_symbolic_link", "update_in_place"])
def test_every_moment_can_be_made_again(name, model):
    save = saves.BY_NAME[name]
    with Disk() as disk:
        save.save(saves.state(1, 60))
        disk.start()
        save.save(saves.state(2, 60))
        recording = disk.recording()
    survey = model.survey(recording, lambda image: (image.fingerprint(), ()), prune=False)
    for outcome in survey.outcomes:
        if outcome.images == 1:
            assert model.image(recording, outcome.moment).fingerprint() == outcome.result
            line_of(recording, outcome.moment)


def power_images(recording, **options):
    seen = set()

    def look(image):
        seen.add(image.fingerprint())
        return None, ()

    PowerLoss(**options).survey(recording, look, prune=False)
    return seen


@pytest.mark.parametrize("name", ["temp_and_replace", "temp_fsync_replace_fsync", "two_slots", "into_a_subdirectory"])
def test_a_worse_disk_can_leave_all_that_a_better_one_can(name):
    with Disk() as disk:
        saves.BY_NAME[name].save(saves.state(1, 60))
        disk.start()
        saves.BY_NAME[name].save(saves.state(2, 60))
        recording = disk.recording()
    usual = power_images(recording)
    assert usual <= power_images(recording, ordered=False)
    assert usual <= power_images(recording, fsync_lies=True)
    assert power_images(recording, zeros=False) <= usual
    assert power_images(recording, torn=()) <= usual


def test_a_disk_that_lies_about_fsync_makes_no_save_durable():
    reference = saves.BY_NAME["temp_fsync_replace_fsync"]
    options = {"old": saves.state(1, 60), "new": saves.state(2, 60)}
    assert explore(reference.save, reference.load, **options).durable_on_return is True
    lying = explore(reference.save, reference.load, crash=(ProcessKill(), PowerLoss(fsync_lies=True)), **options)
    assert lying.durable_on_return is False and lying.survives_power_loss is False
    assert "fsync does nothing" in lying.power.bound


def test_names_in_any_order():
    """Two renames that must come in order: only a disk that keeps them in order is safe."""

    def save(new):
        for name in ("data", "pointer"):
            with open("tmp", "w") as file:
                file.write(json.dumps(new))
                file.flush()
                os.fsync(file.fileno())
            os.replace("tmp", f"{name}-{new['turn']}")
        saves.sync_directory()

    def load():
        newest = max((n for n in os.listdir(".") if n.startswith("pointer")), default=None)
        if newest is None:
            raise FileNotFoundError("no pointer")
        return json.loads(Path(newest.replace("pointer", "data")).read_text())

    options = {"old": saves.state(1, 20), "new": saves.state(2, 20)}
    assert explore(save, load, **options).survives_power_loss is True
    found = explore(save, load, crash=(ProcessKill(), PowerLoss(ordered=False)), **options)
    assert found.survives_power_loss is False


def test_fsync_of_a_file_does_not_persist_its_name():
    def save(new):
        with open(f"turn-{new['turn']}", "w") as file:
            json.dump(new, file)
            file.flush()
            os.fsync(file.fileno())

    def load():
        return json.loads(Path(max(n for n in os.listdir(".") if n.startswith("turn"))).read_text())

    found = explore(save, load, old=saves.state(1, 20), new=saves.state(2, 20))
    assert found.durable_on_return is False
    assert found.counterexample("power").found.verdict is not Verdict.NEW


def test_the_bound_says_what_was_left_out():
    found = explore(saves.overwrite, saves.load_json, old=saves.state(1, 9_000), new=saves.state(2, 9_000),
                    crash=(ProcessKill(every_byte=100, cuts=40),), second_crash=False)  # fmt: skip
    assert "left out" in found.kill.bound and "every byte" not in found.kill.bound
    assert found.survives_kill is False


def test_large_files_that_recovery_does_not_read_are_covered_whole():
    found = explore(saves.temp_and_replace, saves.load_json, old=saves.state(1, 300_000), new=saves.state(2, 300_000),
                    second_crash=False)  # fmt: skip
    assert found.kill.bound == "every byte of every write"
    assert found.kill.images > 300_000 and found.kill.looks == 2


def test_marks_change_no_image():
    with Disk() as disk:
        disk.mark("a")
        Path("x").write_text("1")
        disk.mark("b")
        recording = disk.recording()
    survey = ProcessKill().survey(recording, lambda image: (image.names(), ()))
    assert [isinstance(op, Mark) for op in recording.operations] == [True, False, False, True]
    assert survey.distinct == 3


@pytest.mark.parametrize("flag", [os.O_SYNC, os.O_DSYNC], ids=["O_SYNC", "O_DSYNC"])
def test_a_write_to_a_synchronous_file_needs_no_fsync(flag):
    def save(new):
        descriptor = os.open("c.json.tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | flag)
        with open(descriptor, "w") as file:
            file.write(new)
        os.replace("c.json.tmp", "c.json")
        folder = os.open(".", os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    found = explore(save, lambda: Path("c.json").read_text(), old=OLD, new=NEW, second_crash=False)
    assert found.survives_kill and found.survives_power_loss and found.durable_on_return
