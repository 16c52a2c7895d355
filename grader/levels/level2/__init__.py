"""Judges Level 2: what the disk held at every moment of a learner's run, and what the loop did.

A pure function of what runs leave behind: the judge asks for runs (:class:`~grader.levels.trial.Trial`), gets their
recordings, and reads them. It never calls anything of the learner's.

Three questions, judged apart, so that a fault in one leaves the others standing:

``atomic``
    Killed at any moment of any save, is ``checkpoint.json`` the previous document or the new one? What a save's
    new document is, its argument says; where a program saves under another name, the document that is left.
``point-a``
    What does the file say while a tool runs, and what when the model is called next?
``runs``
    Does the loop do its work, twice in one process?
"""

from grader.levels.level2.facts import CELL, CODE, EXERCISE, HAZARDS, WRITTEN
from grader.levels.level2.judge import Judge

__all__ = ["CELL", "CODE", "EXERCISE", "HAZARDS", "WRITTEN", "Judge"]
