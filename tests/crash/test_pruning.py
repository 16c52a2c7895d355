"""Pruning is exact: with and without it the same verdicts, on every save that is known here."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import saves
from thorough import one_in

from grader.crash import Disk, PowerLoss, ProcessKill, explore
from grader.crash.replay import answer

PROGRAMS = sorted((Path(__file__).parents[1] / "levels" / "programs" / "level2").glob("*.py"))


def spread(survey):
    """What a survey found at each moment, however its outcomes are put together."""
    found = set()
    for outcome in survey.outcomes:
        moment = outcome.moment
        last = max(moment.cut, moment.cut_to)
        data = None if moment.names is None else moment.data
        found |= {(moment.op, cut, moment.names, outcome.result) for cut in range(moment.cut, last + 1)}
        found.add((moment.op, data is None, moment.names, outcome.result))
    return found


def told(found):
    """The verdicts, the counts, and what was found at each moment."""
    answers = (found.survives_kill, found.survives_power_loss, found.durable_on_return, found.next_save_works)
    counts = (found.kill.images, found.kill.distinct, found.power.images, found.power.distinct)
    return (
        answers,
        counts,
        {re.sub("[a-z0-9_]{8,}", "*", name) for name in found.residue},
        spread(found.kill),
        spread(found.power),
    )


@pytest.mark.parametrize("save", one_in(3, saves.SAVES), ids=lambda save: save.name)
def test_the_same_without_pruning(save):
    if save.name == "tar_and_replace":
        pytest.skip("a tar has 10,240 bytes at least: without pruning that takes a quarter of a minute")
    options = {"old": saves.state(1, 24), "new": saves.state(2, 24), "second_crash": save.kill and not save.threads}
    pruned = explore(save.save, save.load, **options)
    whole = explore(save.save, save.load, prune=False, **options)
    assert told(pruned) == told(whole)
    assert pruned.kill.looks <= whole.kill.looks and pruned.power.looks <= whole.power.looks


def saver(path):
    """The program's own save, its code run inside the disk, as a worker does."""
    code = compile(path.read_text(), str(path), "exec")

    def save(new):
        scope = {"__name__": path.stem}
        exec(code, scope)
        scope["save_checkpoint"](new)

    return save


def load():
    for name in ("checkpoint.json", "checkpoints/checkpoint.json"):
        if Path(name).exists():
            return json.loads(Path(name).read_text())
    raise FileNotFoundError("no checkpoint")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_open_programs(path):
    """The saves of learners: the same with and without pruning, atomic and durable as labelled."""
    labels = json.loads((path.parent / "labels.json").read_text())[path.name]
    save = saver(path)
    options = {"old": saves.state(1, 24), "new": saves.state(2, 24), "second_crash": False}
    pruned = explore(save, load, **options)
    whole = explore(save, load, prune=False, **options)
    assert told(pruned) == told(whole)
    assert (pruned.survives_kill and pruned.next_save_works) is labels["atomic"]
    durable = pruned.survives_kill and pruned.survives_power_loss and pruned.durable_on_return
    assert durable is labels["durable"]


def test_there_are_eighteen_of_them():
    assert len(PROGRAMS) == 18


@pytest.mark.parametrize("save", [s for s in saves.SAVES if not s.threads], ids=lambda save: save.name)
def test_a_load_is_a_function_of_what_it_observed(save):
    """The ground of it all: two images that give a load's queries the same answers give it the same run."""
    with Disk() as disk:
        save.save(saves.state(1, 24))
        disk.start()
        save.save(saves.state(2, 24))
        recording = disk.recording()
        runs = {}
        for model in (ProcessKill(every_byte=0, cuts=32), PowerLoss()):

            def look(image):
                disk.load(image)
                try:
                    result = repr(save.load())
                except Exception as error:
                    result = type(error).__name__
                seen = disk.observations()
                assert all(answer(image, query) == told for query, told in seen)
                assert runs.setdefault(seen, result) == result
                return result, seen

            model.survey(recording, look, prune=False)
    assert runs
