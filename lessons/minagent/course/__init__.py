"""What the lessons use beside minagent itself: pictures, predictions, self-checks, real crashes, notes.

Nothing here is part of the runtime, and the runtime imports nothing of it.
"""

from . import turns_frequency, turns_stores, turns_survival, turns_task
from .crashes import Guided, Outcome, guide, run_and_kill, run_program
from .notes import note
from .pictures import Picture, conversation, places, strips, table, tape, timeline
from .redis_server import NoRedis, RedisServer, start_redis
from .taskview import pages_view
from .yourturn import Answer, answer, compare

__all__ = [
    "Answer",
    "Guided",
    "NoRedis",
    "Outcome",
    "Picture",
    "RedisServer",
    "answer",
    "compare",
    "conversation",
    "guide",
    "note",
    "pages_view",
    "places",
    "run_and_kill",
    "run_program",
    "start_redis",
    "strips",
    "table",
    "tape",
    "timeline",
    "turns_frequency",
    "turns_stores",
    "turns_survival",
    "turns_task",
]
