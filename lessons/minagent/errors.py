"""Every way in which minagent refuses: one class each, one sentence that says what was wrong."""

from __future__ import annotations


class MinagentError(Exception):
    """Anything minagent refuses to do."""


# -- the model and its tools ---------------------------------------------------------------------------------


class ScriptEnded(MinagentError):
    """The fake model was called more often than its script has answers."""


class UnknownTool(MinagentError):
    """The model named a tool that the agent does not have."""


# -- the history ---------------------------------------------------------------------------------------------


class MalformedMessage(MinagentError):
    """A message is not in the protocol's shape."""


class OrphanResult(MinagentError):
    """A tool result answers a call that nobody made before it."""


class DuplicateId(MinagentError):
    """One call id is used by two calls, or answered by two results."""


# -- the checkpoint file -------------------------------------------------------------------------------------


class NotSerialisable(MinagentError):
    """A value cannot be written as JSON and read back the same; the sentence names where it is."""


class NoCheckpoint(MinagentError):
    """There is no checkpoint file, so there is nothing to resume."""


class DamagedCheckpoint(MinagentError):
    """The bytes on disk are not what a save wrote."""


class EmptyCheckpoint(DamagedCheckpoint):
    """The file has no bytes at all."""


class ZeroedCheckpoint(DamagedCheckpoint):
    """The file holds NUL bytes where text should be, as a power cut can leave it."""


class TornCheckpoint(DamagedCheckpoint):
    """The bytes are not one whole JSON document."""


class ChecksumMismatch(DamagedCheckpoint):
    """The document parses, but it is not the one that was saved."""


class MalformedCheckpoint(DamagedCheckpoint):
    """The document is whole, but a field is missing or of the wrong type."""


class UnknownVersion(MinagentError):
    """The file follows a protocol version that this program does not know. It is never overwritten."""


# -- resuming ------------------------------------------------------------------------------------------------


class PendingMismatch(MinagentError):
    """`pendingToolUse` and the calls left open in `messages` do not name the same calls."""


class StaleWriter(MinagentError):
    """The file has gone on without this process, so its save would undo what another one did."""


class Conflict(StaleWriter):
    """Somebody else has saved since this process loaded: its save is made from an old version."""


class TaskClaimed(MinagentError):
    """Another process works on this task."""


class LeaseLost(MinagentError):
    """The claim has passed to another process, or was given back: its holder may not save any more."""


class UnsettledCall(MinagentError):
    """Nobody can say whether a call with side effects ran, so a person must decide."""


class FellBack(UserWarning):
    """The checkpoint could not be used; the previous copy was loaded in its place."""
