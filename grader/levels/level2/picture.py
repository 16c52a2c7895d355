"""A picture of one save: what lies on disk at each moment a kill can hit it."""

from __future__ import annotations

from collections.abc import Mapping

from grader.crash import Mark, Moment, Recording, savemap
from grader.crash.operations import Write
from grader.levels.level2.documents import document
from grader.levels.level2.faults import Expected, Fault, cuts, written
from grader.levels.level2.film import Film, Save
from grader.levels.places import quotable
from grader.words import language


def picture(played: Film, fault: Fault | None, cells: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the crash map of the save at fault, or of the longest one, as HTML and as text; None without a save."""
    saves = [save for save in played.saves if save.end > save.begin]
    if not saves:
        return None
    longest = max(saves, key=lambda one: (one.called, one.nth > 1, one.end - one.begin))
    save = fault.save if fault is not None else longest
    outcomes = _outcomes(played, save)
    recording = Recording(
        played.images[save.begin],
        (*played.operations[save.begin : save.end], Mark("save-end", None, 0.0)),
        (),
        played.recording.root,
    )
    with quotable(cells):
        html = savemap.as_html(recording, outcomes, _moment(fault), lang=language())
        text = savemap.as_text(recording, outcomes, _moment(fault), lang=language(), width=78)
    return html, text


def _moment(fault: Fault | None) -> Moment | None:
    if fault is None:
        return None
    save = fault.save
    if fault.op < 0:
        return Moment(save.end - save.begin + 1)
    if fault.cut:
        return Moment(fault.op - save.begin, fault.cut)
    return Moment(fault.op - save.begin + 1)


def _outcomes(played: Film, save: Save) -> list[tuple[Moment, str, int]]:
    """Return the letter of each moment of a save, with how many moments it stands for."""
    expected = Expected(played, save)
    found = [(Moment(0), _letter(expected, played.contents[save.begin]), 1)]
    for index in range(save.begin, save.end):
        operation, content = played.operations[index], played.contents[index + 1]
        if isinstance(operation, Mark):
            continue
        number = index - save.begin
        if isinstance(operation, Write) and content is not played.contents[index]:
            last = 0
            for cut in sorted(set(cuts(len(operation.data)))):
                partial = written(played.contents[index] or b"", operation, cut)
                found.append((Moment(number, cut), _letter(expected, partial), cut - last))
                last = cut
        elif isinstance(operation, Write) and len(operation.data) > 1:
            found.append((Moment(number, 1), _letter(expected, content), len(operation.data) - 1))
        found.append((Moment(number + 1), _letter(expected, content), 1))
    end = played.contents[save.end]
    after = _letter(expected, end) if end is None or not expected.is_new(end) else "N"
    found.append((Moment(save.end - save.begin + 1), after, 1))
    return found


def _letter(expected: Expected, content: bytes | None) -> str:
    if content is None:
        return "O" if expected.fine(content) else "R"
    if content == expected.before:
        return "O"
    if expected.is_new(content):
        return "N"
    return "R" if document(content) is None else "W"
