"""An exploration as text: at most 80 columns, without colour, for a terminal or a failing test."""

from __future__ import annotations

import itertools
import posixpath
import re
import textwrap
import unicodedata
from dataclasses import dataclass
from typing import Any

from grader.crash.describe import Story, hexdump, source
from grader.crash.diagnose import Diagnosis, diagnose
from grader.crash.explore import Counterexample, Exploration, Verdict
from grader.crash.models import PowerLoss, ProcessKill, Survey
from grader.crash.operations import Recording
from grader.crash.replay import Files, Names
from grader.crash.sentences import language, number_of_bytes, sentence, translated
from grader.crash.strips import LETTERS, CrashMap, crash_map

WIDTH = 80
ANSWERS = ("survives_kill", "survives_power_loss", "durable_on_return", "next_save_works")


@dataclass(frozen=True)
class Lying:
    """One file of a crash image, in words.

    Attributes:
        name: relative to the working directory.
        size: its size in words, or that it is not there.
        note: how it compares with the old and the new bytes.
        rows: a hexdump of the end of a torn file; empty for a whole one.
    """

    name: str
    size: str
    note: str
    rows: tuple[str, ...] = ()


def as_text(exploration: Exploration[Any], *, lang: str | None = None) -> str:
    """The whole report: verdicts, counts, crash map, smallest counterexample, what to change.

    Args:
        exploration: what ``explore`` gave.
        lang: ``"en"`` or ``"zh"``; what the environment says when None.
    """
    lang = language(lang)
    if exploration.cant_judge:
        return "\n".join(wrapped(sentence("cant", lang, reason=translated(exploration.cant_judge, lang)), "", "  "))
    story = Story(exploration.recording)
    example = exploration.counterexample()
    lines = _answers(exploration, lang)
    lines += ["", *_counts(exploration, lang), ""]
    for most in (24, 20, 17, 15, 13, 11, 9, 7):
        shown = map_as_text(crash_map(exploration, story, example, most), story, lang)
        if max(map(width_of, shown)) <= WIDTH:
            break
    lines += shown
    lines.append("")
    if example is None and not exploration.residue:
        lines.append(sentence("all.well", lang))
        return "\n".join(lines)
    if example is not None:
        stop = sentence("stop", lang)
        lines += wrapped(headline(example, story, lang) + stop, "", "  ")
        if example.where is not None:
            text = source(example.where)
            lines += [_cut(f"  {story.place(example.where, lang)}{sentence('colon', lang)} {text}".rstrip(), WIDTH)]
        lines.append(f"  {sentence('on.disk', lang)}{sentence('colon', lang)}".rstrip())
        for lying in on_disk(exploration, example, lang):
            lines += wrapped("  ".join(part for part in (lying.name, lying.size, lying.note) if part), "    ", "      ")
            lines += [f"  {row}" for row in lying.rows]
        words = sentence("recovery", lang) + sentence("colon", lang) + recovered(example, lang) + stop
        lines += wrapped(words, "  ", "    ")
        lines.append("")
    lines.append(f"{sentence('change', lang)}{sentence('colon', lang)}".rstrip())
    for number, diagnosis in enumerate(diagnose(exploration), 1):
        lines += wrapped(f"{number}. {diagnosis.fault(lang)}", "  ", "     ")
        lines += wrapped(diagnosis.advice(lang), "     -> ", "        ")
    return "\n".join(lines)


def _answers(exploration: Exploration[Any], lang: str) -> list[str]:
    colon, semicolon = sentence("colon", lang), sentence("semicolon", lang)
    parts = [sentence(name, lang) + colon + answer(getattr(exploration, name), lang) for name in ANSWERS]
    one = semicolon.join(parts)
    return [one] if width_of(one) <= WIDTH else [semicolon.join(parts[:2]), semicolon.join(parts[2:])]


def answer(value: bool | None, lang: str) -> str:
    """``yes``, ``NO``, or ``-`` for what was not asked."""
    return sentence("not.asked" if value is None else "yes" if value else "no", lang)


def surveys(exploration: Exploration[Any]) -> list[tuple[str, Survey[Any]]]:
    """The surveys that were made, with the names of their strips."""
    pairs = [("kill", exploration.kill), ("power", exploration.power), ("next", exploration.following)]
    return [(name, survey) for name, survey in pairs if survey is not None]


def _counts(exploration: Exploration[Any], lang: str) -> list[str]:
    heads = [sentence(name, lang) for name in ("images", "distinct", "loads")]
    lines = [f"{'':<12}" + "".join(_right(head, 11) for head in heads) + f"  {sentence('bound', lang)}"]
    for name, survey in surveys(exploration):
        numbers = "".join(f"{n:>11,}" for n in (survey.images, survey.distinct, survey.looks))
        lines += wrapped(bound_of(survey, lang), f"{_left(sentence(f'model.{name}', lang), 12)}{numbers}  ", " " * 47)
    return lines


