"""The package behind every check. In a notebook: ``from grader import check``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.answers.session import check

__all__ = ["check"]


def __getattr__(name: str) -> Any:
    if name == "check":
        from grader.answers.session import check

        return check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _listen() -> None:
    """In a running notebook, begin to follow its cells now, so that ``check`` knows them by their ids."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        from grader.answers import session

        session.begin()


_listen()
