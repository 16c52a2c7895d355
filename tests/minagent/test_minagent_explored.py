"""minagent's own save, killed at every byte and cut off at every moment by the crash explorer."""

import json

import pytest
from minagent import checkpoint, load_checkpoint, run, save_checkpoint
from minagent.files import write_atomically
from scenes import sums_agent

from grader.crash import Verdict, explore


def documents():
    agent = sums_agent()
    saves = []
    run(agent, lambda agent: saves.append(checkpoint(agent)))
    return saves


def save(document):
    save_checkpoint(document, "checkpoint.json")


def load():
    return load_checkpoint("checkpoint.json", on_fallback=lambda reason: None)


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (3, 4)])
def test_no_crash_at_any_byte_of_any_save_is_seen_by_load(pair):
    old, new = (documents()[number] for number in pair)
    explored = explore(save, load, old=old, new=new)
    explored.check()
    assert explored.kill.images > 1000
    assert explored.residue == ()


def test_the_bare_write_survives_without_a_previous_copy_to_fall_back_on():
    def bare(document):
        write_atomically("data/state.json", json.dumps(document).encode())

    def read():
        with open("data/state.json", encoding="utf-8") as file:
            return json.load(file)

    explored = explore(bare, read, old={"turns": 1}, new={"turns": 2, "text": "x" * 500})
    explored.check()
    assert {outcome.result.verdict for outcome in explored.kill.outcomes} == {Verdict.OLD, Verdict.NEW}
