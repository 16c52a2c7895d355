"""Statements that have every word of a right answer and say something else: never accepted, left to a person.

Their kinds are in points.toml under ``[[doubt]]`` (any criterion) and ``[[criterion.….doubt]]``.
"""

import re
from functools import cache

from .lexicon import rules, table

_CLAUSES = re.compile(r"[.,;:!?。，；：！？\n]+ ?")
_WITHOUT_IT = re.compile(
    r"\bwithout (?:it|this|that|them|an? \w+|the \w+|version|task|turns)\b|"
    r"没有?(?:它|这个(?:字段)?|该字段|字段|版本号?|version|任务字段|task|轮数|turns|累计值|累计用量|token\w*)"
)
_SENTENCES = re.compile(r"[^.;!?。；！？\n]+[.;!?。；！？\n]*")
_UNREAL = re.compile(
    r"要是(?:有|写了|.{0,8}(?:也|先|多)(?:存|写|记))|如果有|假如有|若有|有了|"
    r"\b(?:with (?:it|that|point a|the field|a version)|if (?:it|there) (?:had|were|was))\b.*\b(?:would|could)\b",
    re.DOTALL,
)
"""What would be if the thing were there: says nothing about how it is."""


@cache
def _patterns(criterion: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str] | None, bool], ...]:
    entries = [*table()["doubt"], *rules()[criterion].get("doubt", ())]
    return tuple(
        (
            re.compile(entry["says"]),
            re.compile(entry["unless"]) if "unless" in entry else None,
            entry.get("where", "clause") == "text",
        )
        for entry in entries
    )


def doubtful(criterion: str, text: str) -> bool:
    """Whether a text, made ready, denies a point, mends instead of explaining, or speaks of another thing."""
    sentences = _SENTENCES.findall(_WITHOUT_IT.sub(" ", text))
    bare = "".join(sentence for sentence in sentences if not _UNREAL.search(sentence))
    clauses = [clause for clause in _CLAUSES.split(bare) if clause.strip()]
    for says, unless, whole in _patterns(criterion):
        for piece in [bare] if whole else clauses:
            if says.search(piece) and not (unless and unless.search(piece)):
                return True
    return False
