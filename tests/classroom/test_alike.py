"""Copies are found whatever names they go by; programs written apart are let be."""

import ast
import json
from collections.abc import Iterable

from class_to_grade import CHECKOUT

from grader.classroom.alike import Answer, Likeness, pairs_alike, taken_apart

PROGRAMS = CHECKOUT / "tests" / "levels" / "programs"
OURS = {"save_checkpoint", "run_agent", "task", "tools", "call_model", "execute_tool", "state"}
APART = """
def average(numbers):
    total = 0
    for number in numbers:
        if number is None:
            continue
        total += number
    return total / max(1, len(numbers))


def table(rows, width):
    lines = []
    for key, value in sorted(rows.items()):
        label = str(key).ljust(width)
        lines.append(f"{label}: {value!r}")
    lines.append("-" * width)
    return "\\n".join(lines)
"""


def given() -> list[Answer]:
    found = []
    for folder in ("exercises", "solutions"):
        notebook = json.loads((CHECKOUT / folder / "level2" / "level2.ipynb").read_text(encoding="utf-8"))
        code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        found.append(taken_apart(code))
    return found


def programs() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(PROGRAMS.glob("level2*/*.py"))}


def disguised(source: str) -> str:
    """The same program with other names, other strings and another layout."""
    tree = ast.parse(source)
    keywords = {word.arg for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords}
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        own = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None
        if own and own not in OURS | keywords:
            names[own] = f"other_{len(names)}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.Constant) and str(node.value).endswith(".tmp"):
            node.value = "draft.part"
    return ast.unparse(tree)


def told(class_: dict[str, str], prose: Iterable[str] = ()) -> list[Likeness]:
    return pairs_alike({name: taken_apart([source]) for name, source in class_.items()}, given(), prose)


def pairs(found: list[Likeness]) -> set[frozenset[str]]:
    return {frozenset((one.first, one.second)) for one in found}


def test_programs_written_apart_are_hardly_ever_called_alike() -> None:
    class_ = programs()
    assert len(class_) >= 150
    count = len(class_) * (len(class_) - 1) // 2
    assert len(told(class_)) <= count / 5000


def test_a_copy_is_found_under_other_names_strings_and_layout() -> None:
    class_ = {name: source for name, source in programs().items() if name[0] in "0123456789"}
    copied = "12_subdir_pid_tmp"
    found = told({**class_, "a copy": disguised(class_[copied])})
    assert frozenset((copied, "a copy")) in pairs(found)
    likeness = next(one for one in found if "a copy" in (one.first, one.second))
    assert likeness.code > 0.8
    texts = class_[copied].split("\n")
    side = likeness.lines if likeness.first == copied else likeness.other_lines
    assert any("os.makedirs" in texts[line - 1] for line in side)


def test_a_ring_of_copies_is_found_though_many_have_it() -> None:
    class_ = {"ann": APART, "bob": disguised(APART), "cy": APART + "\n", "di": disguised(APART), "eve": "x = 1"}
    found = told(class_)
    assert {name for pair in pairs(found) for name in pair} == {"ann", "bob", "cy", "di"}


def test_the_exercises_own_code_and_the_solution_make_nobody_alike() -> None:
    notebook = json.loads((CHECKOUT / "solutions" / "level2" / "level2.ipynb").read_text(encoding="utf-8"))
    solved = "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["id"].startswith("level2-code"))
    assert told({"ann": solved, "bob": solved, "cy": solved.replace("indent=2", "indent=4")}) == []


def test_code_that_python_cannot_read_is_compared_too() -> None:
    broken = APART.replace("def table(rows, width):", "def table(rows, width)")
    assert pairs(told({"ann": broken, "bob": "# mine\n" + broken, "cy": "def f(: pass"})) == {frozenset(("ann", "bob"))}


def test_written_answers_are_compared_and_the_exercises_wording_left_out() -> None:
    own = (
        "When the power goes halfway through, what is on the platter is the front half of one version and nothing of "
        "the other, so my parser chokes and there is no older copy anywhere to go back to."
    )
    handed = f"hazard_1 = {own!r}"
    assert pairs(told({"ann": handed, "bob": handed + "\n# done", "cy": "hazard_1 = ''"})) == {
        frozenset(("ann", "bob"))
    }
    assert told({"ann": handed, "bob": handed + "\n# done"}, [own]) == []
    chinese = "保存到一半断电，磁盘上只剩下前半段，解析器读不出来，而原来那一份早就被覆盖，没有任何地方能退回去。"
    handed = f'hazard_1 = "{chinese}"'
    assert pairs(told({"ann": handed, "bob": handed + "\nx = 2"})) == {frozenset(("ann", "bob"))}


def test_what_is_endless_or_deep_stops_nobody() -> None:
    deep = "x = " + "(" * 3000 + ")" * 3000
    chain = "x = " + " + ".join(["1"] * 5000)
    assert told({"ann": deep, "bob": chain, "cy": "\x00", "di": ""}) == []
