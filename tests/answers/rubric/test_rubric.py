"""The rubric of the written answers: how often it is right, and what must not change or fool it."""

import json
import random
import re
import time
from pathlib import Path

import pytest

from grader.answers import rubric
from grader.answers.rubric.figures import Figures, Line, measure, read_file, read_item
from grader.answers.rubric.lexicon import concepts, rules

HERE = Path(__file__).parent
CORPORA = ["open_level1", "open_level2", "voices_dev", "voices_held"]
LABELS = [*rubric.LEVEL1, *rubric.LEVEL2]


def lines_of(name: str) -> list[Line]:
    return list(read_file(HERE / f"{name}.jsonl"))


def right_texts(*names: str) -> list[tuple[str, str]]:
    """Criterion and text of right answers that the rubric accepts as they stand."""
    out = []
    for name in names:
        for line in lines_of(name):
            for label, right in (line.labels or {}).items():
                if label == "fields" or not right:
                    continue
                named = {rubric.field_name(key): text for key, text in line.texts.items()}
                texts = [named[label]] if label in rubric.LEVEL1 else list(line.texts.values())
                out += [(label, t) for t in texts if rubric.read(label, t).decision == "accept"][:1]
    return out


RIGHT = right_texts("open_level1", "open_level2")
OWN = [json.loads(line) for line in (HERE / "own.jsonl").read_text(encoding="utf-8").splitlines()]


def chinese(text: str) -> bool:
    return len(re.findall("[一-鿿]", text)) > 5


def decisions(pairs: list[tuple[str, str]]) -> list[str]:
    return [rubric.read(label, text).decision for label, text in pairs]


# ---------------------------------------------------------------- how often it is right
@pytest.mark.parametrize("name", CORPORA)
def test_accuracy(name: str) -> None:
    figures: Figures = measure(lines_of(name))
    assert figures.labels >= 80
    assert figures.decided_right >= 0.95, figures
    assert figures.abstention <= 0.15, figures
    assert figures.false_rejection < 0.02, figures


@pytest.mark.parametrize("language", ["en", "zh"])
def test_accuracy_in_each_language(language: str) -> None:
    read = []
    for name in ("open_level1", "open_level2"):
        for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            if item["lang"] == language:
                read.append(read_item(item))
    figures = measure(read)
    assert figures.decided_right >= 0.95 and figures.abstention <= 0.15 and figures.false_rejection < 0.02


def test_own_answers() -> None:
    """Answers written for these tests: right ones never rejected, wrong ones never accepted."""
    for item in OWN:
        decision = rubric.read(item["criterion"], item["text"]).decision
        assert decision != ("reject" if item["right"] else "accept"), item


# ---------------------------------------------------------------- what must not change a decision
@pytest.mark.parametrize(
    "change",
    [
        str.upper,
        lambda text: "  " + text.replace(" ", "  ") + "\n\n",
        lambda text: "- " + text,
        lambda text: text + " " + text,
        lambda text: text + ("我昨天在自己电脑上试过。" if chinese(text) else " I tried it yesterday on my laptop."),
        lambda text: text + ("顺便说，JSON 读起来方便。" if chinese(text) else " By the way, JSON is easy to read."),
    ],
    ids=["capitals", "spaces", "bullet", "said twice", "a remark", "another remark"],
)
def test_what_changes_nothing(change: "object") -> None:
    changed = decisions([(label, change(text)) for label, text in RIGHT])  # type: ignore[operator]
    assert "reject" not in changed
    assert changed.count("accept") >= 0.97 * len(changed)


# ---------------------------------------------------------------- what must not fool it
def test_shuffled_words_are_not_accepted() -> None:
    chance = random.Random(5)
    texts = []
    for label, text in RIGHT:
        if not chinese(text) and len(text.split()) >= 8:
            words = text.split()
            chance.shuffle(words)
            texts.append((label, " ".join(words)))
    accepted = decisions(texts).count("accept")
    assert accepted <= 0.1 * len(texts), f"{accepted} of {len(texts)}"  # some shuffles still read like hurried writing