def bound_of(survey: Survey[Any], lang: str) -> str:
    """What a survey covered, in words."""
    model = survey.model
    if lang == "en":
        return survey.bound
    if isinstance(model, PowerLoss):
        parts = [sentence("bound.ordered" if model.ordered else "bound.any", lang, n=2**model.subsets)]
        parts.append(sentence("bound.torn", lang, n=len(model.torn)))
        parts += [sentence("bound.zeros", lang)] if model.zeros else []
        parts += [sentence("bound.lies", lang)] if model.fsync_lies else []
        if "at most" in survey.bound:
            parts.append(sentence("bound.points", lang, n=model.points))
        return sentence("semicolon", lang).join(parts)
    if isinstance(model, ProcessKill):
        first, _, further = survey.bound.partition("; a second crash")
        numbers = re.findall(r"[\d,]*\d", first)
        words = sentence("bound.sampled", lang, a=numbers[0], b=numbers[-1]) if numbers else sentence("bound.all", lang)
        return words + (sentence("semicolon", lang) + sentence("bound.second", lang) if further else "")
    return survey.bound


def map_as_text(shown: CrashMap, story: Story, lang: str, width: int = WIDTH) -> list[str]:
    """The crash map: a row of letters for each model, then the operations by number."""
    cells = [[cell.letters or " " for cell in strip.cells] for strip in shown.strips]
    heads = [_head(column.first, column.last, column.kind, lang) for column in shown.columns]
    widths = [
        max(width_of(head), *(len(row[i]) for row in cells)) + 1 if cells else width_of(head) + 1
        for i, head in enumerate(heads)
    ]
    label = 12
    lines = [" " * label + "".join(_left(head, wide) for head, wide in zip(heads, widths, strict=True))]
    for strip, row in zip(shown.strips, cells, strict=True):
        letters = "".join(_left(cell, wide) for cell, wide in zip(row, widths, strict=True))
        lines.append(_left(sentence(f"model.{strip.name}", lang), label) + letters)
    if shown.marked is not None:
        lines.append(" " * (label + sum(widths[: shown.marked])) + "^ " + sentence("crash.here", lang))
    lines = [line.rstrip() for line in lines]
    rows: list[tuple[str, str, str, str]] = []
    for column in shown.columns:
        if column.kind != "op":
            continue
        if column.step is None:
            continue  # several operations that have nothing in common
        words, where = column.step.words(lang), story.line(column.step.where, lang) if column.step.where else ""
        if column.count > 1:
            size = number_of_bytes(column.size, lang) if column.size else ""
            words = f"{column.step.head(lang)} x {column.count:,}: {column.step.name} {size}".rstrip()
        head = _head(column.first, column.last, column.kind, lang)
        rows.append((head, words, where, source(column.step.where) if column.step else ""))
    if rows:
        wide = [max(width_of(row[i]) for row in rows) for i in range(3)]
        lead = sum(wide) + 8
        for head, words, where, text in rows:
            told = f"{_right(head, wide[0] + 2)}  {_left(words, wide[1])}  {_left(where, wide[2])}"
            if lead + 24 <= width:
                lines.append(_cut(f"{told}  {text}".rstrip(), width))
            else:  # the source on a line of its own
                lines.append(_cut(told.rstrip(), width))
                lines += [_cut(" " * (wide[0] + 6) + text, width)] if text and len(rows) <= 8 else []
    present = {letter for strip in shown.strips for cell in strip.cells for letter in cell.letters}
    legend = ";  ".join(explained(letter, lang) for letter in LETTERS if letter in present)
    lines += wrapped(legend, "", "  ", width)
    if any(len(cell) > 1 for row in cells for cell in row):
        lines += wrapped(sentence("legend.many", lang), "", "  ", width)
    return lines


def explained(letter: str, lang: str) -> str:
    """A letter of the map and its verdict, those that are faults with a reason."""
    words = f"{letter} {sentence(f'v.{letter}', lang)}"
    return words + sentence("colon", lang) + sentence(f"why.{letter}", lang) if letter in "LWF+DM=" else words


def _head(first: int, last: int, kind: str, lang: str) -> str:
    if kind != "op":
        return sentence(kind, lang)
    return str(first) if first == last else f"{first}-{last}"


def headline(example: Counterexample, story: Story, lang: str) -> str:
    """When the counterexample strikes, in words."""
    moment = example.moment
    if moment.cut:
        words, cut = story.steps[moment.op].words(lang), number_of_bytes(moment.cut, lang)
        return sentence(f"example.{example.model}.during", lang, n=story.number(moment.op), op=words, cut=cut)
    if moment.op > story.end:
        return sentence(f"example.{example.model}.returned", lang)
    done = [index for index in story.steps if index < moment.op]
    if not done:
        return sentence(f"example.{example.model}.start", lang)
    words = story.steps[done[-1]].words(lang)
    return sentence(f"example.{example.model}.after", lang, n=len(done), op=words)


def recovered(example: Counterexample, lang: str) -> str:
    """What recovery made of the counterexample, in words."""
    found = example.found
    if example.model == "next":
        return sentence("found.next", lang, detail=translated(found.detail, lang))
    letter = {Verdict.RAISES: "R", Verdict.WRONG: "W"}.get(found.verdict, "L")
    return sentence(f"found.{letter}", lang, detail=found.detail)


