"""Signs in a learner's code that it is about its judge rather than about the exercise, for the instructor to look at.

A sign costs no point and proves nothing. It says where a person should read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from grader.answers.cells import to_python
from grader.levels.literals import nodes_of

_MOST = 12

_LOOKS = {
    "_getframe", "_current_frames", "f_back", "f_locals", "f_globals", "gi_frame", "cr_frame", "tb_frame", "f_builtins",
    "get_objects", "get_referrers", "get_referents", "__closure__", "cell_contents", "__subclasses__", "__globals__",
    "currentframe", "getouterframes", "getinnerframes", "settrace", "setprofile", "addaudithook", "meta_path",
    "path_hooks", "path_importer_cache", "sys_modules", "ast_transformers", "input_transformers_post",
    "input_transformers_cleanup", "_set_result",
}  # fmt: skip
"""Names of attributes with which code looks at what runs it, or gets between the two."""
_LOOKING_MODULES = {"ctypes", "gc", "linecache", "pyfakefs", "_posixsubprocess", "sitecustomize", "nbgrader"}
_OF_MODULES = {
    "os": {"fork", "forkpty", "posix_spawn", "posix_spawnp", "kill", "killpg", "setsid", "dup2", "closerange"},
    "sys": {"modules"},
    "signal": {"signal", "setitimer", "alarm"},
    "atexit": {"register"},
}
"""What starts or ends processes, outlives the answer, or gets at what others hold: by the module it belongs to."""
_RUNS_TEXT = {"exec", "eval", "__import__"}
_POWERS = {"__eq__", "__hash__", "__class__", "__getattribute__", "__instancecheck__", "__reduce__", "__reduce_ex__"}
_FILES = re.compile(
    r"gradebook|/proc/|/etc/|/dev/fd|autograded|submitted/|solutions/|nbgrader|sitecustomize|usercustomize|conftest"
    r"|ipython_config|pyfakefs|site-packages|criteria\.toml|\.\./\.\./"
)


def signs(cells: Sequence[tuple[str, str]]) -> list[str]:
    """Return the flags for the instructor.

    Args:
        cells: the learner's code, as (cell id, source).
    """
    found: list[str] = []
    for name, source in cells:
        seen: set[str] = set()
        for line, what in _Reader(nodes_of(to_python(source))).signs():
            if what not in seen:
                seen.add(what)
                found.append(f"look at cell {name}, line {line}: {what}")
    return found[:_MOST]


def learners_code(nb: Any) -> list[tuple[str, str]]:
    """Return the code of a restored submission that a learner may have written, as (cell id, source)."""
    return [
        (cell.id, cell.source)
        for cell in nb.cells
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("locked")
    ]


_TELLING = (
    ast.Attribute, ast.Import, ast.ImportFrom, ast.Call, ast.FunctionDef, ast.AsyncFunctionDef, ast.Constant,
    ast.Assign, ast.AugAssign, ast.Delete,
)  # fmt: skip
"""Nodes that may hold a sign; the others are most of a cell."""


class _Reader:
    """Reads one cell."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self.nodes = nodes
        self.modules = {
            (alias.asname or alias.name).split(".")[0]
            for node in self.nodes
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        self.counters = {
            node.target.id
            for node in self.nodes
            if isinstance(node, ast.For)
            and isinstance(node.target, ast.Name)
            and isinstance(node.iter, ast.Call)
            and isinstance(node.iter.func, ast.Name)
            and node.iter.func.id == "range"
        }

    def signs(self) -> Iterator[tuple[int, str]]:
        """Return each sign with its line, in the order of the lines."""
        telling = (node for node in self.nodes if isinstance(node, _TELLING))
        found = [(getattr(node, "lineno", 0), what) for node in telling for what in self._of(node)]
        return iter(sorted(found))

    def _of(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Attribute):
            yield from self._attribute(node)
        elif isinstance(node, ast.Import):
            yield from (_module(alias.name) for alias in node.names if _module(alias.name))
        elif isinstance(node, ast.ImportFrom):
            yield from self._taken(node)
        elif isinstance(node, ast.Call):
            yield from self._call(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name in _POWERS:
                yield f"defines {node.name}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if (named := _FILES.search(node.value)) is not None and "\n" not in node.value:
                yield f"names {named[0]}"
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
            targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
            yield from (f"replaces {ast.unparse(one)[:40]}" for one in targets if self._of_module(one))

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        if node.attr in _LOOKS:
            yield f"uses {node.attr}"
        elif isinstance(node.value, ast.Name) and node.attr in _OF_MODULES.get(node.value.id, ()):
            yield f"uses {node.value.id}.{node.attr}"

    def _taken(self, node: ast.ImportFrom) -> Iterator[str]:
        module = node.module or ""
        if what := _module(module):
            yield what
        for alias in node.names:
            if alias.name in _LOOKS or alias.name in _OF_MODULES.get(module, ()):
                yield f"uses {module}.{alias.name}"

    def _call(self, node: ast.Call) -> Iterator[str]:
        function = node.func
        first = node.args[0] if node.args else None
        if isinstance(function, ast.Name):
            if function.id in _RUNS_TEXT:
                yield f"uses {function.id}"
            if function.id in ("setattr", "delattr") and isinstance(first, ast.Name) and first.id in self.modules:
                yield f"replaces something of {first.id}"
        elif isinstance(function, ast.Attribute) and function.attr in ("write", "writev", "fdopen", "sendfile"):
            owner = function.value.id if isinstance(function.value, ast.Name) else ""
            counted = isinstance(first, ast.Name) and first.id in self.counters
            if owner in ("os", "posix") and (counted or (isinstance(first, ast.Constant) and type(first.value) is int)):
                yield "writes into a descriptor by number"

    def _of_module(self, target: ast.expr) -> bool:
        """Whether assigning to this changes what others of the process use."""
        while isinstance(target, ast.Subscript):
            target = target.value
        if not isinstance(target, ast.Attribute):
            return False
        root: ast.expr = target
        while isinstance(root, ast.Attribute):
            root = root.value
        return isinstance(root, ast.Name) and root.id in self.modules


def _module(name: str) -> str:
    top = name.split(".")[0]
    inside = (name.startswith("grader.") and not name.startswith("grader.crash")) or (top in _LOOKING_MODULES)
    return f"imports {name}" if inside else ""
