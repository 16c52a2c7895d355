"""Level 2 answers in many styles, right and wrong, each with what the judge must say.

A variant is a save or a loop put together with a good other half. Wrong ones name the criteria they fail, and a piece
of the message a learner must read.
"""

from dataclasses import dataclass, field

LOOP = """
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
        save_checkpoint(state)
        result = execute_tool(block["name"], block["input"])
        state["messages"].append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": block["id"], "content": result}]})
        state["turns"] += 1
        state["pendingToolUse"] = None
        save_checkpoint(state)
"""

SAVE = """
import json, os
def save_checkpoint(state):
    with open("checkpoint.json.tmp", "w", encoding="utf-8") as f:
        json.dump(state, f, ensure_ascii=False)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
"""


@dataclass(frozen=True)
class Variant:
    """One answer: its cells, the criteria it fails (all three when it can't be run), and what must be said."""

    cells: tuple[str, ...]
    fails: tuple[str, ...] = ()
    says: dict[str, str] = field(default_factory=dict)


RIGHT_SAVES: dict[str, str] = {
    "pathlib": """
import json
from pathlib import Path
def save_checkpoint(state):
    path = Path("checkpoint.json")
    temp = path.with_suffix(".tmp")
    temp.write_text(json.dumps(state, indent=2))
    temp.replace(path)
""",
    "pathlib_absolute": """
import json
from pathlib import Path
CHECKPOINT = Path.cwd() / "state" / "checkpoint.json"
CHECKPOINT.parent.mkdir(exist_ok=True)
def save_checkpoint(state):
    temp = CHECKPOINT.with_name("checkpoint.json.tmp")
    with temp.open("w") as f:
        json.dump(state, f)
    temp.rename(CHECKPOINT)
""",
    "os_open": """
import json, os
def save_checkpoint(state):
    data = json.dumps(state).encode()
    fd = os.open("ckpt.tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view):]
        os.fsync(fd)
    finally:
        os.close(fd)
    os.rename("ckpt.tmp", "checkpoint.json")
""",
    "named_temporary_file": """
import json, os, tempfile
def save_checkpoint(state):
    f = tempfile.NamedTemporaryFile("w", dir=".", delete=False)
    with f:
        json.dump(state, f)
    os.replace(f.name, "checkpoint.json")
""",
    "temporary_directory_here": """
import json, os, tempfile
def save_checkpoint(state):
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = os.path.join(folder, "new.json")
        with open(path, "w") as f:
            json.dump(state, f)
        os.replace(path, "checkpoint.json")
""",
    "mkstemp": """
import json, os, tempfile
def save_checkpoint(state):
    fd, name = tempfile.mkstemp(dir=os.getcwd(), suffix=".tmp")
    with open(fd, "w") as f:
        json.dump(state, f)
    os.chmod(name, 0o644)
    os.replace(name, "checkpoint.json")
""",
    "shutil_move_here": """
import json, shutil
def save_checkpoint(state):
    with open("checkpoint.new", "w") as f:
        f.write(json.dumps(state))
    shutil.move("checkpoint.new", "checkpoint.json")
""",
    "global_counter": """
import json, os
count = 0
def save_checkpoint(state):
    global count
    count += 1
    name = f"checkpoint.{count}.tmp"
    with open(name, "w") as f:
        json.dump(state, f)
    os.replace(name, "checkpoint.json")
""",
    "random_names": """
import json, os, random, time, uuid
def save_checkpoint(state):
    name = f".{uuid.uuid4().hex}-{time.time_ns()}-{random.random()}-{os.getpid()}"
    with open(name, "wb") as f:
        f.write(json.dumps(state).encode("utf-8"))
    os.replace(name, "checkpoint.json")
""",
    "exclusive_after_removing": """
import json, os
def save_checkpoint(state):
    try:
        os.remove("checkpoint.tmp")
    except FileNotFoundError:
        pass
    with open("checkpoint.tmp", "x") as f:
        json.dump(state, f)
    os.replace("checkpoint.tmp", "checkpoint.json")
""",
    "stderr_and_warnings": """
import json, os, sys, warnings
def save_checkpoint(state):
    print("saving", file=sys.stderr)
    warnings.warn("about to save")
    with open("checkpoint.json.tmp", "w") as f:
        json.dump(state, f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
    print("saved", "x" * 1000)
""",
    "logging_to_a_file": """
import json, logging, os
logging.basicConfig(filename="agent.log", level=logging.INFO)
def save_checkpoint(state):
    logging.info("save %d", state["turns"])
    with open("checkpoint.json.tmp", "w") as f:
        json.dump(state, f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
    logging.info("saved")
""",
    "partial": """
import functools, json, os
def write(path, state):
    with open(path + ".tmp", "w") as f:
        json.dump(state, f)
    os.replace(path + ".tmp", path)
save_checkpoint = functools.partial(write, "checkpoint.json")
""",
    "callable_object": """
import json, os
from dataclasses import dataclass
@dataclass
class Saver:
    path: str = "checkpoint.json"
    def __call__(self, state):
        temp = self.path + "~"
        with open(temp, "w") as f:
            json.dump({**state, "savedBy": "Saver"}, f)
        os.replace(temp, self.path)
save_checkpoint = Saver()
""",
    "contextmanager": """
import contextlib, json, os
@contextlib.contextmanager
def replacing(path):
    with open(path + ".part", "w") as f:
        yield f
    os.replace(path + ".part", path)
def save_checkpoint(state):
    with replacing("checkpoint.json") as f:
        json.dump(state, f, indent=1)
""",
    "queue_and_thread": """
import json, os, queue, threading
jobs = queue.Queue()
def work():
    while True:
        text = jobs.get()
        with open("checkpoint.json.tmp", "w") as f:
            f.write(text)
        os.replace("checkpoint.json.tmp", "checkpoint.json")
        jobs.task_done()
threading.Thread(target=work, daemon=True).start()
def save_checkpoint(state):
    jobs.put(json.dumps(state))
    jobs.join()
""",
    "thread_joined": """
import json, os, threading
def write(text):
    with open("checkpoint.json.tmp", "w") as f:
        f.write(text)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
def save_checkpoint(state):
    thread = threading.Thread(target=write, args=(json.dumps(state),))
    thread.start()
    thread.join()
""",
    "executor": """
import json, os
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
def write(text):
    with open("checkpoint.json.tmp", "w") as f:
        f.write(text)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
def save_checkpoint(state):
    pool.submit(write, json.dumps(state)).result()
""",
    "async_helper": """
import asyncio, json, os
async def write(text):
    with open("checkpoint.json.tmp", "w") as f:
        f.write(text)
    await asyncio.sleep(0)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
def save_checkpoint(state):
    asyncio.run(write(json.dumps(state)))
""",
    "backup_by_copy": """
import json, os, shutil
def save_checkpoint(state):
    if os.path.exists("checkpoint.json"):
        shutil.copy2("checkpoint.json", "checkpoint.json.bak")
    with open("checkpoint.json.tmp", "w") as f:
        json.dump(state, f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
""",
    "numbered_copies": """
import json, os
def save_checkpoint(state):
    text = json.dumps(state)
    os.makedirs("history", exist_ok=True)
    with open(f"history/checkpoint-{state['turns']}.json", "w") as f:
        f.write(text)
    with open("checkpoint.json.tmp", "w") as f:
        f.write(text)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
""",
    "one_copy_in_a_folder": """
import json, os
def put(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".tmp", "w") as f:
        f.write(text)
    os.replace(path + ".tmp", path)
def save_checkpoint(state):
    text = json.dumps(state)
    put("checkpoint.json", text)
    put("backup/checkpoint.json", text)
""",
    "hard_link_then_replace": """
import json, os
def save_checkpoint(state):
    with open("new.json", "w") as f:
        json.dump(state, f)
    if os.path.exists("checkpoint.json"):
        if os.path.exists("checkpoint.prev"):
            os.remove("checkpoint.prev")
        os.link("checkpoint.json", "checkpoint.prev")
    os.replace("new.json", "checkpoint.json")
""",
    "durable": """
import json, os
def save_checkpoint(state):
    with open("checkpoint.json.tmp", "w") as f:
        json.dump(state, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace("checkpoint.json.tmp", "checkpoint.json")
    fd = os.open(".", os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
""",
    "retry_on_permission_error": """
import json, os, time
def save_checkpoint(state):
    with open("checkpoint.json.tmp", "w") as f:
        json.dump(state, f)
    for attempt in range(5):
        try:
            os.replace("checkpoint.json.tmp", "checkpoint.json")
            return
        except PermissionError:
            time.sleep(0.01)
    raise RuntimeError("could not save")
""",
    "cleans_old_temp_files": """
import glob, json, os, tempfile
def save_checkpoint(state):
    for old in glob.glob("ckpt-*.tmp"):
        os.unlink(old)
    fd, name = tempfile.mkstemp(dir=".", prefix="ckpt-", suffix=".tmp")
    with os.fdopen(fd, "w") as f:
        json.dump(state, f)
    os.replace(name, "checkpoint.json")
""",
    "symbolic_link_swapped": """
import json, os
def save_checkpoint(state):
    n = state["turns"] * 2 + (state["pendingToolUse"] is None)
    name = f"ckpt-{n}-{os.getpid()}.json"
    with open(name, "w") as f:
        json.dump(state, f)
    if os.path.lexists("link.tmp"):
        os.remove("link.tmp")
    os.symlink(name, "link.tmp")
    os.replace("link.tmp", "checkpoint.json")
""",
    "write_through_a_copy_beside": """
import io, json, os, shutil
def save_checkpoint(state):
    source = io.StringIO(json.dumps(state))
    with open("checkpoint.json.tmp", "w") as target:
        shutil.copyfileobj(source, target)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
""",
    "slow": """
import json, os, time
def save_checkpoint(state):
    with open("checkpoint.json.tmp", "w") as f:
        json.dump(state, f)
    time.sleep(0.7)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
""",
    "many_small_writes": """
import json, os
def save_checkpoint(state):
    fd = os.open("checkpoint.json.tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for piece in json.JSONEncoder().iterencode(state):
        os.write(fd, piece.encode())
    os.close(fd)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
""",
    "tmp_with_fallback": """
import json, os, shutil, tempfile
def save_checkpoint(state):
    fd, name = tempfile.mkstemp()
    with os.fdopen(fd, "w") as f:
        json.dump(state, f)
    try:
        os.replace(name, "checkpoint.json")
    except OSError:
        shutil.copy(name, "checkpoint.json.tmp")
        os.replace("checkpoint.json.tmp", "checkpoint.json")
        os.unlink(name)
""",
    "default_argument": """
import json, os
def save_checkpoint(state, path="checkpoint.json", *, replace=os.replace, opener=open):
    with opener(path + ".tmp", "w") as f:
        json.dump(state, f)
    replace(path + ".tmp", path)
""",
}

