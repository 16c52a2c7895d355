"""How the command explains itself: ``--help`` and what is said of a wrong call, in the learner's language."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from typer.core import TyperCommand, TyperGroup

from grader.verdict import Text
from grader.words import LANGUAGES, catalogue, language, plain, say

_words = catalogue("usage.toml")
LEARNERS, INSTRUCTORS, CONTRIBUTORS = "learners", "instructors", "contributors"
"""Whom a command is for: its ``rich_help_panel``."""


class Command(TyperCommand):
    """A command whose help is plain text of at most 80 columns, in English or Chinese."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(_page(ctx, _language_of(ctx)))


class Group(TyperGroup):
    """The command itself: it lists the others by whom they are for, and says in one sentence what a call lacks."""

    asked: Sequence[str] = ()
    """What was typed after the command's name."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(_page(ctx, _language_of(ctx)))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and leave with the command's exit code; 2 when it was called wrongly."""
        self.asked = list(sys.argv[1:] if args is None else args)
        more = {"windows_expand_args": windows_expand_args, **extra}
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **more)
        try:
            code = super().main(args, prog_name, complete_var, False, **more)
        except Exception as error:
            # Two libraries may bring the classes, typer or click, so they are known by what they can do.
            if type(error).__name__ == "Abort":
                raise SystemExit(1) from None
            from grader.criteria import Malformed

            if isinstance(error, Malformed):
                print(error, file=sys.stderr)
                raise SystemExit(2) from None
            if not hasattr(error, "format_message"):
                raise
            self._refuse(error)
        raise SystemExit(code if isinstance(code, int) else 0)

    def _refuse(self, error: Any) -> NoReturn:
        context = getattr(error, "ctx", None)
        if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
            print(context.get_help().rstrip())
        else:
            path = context.command_path if context is not None else "crash-course"
            text = _words("usage", message=_problem(error), command=plain(path))
            print(say(text, _asked_for(self.asked)), file=sys.stderr)
        raise SystemExit(int(getattr(error, "exit_code", 2)))


def _problem(error: Any) -> Text:
    kind = type(error).__name__
    parameter = getattr(error, "param", None)
    if kind == "MissingParameter" and parameter is not None:
        return _words("usage.missing", name=plain(_shown(parameter)))
    if kind == "NoSuchOption":
        near = sorted(getattr(error, "possibilities", None) or [])
        name = plain(str(error.option_name)[:40])
        if not near:
            return _words("usage.option", name=name)
        return _words("usage.option_near", name=name, near=plain(near[0]))
    said = error.format_message().strip()
    if (unknown := re.match(r"No such command '(.*?)'\.?(?: Did you mean '(.*?)')?", said)) is not None:
        name = plain(unknown[1][:40])
        if not unknown[2]:
            return _words("usage.command", name=name)
        return _words("usage.command_near", name=name, near=plain(unknown[2]))
    if (extra := re.match(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", said)) is not None:
        return _words("usage.extra", what=plain(extra[1][:60]))
    return plain(said if said.endswith(".") else f"{said}.")


# ------------------------------------------------------------------------------------------------ language


def _language_of(ctx: Any) -> str:
    return _asked_for(getattr(ctx.find_root().command, "asked", ()))


def _asked_for(words: Sequence[str]) -> str:
    """Return the language of a call that may be wrong: ``--lang``, the variable, the folder, the locale."""
    asked = re.search(r"(?:^|\0)--lang(?:=|\0)(\w+)", "\0".join(words))
    if asked is not None and asked[1] in LANGUAGES:
        return asked[1]
    if "CRASH_COURSE_LANG" not in os.environ:
        from grader.learner.folder import find_folder
        from grader.learner.state import read

        folder = find_folder()
        if folder is not None and (kept := read(folder).state.lang) in LANGUAGES:
            return kept
    return language()


@cache
def _chinese() -> dict[str, str]:
    """Return the Chinese of every text of the commands' help, by its English."""
    return tomllib.loads((Path(__file__).parent / "usage_zh.toml").read_text(encoding="utf-8"))


def spoken(english: str, lang: str) -> str:
    """Return a text of the help in a language; English where it has no Chinese yet."""
    return _chinese().get(english, english) if lang == "zh" else english


# ---------------------------------------------------------------------------------------------------- page


def _page(ctx: Any, lang: str) -> str:
    from grader.answers.show import WIDTH, wrap

    command = ctx.command
    lines = wrap(say(_words("usage.line", line=plain(_call(ctx, lang))), lang), WIDTH, "")
    paragraphs, example = _told(command)
    for paragraph in paragraphs:
        lines += ["", *wrap(spoken(paragraph, lang), WIDTH, "")]
    commands = getattr(command, "commands", {})
    for panel in dict.fromkeys(one.rich_help_panel for one in commands.values()):
        rows = [(name, spoken(_told(c)[0][0], lang)) for name, c in commands.items() if c.rich_help_panel == panel]
        lines += ["", say(_words(f"usage.{panel}"), lang), *_table(rows)]
    lines += ["", *([say(_words("usage.general"), lang)] if commands else []), *_table(_parameters(ctx, lang))]
    if example:
        lines += ["", say(_words("usage.example", line=plain(example)), lang)]
    return "\n".join(lines) + "\n"


def _told(command: Any) -> tuple[list[str], str]:
    """Return what a command's docstring says, paragraph by paragraph, and its example."""
    text, _, example = (command.help or "").partition("Example: ")
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()], example.strip()


def _call(ctx: Any, lang: str) -> str:
    command = ctx.command
    named = [p for p in command.params if p.param_type_name == "argument"]
    words = [_shown(p) if p.required else f"[{_shown(p)}]" for p in named]
    if getattr(command, "commands", None):
        words.append(say(_words("usage.a_command"), lang))
    return " ".join([ctx.command_path, *words, say(_words("usage.options"), lang)])


def _parameters(ctx: Any, lang: str) -> Iterable[tuple[str, str]]:
    for parameter in ctx.command.get_params(ctx):
        if getattr(parameter, "hidden", False):
            continue
        if parameter.param_type_name == "argument":
            yield _shown(parameter), spoken(parameter.help or "", lang)
            continue
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
        bare = parameter.is_flag or getattr(parameter, "count", False)
        yield names if bare else f"{names} {parameter.name.upper()}", spoken(parameter.help or "", lang)


def _shown(parameter: Any) -> str:
    """Return a parameter as it is called in the help: an argument in capitals, an option by its name."""
    return str(parameter.name.upper() if parameter.param_type_name == "argument" else parameter.opts[0])


def _table(rows: Iterable[tuple[str, str]]) -> list[str]:
    from grader.answers.show import WIDTH, columns, wrap

    listed = list(rows)
    left = max((columns(name) for name, _ in listed), default=0) + 4
    lines = []
    for name, text in listed:
        first, *more = wrap(text, WIDTH - left, " " * left) or [""]
        lines += [f"  {name}{' ' * (left - 2 - columns(name))}{first.lstrip()}".rstrip(), *more]
    return lines
