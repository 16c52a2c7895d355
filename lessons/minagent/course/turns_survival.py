"""The judges of the lessons' "your turn" cells: one function each, named as the cell is."""

from __future__ import annotations

from typing import Any

from ..agent import Agent, run, start
from ..errors import ScriptEnded
from ..messages import result_ids, tool_result, tool_use, words_of
from ..model import FakeModel, asks, says
from ..recovery import checkpoint
from ..savefile import FIELDS, encode
from ..tools import Tool, toolbox
from .yourturn import UNTRIED, Answer, Case, try_dict, try_function, turn

# -- lesson 01 -----------------------------------------------------------------------------------------------


@turn("lesson01-twice", "received_twice")
def _received_twice(function: Any) -> Answer:
    mails = ["mail to Ann", "mail to Bob", "mail to Ann"]
    return try_function(
        function,
        [
            Case((mails,), ["mail to Ann"], "Ann has two mails, Bob one", "Ann 收到两封，Bob 一封"),
            Case(
                (["b", "a", "b", "a", "b"],),
                ["a", "b"],
                "Two things come twice or more",
                "有两样出现了不止一次",
            ),
            Case(([],), [], "With nothing sent", "什么也没发时"),
        ],
        "Each repeat is found, and each is named once.",
        "重复的都找到了，每样只列一次。",
    )


@turn("lesson01-sent", "mails_sent")
def _mails_sent(function: Any) -> Answer:
    return try_function(
        function,
        [
            Case(
                (3, 2),
                5,
                "Three mails, killed after two (the run above)",
                "共三封，两封之后被杀（就是上面那次）",
            ),
            Case((10, 7), 17, "Ten mails, killed after seven", "共十封，七封之后被杀"),
            Case((4, 0), 4, "Four mails, killed before the first", "共四封，第一封之前被杀"),
        ],
        "The second life sends all of them, whatever the first one did.",
        "第二次运行会全部重发，不管第一次做到哪里。",
    )


@turn("lesson01-survives", "survives")
def _survives(value: Any) -> Answer:
    return try_dict(
        value,
        {
            "a list in a variable": False,
            "a file that was written and closed": True,
            "text given to file.write(), not flushed": False,
            "a mail that was sent": True,
            "os.environ['TURN'] = '2'": False,
        },
        {
            "a list in a variable": ("Variables are the process.", "变量就在进程里。"),
            "a file that was written and closed": (
                "The kernel has its bytes, and the kernel was not killed.",
                "字节已经在内核手里，内核没有被杀死。",
            ),
            "text given to file.write(), not flushed": (
                "Python keeps a few kilobytes in a buffer of its own before it hands them over.",
                "Python 会先把几千字节留在自己的缓冲区里。",
            ),
            "a mail that was sent": ("It lies in somebody's mailbox.", "它已经在别人的邮箱里了。"),
            "os.environ['TURN'] = '2'": (
                "A process changes only its own copy of the environment.",
                "进程只能改自己那一份环境变量。",
            ),
        },
        "Right: what has left the process survives it; what waits inside does not.",
        "对：离开了进程的留得下来，还在进程里等着的留不下来。",
    )


# -- lesson 02 -----------------------------------------------------------------------------------------------


@turn("lesson02-script", "my_script")
def _script(value: Any) -> Answer:
    if not isinstance(value, list) or len(value) != 2:
        return Answer(False, "A list of two responses is wanted.", "需要一个含两个响应的列表。")
    for number, one in enumerate(value, start=1):
        if not all(hasattr(one, part) for part in ("stop_reason", "content", "usage")):
            kind = type(one).__name__
            return Answer(
                False,
                f"Entry {number} is of type {kind} and no response: asks(...) and says(...) make one.",
                f"第 {number} 项是 {kind} 类型，不是响应：响应要用 asks(...) 和 says(...) 来造。",
            )
    tools = toolbox(Tool("add", lambda a, b: a + b))
    agent = start("Add 19 and 23.", FakeModel(value), tools)
    try:
        run(agent)
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        return Answer(False, f"Played in an agent, it raised {what}", f"放进智能体里运行时抛出了 {what}")
    if result_ids(agent.messages) != ["s1"]:
        found = result_ids(agent.messages)
        return Answer(False, f"The calls that ran are {found}; one call with the id 's1' is wanted.",
                      f"运行过的调用是 {found}，应当只有一个，id 为 's1'。")  # fmt: skip
    result = agent.messages[3]["content"][0]["content"]
    if result != "42":
        return Answer(False, f"The tool's result was {result!r}; look at its input.",
                      f"工具的结果是 {result!r}；检查一下它的输入。")  # fmt: skip
    said = words_of(agent.messages[-1])
    if said != "The sum is 42.":
        return Answer(False, f"At the end the model said {said!r}.", f"模型最后说的是 {said!r}。")
    return Answer(
        True,
        "Played: one call, one result, 5 messages, the end.",
        "运行通过：一次调用，一个结果，共 5 条消息。",
    )


