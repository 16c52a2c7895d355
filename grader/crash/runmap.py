"""A whole run's report and crash map: for each kill, how resuming ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grader.crash.describe import Story, source
from grader.crash.models import Moment
from grader.crash.operations import EFFECT, Mark
from grader.crash.report import map_as_text, width_of, wrapped
from grader.crash.sentences import language, number_of_bytes, sentence, translated
from grader.crash.strips import CrashMap, run_map

if TYPE_CHECKING:
    from grader.crash.runs import Broken, Effect, Resumed, RunExploration


def letter_of(ended: Resumed, before: Sequence[Effect], expected: Counter[Effect]) -> str:
    """How resuming ended, as a letter of the map."""
    if ended.error:
        return "R"
    total = Counter([*before, *ended.effects])
    if any(count > expected[effect] for effect, count in total.items()):
        return "D"
    if any(total[effect] < count for effect, count in expected.items()):
        return "M"
    if not ended.same:
        return "W"
    return "F" if ended.again else "="


def map_of(exploration: RunExploration[Any], story: Story, most: int = 56) -> CrashMap:
    """The crash map of a run."""
    happened: list[Effect] = list(exploration.recording.initial.world)
    counts = [len(happened)]  # how many had happened after so many operations
    for operation in exploration.recording.operations:
        if isinstance(operation, Mark) and operation.kind == EFFECT:
            name, key = operation.data
            happened.append((name, key))
        counts.append(len(happened))
    outcomes: list[tuple[Moment, str, int]] = []
    for outcome in exploration.survey.outcomes if exploration.survey else ():
        letter = letter_of(outcome.result, happened[: counts[outcome.moment.op]], exploration.expected)
        outcomes.append((outcome.moment, letter, outcome.images))
    worst = exploration.broken[0].moment if exploration.broken else None
    return run_map(outcomes, story, worst, most)


def headline(broken: Broken, story: Story, lang: str) -> str:
    """When the counterexample strikes, in words."""
    moment = broken.moment
    if moment.cut:
        words, cut = story.steps[moment.op].words(lang), number_of_bytes(moment.cut, lang)
        return sentence("example.run.during", lang, n=story.number(moment.op), op=words, cut=cut)
    done = [index for index in story.steps if index < moment.op]
    if not done:
        return sentence("example.run.start", lang)
    return sentence("example.run.after", lang, n=len(done), op=story.steps[done[-1]].words(lang))


def verdict(exploration: RunExploration[Any], lang: str) -> str:
    """Whether the run survives, in words."""
    if exploration.broken:
        return sentence("run.dies", lang)
    return sentence("run.survives", lang, n=sum(exploration.expected.values()))


def run_as_text(exploration: RunExploration[Any], *, lang: str | None = None) -> str:
    """The report of a run, in at most 80 columns.

    Args:
        exploration: what ``explore_run`` gave.
        lang: ``"en"`` or ``"zh"``; what the environment says when None.
    """
    lang = language(lang)
    survey = exploration.survey
    if survey is None:
        reason = translated(exploration.cant_judge or "", lang)
        return "\n".join(wrapped(sentence("cant", lang, reason=reason), "", "  "))
    story = Story(exploration.recording)
    semicolon = sentence("semicolon", lang)
    counts = [
        f"{survey.images:,} {sentence('images', lang)}",
        f"{survey.distinct:,} {sentence('distinct', lang)}",
        sentence("run.resumed", lang, n=f"{survey.looks:,}"),
        survey.bound if lang == "en" else sentence("bound.all", lang),
    ]
    lines = [*wrapped(verdict(exploration, lang), "", "  "), *wrapped(semicolon.join(counts), "", "  "), ""]
    shown: list[str] = []
    for most in (24, 20, 17, 15, 13, 11, 9, 7):
        shown = map_as_text(map_of(exploration, story, most), story, lang)
        if max(map(width_of, shown)) <= 80:
            break
    lines += shown
    if exploration.broken:
        first = exploration.broken[0]
        stop, colon = sentence("stop", lang), sentence("colon", lang)
        lines += ["", *wrapped(headline(first, story, lang) + stop, "", "  ")]
        if first.where is not None:
            lines += wrapped(story.place(first.where, lang) + colon + " " + source(first.where), "  ", "    ")
        lines += wrapped(sentence("recovery", lang) + colon + translated(first.problem, lang) + stop, "  ", "    ")
        if len(exploration.broken) > 1:
            lines.append(sentence("run.more", lang, n=len(exploration.broken)))
    return "\n".join(lines)
