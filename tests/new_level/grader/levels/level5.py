"""Level 5: killed at any moment of ``keep``, is the number in ``count.txt`` the last one or the new one?"""

from __future__ import annotations

from dataclasses import replace

from grader.crash import Image, Mark, ProcessKill, Recording, line_of
from grader.crash.replay import images_along
from grader.levels.trial import Runner, Trial
from grader.verdict import Text, Verdict
from grader.words import catalogue

_words = catalogue("levels/level5.toml")
NUMBERS = [41, 1042]


def verdict(run: Runner, points: float) -> Verdict:
    """Judge ``level5-whole``: run the cells and the driver once, then look at every disk that a kill could leave."""
    outcome = run(Trial("level5", NUMBERS))
    if outcome.failure is not None or outcome.recording is None:
        why = outcome.failure.type or outcome.failure.kind if outcome.failure is not None else "nothing"
        return _verdict(False, points, _words("stopped", why=why))
    recording = _second_call(outcome.recording)
    survey = ProcessKill().survey(recording, _look, prune=False)
    allowed = {str(number).encode() for number in NUMBERS}
    for found in survey.outcomes:
        if found.result not in allowed:
            where = line_of(recording, found.moment)
            line = where.line if where is not None else 0
            return _verdict(False, points, _words("torn", line=line, held=repr(found.result)))
    return _verdict(True, points, _words("met", images=survey.images))


def _second_call(whole: Recording) -> Recording:
    """Return the part of the recording in which the second number is kept."""
    begins = [at for at, op in enumerate(whole.operations) if isinstance(op, Mark) and op.kind == "begin"]
    return replace(whole, initial=images_along(whole)[begins[1]], operations=whole.operations[begins[1] :])


def _look(image: Image) -> tuple[bytes | None, tuple[()]]:
    return image.read("count.txt"), ()


def _verdict(met: bool, points: float, message: Text) -> Verdict:
    return Verdict("level5-whole", met, points if met else 0.0, points, message)