@turn("lesson02-results", "results_of")
def _results(function: Any) -> Answer:
    call = {"role": "assistant", "content": [tool_use("c1", "add", {}), tool_use("c2", "add", {})]}
    one = {"role": "user", "content": [tool_result("c2", "7")]}
    two = {"role": "user", "content": [tool_result("c1", "5"), tool_result("c2", "7")]}
    head = {"role": "user", "content": "Add."}
    return try_function(
        function,
        [
            Case(([head, call, two],), {"c1": "5", "c2": "7"}, "Two calls, both answered", "两个调用都有结果"),
            Case(
                ([head, call, one],),
                {"c1": None, "c2": "7"},
                "c2 is answered, c1 is not",
                "c2 有结果，c1 没有",
            ),
            Case(([head],), {}, "No call at all", "一个调用也没有"),
        ],
        "Each call is found with its result, and an open one with None.",
        "每个调用都配上了结果，悬着的是 None。",
    )


@turn("lesson02-cursor", "cursor_to_save")
def _cursor(function: Any) -> Answer:
    return try_function(
        function,
        [
            Case((0, 1), 1, "A first process after one call", "第一个进程，一次调用之后"),
            Case((1, 1), 2, "Restored at 1, one call since", "从 1 恢复，又调用一次"),
            Case((5, 3), 8, "Restored at 5, three calls since", "从 5 恢复，又调用三次"),
        ],
        "Right: the position in the whole script, whoever played the first part.",
        "对：是整个剧本里的位置，不管前面是谁放的。",
    )


# -- lesson 03 -----------------------------------------------------------------------------------------------


def _sums() -> Agent:
    tools = toolbox(Tool("add", lambda a, b: a + b), Tool("multiply", lambda a, b: a * b))
    script = [
        asks(tool_use("c1", "add", {"a": 2, "b": 3})),
        asks(tool_use("c2", "multiply", {"a": 5, "b": 4})),
        says("The result is 20."),
    ]
    return start("Add 2 and 3, multiply the sum by 4.", FakeModel(script), tools)


@turn("lesson03-at-most", "run_at_most")
def _at_most(function: Any) -> Answer:
    for n, status, calls in ((1, "paused", 1), (2, "paused", 2), (3, "done", 3), (7, "done", 3)):
        agent = _sums()
        try:
            got = function(agent, n)
        except ScriptEnded:
            return Answer(False, f"n = {n}: it went on after the end. Stop when a step says 'done'.",
                          f"n = {n}：模型已经结束，它还在继续。某一步返回 'done' 时就该停。")  # fmt: skip
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            return Answer(False, f"n = {n}: your function raised {what}.", f"n = {n}：你的函数抛出了 {what}。")
        if got is None and not agent.model.cursor:
            return UNTRIED
        if agent.model.cursor != calls:
            return Answer(False, f"n = {n}: {agent.model.cursor} model calls were made; {calls} are right.",
                          f"n = {n}：调用了模型 {agent.model.cursor} 次，应当是 {calls} 次。")  # fmt: skip
        if got != status:
            return Answer(False, f"n = {n}: it returned {got!r}; the last status is {status!r}.",
                          f"n = {n}：返回了 {got!r}，最后的状态是 {status!r}。")  # fmt: skip
    return Answer(
        True,
        "Run with n = 1, 2, 3 and 7: it stops in time each time.",
        "用 n = 1、2、3、7 都试过：每次都及时停下。",
    )


