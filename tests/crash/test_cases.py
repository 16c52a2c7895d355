"""Runs the text cases: saves, each with what the explorer must say of it.

A file in ``cases/`` is a list of blocks. A block is one rule as a comment, a line ``explore`` with options, the source
of the save (and of the load, when it is not the usual one), a line ``----``, and the expected answer up to an empty
line:

    # The rule that the block shows.
    explore
    def save(state):
        ...
    ----
    survives a kill: yes; ...

Options: ``kill`` or ``power`` alone, ``unordered`` and ``lying`` for those variants of power loss, ``report`` for the
report as a user sees it, ``zh`` for Chinese. In the sources ``json``, ``os``, ``NAME`` are there; ``load`` reads
``c.json``. ``pytest tests/crash --rewrite`` writes the answers of today in place of the expected ones.
"""

from __future__ import annotations

import linecache
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.crash import PowerLoss, ProcessKill, explore
from grader.crash.describe import Story
from grader.crash.diagnose import diagnose
from grader.crash.explore import Exploration
from grader.crash.report import ANSWERS, answer, as_text, headline, on_disk, recovered, surveys
from grader.crash.sentences import sentence
from grader.crash.strips import crash_map

CASES = sorted((Path(__file__).parent / "cases").glob("*.txt"))
OLD = {"turn": 1}
NEW = {"turn": 2, "text": "abcdefghij" * 4}
LOAD = """
def load():
    with open("c.json") as file:
        return json.load(file)
"""


@dataclass
class Block:
    """One block of a case file."""

    comment: str
    options: list[str]
    source: str
    expected: str
    number: int


def parse(text: str) -> list[Block]:
    """The blocks of a case file."""
    blocks: list[Block] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        comment: list[str] = []
        while at < len(lines) and (not lines[at] or lines[at].startswith("#")):
            comment.append(lines[at])
            at += 1
        if at == len(lines):
            break
        assert lines[at].split()[0] == "explore", f"line {at + 1}: explore expected, not {lines[at]!r}"
        options = lines[at].split()[1:]
        start = at = at + 1
        while lines[at] != "----":
            at += 1
        source = "\n".join(lines[start:at]) + "\n"
        start = at = at + 1
        while at < len(lines) and lines[at]:
            at += 1
        blocks.append(Block("\n".join(comment).strip(), options, source, "\n".join(lines[start:at]), len(blocks) + 1))
    return blocks


def unparse(blocks: list[Block]) -> str:
    """The text of a case file."""
    return (
        "\n\n".join(f"{b.comment}\n{' '.join(['explore', *b.options])}\n{b.source}----\n{b.expected}" for b in blocks)
        + "\n"
    )


def run(block: Block, stem: str) -> str:
    """What the explorer says of a block's save."""
    name = f"<{stem} {block.number}>"
    linecache.cache[name] = (len(block.source), None, block.source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"old": OLD, "new": NEW}
    exec(compile("import json, os\nNAME = 'c.json'\n" + LOAD, "<load>", "exec"), names)
    exec(compile(block.source, name, "exec"), names)
    power = PowerLoss(ordered="unordered" not in block.options, fsync_lies="lying" in block.options)
    models = [m for m in (ProcessKill(), power) if m.name in block.options or not {"kill", "power"} & {*block.options}]
    exploration = explore(names["save"], names["load"], old=names["old"], new=names["new"], crash=models)
    lang = "zh" if "zh" in block.options else "en"
    if "report" in block.options:
        return re.sub(r"\n\n+", "\n\n", as_text(exploration, lang=lang)).replace("\n\n", "\n.\n")
    return told(exploration, lang)


def told(exploration: Exploration[Any], lang: str) -> str:
    """The answer in short: verdicts, counts, strips, smallest counterexample, faults."""
    if exploration.cant_judge:
        return f"can't judge: {exploration.cant_judge}"
    story = Story(exploration.recording)
    example = exploration.counterexample()
    lines = ["; ".join(f"{sentence(n, lang)}: {answer(getattr(exploration, n), lang)}" for n in ANSWERS)]
    shown = crash_map(exploration, story, example, most=16)
    for strip, (_, survey) in zip(shown.strips, surveys(exploration), strict=True):
        cells = " ".join(cell.letters or "_" for cell in strip.cells)
        lines.append(f"{strip.name}: {survey.images} images, {survey.distinct} distinct: {cells}")
    if example is not None:
        lines.append(headline(example, story, lang))
        for lying in on_disk(exploration, example, lang):
            lines.append(f"    {lying.name}  {lying.size}  {lying.note}".rstrip())
            lines += [f"    {row}" for row in lying.rows]
        lines.append(f"    {recovered(example, lang)}")
    for fault in diagnose(exploration):
        lines.append(f"{fault.kind}: {fault.fault(lang)}")
        lines.append(f"    {fault.advice(lang)}")
    return "\n".join(lines)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path, request: pytest.FixtureRequest) -> None:
    """Every block of a file is answered as written."""
    blocks = parse(path.read_text(encoding="utf-8"))
    assert blocks, f"{path.name} has no block"
    answers = [run(block, path.stem) for block in blocks]
    if request.config.getoption("--rewrite", default=False):
        for block, found in zip(blocks, answers, strict=True):
            block.expected = found
        path.write_text(unparse(blocks), encoding="utf-8")
        return
    for block, found in zip(blocks, answers, strict=True):
        assert block.comment.startswith("# "), f"{path.name}, block {block.number} does not say what rule it shows"
        assert found == block.expected, f"{path.name}, block {block.number}"


def test_every_kind_of_fault_has_a_case() -> None:
    """No sentence about a fault is unproved."""
    from grader.crash.diagnose import KINDS

    text = "\n".join(path.read_text(encoding="utf-8") for path in CASES)
    missing = [kind for kind in KINDS if not re.search(rf"^{kind}: ", text, re.MULTILINE)]
    assert not missing
