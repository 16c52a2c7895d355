"""What ``crash-course rubric FILE.jsonl …`` prints."""

import json
import sys
from pathlib import Path

from grader.verdict import Text
from grader.words import say

from .figures import as_json, measure, misjudged, read_file


def rubric(paths: list[Path], as_lines: bool) -> int:
    """Read files of answers; print verdicts as JSON lines, or the figures of all of them and the misjudged ones."""
    lines = []
    for path in paths:
        try:
            found = list(read_file(path))
        except OSError as error:
            why = error.strerror or type(error).__name__
            text = Text(
                en=f"{path} cannot be read ({why}); give a file with one answer a line.",
                zh=f"读不了 {path}（{why}）；请给一个每行一份答案的文件。",
            )
            print(say(text), file=sys.stderr)
            return 2
        for line in found:
            if line.fault is not None:
                where = f"{path}, " if len(paths) > 1 else ""
                print(f"{where}{say(line.fault)}", file=sys.stderr)
        lines += found
    read = [line for line in lines if line.fault is None]
    if as_lines:
        for line in read:
            print(json.dumps(as_json(line), ensure_ascii=False))
        return 0 if len(read) == len(lines) else 1
    if any(line.labels for line in read):
        for line, name, label, reading in misjudged(read):
            written = line.texts.get(name) or " / ".join(str(t) for t in line.texts.values())
            print(f"{line.id} {name}: {reading.decision}, label {str(label).lower()}. {say(reading.reason)}")
            print(f"    {written}")
        f = measure(read)
        text = Text(
            en=f"{f.labels} labels: {f.decided_right:.1%} of the decided right, {f.abstention:.1%} abstained, "
            f"{f.false_rejection:.1%} of right answers rejected, {f.false_accepts} wrong ones accepted.",
            zh=f"{f.labels} 个标签：已判定的有 {f.decided_right:.1%} 判对，{f.abstention:.1%} 留给人判，"
            f"正确答案有 {f.false_rejection:.1%} 被错拒，错误答案有 {f.false_accepts} 个被错收。",
        )
        print(say(text))
    else:
        for line in read:
            for name, reading in line.readings.items():
                print(f"{line.id} {name}: {reading.decision}. {say(reading.reason)}")
    return 0 if len(read) == len(lines) else 1