@turn("lesson03-may-cut", "may_cut_here")
def _may_cut(function: Any) -> Answer:
    agent = _sums()
    run(agent)
    whole = agent.messages
    two = {"role": "assistant", "content": [tool_use("d1", "add", {}), tool_use("d2", "add", {})]}
    half = {"role": "user", "content": [tool_result("d1", "5")]}
    return try_function(
        function,
        [
            Case((whole[:4],), True, "After one whole step", "完整的一步之后"),
            Case((whole[:3],), False, "c1 is named and has no result", "c1 已点名，还没有结果"),
            Case((whole[:2],), True, "Before the first step", "第一步之前"),
            Case((whole,), True, "At the end", "结束时"),
            Case(
                ([*whole[:2], two, half],),
                False,
                "Of two calls only d1 has its result",
                "两个调用里只有 d1 有结果",
            ),
        ],
        "Right, also where one of two parallel calls is still open.",
        "对，两个并行调用里还悬着一个的情形也判对了。",
    )


@turn("lesson03-messages", "messages_after")
def _messages(function: Any) -> Answer:
    return try_function(
        function,
        [
            Case((1,), 4, "After one step (the picture above)", "一步之后（见上图）"),
            Case((2,), 6, "After two steps", "两步之后"),
            Case((30,), 62, "After thirty steps", "三十步之后"),
        ],
        "Two to begin with, two more for each step.",
        "起初两条，每步再加两条。",
    )


# -- lesson 04 -----------------------------------------------------------------------------------------------


@turn("lesson04-missing", "missing_fields")
def _missing(function: Any) -> Answer:
    full = checkpoint(_sums())
    few = {"messages": [], "modelCursor": 3, "steps": []}
    others = sorted(set(FIELDS) - {"messages"})
    return try_function(
        function,
        [
            Case((few,), others, "A save with only messages and extras", "只有 messages 和附加字段的存档"),
            Case((full,), [], "A full checkpoint", "完整的存档"),
            Case(({**full, "pendingToolUse": None},), [], "A field that is there and null", "字段在，值是 null"),
            Case(({},), sorted(FIELDS), "An empty document", "空文档"),
        ],
        "All six are looked for, and null counts as there.",
        "六个字段都检查了，null 也算存在。",
    )


@turn("lesson04-turns", "turns_run")
def _turns(function: Any) -> Answer:
    cases = []
    for limit, died_at, has in ((12, 5, False), (12, 5, True), (10, 8, False), (10, 10, True)):
        agent = _long(died_at)
        agent.turns = agent.turns if has else 0
        run(agent, max_turns=limit)
        yes_en, yes_zh = ("with", "有") if has else ("without", "没有")
        cases.append(
            Case(
                (limit, died_at, has),
                agent.model.cursor,
                f"Limit {limit}, died after {died_at}, {yes_en} the field",
                f"上限 {limit}，第 {died_at} 轮后崩溃，{yes_zh}该字段",
            )
        )
    return try_function(function, cases, "Four crashed runs were resumed: you foresaw each of them.",
                        "恢复了四次崩溃的运行，你都预测对了。")  # fmt: skip


@turn("lesson04-compaction", "compacted_after")
def _compaction(function: Any) -> Answer:
    cases = []
    for threshold, died_at, has in ((1000, 4, False), (1000, 4, True), (600, 3, False), (2000, 16, True)):
        agent = _long(died_at)
        agent.tokens_used = agent.tokens_used if has else 0
        run(agent, max_turns=60, compact_at=threshold)
        detail = next(step["detail"] for step in agent.steps if step["kind"] == "compaction")
        turn_number = int(detail.removeprefix("turn ").split(":")[0])
        yes_en, yes_zh = ("with", "有") if has else ("without", "没有")
        cases.append(
            Case(
                (threshold, 120, died_at, has),
                turn_number,
                f"Threshold {threshold}, 120 a turn, died after {died_at}, {yes_en} the field",
                f"阈值 {threshold}，每轮 120，第 {died_at} 轮后崩溃，{yes_zh}该字段",
            )
        )
    return try_function(function, cases, "Four crashed runs were resumed: you foresaw each compaction.",
                        "恢复了四次崩溃的运行，每次压缩你都预测对了。")  # fmt: skip


def _long(died_at: int) -> Agent:
    """Return an agent that has run so many turns of a long task, 120 tokens each."""
    script = [asks(tool_use(f"c{n}", "add", {"a": n, "b": 1})) for n in range(80)]
    agent = start("A long task.", FakeModel(script), toolbox(Tool("add", lambda a, b: a + b)))
    run(agent, max_turns=died_at)
    return agent


# -- lesson 05 -----------------------------------------------------------------------------------------------


