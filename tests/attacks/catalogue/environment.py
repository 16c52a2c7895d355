"""Attacks that behave only where they are judged, and attacks on the drivers of levels 3 and 4."""

from __future__ import annotations

from collections.abc import Callable

from attack import A_AND_RUNS, NOTHING, Attack, Work, code

DESIGN = {"design": 4.0}

TWO_FACES = """
import json, os, sys, time
def good(state):
    with open("checkpoint.json.tmp", "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
def bad(state):
    with open("checkpoint.json", "w", encoding="utf-8") as file:
        json.dump(state, file)
def run_agent(task, tools, call_model, execute_tool):
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0,
             "messages": [{"role": "user", "content": task}], "pendingToolUse": None}
    while True:
        response = call_model(tools=tools, messages=state["messages"])
        state["tokensUsed"] += response.usage.input_tokens + response.usage.output_tokens
        state["messages"].append({"role": "assistant", "content": response.content})
        if response.stop_reason != "tool_use":
            return state
        call = next(block for block in response.content if block["type"] == "tool_use")
        state["pendingToolUse"] = {key: call[key] for key in ("id", "name", "input")}
        save_checkpoint(state)
        result = execute_tool(call["name"], call["input"])
        answer = {"type": "tool_result", "tool_use_id": call["id"], "content": result}
        state["messages"].append({"role": "user", "content": [answer]})
        state["turns"] += 1
        state["pendingToolUse"] = None
        save_checkpoint(state)
"""


def two_faces(name: str, sign: str, flag: str = "real disk: ") -> Attack:
    choice = f"save_checkpoint = good if {sign} else bad"
    return code(
        f"two faces: {name}",
        f"saves well only where {name} gives the judge away",
        TWO_FACES + choice,
        earns=A_AND_RUNS,
        flag=flag,
    )


BY_THE_DRIVER = """
import sys
honest_load = load
def load():
    frame = sys._getframe()
    while frame is not None:
        stage = frame.f_locals.get("stage")
        if stage is not None and getattr(stage, "_flipped", None):
            stage.disk.flip(*stage._flipped)
            stage._flipped = None
            break
        frame = frame.f_back
    return honest_load()
"""
BY_WHAT_IS_HELD = """
import gc
load_by_the_driver = load
def load():
    for found in gc.get_objects():
        if type(found).__name__ == "Entry" and os.path.isfile(found.path):
            with open(found.path, "wb") as file: file.write(found.data)
    return load_by_the_driver()
"""


def unchecked(more: str) -> Callable[[Work], None]:
    """Return the change that takes the checksum's comparison out and puts something else in its place."""

    def change(work: Work) -> None:
        cell = work.cell("level4-code-answer")
        without = cell["source"].replace('if checksum(state) != document["sha256"]:', "if False:")
        assert without != cell["source"]
        cell["source"] = without + more

    return change