def on_disk(exploration: Exploration[Any], example: Counterexample, lang: str, most: int = 6) -> list[Lying]:
    """What lay on the disk: the files that the save touches or recovery reads, the torn ones with a hexdump."""
    recording = exploration.recording
    image = example.image
    files, names = Files(recording.initial), Names(recording.initial)
    for operation in recording.operations:
        files.apply(operation)
        names.apply(operation)
    damaged = {number: (label, kept) for number, label, kept in example.moment.data}
    old = recording.initial
    path = example.path or ""
    states = {_final(files, names, recording, path): "is.new", old.read(path): "is.old"}
    states.pop(None, None)
    touched = {name for name in (*image.names(), *old.names(), path) if name and not name.endswith("/")}
    shown: list[Lying] = []
    for name in sorted(touched, key=lambda n: (n != path, n)):
        data, before, after = image.read(name), old.read(name), _final(files, names, recording, name)
        number = image.find(name)
        if data is None or number is None:
            if before is not None and not image.exists(name):
                shown.append(Lying(name, sentence("gone", lang), ""))
            continue
        if data == before == after and name != path:
            continue  # nothing of this save
        size = number_of_bytes(len(data), lang)
        if data in states and (number not in damaged or not data):
            shown.append(Lying(name, size, _round(sentence(states[data], lang), lang)))
            continue
        notes = []
        if before is not None and after is not None:
            notes.append(sentence("size.old.new", lang, old=f"{len(before):,}", new=f"{len(after):,}"))
        label, kept = damaged.get(number, ("", 0))
        if label:
            notes.append(sentence(f"torn.{label}", lang, n=number_of_bytes(kept, lang)))
        whole = bytes(files.data(number))
        rows = () if data == whole and not label else _torn_end(data, whole)
        shown.append(Lying(name, size, _round(sentence("semicolon", lang).join(notes), lang), rows))
    for name in sorted(set(image.names()) - set(old.names())):
        if name.endswith("/"):
            shown.append(Lying(name, sentence("directory", lang), ""))
    if not shown:
        return [Lying(sentence("nothing", lang), "", "")]
    if len(shown) > most:
        return [*shown[:most], Lying("...", sentence("more", lang, n=len(shown) - most), "")]
    return shown


def _final(files: Files, names: Names, recording: Recording, name: str) -> bytes | None:
    """The bytes under a name once the recording is over."""
    number = names.find(posixpath.join(recording.root, name))
    return bytes(files.data(number)) if number is not None and names.kinds.get(number) == "file" else None


def _round(inside: str, lang: str) -> str:
    return sentence("round", lang, inside=inside) if inside else ""


def _torn_end(data: bytes, whole: bytes) -> tuple[str, ...]:
    """The rows around the place where a file stops being what it was to become."""
    if not data:
        return ()
    if len(data) < len(whole) and whole.startswith(data):
        start = max(0, (len(data) - 1) // 16 * 16 - 16)
    else:
        pairs = enumerate(zip(data, whole, strict=False))
        differs = next((i for i, (a, b) in pairs if a != b), min(len(data), len(whole)))
        start = max(0, min(differs, len(data) - 1) // 16 * 16 - 16)
    return tuple(hexdump(data, start, 3))


# -- text that may be Chinese: two columns a character ------------------------------------------------------------


_CLOSING = frozenset("，。；：、）」")


def width_of(text: str) -> int:
    """Columns a terminal gives to a text."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _left(text: str, width: int) -> str:
    return text + " " * max(0, width - width_of(text))


def _right(text: str, width: int) -> str:
    return " " * max(0, width - width_of(text)) + text


def _cut(text: str, width: int) -> str:
    if width_of(text) <= width:
        return text
    while width_of(text) > width - 3:
        text = text[:-1]
    return text.rstrip() + "..."


def wrapped(text: str, first: str, rest: str, width: int = WIDTH) -> list[str]:
    """Break a text into lines; between words, and in Chinese between any two characters."""
    if width_of(text) == len(text):
        return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False) or [
            first.rstrip()
        ]
    lines, line, start = [], first, len(first)
    tokens = _tokens(text)
    for position, token in enumerate(tokens):
        closing = itertools.takewhile(_CLOSING.__contains__, tokens[position + 1 :])
        needed = width_of(token.rstrip()) + 2 * sum(1 for _ in closing)  # no line begins with a full stop
        if width_of(line) + needed > width and len(line) > start and token not in _CLOSING:
            lines.append(line.rstrip())
            line, start = rest, len(rest)
            token = token.lstrip()
        line += token
    return [*lines, line.rstrip()]


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    word = ""
    for character in text:
        wide = width_of(character) == 2
        if wide or character == " ":
            tokens += [word] if word else []
            tokens.append(character)
            word = ""
        else:
            word += character
    return [*tokens, word] if word else tokens


__all__ = ["Diagnosis", "as_text"]
