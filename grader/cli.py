"""The command ``crash-course``."""

import typer

main = typer.Typer(no_args_is_help=True)
