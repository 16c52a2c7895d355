"""What Level 2 is: its cells, criteria and file, the limits of its runs, and its words."""

from __future__ import annotations

from grader.words import catalogue

EXERCISE = "level2"
CELL = "level2-code"
CELL_WRITTEN = "level2-hazards"
HAZARDS = ("hazard_1", "hazard_2")
CODE = ("level2-atomic", "level2-point-a", "level2-runs")
WRITTEN = {
    "level2-hazard-overwrite": HAZARDS,
    "level2-hazard-no-point-a": HAZARDS,
}
FIELDS = ("version", "task", "turns", "tokensUsed", "messages", "pendingToolUse")
NAME = "checkpoint.json"
SECONDS, SECONDS_AGAIN = 1.5, 1.5
"""How long a run may take, and one in a directory that a killed run left."""
RERUNS_OF_ONE_LOOK = 5
RERUNS = 16
"""At most so many runs in directories that a killed run left."""

words = catalogue("levels/level2.toml")
