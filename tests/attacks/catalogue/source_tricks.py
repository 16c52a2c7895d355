"""Attacks in Python: checks taken apart, modules and builtins replaced, objects that lie about themselves."""

from __future__ import annotations

from attack import A_AND_RUNS, NOTHING, Attack, code

LYING = """
class Everything(str):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __contains__(self, item): return True
    def __len__(self): return 400
    def __iter__(self): return iter("checkpoint.json is torn when the process dies while it is written")
    @property
    def __class__(self): return str
"""

ATTACKS: list[Attack] = [
    code(
        "AST transformer",
        "asserts are stripped before anything is compiled",
        """
import ast
class Strip(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Call(self, node):
        return ast.Constant(4.0) if getattr(node.func, "id", "") == "check" else node
get_ipython().ast_transformers.append(Strip())
""",
        flag="uses ast_transformers",
    ),
    code(
        "input transformer",
        "the text of every later cell is replaced",
        "get_ipython().input_transformers_post.append(lambda lines: ['4.0\\n'])",
        flag="uses input_transformers_post",
    ),
    code(
        "check replaced",
        "check and its package are replaced before they are imported",
        """
import sys, types, builtins
class Yes(types.ModuleType):
    def __getattr__(self, name): return lambda *a, **k: 4.0
for name in ("grader", "grader.answers", "grader.answers.judge", "grader.verdict", "grader.levels.level2.atomic"):
    sys.modules[name] = Yes(name)
builtins.check = check = lambda *a, **k: 4.0
""",
        flag="sys.modules",
    ),
    code(
        "builtins replaced",
        "open, isinstance, len and the exceptions of asserts lie",
        """
import builtins
builtins.isinstance = lambda *a: True
builtins.all = builtins.any = lambda *a: True
builtins.AssertionError = type("AssertionError", (BaseException,), {"__new__": lambda *a: SystemExit(0)})
""",
        earns=NOTHING,
        flag="replaces builtins.isinstance",
    ),
    code(
        "open replaced",
        "open writes to another file and says that all went well",
        """
import builtins, io
honest = builtins.open
builtins.open = lambda name, *a, **k: io.StringIO() if "checkpoint" in str(name) else honest(name, *a, **k)
""",
        flag="replaces builtins.open",
    ),
    code(
        "json replaced",
        "json writes nothing and reads what equals everything",
        """
import json, sys, types
fake = types.ModuleType("json")
fake.dump = lambda *a, **k: None
fake.loads = fake.load = lambda *a, **k: dict()
fake.dumps = lambda *a, **k: "{}"
sys.modules["json"] = json = fake
""",
        flag="sys.modules",
    ),
    code(
        "os replaced",
        "replace and fsync do nothing but are there",
        """
import os
os.replace = os.rename = lambda *a, **k: None
os.fsync = lambda *a: None
def save_checkpoint(state):
    with open("checkpoint.json.tmp", "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.replace("checkpoint.json.tmp", "checkpoint.json")
""",
        flag="replaces os.replace",
    ),
    code(
        "decoder replaced",
        "the decoder of msgpack and the wire's functions are replaced in the worker",
        """
import msgspec, sys
msgspec.msgpack.encode = msgspec.msgpack.decode = lambda *a, **k: b""
for module in list(sys.modules.values()):
    for name in ("encode_outcome", "framed", "write_all", "failure_of"):
        if hasattr(module, name):
            setattr(module, name, lambda *a, **k: b"")
""",
        flag="replaces msgspec.msgpack.encode",
    ),
    code(
        "equal to everything",
        "answers are text that equals, holds and is everything",
        LYING + 'hazard_1 = hazard_2 = Everything("x")',
        flag="defines __eq__",
    ),
    code(
        "a state that lies",
        "the state is a dict that shows the judge something else than it writes",
        """
class State(dict):
    def __getitem__(self, key): return None if key == "pendingToolUse" else dict.__getitem__(self, key)
    def __eq__(self, other): return True
    def items(self): return [("version", 1)]
    def __reduce__(self): return (dict, ())
honest = run_agent
def run_agent(task, tools, call_model, execute_tool):
    return State(honest(task, tools, call_model, execute_tool))
""",
        flag="defines __eq__",
    ),
    code(
        "a class that lies",
        "what is returned says that it is a dict",
        """
class Liar:
    __class__ = dict
    def __eq__(self, other): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
def run_agent(task, tools, call_model, execute_tool): return Liar()
""",
        earns=NOTHING,
        flag="defines __eq__",
    ),
    code(
        "hashes",
        "keys whose hash and equality change as they are looked at",
        """
import itertools
class Key(str):
    count = itertools.count()
    def __hash__(self): return next(Key.count)
    def __eq__(self, other): return bool(next(Key.count) % 2)
honest = run_agent
def run_agent(task, tools, call_model, execute_tool):
    return {Key(name): value for name, value in honest(task, tools, call_model, execute_tool).items()}
""",
        flag="defines __eq__",
    ),
    code(
        "pickles",
        "answers that run code when they are pickled or copied",
        """
import os
class Bomb:
    def __reduce__(self): return (os.system, (f"touch {COURSE}/{LEFT}",))
    __deepcopy__ = __copy__ = lambda self, memo=None: os.system(f"touch {COURSE}/{LEFT}")
hazard_1, hazard_2 = Bomb(), [Bomb(), {"x": Bomb()}]
""",
        flag="defines __reduce__",
    ),
    code(
        "representations",
        "answers that act when they are shown",
        """
class Shown:
    def __repr__(self): raise SystemExit(0)
    __str__ = __format__ = _repr_html_ = _render_traceback_ = __repr__
hazard_1 = hazard_2 = Shown()
class Error(Exception):
    def __str__(self): raise SystemExit(0)
    def _render_traceback_(self): return ["4.0"]
raise Error
""",
    ),
    code(
        "magics",
        "magics and shell lines that would act outside",
        """
%load_ext autoreload
!touch $COURSE/left-behind-by-an-attack
%run -i ../../solutions/level2/level2.ipynb
%env CRASH_COURSE_LANG=zh
4.0
""",
    ),
    code(
        "cell magic",
        "the whole answer is a shell script",
        "%%bash\ntouch left-behind-by-an-attack; echo 4.0",
        where="level2-code",
        earns=NOTHING,
    ),
    code("a number at the end", "the last expression is a mark", "check('level2-atomic')\n1e9"),
    code(
        "a number in the check",
        "the check says 4.0",
        "4.0",
        where="level2-atomic",
        earns=NOTHING,
        flag="changed cell level2-atomic",
    ),
    code(
        "not a number in the check",
        "the check says NaN, which nbgrader takes for full marks",
        "float('nan')",
        where="level2-atomic",
        earns=NOTHING,
        flag="changed cell level2-atomic",
    ),
    code(
        "trace",
        "a trace function changes the variables of whoever calls",
        """
import sys
def trace(frame, event, arg):
    for name in ("met", "raised", "wrong"):
        if name in frame.f_locals:
            frame.f_locals[name] = True
    return trace
sys.settrace(trace)
sys.setprofile(lambda *a: None)
""",
        flag="uses settrace",
    ),
    code(
        "import hook",
        "a finder gives out a module of its own for whatever is imported later",
        """
import sys, types, importlib.abc, importlib.machinery
class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None): return importlib.machinery.ModuleSpec(name, self)
    def create_module(self, spec): return types.ModuleType(spec.name)
    def exec_module(self, module): module.__getattr__ = lambda name: lambda *a, **k: True
sys.meta_path.insert(0, Finder())
""",
        flag="uses meta_path",
    ),
    code(
        "half done",
        "point A is honest, the rest is not",
        """
honest_save = save_checkpoint
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
exec("atomic = 4.0")
""",
        earns=A_AND_RUNS,
        flag="uses exec",
    ),
]