def test_shuffled_characters_are_not_accepted() -> None:
    chance = random.Random(6)
    texts = []
    for label, text in RIGHT:
        if chinese(text):
            characters = list(text)
            chance.shuffle(characters)
            texts.append((label, "".join(characters)))
    assert decisions(texts).count("accept") <= 0.1 * len(texts)


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_denied_answer_is_not_accepted(where: str) -> None:
    def deny(text: str) -> str:
        denial = "这没有任何害处。" if chinese(text) else "That does no harm at all."
        return denial + " " + text if where == "before" else text + " " + denial

    assert "accept" not in decisions([(label, deny(text)) for label, text in RIGHT])


def test_words_to_the_grader_are_not_accepted() -> None:
    pairs = [(label, text + " Dear grader, please accept this.") for label, text in RIGHT]
    assert "accept" not in decisions(pairs)


def test_an_answer_under_another_field_is_not_accepted() -> None:
    pairs = [
        (other, text) for label, text in RIGHT for other in rubric.LEVEL1 if label in rubric.LEVEL1 and other != label
    ]
    decided = decisions(pairs)
    assert decided.count("accept") <= 0.015 * len(pairs)
    assert decided.count("reject") >= 0.8 * len(pairs)


def test_fields_exchanged_in_pairs() -> None:
    whole = [line for line in lines_of("open_level1") if line.labels and all(line.labels.values())]
    assert len(whole) >= 8
    for line in whole:
        keys = list(rubric.LEVEL1)
        turned = {key: line.texts[other] for key, other in zip(keys, keys[1:] + keys[:1], strict=True)}
        readings = rubric.read_level1(turned)
        assert [readings[key].decision for key in keys].count("accept") <= 1


def test_one_text_under_all_fields() -> None:
    for _, text in RIGHT[:40]:
        readings = rubric.read_level1(dict.fromkeys(rubric.LEVEL1, text))
        assert all(readings[label].decision == "reject" for label in rubric.LEVEL1)


def test_saying_it_again_adds_nothing() -> None:
    for label, piece in [("hazard_overwrite", "a half written file"), ("task", "can't say which task this is")]:
        once = rubric.read(label, piece).decision
        assert once != "accept"
        assert {rubric.read(label, f"{piece} " * times).decision for times in (3, 8, 50)} == {once}


def test_a_text_of_megabytes_is_read_in_seconds() -> None:
    begun = time.process_time()
    assert rubric.read("hazard_overwrite", "a half written file " * 200_000).decision != "accept"
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("joint", [" ", ", ", " / ", "; "])
def test_heaps_of_keywords(joint: str) -> None:
    english = {
        "version": "version format protocol unknown old new change refuse migrate recovery",
        "task": "host original task state unknown user report resume which belong",
        "turns": "turns count zero restart max-turns stop condition late never extra",
        "tokensUsed": "tokens cumulative total lost threshold compaction estimate not reached",
        "pendingToolUse": "pending tool call dangling crash unknown booked reconcile executed rerun",
        "hazard_overwrite": "overwrite in-place interrupted half JSON unparsable old version gone fallback",
        "hazard_no_point_a": "point A missing only B save tool named crash between no trace disk",
    }
    for label, words in english.items():
        decision = rubric.read(label, joint.join(words.split())).decision
        assert decision == "reject" or (decision == "abstain" and re.search(r"\b(which|not|no|never)\b", words)), label


@pytest.mark.parametrize("joint", [" ", "、", "，", "/"])
def test_heaps_of_keywords_in_chinese(joint: str) -> None:
    chinese_words = {
        "version": "版本 格式 协议 新旧 变更 拒绝 迁移 恢复",
        "task": "宿主 原始任务 状态 用户 报告 恢复 哪个",
        "turns": "轮数 归零 实际轮数 最大轮数 停止 太晚",
        "tokensUsed": "累计 用量 丢失 压缩 阈值 误判",
        "pendingToolUse": "崩溃 点名 入账 悬空调用 对账 重跑",
        "hazard_overwrite": "覆盖 打断 半截 解析 旧版本 退路",
        "hazard_no_point_a": "点名 完成 保存 崩溃 磁盘 痕迹",
    }
    for label, words in chinese_words.items():
        assert rubric.read(label, joint.join(words.split())).decision == "reject", label


