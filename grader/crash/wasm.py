"""Imported for what it does: give a browser's ``os`` the names that it lacks and that a fake disk asks for.

pyfakefs looks ``link`` up and puts its own function in its place, so nobody ever calls this one. A browser has one
user, who may do everything.
"""

import os
import sys
from typing import Any


def _no_link(*_arguments: Any, **_named: Any) -> None:
    raise NotImplementedError("os.link is not there in a browser")


def _root() -> int:
    return 0


if sys.platform == "emscripten":
    for _name, _function in {"link": _no_link, "geteuid": _root, "getegid": _root}.items():
        if not hasattr(os, _name):
            setattr(os, _name, _function)