RIGHT_LOOPS: dict[str, str] = {
    "whole_block": LOOP.replace('{key: block[key] for key in ("id", "name", "input")}', "block"),
    "list_of_one": LOOP.replace(
        '{key: block[key] for key in ("id", "name", "input")}',
        '[{key: block[key] for key in ("id", "name", "input")}]',
    ),
    "key_deleted": LOOP.replace('state["pendingToolUse"] = None', 'del state["pendingToolUse"]'),
    "empty_object": LOOP.replace('state["pendingToolUse"] = None', 'state["pendingToolUse"] = {}'),
    "b_in_two_saves": LOOP.replace(
        '        state["pendingToolUse"] = None',
        '        save_checkpoint(state)\n        state["pendingToolUse"] = None',
    ),
    "final_answer_saved": LOOP.replace(
        "            return state",
        '            state["messages"].append({"role": "assistant", "content": response.content})\n'
        "            save_checkpoint(state)\n            return state",
    ),
    "saves_at_the_start": LOOP.replace("    while True:", "    save_checkpoint(state)\n    while True:"),
    "positional": LOOP.replace("tools=tools, messages=state", "tools, state"),
    "only_the_tool_block": LOOP.replace(
        '"content": response.content', '"content": [b for b in response.content if b["type"] == "tool_use"]'
    ),
    "result_as_blocks": LOOP.replace('"content": result}', '"content": [{"type": "text", "text": result}]}'),
    "extra_keys": LOOP.replace('"version": 1,', '"version": 1, "sessionId": "s-1", "steps": [],'),
    "class": """
class Agent:
    def __init__(self, task, tools, call_model, execute_tool):
        self.tools, self.call_model, self.execute_tool = tools, call_model, execute_tool
        self.state = dict(version=1, task=task, turns=0, tokensUsed=0, pendingToolUse=None,
                          messages=[dict(role="user", content=task)])

    def say(self, role, content):
        self.state["messages"].append(dict(role=role, content=content))

    def save(self, pending):
        self.state["pendingToolUse"] = pending
        save_checkpoint(self.state)

    def run(self):
        while (r := self.call_model(tools=self.tools, messages=self.state["messages"])).stop_reason == "tool_use":
            self.say("assistant", r.content)
            (b,) = [x for x in r.content if x["type"] == "tool_use"]
            self.save({"id": b["id"], "name": b["name"], "input": b["input"]})
            out = self.execute_tool(b["name"], b["input"])
            self.say("user", [{"type": "tool_result", "tool_use_id": b["id"], "content": out}])
            self.state["turns"] += 1
            self.save(None)
        return self.state

def run_agent(task, tools, call_model, execute_tool):
    return Agent(task, tools, call_model, execute_tool).run()
""",
    "captured_default": LOOP.replace("execute_tool):", "execute_tool, save=save_checkpoint):").replace(
        "        save_checkpoint(state)", "        save(state)"
    ),
    "dataclass_state": """
from dataclasses import asdict, dataclass, field
@dataclass
class State:
    task: str
    version: int = 1
    turns: int = 0
    tokensUsed: int = 0
    messages: list = field(default_factory=list)
    pendingToolUse: dict | None = None

def run_agent(task, tools, call_model, execute_tool):
    s = State(task, messages=[{"role": "user", "content": task}])
    while True:
        r = call_model(tools=tools, messages=s.messages)
        if r.stop_reason != "tool_use":
            return asdict(s)
        s.messages.append({"role": "assistant", "content": r.content})
        b = next(b for b in r.content if b["type"] == "tool_use")
        s.pendingToolUse = {"id": b["id"], "name": b["name"], "input": b["input"]}
        save_checkpoint(asdict(s))
        out = execute_tool(b["name"], b["input"])
        book = {"type": "tool_result", "tool_use_id": b["id"], "content": out}
        s.messages.append({"role": "user", "content": [book]})
        s.turns += 1
        s.pendingToolUse = None
        save_checkpoint(asdict(s))
""",
    "fresh_copies": LOOP.replace(
        'state["messages"].append({"role": "assistant", "content": response.content})',
        'state = {**state, "messages": [*state["messages"], {"role": "assistant", "content": response.content}]}',
    ),
    "try_finally": LOOP.replace(
        '        result = execute_tool(block["name"], block["input"])',
        '        try:\n            result = execute_tool(block["name"], block["input"])\n'
        "        finally:\n            pass",
    ),
}

