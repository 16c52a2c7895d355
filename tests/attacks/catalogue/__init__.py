"""All attacks, by name. Those that run code far beyond an answer are tried in a sandbox only."""

from attack import Attack

from . import channel, content, environment, folder, hunting, notebook_metadata, process, source_tricks

BY_WHAT_IS_HANDED_IN = [*notebook_metadata.ATTACKS, *folder.ATTACKS, *content.ATTACKS]
"""What nbgrader reads before any step of ours: these are graded by it too."""
ANYWHERE = (notebook_metadata, folder, content, source_tricks)
ENCLOSED = (process, channel, environment, hunting)


def attacks(sandboxed: bool) -> list[Attack]:
    """Return the attacks that can be tried here."""
    return [attack for module in (*ANYWHERE, *(ENCLOSED if sandboxed else ())) for attack in module.ATTACKS]
