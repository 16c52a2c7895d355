"""The fixtures of several modules here."""

from stores import place, redis_or_reason

__all__ = ["place", "redis_or_reason"]