LISTS = [
    (
        "version",
        "Keywords: unknown format, protocol version, old vs new, refuse, migrate, change. All important for recovery.",
    ),
    ("version", "版本、格式、协议、认不出、拒绝、迁移、变更：这些都很重要。"),
    ("version", "This is about format, version, protocol, not knowing, refusing and migrating after a change."),
    ("version", "format unknown / can't refuse / can't migrate / old / new / change / recovery"),
    ("version", "无法识别版本 无法拒绝 无法迁移 格式变更 旧格式 新格式"),
    ("task", "宿主、不知道、原始任务、状态、属于、没法、报告、用户、恢复。"),
    ("task", "Host. State. Original task. Unknown. User. Report. Resume."),
    ("turns", "turns, zero, not equal, real turns, max-turns stop, too late, never"),
    ("turns", "从零开始，对不上，实际轮数，最大轮数，停止条件，太晚，不触发"),
    ("turns", "It concerns the counter, zero, the max-turns limit and lateness."),
    ("tokensUsed", "cumulative tokens lost, threshold, compaction, not reached, re-estimate, context overflow"),
    ("tokensUsed", "没有累计值，压缩阈值，误以为没到，重新估算，以前用量"),
    ("tokensUsed", "#tokens #total #lost #compaction #threshold #notreached"),
    (
        "pendingToolUse",
        "crash, after naming, before booking, dangling call, unknown, cannot reconcile, executed?, rerun?",
    ),
    ("pendingToolUse", "崩溃；点名之后；入账之前；悬空调用；不知道；无法对账；是否执行；是否重跑"),
    ("pendingToolUse", "Crash + naming + booking + dangling + unknown + reconcile + executed + rerun"),
    ("hazard_overwrite", "overwrite, crash halfway, half JSON, parse error, old version gone, no fallback"),
    ("hazard_overwrite", "直接覆盖 中断 半截JSON 无法解析 旧版本没了 没有退路"),
    ("hazard_no_point_a", "only point B, no point A, naming, completion, nothing saved, crash, no trace on disk"),
    ("hazard_no_point_a", "只有B点 没有A点 点名 完成 没有保存 崩溃 没有痕迹"),
]


@pytest.mark.parametrize(("label", "text"), LISTS)
def test_lists_with_an_air_of_meaning(label: str, text: str) -> None:
    assert rubric.read(label, text).decision != "accept"


def test_no_heap_of_the_corpora_is_accepted() -> None:
    seen = 0
    for name in CORPORA:
        for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            if re.search(r"keyword|关键词|right words|no statement|堆", item.get("why", "")):
                seen += 1
                for label, reading in read_item(item).readings.items():
                    if label != "fields" and not item["labels"][label]:
                        assert reading.decision != "accept", (item["id"], label)
    assert seen >= 3


@pytest.mark.parametrize(
    "text",
    [
        "turns is one of the five missing fields. Recovery goes wrong without it.",
        "这个保存函数只存了 messages，协议有六个字段。",
        "The protocol has six fields: version, task, turns, tokensUsed, messages, pendingToolUse.",
    ],
)
def test_the_question_copied_back(text: str) -> None:
    assert {rubric.read(label, text).decision for label in rubric.LEVEL1} == {"reject"}


@pytest.mark.parametrize("text", ["", "   \n", "。。。", "---", "?"])
def test_nothing_written(text: str) -> None:
    for label in LABELS:
        reading = rubric.read(label, text)
        assert reading.decision == "reject" and reading.reason.en and reading.reason.zh


def test_short_right_answers_are_not_rejected() -> None:
    shorts = [
        ("turns", "limit 10, died at 8, runs 10 more = 18"),
        ("turns", "上限 10，崩在 8，又跑 10，共 18"),
        ("version", "Can't tell old from new, so can't refuse or migrate."),
        ("version", "认不出新旧，没法拒也没法迁。"),
        ("task", "Host can't tell whose it is, so can't tell the user."),
        ("task", "宿主不知是哪个任务，没法回报用户。"),
        ("tokensUsed", "Total lost; compaction thinks there's room."),
        ("tokensUsed", "总数没了，压缩以为没到线。"),
        ("pendingToolUse", "Died mid-call: no record of it. Ran? Rerun? Can't say."),
        ("pendingToolUse", "崩在半路，不知有调用悬着，跑没跑、重不重跑都没法定。"),
        ("hazard_overwrite", "Overwrites in place: cut mid-write, half a JSON, old one gone."),
        ("hazard_overwrite", "原地写，写一半崩：半截读不了，旧的也没了。"),
        ("hazard_no_point_a", "No note when a tool sets off, only when it's back. Crash meanwhile: file has no clue."),
        ("hazard_no_point_a", "只在做完才存，半路崩了盘上查不到这次调用。"),
    ]
    decided = dict(zip(shorts, decisions(shorts), strict=True))
    assert "reject" not in decided.values(), decided
    assert list(decided.values()).count("accept") >= 10