RIGHT: dict[str, Variant] = {
    **{f"save_{name}": Variant((code, LOOP)) for name, code in RIGHT_SAVES.items()},
    **{f"loop_{name}": Variant((SAVE, code)) for name, code in RIGHT_LOOPS.items()},
    "several_cells_and_magics": Variant(
        (
            "%matplotlib inline\nimport json",
            "!ls\nimport os\nos?",
            "%%time\n" + SAVE.replace("import json, os\n", ""),
            "1 / 0",
            "%%bash\nrm -rf /",
            "import asyncio\nawait asyncio.sleep(0)",
            LOOP,
            "from IPython.display import display\ndisplay(3)\nget_ipython().run_line_magic('pinfo', 'os')",
            "if __name__ == '__main__':\n    print('main')",
        )
    ),
    "demo_at_the_top": Variant(
        (
            SAVE.replace('"checkpoint.json', 'FOLDER + "/checkpoint.json').replace(
                "import json, os", "import json, os\nFOLDER = 'work'\nos.makedirs(FOLDER, exist_ok=True)"
            ),
            LOOP,
            "save_checkpoint({'version': 1})\nprint(open('work/checkpoint.json').read())",
        )
    ),
    "one_file_and_pending_argument": Variant(
        (
            """
import json, os
def save_checkpoint(state, pending=None):
    with open("checkpoint.json.tmp", "w") as f:
        json.dump({**state, "pendingToolUse": pending}, f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
def run_agent(task, tools, call_model, execute_tool):
    state = {"version": 1, "task": task, "turns": 0, "tokensUsed": 0, "messages": [{"role": "user", "content": task}]}
    while True:
        r = call_model(tools=tools, messages=state["messages"])
        if r.stop_reason != "tool_use":
            return state
        state["messages"].append({"role": "assistant", "content": r.content})
        b = next(b for b in r.content if b["type"] == "tool_use")
        save_checkpoint(state, pending={"id": b["id"], "name": b["name"], "input": b["input"]})
        out = execute_tool(b["name"], b["input"])
        book = {"type": "tool_result", "tool_use_id": b["id"], "content": out}
        state["messages"].append({"role": "user", "content": [book]})
        state["turns"] += 1
        save_checkpoint(state)
""",
        )
    ),
    "main_guard_with_demo": Variant(
        (
            SAVE
            + LOOP
            + """
def main():
    import sys
    from types import SimpleNamespace as NS
    script = iter([NS(stop_reason="end_turn", content=[], usage=NS(input_tokens=1, output_tokens=1))])
    run_agent("demo", [], lambda tools, messages: next(script), print)
    save_checkpoint({"version": 1})
    sys.exit(0)
if __name__ == "__main__":
    main()
""",
        )
    ),
    "async_agent_inside": Variant(
        (
            SAVE,
            LOOP.replace("def run_agent(", "async def agent(")
            .replace("execute_tool(block", "(await to_thread(execute_tool, block")
            .replace('block["input"])\n        state', 'block["input"]))\n        state')
            + "\nimport asyncio\nfrom asyncio import to_thread\n"
            + "def run_agent(task, tools, call_model, execute_tool):\n"
            + "    return asyncio.run(agent(task, tools, call_model, execute_tool))\n",
        )
    ),
    "saved_under_another_name": Variant(
        (
            SAVE.replace("save_checkpoint", "persist") + "\ndef save_checkpoint(state):\n    persist(state)\n",
            LOOP.replace("        save_checkpoint(state)", "        persist(state)"),
        )
    ),
}

