"""What the learner's commands print, and their exit codes: 0 well, 1 not yet, 2 can't be done as asked."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from minagent.course.notes import add_note

from grader.answers import command
from grader.answers.cells import BadNotebook, read_notebook
from grader.answers.judge import open_notebook
from grader.answers.show import WIDTH, columns, wrap
from grader.learner.comparing import compare_solution, write_page
from grader.learner.doctor import examine, place
from grader.learner.folder import find_folder, folder_or_raise, item_named, named, notebook_of
from grader.learner.hints import ask_for_hints, for_shell
from grader.learner.material import course, is_translated, title
from grader.learner.notebook import after_check
from grader.learner.progress import all_notes, as_data, open_level, progress_in
from grader.learner.resetting import reset as give_back
from grader.learner.setup import DEFAULT, README, make_learners_folder
from grader.learner.state import read
from grader.learner.watching import exercises_in, on_save, saved
from grader.verdict import Text
from grader.words import LANGUAGES, catalogue, language, plain, say, use_language

_words = catalogue("learner/words.toml")
WELL, NOT_YET, UNUSABLE = 0, 1, 2


def _spoken(lang: str | None) -> None:
    """Choose the language: the one asked for, else the environment's, else the one the folder was made in.

    Raises:
        BadNotebook: there is no such language.
    """
    if lang is not None:
        if lang not in LANGUAGES:
            raise BadNotebook(_words("lang", lang=plain(lang[:20])))
        use_language(lang)
    elif "CRASH_COURSE_LANG" not in os.environ and (folder := find_folder()) is not None:
        use_language(read(folder).state.lang)


def _guarded(work: Callable[[], int], lang: str | None) -> int:
    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        _spoken(lang)
        return work()
    except BadNotebook as problem:
        print(say(problem.text), file=sys.stderr)
        return UNUSABLE


def _near(path: Path) -> str:
    """Return a path as short as it can be said from here."""
    try:
        return str(path.relative_to(Path.cwd().resolve()))
    except (ValueError, OSError):
        return str(path)


def _say(text: Text) -> None:
    for line in wrap(say(text), WIDTH, ""):
        print(line)


def init(folder: Path | None, lang: str | None) -> int:
    """Make a folder to work in."""

    def work() -> int:
        made = make_learners_folder(folder or Path(DEFAULT))
        names = plain(", ".join(made.written))
        key = "init.done" if not made.again else "init.again" if made.written else "init.nothing"
        values = {"names": names} if key == "init.again" else _counts() if key == "init.done" else {}
        print(say(_words(key, path=plain(str(made.folder)), **values)))
        if key == "init.done":
            _begin(made.folder)
        if made.trouble is not None:
            print(say(made.trouble), file=sys.stderr)
        return WELL

    return _guarded(work, lang)


def _counts() -> dict[str, object]:
    lessons = sum(item.is_lesson for item in course())
    return {"lessons": lessons, "levels": len(course()) - lessons}


def _begin(folder: Path) -> None:
    """Say what to type next, in lines that can be copied as they are, and what is there to read."""
    lines = [f"cd {shlex.quote(str(folder))}", "jupyter lab"]
    environment = Path(sys.executable).parent
    found = shutil.which("jupyter")
    if (found is None or not os.path.samefile(Path(found).parent, environment)) and (environment / "activate").exists():
        lines.insert(0, f"source {shlex.quote(str(environment / 'activate'))}")
    print("\n".join(f"  {line}" for line in lines))
    first = next(item for item in course() if item.is_lesson)
    _say(_words("init.begin", first=plain(Path(first.path).name), readme=plain(README)))
    names = [item.name for item in course() if is_translated(item, language())]
    if language() != "en" and len(names) < len(course()):
        _say(_words("init.english", names=plain(", ".join(names))))


def check(word: str | None, as_json: bool, lang: str | None) -> int:
    """Check a notebook and remember what it meets."""
    return _guarded(lambda: _check(word, as_json, lang), lang)


def _check(word: str | None, as_json: bool, lang: str | None) -> int:
    path = _exercise_named(word) if word is not None else _exercise_here()
    folder = find_folder(path.parent)
    if folder is not None and (item := named(path.name)) is not None:
        try:
            read_notebook(path)
        except BadNotebook as problem:
            raise BadNotebook(_words("check.broken", problem=problem.text, name=plain(item.name))) from None
    return command.check(path, as_json, lang, lambda verdicts: after_check(verdicts, folder, "shell"))


def _exercise_named(word: str) -> Path:
    """Return the exercise that a word means, or say why there is nothing to check."""
    path, item = notebook_of(word), named(word)
    if item is not None and item.is_lesson:
        raise BadNotebook(_words("check.lesson", name=plain(item.name)))
    if item is None and path == Path(word) and path.suffix != ".ipynb" and not path.exists():
        known = plain(", ".join(one.name for one in course() if not one.is_lesson))
        raise BadNotebook(_words("check.unknown", name=plain(word[:60]), known=known))
    return path


def _exercise_here() -> Path:
    """Return the exercise in this folder, else the one that the learner is at."""
    try:
        return command.only_exercise(Path.cwd())
    except BadNotebook as problem:
        folder = find_folder()
        if folder is None or problem.text != catalogue()("check.which_none"):
            raise
        return folder / open_level(folder).path


def progress(as_json: bool, lang: str | None) -> int:
    """Print how far the learner is; 0 when everything is done, else 1."""

    def work() -> int:
        found = progress_in(folder_or_raise())
        if as_json:
            print(json.dumps(as_data(found), ensure_ascii=False, indent=2))
        else:
            print(found)
        return WELL if found.done else NOT_YET

    return _guarded(work, lang)


def hint(name: str | None, more: int, lang: str | None) -> int:
    """Print the hints on a criterion that were asked for so far, and ``more`` further ones."""

    def work() -> int:
        asked = name if name is not None else open_level(folder_or_raise()).name
        print(for_shell(ask_for_hints(asked, more)))
        return WELL

    return _guarded(work, lang)


def reset(word: str, cell: str | None, lang: str | None) -> int:
    """Give a notebook or a cell back as it was given out, keeping a copy."""

    def work() -> int:
        done = give_back(word, cell)
        path = plain(_near(done.path))
        if not done.changed:
            _say(_words("reset.same", path=path))
        elif done.copy is None:
            _say(_words("reset.new", path=path))
        elif done.cell is None:
            _say(_words("reset.done", path=path, copy=plain(_near(done.copy))))
        else:
            _say(_words("reset.cell", path=path, copy=plain(_near(done.copy)), cell=plain(done.cell)))
        return WELL

    return _guarded(work, lang)


def note(word: str, text: str, hard: bool, lang: str | None) -> int:
    """Keep a note on a lesson or level."""

    def work() -> int:
        item = item_named(word)
        if not text.strip():
            raise BadNotebook(_words("notes.no_words"))
        path = folder_or_raise() / "notes" / f"{item.name}.md"
        try:
            added = add_note(path, text, hard)
        except OSError as error:
            why = plain(error.strerror or type(error).__name__)
            raise BadNotebook(_words("notes.failed", path=plain(_near(path)), why=why)) from None
        print(say(_words("notes.added" if added else "notes.same", path=plain(_near(path)))))
        return WELL

    return _guarded(work, lang)


def notes(word: str | None, lang: str | None) -> int:
    """Print the notes on one lesson, or all."""

    def work() -> int:
        kept = all_notes(folder_or_raise())
        wanted = None if word is None else item_named(word).name
        shown = {name: found for name, found in kept.items() if wanted in (None, name)}
        if not any(shown.values()):
            on = None if wanted is None else _words("notes.none_on", name=plain(wanted), word=plain(str(word)))
            _say(on or _words("notes.empty"))
        for name, found in shown.items():
            print(f"{name}: {title(item_named(name), language())}")
            for one in found:
                mark = f"({say(_words('progress.hard'))}) " if one.hard else ""
                lines = wrap(f"{mark}{one.words}", WIDTH - 20, " " * 20)
                print("\n".join([f"  {one.when:<16}  {lines[0].lstrip()}", *lines[1:]]))
        return WELL

    return _guarded(work, lang)


def solution(word: str, page: Path | None, lang: str | None) -> int:
    """Print the reference solution after one's own answers, or put both side by side on a page."""

    def work() -> int:
        found = compare_solution(word)
        if page is None:
            print(found)
            _say(_words("solution.page", level=plain(item_named(word).name)))
            return WELL
        write_page(page, found, item_named(word).name)
        _say(_words("solution.written", path=plain(str(page))))
        return WELL

    return _guarded(work, lang)


