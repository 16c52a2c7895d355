"""Verdicts: on the library of saves, on the reference with each item removed, on recovery that dies in its turn."""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import shutil
import tempfile
import threading
import time
import warnings
from pathlib import Path

import pytest
import saves
from minagent import load_checkpoint, save_checkpoint
from minagent import savefile as minagent_savefile

from grader.crash import CannotExplore, Disk, PowerLoss, ProcessKill, Verdict, explore

SMALL = 90  # bytes of text in a state: every byte is covered, in a moment


def explored(save, load=saves.load_json, size=SMALL, **options):
    return explore(save, load, old=saves.state(1, size), new=saves.state(2, size), **options)


def answers(found):
    return found.survives_kill, found.survives_power_loss, found.durable_on_return


@pytest.mark.parametrize("save", saves.SAVES, ids=lambda save: save.name)
def test_the_library(save):
    found = explored(save.save, save.load, second_crash=save.kill)
    assert found.cant_judge is None
    assert answers(found) == (save.kill, save.power, save.durable)
    if save.kill:
        assert (found.next_save_works, bool(found.residue)) == (save.next_save, save.residue)
    assert (found.counterexample() is None) == (save.kill and save.power and save.durable and save.next_save)


@pytest.mark.parametrize("name", ["overwrite", "temp_and_replace", "two_slots", "append_between_newlines"])
def test_the_library_at_forty_thousand_bytes(name):
    save = saves.BY_NAME[name]
    found = explored(save.save, save.load, size=40_000, second_crash=False, crash=(ProcessKill(cuts=96), PowerLoss()))
    assert answers(found) == (save.kill, save.power, save.durable)


# -- ATOMIC_REPLACE, item by item: docs/what-catches-what.md shows this table ---------------------------------------


