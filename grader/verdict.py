"""What a judge says of one criterion: plain data, the same in a notebook, a shell and a class."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Text:
    """One message in both languages of the kit, its figures already filled in."""

    en: str
    zh: str
    key: str = field(default="", compare=False, repr=False)
    """Which sentence it is, whatever its figures: what has the same key has the same kind of fault."""


@dataclass(frozen=True)
class Verdict:
    """The judge's word on one done criterion.

    ``met`` is True (full points), False (not met; ``points`` may still be partial) or None (a person decides).
    """

    criterion: str
    met: bool | None
    points: float
    max_points: float
    message: Text
    picture: str | None = None
    """A self-contained HTML fragment (a crash map or a timeline): no scripts, nothing fetched."""
    picture_text: str | None = None
    """The same picture for a terminal, at most 80 columns."""
    suggested: float | None = None
    """When a person decides: the mark the judge would suggest, in points."""
    advice: Text | None = None
    """What the criterion does not ask for and a professional would still do."""
    flags: tuple[str, ...] = ()
    """Remarks for the instructor only."""