@turn("lesson05-order", "in_order")
def _order(value: Any) -> Answer:
    right = ["write the temp file", "fsync the temp file", "replace", "fsync the directory"]
    if not isinstance(value, list) or sorted(map(str, value)) != sorted(right):
        return Answer(False, "A list of exactly these four is wanted.", "需要一个恰好含这四项的列表。")
    place = {step: value.index(step) for step in right}
    if place["replace"] < place["write the temp file"]:
        return Answer(False, "There is nothing to put in its place yet.", "还没有可以用来替换的文件。")
    if place["fsync the temp file"] < place["write the temp file"]:
        return Answer(False, "That fsync comes before there are bytes.", "这次 fsync 时还没有字节可写。")
    if place["replace"] < place["fsync the temp file"]:
        en = "A power cut after the replace finds the new name and no bytes: they must be on the disk before it."
        zh = "替换之后断电，名字是新的，字节却没有：替换之前字节必须先落盘。"
        return Answer(False, en, zh)
    if place["fsync the directory"] < place["replace"]:
        en = "The directory is synced before its names change, so the new name may still be lost."
        zh = "目录在名字改变之前就同步了，新名字还是可能丢。"
        return Answer(False, en, zh)
    return Answer(True, "Bytes, then the name, and each is synced in its turn.", "先字节，后名字，各自同步。")


@turn("lesson05-save", "explored")
def _save(explored: Any) -> Answer:
    """Judge what the crash explorer found (its Exploration, or the exception it raised)."""
    if isinstance(explored, Exception):
        if "FileNotFoundError" in str(explored):
            en = "No checkpoint.json after your save: write it, with plain file names."
            zh = "你的保存之后没有 checkpoint.json：请用普通文件名写出它。"
            return Answer(None, en, zh)
        return Answer(False, str(explored), f"还不能探索：{explored}")
    if explored.cant_judge:
        return Answer(False, f"Can't judge: {explored.cant_judge}.", f"无法判断：{explored.cant_judge}。")
    example = explored.counterexample()
    line = f" (line {example.where.line})" if example and example.where else ""
    line_zh = f"（第 {example.where.line} 行）" if example and example.where else ""
    if not explored.survives_kill:
        return Answer(False, f"A kill leaves a file that can't be loaded{line}. Is the good file ever touched?",
                      f"进程被杀后留下读不出来的文件{line_zh}。好的那份文件是不是被动过？")  # fmt: skip
    if not explored.survives_power_loss:
        return Answer(False, f"A kill is survived, a power cut is not{line}. Are the bytes synced before the replace?",
                      f"扛得住被杀，扛不住断电{line_zh}。替换之前字节同步了吗？")  # fmt: skip
    if not explored.durable_on_return:
        return Answer(False, "Never broken. But after it has returned the old state may come back: sync the directory.",
                      "不会损坏。但保存返回之后旧状态还可能回来：同步目录。")  # fmt: skip
    if not explored.next_save_works:
        return Answer(False, "What a crash leaves behind breaks the next save.", "崩溃留下的东西会弄坏下一次保存。")
    return Answer(True, f"Killed at {explored.kill.images:,} places, cut off {explored.power.images} times: it holds.",
                  f"杀了 {explored.kill.images:,} 个时刻，断电 {explored.power.images} 种：都扛住了。")  # fmt: skip


@turn("lesson05-survives", "survives")
def _survives_what(value: Any) -> Answer:
    return try_dict(
        value,
        {
            "copy the old file to a .bak, then overwrite in place; load reads only the file": "nothing",
            "write a temp file, delete the old one, rename": "nothing",
            "write a temp file, replace, then fsync the file": "a kill",
            "write a temp file, fsync it, replace": "a kill and power loss",
        },
        {
            "copy the old file to a .bak, then overwrite in place; load reads only the file": (
                "A copy that nobody loads helps nobody.",
                "没人去读的备份帮不了谁。",
            ),
            "write a temp file, delete the old one, rename": (
                "What does load find between the delete and the rename?",
                "删除和改名之间，load 会找到什么？",
            ),
            "write a temp file, replace, then fsync the file": (
                "Between the replace and the fsync the power may go.",
                "替换和 fsync 之间可能断电。",
            ),
            "write a temp file, fsync it, replace": (
                "The bytes are on the disk before the name is. Only the name may be late.",
                "字节先于名字落盘，只有名字可能来得晚。",
            ),
        },
        "Right, all four.",
        "四个都对。",
    )


# -- lesson 06 -----------------------------------------------------------------------------------------------


