"""Attacks by what lies in the folder that is handed in: packages, links, pipes, folders, names."""

from __future__ import annotations

import os
import socket
from typing import Any

from attack import ALL, EVERYTHING, NOTHING, Attack, Change, Work

YES = """
def __getattr__(name): return lambda *a, **k: 4.0
check = judge_notebook = judge_cells = lambda *a, **k: 4.0
open(__file__ + ".left-behind-by-an-attack", "w").close()
"""


def package(*names: str, content: str = YES) -> Change:
    def change(work: Work) -> None:
        for name in names:
            path = work.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    return change


def link_to(target: str) -> Change:
    def change(work: Work) -> None:
        work.keep = False
        work.path.symlink_to(target.format(course=work.course))

    return change


def links(work: Work) -> None:
    for name, target in {
        "gradebook": f"{work.course}/classroom/gradebook.db",
        "data": "/etc/passwd",
        "all": "/",
        "others": f"{work.course}/classroom/submitted",
        "loop": "loop",
        "timestamp.txt": "/etc/passwd",
    }.items():
        (work.folder / name).symlink_to(target)


def folder(work: Work) -> None:
    work.keep = False
    work.path.mkdir()
    (work.path / "level2.ipynb").write_text("{}")


def pipe(work: Work) -> None:
    work.keep = False
    os.mkfifo(work.path)


def pipes(work: Work) -> None:
    for name in ("pipe", "timestamp.txt"):
        os.mkfifo(work.folder / name)


def door(work: Work) -> None:
    work.keep = False
    here = os.getcwd()
    os.chdir(work.folder)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(work.path.name)
    finally:
        os.chdir(here)


def renamed(work: Work) -> None:
    work.hand_in()
    work.keep = False
    work.path.rename(work.folder / "level2 (1).ipynb")


def extra(work: Work) -> None:
    for name in ("level1.ipynb", "level2 (1).ipynb", "LEVEL2.ipynb", "..ipynb", "a\nb.ipynb"):
        (work.folder / name).write_bytes(b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}')


def raw(content: bytes) -> Change:
    def change(work: Work) -> None:
        work.raw = content

    return change


def old_stamp(content: str) -> Change:
    def change(work: Work) -> None:
        (work.folder / "timestamp.txt").write_text(content)

    return change


UNREADABLE: dict[str, Any] = {"earns": NOTHING, "flag": "unreadable", "waits": EVERYTHING}

ATTACKS: list[Attack] = [
    Attack(
        "a package grader", "a package of the grader's name", package("grader/__init__.py", "grader/answers/judge.py")
    ),
    Attack(
        "modules of Python",
        "modules that the grader imports",
        package("json.py", "os.py", "nbformat.py", "msgspec/__init__.py", "minagent/__init__.py"),
    ),
    Attack(
        "start-up files",
        "files that Python, pytest, IPython and nbgrader run at their start",
        package(
            "sitecustomize.py",
            "usercustomize.py",
            "conftest.py",
            "evil.pth",
            "nbgrader_config.py",
            "pyproject.toml",
            ".ipython/profile_default/startup/00.py",
            ".jupyter/jupyter_config.py",
            "ipython_config.py",
        ),
    ),
    Attack(
        "own criteria", "criteria and words of one's own", package("criteria.toml", "words.toml", content="points = 1")
    ),
    Attack(
        "a link to other work",
        "a link in place of the notebook",
        link_to("{course}/classroom/submitted/a-honest/level2/level2.ipynb"),
        **UNREADABLE,
    ),
    Attack(
        "a link to a solution",
        "a link to the reference",
        link_to("{course}/solutions/level2/level2.ipynb"),
        **UNREADABLE,
    ),
    Attack(
        "a link to the gradebook", "a link to the database", link_to("{course}/classroom/gradebook.db"), **UNREADABLE
    ),
    Attack("a link to a device", "a link to what never ends", link_to("/dev/zero"), **UNREADABLE),
    Attack("a link to itself", "a link that leads nowhere", link_to("level2.ipynb"), **UNREADABLE),
    Attack("links beside it", "links to everything, beside the notebook", links, ALL, solved=True),
    Attack("a folder", "a folder in place of the notebook", folder, **UNREADABLE),
    Attack("a pipe", "a pipe in place of the notebook", pipe, **UNREADABLE),
    Attack("pipes beside it", "pipes beside the notebook, one for the timestamp", pipes, ALL, solved=True),
    Attack("a socket", "a socket in place of the notebook", door, **UNREADABLE),
    Attack("another name", "the notebook under another name", renamed, **UNREADABLE),
    Attack("more notebooks", "notebooks beside it, with odd names", extra, ALL, solved=True),
    Attack("empty", "an empty file", raw(b""), **UNREADABLE),
    Attack(
        "a pickle",
        "a pickle in place of the notebook",
        raw(b"\x80\x04cos\nsystem\n(S'touch left-behind-by-an-attack'\ntR."),
        **UNREADABLE,
    ),
    Attack("half a notebook", "half of one", raw(b'{"nbformat": 4, "cells": [{"cell_type"'), **UNREADABLE),
    Attack(
        "an odd timestamp", "handed in a thousand years ago", old_stamp("1026-01-01 00:00:00 UTC"), ALL, solved=True
    ),
    Attack(
        "a timestamp of markup", "a timestamp that is no time", old_stamp("<script>x</script>" * 3), ALL, solved=True
    ),
]
