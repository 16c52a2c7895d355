"""Answers that are alike beyond what the exercise makes them: pairs for a person to look at, never a verdict.

Code is compared as runs of syntax, with the learner's own names, strings, numbers, comments and layout left out.
Prose is compared as runs of words. What the exercise itself brings (its starting code, the reference solution, its
wording) and what many of the class wrote says nothing, and is left out before anything is counted.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from grader.levels.literals import parsed

RUN = 12
"""How many pieces of syntax make one run of code."""
WORDS = 5
"""How many words, or Chinese characters twice over, make one run of prose."""
PROSE = 40
"""Letters from which a string is an answer in prose; shorter ones are part of the code."""
MOST = 6000
"""Pieces of one answer that are looked at: what nobody writes by hand is no sign."""
COMMON = 0.03
"""The share of a class above which a run is everybody's, and says nothing of a pair."""
FEW = 2
"""So many may share a run in any class. Answers that are the same all through count as one."""


@dataclass(frozen=True)
class Piece:
    """One piece of syntax or one word, and where it stands."""

    token: Hashable
    line: int
    """In the answer, from 1."""
    cell: int = 0
    """Its cell's number; no run goes from one cell into the next."""


@dataclass(frozen=True)
class Answer:
    """What one learner wrote, taken to pieces."""

    code: tuple[Piece, ...]
    prose: tuple[Piece, ...]


@dataclass(frozen=True)
class Likeness:
    """Two answers that share more than the exercise makes them share."""

    first: str
    second: str
    code: float
    """The share of the smaller program's own runs that the other has too, 0 to 1."""
    prose: float
    """The same of the written answers."""
    lines: tuple[int, ...]
    """Where the shared runs lie in the first one's answer."""
    other_lines: tuple[int, ...]
    """And in the second one's."""

    @property
    def score(self) -> float:
        """How alike they are, 0 to 1: the code or the prose, whichever says more."""
        return max(self.code, self.prose)


@dataclass(frozen=True)
class Bounds:
    """From where on two answers are shown. docs/report.md says how these were measured."""

    code: float = 0.6
    prose: float = 0.4
    runs: int = 30
    """So many runs of code must be shared at least."""
    phrases: int = 12
    """So many runs of words."""


def taken_apart(cells: Iterable[str]) -> Answer:
    """Take an answer's cells to pieces; lines are counted as if the cells were one text."""
    code: list[Piece] = []
    prose: list[Piece] = []
    before = 0
    for number, source in enumerate(cells):
        mine, said = _cell(source)
        code += [Piece(piece.token, before + piece.line, number) for piece in mine]
        prose += [Piece(piece.token, before + piece.line, number) for piece in said]
        before += source.count("\n") + 1
    return Answer(tuple(code[:MOST]), tuple(prose[:MOST]))


def _cell(source: str) -> tuple[list[Piece], list[Piece]]:
    code: list[Piece] = []
    prose: list[Piece] = []
    try:
        tree = parsed(source)
        _walk(tree, _Own(tree), code, prose)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return list(_rough(source)), []
    return code, prose


def pairs_alike(
    answers: Mapping[str, Answer], given: Iterable[Answer], prose: Iterable[str] = (), bounds: Bounds | None = None
) -> list[Likeness]:
    """Return the pairs of a class that are alike, the most alike first.

    Args:
        answers: each learner's answer.
        given: what the exercise brings: its starting code and its reference solution.
        prose: what it says in words where learners read it.
        bounds: from where on.
    """
    bounds = bounds or Bounds()
    given = list(given)
    known_code = {run for answer in given for run, _ in _runs(answer.code, RUN)}
    known_prose = {run for answer in given for run, _ in _runs(answer.prose, WORDS)}
    known_prose |= {run for text in prose for run, _ in _runs(list(_words(text, 0)), WORDS)}
    code = _Compared({name: answer.code for name, answer in answers.items()}, RUN, known_code)
    text = _Compared({name: answer.prose for name, answer in answers.items()}, WORDS, known_prose)
    found = []
    for pair in dict.fromkeys([*code.shared, *text.shared]):
        by_code = code.share(pair) if code.shared.get(pair, 0) >= bounds.runs else 0.0
        by_prose = text.share(pair) if text.shared.get(pair, 0) >= bounds.phrases else 0.0
        if by_code >= bounds.code or by_prose >= bounds.prose:
            lines = [sorted({*code.lines(pair, side), *text.lines(pair, side)}) for side in (0, 1)]
            found.append(Likeness(*pair, by_code, by_prose, tuple(lines[0]), tuple(lines[1])))
    return sorted(found, key=lambda one: (-one.score, one.first, one.second))