@turn("lesson06-ask", "to_ask_about")
def _ask(function: Any) -> Answer:
    one, two = ({"id": id, "name": "send_mail", "input": {"to": "Ann"}} for id in ("m1", "m2"))
    return try_function(
        function,
        [
            Case((one,), ["m1"], "One call", "一个调用"),
            Case(([one, two],), ["m1", "m2"], "A list of two calls", "两个调用的列表"),
            Case((None,), [], "null: nothing is pending", "null：没有挂起的调用"),
            Case(([two],), ["m2"], "A list with one call", "只有一个调用的列表"),
        ],
        "All three forms are read.",
        "三种形式都能读。",
    )


@turn("lesson06-move", "next_move")
def _move(function: Any) -> Answer:
    call = {"id": "m2", "name": "send_mail", "input": {"to": "Bob"}}
    return try_function(
        function,
        [
            Case((call, {"m1", "m2"}), "book the result", "m2 is pending and it ran", "m2 挂起，而且已经运行过"),
            Case((call, {"m1"}), "run the tool", "m2 is pending and it did not run", "m2 挂起，还没有运行"),
            Case((None, {"m1"}), "call the model", "Nothing is pending", "没有挂起的调用"),
            Case((call, set()), "run the tool", "m2 is pending, nothing ever ran", "m2 挂起，什么都没运行过"),
        ],
        "Right: never run what ran, never forget what did not.",
        "对：运行过的不再运行，没运行的也不漏掉。",
    )


@turn("lesson06-saves", "saves_made")
def _saves(function: Any) -> Answer:
    return try_function(
        function,
        [
            Case((2,), 5, "Two tool turns (counted above)", "两个工具轮（上面数过）"),
            Case((0,), 1, "A task answered at once", "一次就答完的任务"),
            Case((40,), 81, "Forty tool turns", "四十个工具轮"),
        ],
        "Two for each tool turn, one for the last.",
        "每个工具轮两次，最后一轮一次。",
    )


# -- lesson 07 -----------------------------------------------------------------------------------------------


@turn("lesson07-which", "which_to_load")
def _which(function: Any) -> Answer:
    good = encode(checkpoint(_sums()))
    newer = encode({**checkpoint(_sums()), "version": 99})
    torn = good[:100]
    return try_function(
        function,
        [
            Case((good, good), "current", "Both are sound", "两份都完好"),
            Case((torn, good), "previous", "The current one is torn", "当前的那份断了"),
            Case((b"", good), "previous", "The current one is empty", "当前的那份是空的"),
            Case((None, good), "previous", "The current one is missing", "当前的那份不见了"),
            Case((torn, torn), "refuse", "Both are torn", "两份都断了"),
            Case((torn, None), "refuse", "Torn, and no copy before it", "断了，也没有上一份"),
            Case((newer, good), "refuse", "The current one is of an unknown version", "当前的那份版本未知"),
        ],
        "Seven pairs of files, seven times the right one.",
        "七组文件，七次都选对了。",
    )


@turn("lesson07-settle", "settle")
def _settle(function: Any) -> Answer:
    return try_function(
        function,
        [
            Case(("ran", True), "book", "It ran, and it writes", "运行过，会改动外界"),
            Case(("not run", True), "run", "It did not run, and it writes", "没有运行，会改动外界"),
            Case(("unknown", True), "ask a person", "Nobody knows, and it writes", "没人知道，会改动外界"),
            Case(("unknown", False), "run", "Nobody knows, but it changes nothing", "没人知道，但它什么都不改"),
            Case(("ran", False), "book", "It ran, and changes nothing", "运行过，什么都不改"),
        ],
        "Right. A person is asked only where a guess could do harm.",
        "对。只有猜错会造成损害时，才去问人。",
    )


@turn("lesson07-finds", "finds_it")
def _finds(value: Any) -> Answer:
    return try_dict(
        value,
        {
            "json.loads": False,
            "all six fields are there": False,
            "validate(messages)": False,
            "the checksum": True,
        },
        {
            "json.loads": ("The document is whole JSON.", "文档是完整的 JSON。"),
            "all six fields are there": ("They are; one has a wrong value.", "都在，只是有一个值不对。"),
            "validate(messages)": ("It reads calls and results, not the count.", "它看的是调用和结果，不看轮数。"),
            "the checksum": ("It is worked out from every value.", "它由每一个值算出来。"),
        },
        "Right: three checks look at the form, one at every byte.",
        "对：三种检查只看形式，只有一种看每个字节。",
    )
