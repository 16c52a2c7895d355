"""What ``crash-course build`` and ``crash-course translate`` print."""

from pathlib import Path

from rich.console import Console

from grader import build as building
from grader.criteria import Malformed
from grader.inspection import inspect
from grader.translations import FOLDER, NAMED, NAMES, OutOfStep, skeleton
from grader.words import catalogue, say

_words = catalogue("build.toml")


def _say(key: str, **values: object) -> str:
    return say(_words(key, **values))


def build(check: bool) -> int:
    """Bring the generated files into step, or with ``check`` only name those that are not.

    Returns the exit code: 1 while something is out of step or does not hold, 2 when nothing could be made.
    """
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    root = building.find_checkout()
    if root is None:
        errors.print(_say("build.checkout"), markup=False)
        return 2
    faults = 0

    def fault(key: str, found: building.Difference) -> None:
        nonlocal faults
        faults += 1
        errors.print(_say(key, path=found.path, reason=found.reason), markup=False)

    try:
        made = building.made_files(root)
        changed = [] if check else building.build(root, made)
        for path in changed:
            print(_say("build.written" if path in made else "build.removed", path=path))
        for one in building.differences(root, made) if check else []:
            fault("build.stray" if one.reason == building.STRAY else "build.differs", one)
        for one in building.unlisted(root):
            fault("build.fault", one)
        for one in building.untranslated(root, made):
            fault("build.stale", one)
        if check and not faults:
            for one in inspect(root, lambda name: print(_say("build.judging", exercise=name), flush=True)):
                fault("build.fault", one)
    except Malformed:  # the command itself says it
        raise
    except Exception as problem:
        errors.print(_say("build.failed", reason=problem), markup=False)
        return 2
    if not faults and not changed:
        print(_say("build.holds" if check else "build.same"))
    return 1 if faults else 0


def translate(source: Path) -> int:
    """Give a translation every cell it lacks, and mark those whose English text is new or has changed.

    Args:
        source: the translation, ``translations/zh/lessons/….md``; it is made when it is not there.

    Returns the exit code: 1 while there is something to translate.
    """
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    root = building.find_checkout()
    if root is None:
        errors.print(_say("build.checkout"), markup=False)
        return 2
    path = source.resolve()
    within = path.relative_to(root).parts if path.is_relative_to(root) else ()
    notebook = root.joinpath(*within[2:]).with_suffix(".ipynb")
    if within[:1] != (FOLDER,) or within[1:2] not in [(name,) for name in NAMES] or not notebook.is_file():
        errors.print(_say("translate.source", path=source), markup=False)
        return 2
    try:
        if (english := _newer(root, notebook)) is not None:
            errors.print(_say("translate.build", path=english.relative_to(root).as_posix()), markup=False)
            return 2
        text, todo = skeleton(notebook.read_text(encoding="utf-8"), path)
    except (OSError, ValueError) as problem:
        said = f"is out of step: {problem}" if isinstance(problem, OutOfStep) else f": {problem}"
        errors.print(_say("build.fault", path=source, reason=said), markup=False)
        return 2
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    cells = ", ".join(todo[:NAMED]) + (", …" if len(todo) > NAMED else "")
    print(_say("translate.todo" if todo else "translate.done", path=source, count=len(todo), cells=cells))
    return 1 if todo else 0


def _newer(root: Path, notebook: Path) -> Path | None:
    """Return the English text source of a notebook when the notebook is not yet what it makes."""
    name = notebook.stem
    source = notebook.with_suffix(".md")
    if notebook.is_relative_to(root / "exercises"):
        source = root / "solutions" / name / f"{name}.md"
    built = source.with_suffix(".ipynb")
    if not source.is_file():
        return None
    try:
        made = building.notebook_text(source)
    except ValueError:  # the build says what is the matter
        return source
    return None if built.is_file() and built.read_text(encoding="utf-8") == made else source