def reference(new):
    """Every point of ATOMIC_REPLACE that a machine can judge, in as few lines as it takes."""
    data = json.dumps(new).encode()
    target = os.path.realpath(saves.NAME)
    folder = os.path.dirname(target)
    for name in os.listdir(folder):
        if name.startswith(".checkpoint-"):
            os.unlink(os.path.join(folder, name))
    descriptor, temp = tempfile.mkstemp(prefix=".checkpoint-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            shutil.copymode(target, temp)
        os.replace(temp, target)
    except BaseException:
        os.unlink(temp)
        raise
    saves.sync_directory(folder)


SOURCE = Path(__file__).read_text().split("def reference(new):")[1].split("\n\n\n")[0]


def without(old, new=""):
    """The reference with one piece of its source put in place of another."""
    assert SOURCE.count(old) == 1, old
    scope = dict(globals())
    exec("def reference(new):" + SOURCE.replace(old, new), scope)
    return scope["reference"]


def test_the_reference_is_never_accused():
    found = explored(reference)
    assert answers(found) == (True, True, True) and found.next_save_works is True and found.residue == ()
    assert found.counterexample() is None
    found.check()


def test_minagents_own_save_is_never_accused():
    def document(turn):
        return {"version": 1, "task": "t", "turns": turn, "tokensUsed": 7, "messages": [], "pendingToolUse": None}

    def load():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = load_checkpoint("checkpoint.json")
        return {key: loaded[key] for key in document(0)}

    found = explore(lambda d: save_checkpoint(d, "checkpoint.json"), load, old=document(1), new=document(2))
    assert answers(found) == (True, True, True) and found.next_save_works is True
    assert minagent_savefile.VERSION == 1


def test_item_1_serialise_before_touching_a_file():
    """Under a kill alone it does no harm once there is a temp file; written in place it does, and worse than before."""
    broken = without('data = json.dumps(new).encode()\n    target = os.path.realpath(saves.NAME)',
                     'target = os.path.realpath(saves.NAME)\n    open(target, "wb").close()\n'
                     '    data = json.dumps(new).encode()')  # fmt: skip
    found = explored(broken)
    assert found.survives_kill is False
    assert found.counterexample().found.verdict is Verdict.RAISES


def test_item_2_the_temp_file_in_the_targets_directory():
    broken = without("os.replace(temp, target)", "shutil.move(temp, target)")
    broken_elsewhere = without(", dir=folder)\n", ")\n")
    assert explored(broken).survives_kill is True  # in the same directory, move renames
    with pytest.raises(CannotExplore, match=r"OSError.*cross-device"):
        explored(broken_elsewhere)
    both = "def reference(new):" + SOURCE.replace(", dir=folder)\n", ")\n").replace("os.replace(", "shutil.move(")
    scope = dict(globals())
    exec(both, scope)
    found = explored(scope["reference"])
    assert found.survives_kill is False and found.survives_power_loss is False


def test_item_3_a_unique_name():
    """A second writer is outside the models; a leftover that keeps the next save from making its file is not."""
    broken = without('tempfile.mkstemp(prefix=".checkpoint-", dir=folder)',
                     '(os.open("fixed", os.O_WRONLY | os.O_CREAT | os.O_EXCL), "fixed")')  # fmt: skip
    found = explored(broken)
    assert answers(found) == (True, True, True) and found.next_save_works is False
    assert found.counterexample().model == "next"


def test_item_4_fsync_before_the_replace():
    found = explored(without("os.fsync(file.fileno())", "pass"))
    assert answers(found) == (True, False, False)
    found = explored(without("file.flush()", "pass"))
    assert answers(found) == (True, False, False)


def test_item_5_one_replace():
    found = explored(without("os.replace(temp, target)", "os.path.exists(target) and os.unlink(target)\n"
                                                         "        os.rename(temp, target)"))  # fmt: skip
    assert answers(found) == (False, False, True)
    assert found.counterexample().found.detail.startswith("FileNotFoundError")


def test_item_6_fsync_of_the_directory():
    found = explored(without("saves.sync_directory(folder)", "pass"))
    assert answers(found) == (True, True, False)
    assert found.counterexample().found.verdict is Verdict.LOST
    before = without(
        "        os.replace(temp, target)", "        saves.sync_directory(folder)\n        os.replace(temp, target)"
    )
    assert answers(explored(before)) == (True, True, True)


def test_item_13_clean_stale_files_up():
    found = explored(without("os.unlink(os.path.join(folder, name))", "pass"))
    assert answers(found) == (True, True, True) and found.next_save_works is True
    assert found.residue != ()


def test_item_13_never_load_a_stale_file():
    def load():
        newest = max((name for name in os.listdir() if "checkpoint" in name), key=os.path.getmtime)
        return json.loads(Path(newest).read_text())

    found = explored(reference, load)
    assert found.survives_kill is False


def test_item_14_a_load_that_falls_back():
    """Written in place, with the previous copy beside it: only a load that survives zeros and tears may be trusted."""

    def save(new):
        if os.path.exists("state"):
            os.replace("state", "state.prev")
        Path("state").write_bytes(saves.checked(new))

    def careless():
        data = Path("state").read_bytes() if os.path.exists("state") else Path("state.prev").read_bytes()
        return json.loads(data.partition(b"\n")[2])

    assert explored(save, saves.load_previous).survives_power_loss is True
    found = explored(save, careless)
    assert found.survives_kill is False and found.survives_power_loss is False


def test_items_8_and_9_are_not_about_crashes():
    """Mode and symbolic links: no crash shows them; the reference keeps both, and the tests of minagent hold that."""
    assert answers(explored(without("shutil.copymode(target, temp)", "pass"))) == (True, True, True)


# -- wrong, lost, second crash, errors ---------------------------------------------------------------------------------


def test_a_load_that_makes_something_up_is_wrong():
    def load():
        try:
            return saves.load_json()
        except ValueError:
            return {"turn": 0, "text": ""}

    found = explored(saves.overwrite, load)
    assert found.survives_kill is False
    assert found.counterexample().found.verdict is Verdict.WRONG


def test_a_recovery_that_dies_in_its_turn():
    def save(new):
        with open("journal", "w") as file:
            json.dump(new, file)
        os.replace("journal", "journal.done")
        with open(saves.NAME, "w") as file:
            json.dump(new, file)
        os.unlink("journal.done")

    def load(careful=True):
        with contextlib.suppress(FileNotFoundError):
            state = json.loads(Path("journal.done").read_text())
            if careful:
                Path(saves.NAME).write_text(json.dumps(state))
                os.unlink("journal.done")
            else:
                os.unlink("journal.done")
                Path(saves.NAME).write_text(json.dumps(state))
        return saves.load_json()

    good, bad = explored(save, load), explored(save, lambda: load(careful=False))
    assert good.survives_kill is True and good.next_save_works is True
    assert bad.survives_kill is True and bad.next_save_works is False
    assert any(o.result.second for o in bad.following.outcomes)


def test_a_save_that_is_not_on_disk_when_it_returns():
    found = explored(saves.thread_not_waited_for)
    assert found.survives_kill is False
    assert found.counterexample("kill").found.verdict is Verdict.LOST
    assert found.counterexample("kill").returned


@pytest.mark.parametrize("name", [save.name for save in saves.SAVES if save.threads])
def test_threads_alike_every_time(name):
    save, first = saves.BY_NAME[name], None
    for _ in range(12):
        found = explored(save.save, save.load, size=20, second_crash=False)
        told = answers(found), found.kill.images, found.power.images, [o.result for o in found.kill.outcomes]
        first = first or told
        assert told == first


def test_the_two_states_must_differ():
    with pytest.raises(CannotExplore, match="differ"):
        explore(saves.overwrite, saves.load_json, old={"turn": 1}, new={"turn": 1})


def test_a_save_that_fails_without_a_crash_is_named():
    def save(new):
        raise KeyError("turn")

    with pytest.raises(CannotExplore, match=r"save\(old\) raised KeyError"):
        explored(save)


def test_a_load_that_fails_without_a_crash_is_named():
    with pytest.raises(CannotExplore, match=r"load\(\) raised FileNotFoundError"):
        explored(saves.overwrite, lambda: json.loads(Path("elsewhere").read_text()))


def test_a_load_that_gives_another_state_is_named():
    with pytest.raises(CannotExplore, match=r"load\(\) gave None"):
        explored(saves.overwrite, lambda: None)


def test_check_raises_with_the_report():
    with pytest.raises(AssertionError) as caught:
        explored(saves.overwrite).check()
    assert "checkpoint.json" in str(caught.value)
    explored(saves.temp_fsync_replace_fsync).check()
    with pytest.raises(AssertionError):
        explored(saves.temp_and_replace).check()
    explored(saves.temp_and_replace).check(power_loss=False)


def test_a_save_that_waits_in_a_loop_for_its_thread_is_judged_like_any_other():
    def save(new):
        done = []

        def write():
            Path(saves.NAME + ".tmp").write_text(json.dumps(new))
            os.replace(saves.NAME + ".tmp", saves.NAME)
            done.append(True)

        threading.Thread(target=write).start()
        while not done:
            pass

    found = explore(save, saves.load_json, old={"turn": 1}, new={"turn": 2}, crash=(ProcessKill(),), second_crash=False)
    assert found.survives_kill is True


def test_a_thread_is_not_let_in_while_the_program_around_it_is_busy():
    with Disk(own=lambda filename: False) as disk:
        threading.Thread(target=lambda: Path("late").write_text("x")).start()
        began = time.process_time()
        sum(1 for _ in iter(lambda: time.process_time() - began < 1.2, False))
        disk.mark("save-end")
        assert not disk.image().exists("late")


def test_a_bare_thread_is_followed():
    done = []

    def save(state):
        def write():
            Path("checkpoint.json.tmp").write_text(json.dumps(state))
            os.replace("checkpoint.json.tmp", "checkpoint.json")
            done.append(state)

        before = len(done)
        _thread.start_new_thread(write, ())
        while len(done) == before:
            time.sleep(0.01)

    def load():
        return json.loads(Path("checkpoint.json").read_text())

    found = explore(save, load, old={"turn": 1}, new={"turn": 2})
    assert found.survives_kill is True and found.survives_power_loss is False