# ---------------------------------------------------------------- the two levels
def test_level_1_fields() -> None:
    five = dict.fromkeys(rubric.LEVEL1, "")
    assert rubric.read_level1(five)["fields"].decision == "accept"
    snake = {"version": "", "task": "", "turns": "", "tokens_used": "", "pending_tool_use": ""}
    assert rubric.read_level1(snake)["fields"].decision == "accept"
    for wrong in (
        {**five, "messages": ""},
        {k: v for k, v in five.items() if k != "task"},
        {**{k: v for k, v in five.items() if k != "turns"}, "turn": ""},
        {**five, "tokens_used": ""},
        {**{k: v for k, v in five.items() if k != "version"}, "version_": ""},
        {**{k: v for k, v in five.items() if k != "task"}, "Task": ""},
        {},
    ):
        assert rubric.read_level1(wrong)["fields"].decision == "reject"


def test_level_2_takes_either_order_and_one_text_for_both() -> None:
    first = "Writing over the only file: cut short it is half a JSON that won't parse, and the old one is overwritten."
    second = (
        "It saves only after the result is booked; a crash while the tool runs leaves no trace of the call on disk."
    )
    for one, two in ((first, second), (second, first), (first + " " + second, ""), ("", first + "\n" + second)):
        readings = rubric.read_level2(one, two)
        assert [readings[label].decision for label in rubric.LEVEL2] == ["accept", "accept"], (one, two)
    chinese_both = (
        "直接覆盖同一个文件，写到一半断电就剩半截 JSON，解析不了，旧的也没了。"
        "只在结果入账后保存，点名到完成之间没存，崩了磁盘上没有这次调用的痕迹。"
    )
    readings = rubric.read_level2("", chinese_both)
    assert [readings[label].decision for label in rubric.LEVEL2] == ["accept", "accept"]
    alone = rubric.read_level2(first, first)
    assert alone["hazard_overwrite"].decision == "accept" and alone["hazard_no_point_a"].decision == "reject"


def test_level_2_a_denial_of_one_hazard_leaves_the_other() -> None:
    readings = rubric.read_level2(
        "Each save overwrites checkpoint.json; killed half way, half a JSON is left and the old version is gone.",
        "Saving only at B is no hazard: the call can still be found in messages.",
    )
    assert readings["hazard_overwrite"].decision == "accept"
    assert readings["hazard_no_point_a"].decision != "accept"


# ---------------------------------------------------------------- the interface
@pytest.mark.parametrize("value", [None, 3, 2.5, True, ["a"], {"a": 1}, b"text"])
def test_other_types_get_one_sentence(value: object) -> None:
    reading = rubric.read("version", value)
    assert reading.decision == "reject"
    assert type(value).__name__ in reading.reason.en and reading.reason.en.count(".") == 1
    assert rubric.read_level2(value, value)["hazard_overwrite"].decision == "reject"


@pytest.mark.parametrize("value", [None, ["version"], "version", 5])
def test_level_1_wants_a_dict(value: object) -> None:
    readings = rubric.read_level1(value)
    assert list(readings) == ["fields", *rubric.LEVEL1]
    assert {r.decision for r in readings.values()} == {"reject"}


def test_level_1_texts_of_other_types() -> None:
    readings = rubric.read_level1({"version": 1, "task": None, "turns": ["x"], "tokensUsed": {}, 5: "x"})
    assert readings["fields"].decision == "reject" and "int" in readings["version"].reason.en


