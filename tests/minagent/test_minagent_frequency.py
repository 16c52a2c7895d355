"""Saving less often: the same result for every N and every crash; what a crash costs; what is saved in any case."""

import copy
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minagent import (
    EverySeconds,
    EverySteps,
    EveryTokens,
    FakeModel,
    FirstOf,
    Ran,
    Tool,
    UnsettledCall,
    asks,
    checkpoint,
    no_save,
    resume_document,
    run,
    run_with_checkpoints,
    says,
    start,
    tool_use,
    toolbox,
)
from scenes import Died

TASK = "Read the pages, write to whom they name."


class World:
    """What is outside the process, and the moment at which the process dies: the n-th that it reaches."""

    def __init__(self, dies_at=None):
        self.mails, self.reads, self.saves = {}, [], []
        self.moments, self.dies_at = 0, dies_at

    def reach(self):
        self.moments += 1
        if self.moments == self.dies_at:
            raise Died

    def tools(self, can_ask=True):
        def read_page(page):
            self.reach()
            self.reads.append(page)
            return f"text of page {page}"

        def send_mail(to, call_id):
            self.reach()
            self.mails[call_id] = self.mails.get(call_id, 0) + 1
            self.reach()
            return "sent"

        def find(call_id):
            return Ran("sent") if call_id in self.mails else "not run"

        mail = Tool("send_mail", send_mail, writes=True, find=find if can_ask else None)
        return toolbox(Tool("read_page", read_page), mail)

    def save(self, agent):
        self.reach()
        self.saves.append(json.loads(json.dumps(checkpoint(agent))))
        self.reach()


class Dying(FakeModel):
    def __init__(self, script, world, cursor=0):
        super().__init__(script, cursor)
        self.world = world

    def __call__(self, **what):
        self.world.reach()
        response = super().__call__(**what)
        self.world.reach()
        return response


def script_of(turns):
    """Each turn is a list of letters: "p" reads a page, "m" sends a mail."""
    script, number = [], 0
    for turn in turns:
        calls = []
        for kind in turn:
            number += 1
            name, given_to = ("send_mail", {"to": "Ann"}) if kind == "m" else ("read_page", {"page": number})
            calls.append(tool_use(f"c{number}", name, given_to))
        script.append(asks(*calls))
    return [*script, says("Read.")]


def without_identity(document):
    return {key: value for key, value in copy.deepcopy(document).items() if key != "session"}


def live(script, world, every=1, trigger=None, **how):
    """One life of the process: resume from what is saved, or start; run to the end."""
    model, tools = Dying(script, world), world.tools(**how)
    agent = resume_document(world.saves[-1], model, tools, world.save) if world.saves else start(TASK, model, tools)
    run_with_checkpoints(agent, world.save, every=every, trigger=trigger)
    return agent


def uninterrupted(script):
    world = World()
    agent = start(TASK, FakeModel(script), world.tools())
    run(agent)
    return without_identity(checkpoint(agent)), world.mails


turns = st.lists(st.lists(st.sampled_from("ppm"), min_size=1, max_size=3), max_size=7)


@settings(max_examples=300, deadline=None)
@given(turns, st.integers(1, 9), st.lists(st.integers(1, 70), max_size=3))
def test_for_any_script_any_n_and_any_crashes_the_result_is_that_of_an_uninterrupted_run(turns, every, deaths):
    script = script_of(turns)
    world = World()
    for death in [*deaths, None]:
        world.moments, world.dies_at = 0, death
        try:
            agent = live(script, world, every)
            break
        except Died:
            continue
    expected, mails = uninterrupted(script)
    assert without_identity(checkpoint(agent)) == expected
    assert without_identity(world.saves[-1]) == expected, "the last step is saved, whatever N"
    assert world.mails == mails


@settings(max_examples=100, deadline=None)
@given(turns, st.integers(1, 9))
def test_whatever_n_the_disk_knows_of_a_call_with_side_effects_before_it_runs(turns, every):
    script, seen = script_of(turns), []
    world = World()
    tools = world.tools()

    def looking(to, call_id):
        pending = world.saves[-1]["pendingToolUse"]
        seen.append(call_id in [call["id"] for call in (pending if isinstance(pending, list) else [pending])])
        return "sent"

    tools["send_mail"] = replace(tools["send_mail"], run=looking)
    run_with_checkpoints(start(TASK, FakeModel(script), tools), world.save, every=every)
    assert all(seen) and len(seen) == sum(turn.count("m") for turn in turns)


@pytest.mark.parametrize(("every", "at"), [(1, [1, 2, 3, 4, 5, 6, 7, 8]), (3, [3, 6, 8]), (4, [4, 8]), (50, [8])])
def test_saves_every_n_turns_and_at_the_end(every, at):
    world = World()
    live(script_of(["p"] * 7), world, every)
    assert [save["turns"] for save in world.saves] == at


@pytest.mark.parametrize("every", [1, 2, 3, 5, 20])
def test_a_crash_costs_fewer_than_n_whole_steps(every):
    script = script_of(["p"] * 12)
    for died_in in range(12):  # in the tool of this turn
        world = World(dies_at=None)
        tools = world.tools()
        world.dies_at = -1

        def dying(page, died_in=died_in, world=world):
            if page == died_in + 1:
                raise Died
            world.reads.append(page)
            return "text"

        tools["read_page"] = Tool("read_page", dying)
        with pytest.raises(Died):
            run_with_checkpoints(start(TASK, FakeModel(script), tools), world.save, every=every)
        saved = world.saves[-1]["turns"] if world.saves else 0
        assert died_in - saved == died_in % every < every


