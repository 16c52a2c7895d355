"""One learner's Level 2 under judgement: its sources, its runs and their films, shared by the three questions."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from grader.crash import Image
from grader.crash.replay import images_along
from grader.criteria import criteria
from grader.levels.level2.facts import CELL, SECONDS, SECONDS_AGAIN
from grader.levels.level2.faults import faults
from grader.levels.level2.film import Film, film, standing, written_in
from grader.levels.places import Sources
from grader.levels.trial import Failure, Outcome, Past, Runner, Trial
from grader.verdict import Text, Verdict


class Case:
    """One learner's answer. ``run`` makes runs of it; ``cells`` are its sources, to quote lines from."""

    def __init__(self, cells: Mapping[str, str], run: Runner) -> None:
        self.sources = Sources(cells, main_cell(cells))
        self.run = run
        self.runs = 0
        self.first: Outcome | None = None
        self.second: Outcome | None = None
        self._films: dict[int, tuple[Outcome, Film | None]] = {}
        """By the outcome's identity; the outcome is kept, so that no other can have the same."""
        self.path: str | None = None

    def reason(self, failure: Failure) -> Text:
        """Return why a run failed, as a part of a sentence."""
        return self.sources.reason(failure, SECONDS)

    def trial(self, which: list[dict[str, Any]], image: Image | None = None, *, tmp_elsewhere: bool = False) -> Outcome:
        """Make one run of these scripts."""
        self.runs += 1
        seconds = SECONDS if image is None else SECONDS_AGAIN
        return self.run(Trial("level2", {"scripts": which}, image, tmp_elsewhere, seconds))

    def lives(self, which: list[dict[str, Any]], images: list[Image]) -> list[Outcome] | None:
        """Run these scripts on one disk after the other, in one process; None when one came to no end soon."""
        self.runs += 1
        arguments = {"scripts": which, "lives": len(images)}
        outcome = self.run(Trial("level2", arguments, seconds=SECONDS_AGAIN, images=tuple(images)))
        if outcome.failure is not None or outcome.recording is None or len(outcome.earlier) != len(images) - 1:
            return None
        pasts = [*outcome.earlier, Past(outcome.recording, outcome.observations)]
        return [Outcome(past.recording, observations=past.observations) for past in pasts]

    def film(self, outcome: Outcome | None) -> Film | None:
        """Return a run played with the checkpoint where it suits the learner best, the same place for all runs."""
        if outcome is None or outcome.recording is None:
            return None
        key = id(outcome)
        if key not in self._films:
            images = images_along(outcome.recording)
            candidates = standing(outcome.recording, images)[:6]
            if self.path in candidates:
                candidates = [self.path]
            films = [film(outcome.recording, images, path) for path in candidates]
            films = [f for f in films if written_in(f)] or films
            best = min(films, key=lambda f: (len(faults(f)), len(f.path), f.path)) if films else None
            self._films[key] = outcome, best
            if best is not None and self.path is None and written_in(best):
                self.path = best.path
        return self._films[key][1]

    def verdict(
        self,
        criterion: str,
        met: bool | None,
        message: Text,
        advice: Text | None = None,
        flags: tuple[str, ...] = (),
        drawn: tuple[str, str] | None = None,
    ) -> Verdict:
        """Return a verdict; ``drawn`` is its picture, as HTML and as text."""
        full = criteria()[criterion].points
        points = full if met else 0.0
        html, text = drawn or (None, None)
        return Verdict(criterion, met, points, full, message, html, text, advice=advice, flags=flags)

    def shown(self, path: str) -> str:
        """Return a path as a learner knows it."""
        root = self.first.recording.root if self.first and self.first.recording else "/"
        return posixpath.relpath(path, root) if path.startswith(root.rstrip("/") + "/") else path


def main_cell(cells: Mapping[str, str]) -> str:
    """Return the cell whose lines need no cell's name: the solution cell, else the last that defines a save."""
    if CELL in cells:
        return CELL
    return next((name for name in reversed(list(cells)) if "def save_checkpoint" in cells[name]), CELL)