class _Compared:
    """The runs of a class's answers, without those that are everybody's."""

    def __init__(self, answers: Mapping[str, Sequence[Piece]], size: int, known: set[int]) -> None:
        self._where: dict[str, dict[int, set[int]]] = {}
        groups: dict[frozenset[int], list[str]] = defaultdict(list)
        for name, pieces in answers.items():
            where: dict[int, set[int]] = defaultdict(set)
            for run, lines in _runs(pieces, size):
                if run not in known:
                    where[run].update(lines)
            self._where[name] = where
            groups[frozenset(where)].append(name)
        holders: dict[int, list[str]] = defaultdict(list)
        for runs, names in groups.items():
            for run in runs:
                holders[run].append(names[0])
        limit = max(FEW, COMMON * len(answers))
        self._common = {run for run, names in holders.items() if len(names) > limit}
        self.shared: Counter[tuple[str, str]] = Counter()
        for run, names in holders.items():
            if run not in self._common:
                self.shared.update(combinations(names, 2))
        self._same: set[tuple[str, str]] = set()
        for runs, (first, *others) in groups.items():
            for other in others:  # a pair each: a hundred copies of one answer are not five thousand findings
                self._same.add((first, other))
                self.shared[first, other] = len(runs)

    def share(self, pair: tuple[str, str]) -> float:
        """Return how much of the smaller answer's own runs the other has too."""
        if pair in self._same:
            return 1.0
        smaller = min(len(self._where[name].keys() - self._common) for name in pair)
        return self.shared[pair] / smaller if smaller else 0.0

    def lines(self, pair: tuple[str, str], side: int) -> set[int]:
        """Return where the shared runs lie in one of the two answers."""
        runs = self._where[pair[0]].keys() & self._where[pair[1]].keys()
        if pair not in self._same:
            runs -= self._common
        return {line for run in runs for line in self._where[pair[side]][run]}


def _runs(pieces: Sequence[Piece], size: int) -> Iterator[tuple[int, set[int]]]:
    for start in range(len(pieces) - size + 1):
        part = pieces[start : start + size]
        if part[0].cell == part[-1].cell:
            yield hash(tuple(piece.token for piece in part)), {piece.line for piece in part}


_SILENT = (ast.Load, ast.Store, ast.Del, ast.Import, ast.ImportFrom, ast.alias)


class _Own:
    """The names that a cell itself gives to something: another learner would have chosen others."""

    def __init__(self, tree: ast.AST) -> None:
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.names.add(node.name)
            elif isinstance(node, ast.arg):
                self.names.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.names.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                self.attributes.add(node.attr)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                self.names.add(node.name)
            if isinstance(node, ast.ClassDef):
                self.attributes |= {one.name for one in node.body if isinstance(one, ast.FunctionDef)}


def _walk(node: ast.AST, own: _Own, code: list[Piece], prose: list[Piece]) -> None:
    if isinstance(node, _SILENT):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring, or a comment written as one
    line = getattr(node, "lineno", code[-1].line if code else 1)
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) >= PROSE:
        prose.extend(_words(node.value, line))
    code.append(Piece(_token(node, own), line))
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                _walk(child, own, code, prose)


def _token(node: ast.AST, own: _Own) -> Hashable:
    kind = type(node).__name__
    if isinstance(node, ast.Name):
        return kind, "" if node.id in own.names else node.id
    if isinstance(node, ast.Attribute):
        return kind, "" if node.attr in own.attributes else node.attr
    if isinstance(node, ast.keyword):
        return kind, node.arg
    if isinstance(node, ast.Constant):
        return kind, type(node.value).__name__
    return kind


_ROUGH = re.compile(r"""#.*|"[^"\n]*"|'[^'\n]*'|\w+|[^\w\s]""")


def _rough(source: str) -> Iterator[Piece]:
    """Take code that Python can't read to pieces."""
    for number, text in enumerate(source.split("\n"), start=1):
        for part in _ROUGH.findall(text):
            if not part.startswith("#"):
                yield Piece("text" if part[0] in "\"'" else part if not part[0].isdigit() else "number", number)


def _words(text: str, line: int) -> Iterator[Piece]:
    for word in re.findall(r"[a-z0-9_']+|[\u4e00-\u9fff]", text.lower()):
        yield Piece(word, line)
