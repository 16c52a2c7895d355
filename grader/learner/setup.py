"""``crash-course init``: a folder to work in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
from minagent.course.notes import MARKER
from minagent.files import write_atomically

from grader.answers.cells import BadNotebook
from grader.learner.material import course, fresh
from grader.learner.state import State, change
from grader.verdict import Text
from grader.words import catalogue, language, plain, say

_words = catalogue("learner/words.toml")
DEFAULT = "crash-course"
README = "README.md"


@dataclass(frozen=True)
class Made:
    """What ``init`` did: the files that it wrote, and those that were there and stayed."""

    folder: Path
    written: tuple[str, ...]
    kept: tuple[str, ...]
    trouble: Text | None

    @property
    def again(self) -> bool:
        """Whether the folder had been begun before."""
        return bool(self.kept)


def make_learners_folder(folder: Path) -> Made:
    """Put the lessons, the exercises and a README into a folder; what is there already stays as it is.

    Raises:
        BadNotebook: the folder can't be used; the sentence says why.
    """
    if (folder / "nbgrader_config.py").is_file() and (folder / "solutions").is_dir():
        raise BadNotebook(_words("init.checkout", path=plain(str(folder))))
    if folder.exists() and not folder.is_dir():
        raise BadNotebook(_words("init.file", path=plain(str(folder))))
    lang = language()
    files = {item.path: fresh(item, lang) for item in course()}
    files[README] = say(_words("init.readme"), lang).encode()
    written, kept = [], []
    try:
        for name, data in files.items():
            path = folder / name
            if path.exists() or path.is_symlink():
                kept.append(name)
                continue
            write_atomically(path, data)
            written.append(name)
    except OSError as error:
        why = plain(error.strerror or type(error).__name__)
        raise BadNotebook(_words("init.failed", path=plain(str(folder)), why=why)) from None
    new = not (folder / MARKER).exists()

    def begin(state: State) -> State:
        return msgspec.structs.replace(state, lang=lang) if new else state

    return Made(folder, tuple(written), tuple(kept), change(folder, begin))