def test_the_end_is_saved_when_the_turns_are_used_up():
    world = World()
    agent = start(TASK, FakeModel(script_of(["p"] * 9)), world.tools())
    assert run_with_checkpoints(agent, world.save, every=4, max_turns=6) == "max_turns"
    assert [save["turns"] for save in world.saves] == [4, 6]
    assert run_with_checkpoints(agent, world.save, every=4, max_turns=6) == "max_turns"
    assert len(world.saves) == 2, "nothing new, nothing saved"


def test_a_finished_task_is_left_alone():
    world = World()
    agent = live(script_of(["p"]), world)
    before = len(world.saves)
    assert run_with_checkpoints(agent, world.save) == "done" and len(world.saves) == before


def test_less_than_one_step_is_refused():
    with pytest.raises(ValueError, match="1 step or more"):
        EverySteps(0)


def test_by_time_on_a_clock_that_is_passed_in():
    now = [0.0]
    seconds = iter([1, 1, 20, 1, 1, 1, 9, 1])
    world = World()
    tools = world.tools()

    def slow(page):
        now[0] += next(seconds)
        return "text"

    tools["read_page"] = Tool("read_page", slow)
    agent = start(TASK, FakeModel(script_of(["p"] * 8)), tools)
    run_with_checkpoints(agent, world.save, trigger=EverySeconds(10, clock=lambda: now[0]))
    # 22 s are over after turn 3, 12 more after turn 7; the end is saved in any case
    assert [save["turns"] for save in world.saves] == [3, 7, 9]


def test_by_tokens():
    script = [asks(tool_use(f"c{n}", "read_page", {"page": n}), input_tokens=n) for n in (100, 900, 50, 100, 900)]
    world = World()
    agent = start(TASK, FakeModel([*script, says("Read.")]), world.tools())
    run_with_checkpoints(agent, world.save, trigger=EveryTokens(1000))
    # due as soon as the model has answered: at A, so that the answer that was paid for is kept
    assert [(save["turns"], save["pendingToolUse"] is not None) for save in world.saves] == [
        (1, True),
        (4, True),
        (6, False),
    ]


def test_the_first_of_several_triggers():
    world = World()
    agent = start(TASK, FakeModel(script_of(["p"] * 7)), world.tools())
    run_with_checkpoints(agent, world.save, trigger=FirstOf(EverySteps(3), EveryTokens(1_000_000)))
    assert [save["turns"] for save in world.saves] == [3, 6, 8]


@settings(max_examples=60, deadline=None)
@given(turns, st.integers(0, 40), st.integers(1, 60))
def test_the_result_is_the_same_for_triggers_by_time_and_tokens(turns, seconds, death):
    script = script_of(turns)
    world = World(dies_at=death)
    ticks = iter(range(10_000))

    def trigger():
        return FirstOf(EverySeconds(seconds, clock=lambda: next(ticks)), EveryTokens(500))

    try:
        agent = live(script, world, trigger=trigger())
    except Died:
        world.dies_at = None
        agent = live(script, world, trigger=trigger())
    expected, mails = uninterrupted(script)
    assert without_identity(checkpoint(agent)) == expected and world.mails == mails


def test_a_tool_that_cant_be_asked_is_saved_at_b_too():
    script = script_of(["m", "p", "p"])
    for can_ask, points in ((True, [(0, "A"), (4, "B")]), (False, [(0, "A"), (1, "B"), (4, "B")])):
        world = World()
        live(script, world, every=50, can_ask=can_ask)
        assert [(s["turns"], "A" if s["pendingToolUse"] else "B") for s in world.saves] == points


def test_without_the_forced_save_a_crash_sends_the_mail_again():
    script = script_of(["p", "m", "p"])

    def mails(careful):
        world = World()
        trigger = EverySteps(10)

        def by_count_alone(agent):
            if trigger.due(agent):
                world.save(agent)

        agent = start(TASK, Dying(script, world), world.tools())
        world.dies_at = 11 if careful else 9  # in the page read after the mail
        with pytest.raises(Died):
            if careful:
                run_with_checkpoints(agent, world.save, every=10)
            else:
                run(agent, by_count_alone)
        assert world.mails == {"c2": 1}
        world.dies_at = None
        live(script, world, every=10)
        return world.mails["c2"]

    assert (mails(careful=False), mails(careful=True)) == (2, 1)


def test_a_call_nobody_can_settle_is_refused_only_while_it_is_under_way():
    script = script_of(["m", "p", "p"])
    world = World()
    with pytest.raises(Died):
        world.dies_at = 9  # in a later turn: the mail's result is saved
        live(script, world, every=50, can_ask=False)
    world.dies_at = None
    assert live(script, world, every=50, can_ask=False).turns == 4
    world = World(dies_at=6)  # the mail has left, its result is not booked
    with pytest.raises(Died):
        live(script, world, every=50, can_ask=False)
    world.dies_at = None
    with pytest.raises(UnsettledCall):
        live(script, world, every=50, can_ask=False)


def test_compaction_of_the_history_goes_together_with_fewer_saves():
    script = script_of(["p"] * 9)
    world = World(dies_at=31)

    def life():
        model, tools = Dying(script, world), world.tools()
        agent = resume_document(world.saves[-1], model, tools, world.save) if world.saves else start(TASK, model, tools)
        run_with_checkpoints(agent, world.save, every=4, compact_at=300)
        return agent

    with pytest.raises(Died):
        life()
    world.dies_at = None
    agent = life()
    whole = start(TASK, FakeModel(script), World().tools())
    run(whole, no_save, compact_at=300)
    assert without_identity(checkpoint(agent)) == without_identity(checkpoint(whole))