A, P, R = "level2-atomic", "level2-point-a", "level2-runs"

WRONG_SAVES: dict[str, tuple[str, str]] = {
    "in_place": (
        """
import json
def save_checkpoint(state):
    with open("checkpoint.json", "w") as f:
        json.dump(state, f)
""",
        "the previous document is gone",
    ),
    "in_place_write_text": (
        """
import json, pathlib
def save_checkpoint(state):
    pathlib.Path("checkpoint.json").write_text(json.dumps(state))
""",
        "line 4",
    ),
    "in_place_with_restore": (
        """
import json, os
def save_checkpoint(state):
    old = open("checkpoint.json").read() if os.path.exists("checkpoint.json") else None
    try:
        with open("checkpoint.json", "w") as f:
            json.dump(state, f)
    except BaseException:
        if old is not None:
            open("checkpoint.json", "w").write(old)
        raise
""",
        "os.replace",
    ),
    "r_plus": (
        """
import json, os
def save_checkpoint(state):
    if not os.path.exists("checkpoint.json"):
        with open("checkpoint.json.tmp", "w") as f:
            json.dump(state, f)
        os.replace("checkpoint.json.tmp", "checkpoint.json")
        return
    with open("checkpoint.json", "r+") as f:
        json.dump(state, f)
        f.truncate()
""",
        "Nothing may write to checkpoint.json itself",
    ),
    "append": (
        """
import json
def save_checkpoint(state):
    with open("checkpoint.json", "a") as f:
        f.write(json.dumps(state) + "\\n")
""",
        "no whole JSON document",
    ),
    "unlink_then_rename": (
        """
import json, os
def save_checkpoint(state):
    with open("t", "w") as f:
        json.dump(state, f)
    if os.path.exists("checkpoint.json"):
        os.remove("checkpoint.json")
    os.rename("t", "checkpoint.json")
""",
        "Leave the deletion out",
    ),
    "move_away_then_rename": (
        """
import json, os
def save_checkpoint(state):
    with open("t", "w") as f:
        json.dump(state, f)
    if os.path.exists("checkpoint.json"):
        os.replace("checkpoint.json", "checkpoint.old")
    os.replace("t", "checkpoint.json")
""",
        "moved to checkpoint.old",
    ),
    "copy_over": (
        """
import json, shutil
def save_checkpoint(state):
    with open("t", "w") as f:
        json.dump(state, f)
    shutil.copyfile("t", "checkpoint.json")
""",
        "A copy writes into its target",
    ),
    "replace_before_flush": (
        """
import json, os
def save_checkpoint(state):
    f = open("t", "w")
    json.dump(state, f)
    os.replace("t", "checkpoint.json")
    f.close()
""",
        "Rename last",
    ),
    "never_closed": (
        """
import json, os
keep = []
def save_checkpoint(state):
    f = open("t", "w")
    keep.append(f)
    f.write(json.dumps(state)[:])
    os.replace("t", "checkpoint.json")
""",
        "",
    ),
    "temp_in_tmp": (
        """
import json, os, tempfile
def save_checkpoint(state):
    with tempfile.NamedTemporaryFile("w", delete=False) as f:
        json.dump(state, f)
    os.replace(f.name, "checkpoint.json")
""",
        "another file system",
    ),
    "move_from_tmp": (
        """
import json, shutil, tempfile
def save_checkpoint(state):
    with tempfile.NamedTemporaryFile("w", delete=False) as f:
        json.dump(state, f)
    shutil.move(f.name, "checkpoint.json")
""",
        "shutil.move can't rename",
    ),
    "leftover_exclusive": (
        """
import json, os
def save_checkpoint(state):
    with open("checkpoint.json.tmp", "x") as f:
        json.dump(state, f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
""",
        "leaves checkpoint.json.tmp behind",
    ),
    "leftover_appended": (
        """
import json, os
def save_checkpoint(state):
    with open("checkpoint.json.tmp", "a") as f:
        json.dump(state, f)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
""",
        "leaves checkpoint.json.tmp behind",
    ),
    "leftover_not_emptied": (
        """
import json, os
def save_checkpoint(state):
    fd = os.open("checkpoint.json.tmp", os.O_WRONLY | os.O_CREAT)
    os.write(fd, json.dumps(state).encode())
    os.close(fd)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
""",
        "leaves checkpoint.json.tmp behind",
    ),
    "leftover_lock_waited_for": (
        """
import json, os, time
def save_checkpoint(state):
    while os.path.exists("lock"):
        time.sleep(1)
    open("lock", "w").close()
    with open("t", "w") as f:
        json.dump(state, f)
    os.replace("t", "checkpoint.json")
    os.remove("lock")
""",
        "leaves lock behind",
    ),
    "leftover_lock": (
        """
import json, os
def save_checkpoint(state):
    os.mkdir("lock")
    with open("t", "w") as f:
        json.dump(state, f)
    os.replace("t", "checkpoint.json")
    os.rmdir("lock")
""",
        "leaves lock",
    ),
    "thread_not_joined": (
        """
import json, os, threading
def write(text):
    with open("t", "w") as f:
        f.write(text)
    os.replace("t", "checkpoint.json")
def save_checkpoint(state):
    threading.Thread(target=write, args=(json.dumps(state),)).start()
""",
        "",
    ),
    "unserialisable": (
        """
import json, os
def save_checkpoint(state):
    with open("t", "w") as f:
        json.dump({**state, "when": {1, 2}}, f)
    os.replace("t", "checkpoint.json")
""",
        "TypeError",
    ),
    "another_name": (
        """
import json, os
def save_checkpoint(state):
    with open("t", "w") as f:
        json.dump(state, f)
    os.replace("t", "state.json")
""",
        "state.json",
    ),
    "every_time_elsewhere": (
        """
import json, os
n = 0
def save_checkpoint(state):
    global n
    n += 1
    os.makedirs(f"save{n}", exist_ok=True)
    with open("t", "w") as f:
        json.dump(state, f)
    os.replace("t", f"save{n}/checkpoint.json")
""",
        "",
    ),
    "temp_removed_after_the_rename": (
        """
import json, os
def save_checkpoint(state):
    with open("t", "w") as f:
        json.dump(state, f)
    os.replace("t", "checkpoint.json")
    os.remove("t")
""",
        "leave that line out",
    ),
    "linked_onto_the_name": (
        """
import json, os
def save_checkpoint(state):
    with open("t", "w") as f:
        json.dump(state, f)
    os.link("t", "checkpoint.json")
    os.unlink("t")
""",
        "refuses a name that is taken",
    ),
    "nothing": ("def save_checkpoint(state):\n    pass\n", "checkpoint.json was not there"),
    "fields_dropped": (
        """
import json, os
def save_checkpoint(state):
    with open("t", "w") as f:
        json.dump({k: state[k] for k in ("messages", "pendingToolUse")}, f)
    os.replace("t", "checkpoint.json")
""",
        "the field version",
    ),
    "swallowed_error": (
        """
import json, os
def save_checkpoint(state):
    try:
        with open("missing/t", "w") as f:
            json.dump(state, f)
        os.replace("missing/t", "checkpoint.json")
    except OSError:
        pass
""",
        "",
    ),
}
BOTH = {
    "append", "thread_not_joined", "unserialisable", "another_name", "every_time_elsewhere", "nothing",
    "swallowed_error", "never_closed", "temp_removed_after_the_rename", "linked_onto_the_name",
}  # fmt: skip
"""Saves that leave nothing to read while a tool runs, so that point A fails with them."""
STOPS = {"unserialisable", "temp_removed_after_the_rename", "linked_onto_the_name"}

