"""The command ``crash-course``."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

from grader.answers import start

if sys.argv[1:2] == ["check"]:
    start.begin()  # the worker gets ready while the rest is imported

import typer


class Edition(Enum):
    """The editions that can be built."""

    READING = "reading"
    BROWSER = "browser"


main = typer.Typer(no_args_is_help=True)


@main.callback()
def crash_course() -> None:
    """Crash Course: how a long-running agent survives a crash, in notebooks that grade themselves."""


@main.command()
def check(
    notebook: Annotated[
        Path | None, typer.Argument(help="Your notebook; the one exercise in this folder if left out.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
    lang: Annotated[str | None, typer.Option(help="en or zh; else your locale's.")] = None,
) -> None:
    """Check your own work: a line for each criterion, and what to do next."""
    from grader.answers import command

    raise typer.Exit(command.check(notebook, json, lang))


@main.command()
def demo(
    keep: Annotated[Path | None, typer.Option(help="Put the demo's course into this new folder.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the marks as JSON.")] = False,
) -> None:
    """Grade a small class through nbgrader, from nothing to feedback pages and a class report."""
    from grader.classroom import commands

    raise typer.Exit(commands.demo(keep, json))


@main.command()
def grade(
    level: Annotated[str, typer.Argument(help="The exercise, as its folder is named: level2.")],
    student: Annotated[list[str] | None, typer.Option(help="Only this student; may be given again.")] = None,
    require_sandbox: Annotated[bool, typer.Option("--require-sandbox", help="Refuse without bubblewrap.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the marks as JSON.")] = False,
    jobs: Annotated[int | None, typer.Option(help="Processes that judge; one for each core if left out.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Judge on the Dask cluster of this scheduler.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Judge again what has not changed.")] = False,
    feedback: Annotated[bool, typer.Option("--feedback/--no-feedback", help="Write the feedback pages too.")] = True,
) -> None:
    """Grade a class: everything in classroom/submitted, into nbgrader's gradebook.

    Example: crash-course grade level2 --student ada
    """
    from grader.classroom.grade_command import Wishes
    from grader.classroom.grade_command import grade as run

    wishes = Wishes(tuple(student or ()), require_sandbox, jobs, scheduler, force, feedback)
    raise typer.Exit(run(level, wishes, json))


@main.command()
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


@main.command()
def build(
    check: Annotated[bool, typer.Option("--check", help="Change nothing; name what is out of step.")] = False,
) -> None:
    """Make the notebooks from their text sources, and the release from the notebooks."""
    from grader.classroom import commands

    raise typer.Exit(commands.build(check))


@main.command()
def translate(
    source: Annotated[Path, typer.Argument(help="translations/zh/lessons/….md, there already or new.")],
) -> None:
    """Mark the cells of a translation that are missing, or whose English text has changed."""
    from grader.classroom import commands

    raise typer.Exit(commands.translate(source))


@main.command()
def edition(
    name: Annotated[Edition, typer.Argument(help="reading: lessons with their outputs; browser: notebooks that run there.")],
    to: Annotated[Path | None, typer.Option(help="The folder to build it in; build/NAME if left out.")] = None,
) -> None:
    """Build the course as a site.

    Example: crash-course edition reading --to /tmp/reading
    """
    from grader.editions import commands

    raise typer.Exit(commands.edition(name.value, to))


@main.command()
def rubric(
    file: Annotated[Path, typer.Argument(help="Written answers, one JSON object a line.")],
    json: Annotated[bool, typer.Option("--json", help="Print the verdicts, one JSON object a line.")] = False,
) -> None:
    """Read written answers; with labels, say how well the rubric does and which it misjudges."""
    from grader.answers.rubric import command

    raise typer.Exit(command.rubric(file, json))