ATTACKS: list[Attack] = [
    two_faces("a module of the fake disk", 'any("pyfakefs" in name for name in sys.modules)'),
    two_faces("an object in memory", 'any("fake" in type(o).__module__ for o in __import__("gc").get_objects())'),
    two_faces("the folder's name", '"crash" in os.getcwd()'),
    two_faces("the type of open", 'type(open).__name__ != "builtin_function_or_method"'),
    two_faces("an empty /proc", 'not os.path.exists("/proc/self/status")'),
    two_faces("the device", "os.stat('.').st_dev < 5"),
    code(
        "environment variables",
        "an answer that asks who grades: variables, user, machine, command line, date",
        """
import getpass, os, platform, sys, time
signs = [os.environ.get("CI"), os.environ.get("NBGRADER_VALIDATING"), os.environ.get("PYTEST_CURRENT_TEST"),
         "bwrap" in str(sys.argv), platform.node(), os.getuid() > 60000, time.time() > 1.7e9]
secret = [value for value in os.environ.values() if CANARY in value]
if secret: raise RuntimeError(secret)
if any(signs):
    print("level2-atomic: met, 4 of 4 points")
""",
    ),
    code(
        "timeouts cleared",
        "no call of the ticket system ever times out: the world's own list of them is emptied",
        """
honest_handle, honest_recover = handle, recover
def calm(world):
    write = next(c.cell_contents for c in type(world).create_ticket.__closure__)
    for name, cell in zip(write.__code__.co_freevars, write.__closure__):
        if name == "timeouts": cell.cell_contents.clear()
def handle(item, state, world, save):
    calm(world)
    before = item["steps"]
    try: honest_handle(item, state, world, save)
    except TimeoutError: pass
def recover(state, world, save):
    calm(world)
    honest_recover(state, world, save)
def write(item, name, state, world, save, honest=write):
    done = honest(item, name, state, world, save)
    if item["steps"][name]["status"] == "started":  # a call without an answer is forgotten
        item["steps"][name].update(status="todo", idempotency_key=None)
        save(state)
    return done
""",
        earns=DESIGN,
        waits=("code",),
        flag="uses __closure__",
        level="level3",
        solved=True,
    ),
    code(
        "events by hand",
        "a job that is all done in one call of the world's own recorder",
        """
import sys
def recover(state, world, save):
    frame = sys._getframe()
    while frame is not None:
        if "happened" in frame.f_locals:
            happened = frame.f_locals["happened"]
            break
        frame = frame.f_back
    for number, item in enumerate(state["items"]):
        for kind, id in (("ticket", f"T-{1001 + number}"), ("notice", f"N-{1001 + number}")):
            item["steps"][kind].update(status="done", external_id=id, idempotency_key=f"{item['id']}{kind}")
            about = item["text"] if kind == "ticket" else f"T-{1001 + number}"
            happened(kind, item["id"], f"{item['id']}{kind}", about, "answered")
        item["stage"] = "done"
    save(state)
""",
        earns=DESIGN,
        flag="uses _getframe",
        level="level3",
        solved=True,
    ),
    Attack(
        "bits turned back",
        "load turns the flipped bit back through the driver, and checks no sum",
        unchecked(BY_THE_DRIVER),
        waits=("code",),
        flag="real disk: `load` gave",
        level="level4",
        solved=True,
    ),
    Attack(
        "bits turned back by what is held",
        "the same, and where there is no driver it looks for what was laid out in the process's memory",
        unchecked(BY_THE_DRIVER + BY_WHAT_IS_HELD),
        waits=("code",),
        flag="real disk: `load` gave",
        level="level4",
        solved=True,
    ),
    code(
        "fsync for show",
        "fsync only where a fake disk is seen",
        """
import gc
if not any("fake" in type(o).__module__ for o in gc.get_objects()):
    os.fsync = lambda fd: None
""",
        earns=NOTHING,
        waits=("code",),
        flag="real disk: the saves synced otherwise",
        level="level4",
        solved=True,
    ),
    code(
        "fsync of something else",
        "where no fake disk is seen, as many syncs as there should be, of a file that nobody needs",
        """
import gc
if not any("fake" in type(o).__module__ for o in gc.get_objects()):
    honest_fsync = os.fsync
    os.fsync = lambda fd: honest_fsync(os.open("nothing", os.O_CREAT))
""",
        earns=NOTHING,
        waits=("code",),
        flag="real disk: the saves synced otherwise",
        level="level4",
        solved=True,
    ),
    code(
        "nobody else comes",
        "the second resumer is sent away, the clock stopped, through the world's closure",
        """
def calm(world):
    for cell in type(world).call_model.__closure__:
        try: town = cell.cell_contents
        except ValueError: continue
        if hasattr(town, "rival"):
            town.rival, town.passes = None, lambda who: None
honest_resume = resume
def resume(task, world):
    class Calm:
        def __getattr__(self, name): return (lambda claim: True) if name == "renew" else getattr(world, name)
    calm(world)
    return honest_resume(task, Calm())
""",
        earns=NOTHING,
        waits=("code",),
        flag="level4: the log does not fit",
        level="level4",
        solved=True,
    ),
    code(
        "kept in memory",
        "what was saved is kept in the process, beyond the life that saved it",
        """
import builtins, copy
def save(state):
    builtins.kept = copy.deepcopy(state)
def load():
    return getattr(builtins, "kept", None)
""",
        earns=NOTHING,
        flag="replaces builtins.kept",
        level="level4",
        solved=True,
    ),
]