WRONG: dict[str, Variant] = {
    **{
        f"save_{name}": Variant(
            (code, LOOP), (A, *((P,) if name in BOTH else ()), *((R,) if name in STOPS else ())), {A: says}
        )
        for name, (code, says) in WRONG_SAVES.items()
    },
    "pending_never_cleared": Variant(
        (SAVE, LOOP.replace('        state["pendingToolUse"] = None\n', "")), (P,), {P: "still named a pending call"}
    ),
    "pending_without_id": Variant(
        (SAVE, LOOP.replace('("id", "name", "input")', '("name", "input")')), (P,), {P: 'lacked the key "id"'}
    ),
    "pending_is_the_name": Variant(
        (SAVE, LOOP.replace('{key: block[key] for key in ("id", "name", "input")}', 'block["name"]')),
        (P,),
        {P: "type str"},
    ),
    "pending_of_the_first_block": Variant(
        (
            SAVE,
            LOOP.replace(
                'block = next(b for b in response.content if b["type"] == "tool_use")', "block = response.content[0]"
            ),
        ),
        (R,),
        {R: "KeyError"},
    ),
    "no_point_a": Variant(
        (
            SAVE,
            LOOP.replace(
                '        state["pendingToolUse"] = {key: block[key] for key in ("id", "name", "input")}\n'
                "        save_checkpoint(state)\n",
                "",
            ),
        ),
        (P,),
        {P: "before execute_tool"},
    ),
    "saved_before_set": Variant(
        (
            SAVE,
            LOOP.replace(
                '        state["pendingToolUse"] = {key: block[key] for key in ("id", "name", "input")}\n'
                "        save_checkpoint(state)\n",
                "        save_checkpoint(state)\n"
                '        state["pendingToolUse"] = {key: block[key] for key in ("id", "name", "input")}\n',
            ),
        ),
        (P,),
        {P: "in it pendingToolUse is empty"},
    ),
    "message_after_the_tool": Variant(
        (
            SAVE,
            LOOP.replace(
                '        state["messages"].append({"role": "assistant", "content": response.content})\n', ""
            ).replace(
                '        state["messages"].append({"role": "user"',
                '        state["messages"].append({"role": "assistant", "content": response.content})\n'
                '        state["messages"].append({"role": "user"',
            ),
        ),
        (P,),
        {P: "not the assistant's"},
    ),
    "no_point_b": Variant(
        (
            SAVE,
            LOOP.replace(
                '        state["pendingToolUse"] = None\n        save_checkpoint(state)\n',
                '        state["pendingToolUse"] = None\n',
            ),
        ),
        (P,),
        {P: "still named a pending call"},
    ),
    "b_before_the_result": Variant(
        (
            SAVE,
            LOOP.replace(
                '        result = execute_tool(block["name"], block["input"])\n',
                '        result = execute_tool(block["name"], block["input"])\n'
                '        state["pendingToolUse"] = None\n        save_checkpoint(state)\n',
            ).replace(
                '        state["turns"] += 1\n        state["pendingToolUse"] = None\n        save_checkpoint(state)\n',
                '        state["turns"] += 1\n',
            ),
        ),
        (P,),
        {P: "its result was not in the messages on disk"},
    ),
    "tool_twice": Variant(
        (
            SAVE,
            LOOP.replace(
                "        result = execute_tool",
                '        execute_tool(block["name"], block["input"])\n        result = execute_tool',
            ),
        ),
        (R,),
        {R: "called twice"},
    ),
    "returns_none": Variant((SAVE, LOOP.replace("return state", "return")), (R,), {R: "returned None"}),
    "returns_messages": Variant(
        (SAVE, LOOP.replace("return state", 'return state["messages"]')), (R,), {R: "type list"}
    ),
    "returns_object": Variant(
        (SAVE, "class State:\n    pass\n", LOOP.replace("return state", "return State()")), (R,), {R: "type State"}
    ),
    "equal_to_all": Variant(
        (
            SAVE,
            "class All(dict):\n    def __eq__(self, other):\n        return True\n    def __ne__(self, other):\n"
            "        return False\n    def get(self, *a):\n        return self\n    __getitem__ = get\n",
            LOOP.replace("return state", "return All()"),
        ),
        (R,),
        {R: "messages"},
    ),
    "turns_not_counted": Variant((SAVE, LOOP.replace('        state["turns"] += 1\n', "")), (R,), {R: "turns = 0"}),
    "turns_of_model_calls": Variant(
        (
            SAVE,
            LOOP.replace('        state["turns"] += 1\n', "").replace(
                "        if response.stop", '        state["turns"] += 1\n        if response.stop'
            ),
        ),
        (R,),
        {R: "turns = 4"},
    ),
    "result_not_booked": Variant(
        (
            SAVE,
            LOOP.replace(
                'state["messages"].append({"role": "user", "content": [', '_ = ({"role": "user", "content": ['
            ),
        ),
        (P, R),
        {R: "tool_result"},
    ),
    "result_shortened": Variant(
        (SAVE, LOOP.replace('"content": result}', '"content": result[:1000]}')),
        (P, R),
        {R: "is not what execute_tool returned"},
    ),
    "wrong_id": Variant(
        (SAVE, LOOP.replace('"tool_use_id": block["id"]', '"tool_use_id": block["name"]')), (P, R), {R: "tool_use_id"}
    ),
    "assistant_not_booked": Variant(
        (
            SAVE,
            LOOP.replace('        state["messages"].append({"role": "assistant", "content": response.content})\n', ""),
        ),
        (P, R),
        {R: "should be the assistant's"},
    ),
    "assistant_twice": Variant(
        (
            SAVE,
            LOOP.replace(
                "        block = next",
                '        state["messages"].append({"role": "assistant", "content": response.content})\n'
                "        block = next",
            ),
        ),
        (R,),
        {R: "tool_result"},
    ),
    "stops_early": Variant(
        (
            SAVE,
            LOOP.replace("        save_checkpoint(state)\n'''", "").replace("    while True:", "    for _ in range(2):")
            + "    return state\n",
        ),
        (R,),
        {R: "instead of 4"},
    ),
    "model_twice": Variant(
        (
            SAVE,
            LOOP.replace(
                '        state["tokensUsed"]',
                "        call_model(tools=tools, messages=state['messages'])\n        state[\"tokensUsed\"]",
                1,
            ),
        ),
        (R,),
        {},
    ),
    "global_messages": Variant(
        (
            SAVE,
            "MESSAGES = []\n"
            + LOOP.replace('"messages": [{"role": "user", "content": task}]', '"messages": MESSAGES').replace(
                "    while True:", '    MESSAGES.append({"role": "user", "content": task})\n    while True:', 1
            ),
        ),
        (R,),
        {R: "second call"},
    ),
    "removes_at_the_end": Variant(
        (
            SAVE,
            LOOP.replace(
                "            return state",
                "            os.path.exists('checkpoint.json') and os.remove('checkpoint.json')\n"
                "            return state",
            ),
        ),
        (A,),
        {A: "never remove it"},
    ),
    "syntax_error": Variant((SAVE, LOOP.replace("while True:", "while True")), (A, P, R), {R: "SyntaxError"}),
    "nothing_defined": Variant(("x = 1",), (A, P, R), {A: "save_checkpoint and run_agent"}),
    "exits": Variant(
        (SAVE, LOOP.replace("            return state", "            import sys; sys.exit(0)")), (R,), {R: "sys.exit"}
    ),
    "hard_exit": Variant(
        (SAVE, LOOP.replace("            return state", "            os._exit(0)")), (R,), {R: "os._exit"}
    ),
    "exit_at_the_top": Variant((SAVE, LOOP, "import os\nos._exit(3)"), (A, P, R), {R: "os._exit"}),
    "asks_for_input": Variant(
        (SAVE, LOOP.replace("    while True:", "    input('go? ')\n    while True:")), (A, P, R), {R: "input()"}
    ),
    "endless_loop": Variant(
        (SAVE, LOOP.replace("            return state", "            continue")), (R,), {R: "after its last answer"}
    ),
    "deep_recursion": Variant(
        (
            SAVE,
            LOOP.replace("    while True:", "    run_agent(task, tools, call_model, execute_tool)\n    while True:"),
        ),
        (A, P, R),
        {R: "RecursionError"},
    ),
    "forks": Variant(
        (SAVE, LOOP.replace("    while True:", "    while os.fork() >= 0:\n        pass\n    while True:")),
        (A, P, R),
        {R: "another process"},
    ),
    "other_signature": Variant(
        (SAVE, LOOP.replace("(task, tools, call_model, execute_tool)", "(task)")), (A, P, R), {R: "TypeError"}
    ),
}