def watch(word: str | None, lang: str | None) -> int:
    """Check an exercise, or each of the folder's, when it is saved, until Ctrl-C."""

    def work() -> int:
        if word is None:
            folder = folder_or_raise()
            watched = exercises_in(folder)
            if not watched:
                raise BadNotebook(_words("watch.none", path=plain(str(folder))))
        else:
            path = notebook_of(word).resolve()
            open_notebook(path)  # what is no exercise is refused at once
            folder, watched = path.parent, [path]
        # The state of the files is taken before the learner is told that they may begin to save.
        names = plain(", ".join(_near(path) for path in watched))
        try:
            on_save(watched, look, _after(lambda: _say(_words("watch.begin", names=names)), saved(folder)))
        except KeyboardInterrupt:
            print()
            _say(_words("watch.end"))
        return WELL

    def look(path: Path) -> None:
        print(f"\n{time.strftime('%H:%M:%S')}  {_near(path)}")
        with contextlib.suppress(BadNotebook):
            _check(str(path), False, lang)
        sys.stdout.flush()

    return _guarded(work, lang)


def _after(first: Callable[[], object], moments: Iterable[object]) -> Iterator[object]:
    first()
    sys.stdout.flush()
    yield from moments


def _who_chose(lang: str | None) -> str:
    if lang is not None:
        return "asked"
    if "CRASH_COURSE_LANG" in os.environ:
        return "variable"
    return "folder" if find_folder() is not None else "locale"


def doctor(as_json: bool, lang: str | None) -> int:
    """Print what is here and what is missing; 1 when something that is needed is."""

    def work() -> int:
        found = examine()
        missing = [finding for finding in found if finding.needed and not finding.there]
        if as_json:
            listed: list[dict[str, Any]] = [
                {"what": say(f.what), "there": f.there, "needed": f.needed, "get": say(f.get)} for f in found
            ]
            print(json.dumps({"findings": listed, "place": say(place())}, ensure_ascii=False, indent=2))
            return NOT_YET if missing else WELL
        for finding in found:
            key = "ok" if finding.there else "missing" if finding.needed else "absent"
            sign = say(_words(f"doctor.{key}"))
            print(f"{sign}{' ' * max(1, 10 - columns(sign))}{say(finding.what)}")
            if not finding.there:
                for line in wrap(say(finding.get), WIDTH - 10, " " * 10):
                    print(line)
        print()
        _say(place())
        _say(_words("doctor.language", why=_words(f"doctor.language.{_who_chose(lang)}")))
        folder = find_folder()
        if folder is not None and (trouble := read(folder).trouble) is not None:
            _say(trouble)
        _say(_words("doctor.some" if missing else "doctor.all"))
        return NOT_YET if missing else WELL

    return _guarded(work, lang)
