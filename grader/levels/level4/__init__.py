"""Judges Level 4: ``save``, ``load`` and ``resume`` that survive power loss, damage, old versions and each other.

A pure function of what runs leave behind. A run is asked for (:mod:`~grader.levels.level4.lives`), its recording gives
every disk that a crash could leave, and each of those is lived on in its turn, where no earlier life has given the
answer already. What must hold is asked part by part:

``saves``
    Each save under kill and power loss, and the next save on what that leaves.
``runs``
    A whole task, crashed everywhere, twice in a row: what may be found, and what must have happened in the end.
``damage``
    A flipped byte at every place of every file.
``versions``
    Documents of last year and of next year.
``rivals``
    A second resumer during every slow call, while the claim holds and after it has run out.
``large``
    A longer task, with crashes, damage and rivals drawn by chance from a seed.
"""

from grader.levels.level4.facts import CELL, CODE, EXERCISE
from grader.levels.level4.judge import Judge

__all__ = ["CELL", "CODE", "EXERCISE", "Judge"]
