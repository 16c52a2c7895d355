"""The command ``crash-course``."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

# What a command waits for gets ready while the rest is imported.
if sys.argv[1:2] == ["check"]:
    from grader.answers import start

    start.begin()
elif sys.argv[1:2] == ["grade"] and "--help" not in sys.argv:
    from grader.classroom import fork_server

    fork_server.begin()

import typer

from grader.usage import CONTRIBUTORS, INSTRUCTORS, LEARNERS, Command, Group


class Edition(Enum):
    """The editions that can be built."""

    READING = "reading"
    BROWSER = "browser"


main = typer.Typer(no_args_is_help=True, cls=Group)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print("crash-course", version("crash-course"))
        raise typer.Exit


@main.callback()
def crash_course(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Crash Course: how a long-running agent survives a crash, in notebooks that grade themselves."""


Lang = Annotated[str | None, typer.Option(help="en or zh; else your folder's, or your locale's.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


@main.command(cls=Command, rich_help_panel=LEARNERS)
def init(
    folder: Annotated[Path | None, typer.Argument(help="The folder to make; if left out, crash-course.")] = None,
    lang: Lang = None,
) -> None:
    """Make a folder with the lessons and exercises, to work in. What is there already stays.

    Example: crash-course init my-course
    """
    from grader.learner import commands

    raise typer.Exit(commands.init(folder, lang))


@main.command(cls=Command, rich_help_panel=LEARNERS)
def check(
    notebook: Annotated[
        str | None, typer.Argument(help="Your notebook, or a level; the one that you are at if left out.")
    ] = None,
    json: Json = False,
    lang: Lang = None,
) -> None:
    """Check your own work: a line for each criterion, and what to do next. Exit code 1 until all are met.

    Example: crash-course check level2
    """
    from grader.learner import commands

    raise typer.Exit(commands.check(notebook, json, lang))


@main.command(cls=Command, rich_help_panel=LEARNERS)
def progress(json: Json = False, lang: Lang = None) -> None:
    """Show how far you are in the course, and what comes next. Exit code 1 until everything is done.

    Example: crash-course progress
    """
    from grader.learner import commands

    raise typer.Exit(commands.progress(json, lang))


@main.command(cls=Command, rich_help_panel=LEARNERS)
def hint(
    criterion: Annotated[
        str | None, typer.Argument(help="A criterion, or a level for its first open one; yours if left out.")
    ] = None,
    more: Annotated[int, typer.Option("--more", count=True, help="Show the next one too.")] = 0,
    lang: Lang = None,
) -> None:
    """Show a hint: three for each criterion, one at a time, never the answer.

    Example: crash-course hint level2-atomic --more
    """
    from grader.learner import commands

    raise typer.Exit(commands.hint(criterion, more, lang))


@main.command(cls=Command, rich_help_panel=LEARNERS)
def reset(
    notebook: Annotated[str, typer.Argument(help="A level, a lesson, or a notebook's path.")],
    cell: Annotated[str | None, typer.Option(help="Only the cell with this id.")] = None,
    lang: Lang = None,
) -> None:
    """Give a notebook back as it was given out; yours is kept in copies/.

    Example: crash-course reset level2 --cell level2-code
    """
    from grader.learner import commands

    raise typer.Exit(commands.reset(notebook, cell, lang))


@main.command(cls=Command, rich_help_panel=LEARNERS)
def watch(
    notebook: Annotated[
        str | None, typer.Argument(help="A notebook or a level; every exercise of your folder if left out.")
    ] = None,
    lang: Lang = None,
) -> None:
    """Check an exercise again whenever it is saved, until Ctrl-C.

    Example: crash-course watch level2
    """
    from grader.learner import commands

    raise typer.Exit(commands.watch(notebook, lang))


@main.command(cls=Command, rich_help_panel=LEARNERS)
def note(
    lesson: Annotated[str, typer.Argument(help="A lesson or a level: 5, level2.")],
    words: Annotated[str, typer.Argument(help="What to note, in quotes.")],
    hard: Annotated[bool, typer.Option("--hard", help="Remember that it was hard.")] = False,
    lang: Lang = None,
) -> None:
    """Keep a note on a lesson, in a file of its own.

    Example: crash-course note 5 "fsync the directory too" --hard
    """
    from grader.learner import commands

    raise typer.Exit(commands.note(lesson, words, hard, lang))


@main.command(cls=Command, rich_help_panel=LEARNERS)
def notes(
    lesson: Annotated[str | None, typer.Argument(help="A lesson or a level; all if left out.")] = None,
    lang: Lang = None,
) -> None:
    """Show your notes.

    Example: crash-course notes 5
    """
    from grader.learner import commands

    raise typer.Exit(commands.notes(lesson, lang))


@main.command(cls=Command, rich_help_panel=LEARNERS)
def solution(
    level: Annotated[str, typer.Argument(help="A level that you have met.")],
    page: Annotated[Path | None, typer.Option(help="Write both side by side into this HTML page instead.")] = None,
    lang: Lang = None,
) -> None:
    """Show the reference solution beside your answers, once all criteria of the level are met.

    Example: crash-course solution level2
    """
    from grader.learner import commands

    raise typer.Exit(commands.solution(level, page, lang))


@main.command(cls=Command, rich_help_panel=LEARNERS)
def doctor(json: Json = False, lang: Lang = None) -> None:
    """Name what is missing on this machine, and how to get it. Exit code 1 when it is something needed.

    Example: crash-course doctor
    """
    from grader.learner import commands

    raise typer.Exit(commands.doctor(json, lang))


@main.command(cls=Command, rich_help_panel=INSTRUCTORS)
def demo(
    keep: Annotated[Path | None, typer.Option(help="Put the demo's course into this new folder.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the marks as JSON.")] = False,
) -> None:
    """Grade a small class through nbgrader, from nothing to feedback pages and a class report.

    Example: crash-course demo --keep my-class
    """
    from grader.classroom import commands

    raise typer.Exit(commands.demo(keep, json))


@main.command(cls=Command, rich_help_panel=INSTRUCTORS)
def grade(
    level: Annotated[str, typer.Argument(help="The exercise, as its folder is named: level2.")],
    student: Annotated[list[str] | None, typer.Option(help="Only this student; may be given again.")] = None,
    require_sandbox: Annotated[bool, typer.Option("--require-sandbox", help="Refuse without bubblewrap.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the marks as JSON.")] = False,
    jobs: Annotated[int | None, typer.Option(help="Processes that judge; if left out, one more than cores.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Judge on the Dask cluster of this scheduler.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Judge again what has not changed.")] = False,
    feedback: Annotated[bool, typer.Option("--feedback/--no-feedback", help="Write the feedback pages too.")] = True,
    lang: Annotated[str | None, typer.Option(help="en or zh; else your locale's.")] = None,
) -> None:
    """Grade a class: everything in classroom/submitted, into nbgrader's gradebook.

    Example: crash-course grade level2 --student ada
    """
    from grader.classroom.grade_command import Wishes
    from grader.classroom.grade_command import grade as run

    wishes = Wishes(tuple(student or ()), require_sandbox, jobs, scheduler, force, feedback)
    raise typer.Exit(run(level, wishes, json, lang))


@main.command(cls=Command, rich_help_panel=INSTRUCTORS)
def report(
    level: Annotated[str | None, typer.Argument(help="The exercise; all that are graded if left out.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the marks into this CSV file too.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    lang: Annotated[str | None, typer.Option(help="en or zh; else your locale's.")] = None,
) -> None:
    """Report on a graded class: who met what, common faults, whom to look at, answers that are alike.

    It also writes the page classroom/report/LEVEL.html. Example: crash-course report level2 --csv marks.csv
    """
    from grader.classroom import report_command

    raise typer.Exit(report_command.report(level, csv, json, lang))


@main.command(cls=Command, rich_help_panel=CONTRIBUTORS)
def build(
    check: Annotated[bool, typer.Option("--check", help="Change nothing; name what is out of step.")] = False,
) -> None:
    """Make the notebooks from their text sources, and the release from the notebooks.

    Example: crash-course build --check
    """
    from grader import build_command

    raise typer.Exit(build_command.build(check))


@main.command(cls=Command, rich_help_panel=CONTRIBUTORS)
def translate(
    source: Annotated[Path, typer.Argument(help="translations/zh/lessons/….md, there already or new.")],
) -> None:
    """Mark the cells of a translation that are missing, or whose English text has changed.

    Example: crash-course translate translations/zh/lessons/06_two_save_points.md
    """
    from grader import build_command

    raise typer.Exit(build_command.translate(source))


@main.command(cls=Command, rich_help_panel=CONTRIBUTORS)
def edition(
    name: Annotated[Edition, typer.Argument(help="reading: pages with outputs; browser: notebooks that run there.")],
    to: Annotated[Path | None, typer.Option(help="The folder to build it in; build/NAME if left out.")] = None,
) -> None:
    """Build the course as a site.

    Example: crash-course edition reading --to /tmp/reading
    """
    from grader.editions import commands

    raise typer.Exit(commands.edition(name.value, to))


@main.command(cls=Command, rich_help_panel=CONTRIBUTORS)
def rubric(
    files: Annotated[list[Path], typer.Argument(help="Written answers, one JSON object a line.")],
    json: Annotated[bool, typer.Option("--json", help="Print the verdicts, one JSON object a line.")] = False,
) -> None:
    """Read written answers; with labels, say how well the rubric does and which it misjudges.

    Example: crash-course rubric answers.jsonl more.jsonl
    """
    from grader.answers.rubric import command

    raise typer.Exit(command.rubric(files, json))
