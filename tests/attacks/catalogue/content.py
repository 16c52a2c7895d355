"""Attacks by what is in the cells: markup, floods, sizes, depths, letters that are not what they look like."""

from __future__ import annotations

from attack import EVERYTHING, NOTHING, WRITTEN, Attack, Work, code

MARK = "mark-of-the-learner"
SCRIPT = f"<script>{MARK}()</script><img src=http://tracker.invalid/x.png onerror={MARK}()>"


def huge(work: Work) -> None:
    work.add("x" * 25_000_000, "raw")


def many_cells(work: Work) -> None:
    for number in range(1000):
        work.add(f"x{number} = {number}")


def markdown(work: Work) -> None:
    for text in (
        SCRIPT,
        "[click](javascript:alert(1)) [click](&#106;avascript:alert(1)) <javascript:alert(1)>",
        f"![pixel](http://tracker.invalid/{MARK}.png)",
        "<iframe srcdoc='<script>1</script>'></iframe><svg onload=alert(1)>",
        "</div></body><form action=http://tracker.invalid><input name=x></form>",
    ):
        work.add(text, "markdown")
    work.add(SCRIPT, "raw", metadata={"raw_mimetype": "text/html", "format": "text/html"})
    work.cell("level2-01")["source"] = SCRIPT


def outputs(work: Work) -> None:
    cell = work.add("display(1)")
    for kind in ("text/html", "image/svg+xml", "application/javascript", "text/markdown", "text/latex"):
        data = {kind: SCRIPT}
        cell["outputs"].append({"output_type": "display_data", "data": data, "metadata": {}})


def surrogates(work: Work) -> None:
    cell = work.cell("level2-code")
    source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
    cell["source"] = source + "\n# \u2028\u202e\u2066 \ufeff \x1b[2J\n"
    work.add("# \ud800\udfff lone \ud800")


def long_code(work: Work) -> None:
    work.add("x = 1\n" * 400_000)


ATTACKS: list[Attack] = [
    Attack("a huge notebook", "25 MB in one cell", huge, NOTHING, "unreadable", waits=EVERYTHING),
    Attack("1,000 cells", "more cells than anybody reads", many_cells),
    Attack("2 MB of code", "code that takes memory to read", long_code, NOTHING, "unreadable", waits=EVERYTHING),
    Attack(
        "script in Markdown", "scripts, pictures and links that act", markdown, flag="markup that acts in cell own-"
    ),
    Attack("script in outputs", "outputs of every kind, with scripts", outputs),
    Attack("odd letters", "lone surrogates, line separators, letters that turn the line", surrogates),
    code(
        "script in what is quoted",
        "the error that the verdict quotes is markup",
        f"""
def save_checkpoint(state):
    raise ValueError({SCRIPT!r})
""",
        earns=NOTHING,
    ),
    code(
        "script in names",
        "names of files and fields that the verdict quotes are markup",
        f"""
def save_checkpoint(state):
    with open("checkpoint<script>{MARK}<", "w", encoding="utf-8") as file:
        json.dump(state, file)
hazard_1 = {SCRIPT!r} * 30
""",
        waits=WRITTEN,
    ),
    code(
        "script from a traceback",
        "an exception that brings its own traceback, and a display of markup",
        f"""
from IPython.display import HTML, display
display(HTML({SCRIPT!r}))
class Shown(Exception):
    def _render_traceback_(self): return [{SCRIPT!r}]
raise Shown({SCRIPT!r})
""",
    ),
    code(
        "100 MB on standard output",
        "more output than anybody keeps",
        "for _ in range(100): print('x' * 1_000_000)",
    ),
    code(
        "100 MB on standard error",
        "the same on standard error",
        "import sys\nfor _ in range(100): sys.stderr.write('x' * 1_000_000)",
    ),
    code(
        "large answers",
        "a hundred megabytes and a list nested without end, as answers",
        "hazard_1 = 'torn ' * 20_000_000\nhazard_2 = []\nfor _ in range(100_000): hazard_2 = [hazard_2]",
        earns=NOTHING,
    ),
    code("50,000 brackets", "code nested deeper than a parser goes", "x = " + "(" * 50_000, earns=NOTHING),
    code("50,000 signs", "an expression nested deeper than a stack", "x = " + "-" * 50_000 + "1", earns=NOTHING),
    code("20,000 attributes", "a chain of names without end", "x = a" + ".a" * 20_000, earns=NOTHING),
    code("a long number", "a literal that takes its time", "x = " + "9" * 90_000, earns=NOTHING),
    code(
        "a power without end",
        "constants that a compiler would work out",
        "if False:\n    x = ((2 ** 20000) ** 20000, 'x' * 10 ** 12, (1,) * 10 ** 12)",
    ),
    code(
        "terminal codes",
        "codes that clear the screen and set its title, in all that is printed and raised",
        "print('\\x1b[2J\\x1b]0;met\\x07')\nraise ValueError('\\x1b[2J\\x1b]8;;http://x\\x07met 4/4')",
    ),
]