def test_ids_of_the_kit_and_labels_are_both_known() -> None:
    for label, rule in rules().items():
        text = "The file does not say its format, so it can't be refused or migrated."
        assert rubric.read(label, text) == rubric.read(rule["id"], text)
        points = rubric.model_points(rule["id"])
        assert len(points) >= 2 and all(p.en and p.zh for p in points)
    with pytest.raises(KeyError, match="level3"):
        rubric.read("level3-design", "x")


def test_model_points_are_accepted() -> None:
    for label in LABELS:
        for language in ("en", "zh"):
            text = " ".join(getattr(point, language) for point in rubric.model_points(label))
            assert rubric.read(label, text).decision == "accept", (label, language)


def test_a_rejection_names_the_kind_never_the_phrase() -> None:
    reading = rubric.read("version", "It can't be seen which version of the format was used for writing.")
    assert reading.decision == "reject"
    for word in ("refuse", "migrate", "拒绝", "迁移"):
        assert word not in reading.reason.en and word not in reading.reason.zh
    reading = rubric.read("turns", "The counter is at zero again after a restart.")
    assert reading.decision != "accept"
    assert "late" not in reading.reason.en and "晚" not in reading.reason.zh


def test_points_are_listed_as_one_would_say_them() -> None:
    two = rubric.read(
        "task", "Host can't tell whose task it is, so it can't tell the user what is being resumed."
    ).reason
    assert two.en.startswith("Both points are there: ") and two.en.count("; and ") == 1
    assert two.zh.startswith("两点都说到了") and two.zh.count("；以及") == 1
    three = rubric.read(
        "hazard_overwrite", "It overwrites the only file; cut short, half a JSON is left and the old version is gone."
    ).reason
    assert three.en.startswith("All three points are there: ")
    assert three.en.count("; ") == 2 and three.en.count("; and ") == 1
    assert three.zh.startswith("三点都说到了") and three.zh.count("；") == 2 and three.zh.count("；以及") == 1


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("version", "Without it nobody can tell an old format from a new one, so an old file is not refused."),
        ("turns", "It counts from zero again, so the limit does not stop it on time: 10 allowed, died at 8, 18 run."),
        (
            "hazard_no_point_a",
            "Between naming and completion nothing is saved, so a crash does not leave a trace of the call.",
        ),
        ("hazard_overwrite", "覆盖写到一半断电，文件不会是完整的 JSON，只剩半截，旧版本也没有留下。"),
    ],
)
def test_a_negation_that_states_the_harm_is_no_denial(label: str, text: str) -> None:
    assert rubric.read(label, text).decision == "accept"


def test_the_same_text_always_gets_the_same_reading() -> None:
    for label, text in RIGHT[:20]:
        assert rubric.read(label, text) == rubric.read(label, text)


def test_decision_and_suggestion_agree() -> None:
    for line in lines_of("open_level1"):
        for reading in line.readings.values():
            assert 0.0 <= reading.suggested <= 1.0
            if reading.decision == "accept":
                assert reading.suggested == 1.0
            if reading.decision == "reject":
                assert reading.suggested == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "It can't tell which format the file has. " * 500,
        "恢复程序认不出文件是哪一版协议写的，" * 1200,
        "x" * 20_000,
        "没" * 20_000,
        "not " * 5_000,
        "a/b " * 5_000,
        " ".join(str(n) for n in range(4_500)),
        "\x00\ufeff\u200b" * 7_000,
    ],
    ids=["sentence", "chinese", "letter", "character", "not", "slashes", "numbers", "invisible"],
)
def test_twenty_kilobytes_come_to_an_end(text: str) -> None:
    for label in ("version", "hazard_no_point_a"):
        assert rubric.read(label, text).decision != "accept"


def test_patterns_compile_and_do_not_match_nothing() -> None:
    for name, pattern in concepts().items():
        assert not pattern.fullmatch(""), name


def test_a_dead_language_may_wait_but_is_not_rejected() -> None:
    """Classical Chinese of the open corpus and of these tests."""
    for item in OWN:
        if item["right"] and re.search(r"之|者|矣|故无", item["text"]) and "的" not in item["text"]:
            assert rubric.read(item["criterion"], item["text"]).decision != "reject"
