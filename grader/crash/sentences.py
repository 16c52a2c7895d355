"""What the crash explorer says, in English and in Simplified Chinese."""

from __future__ import annotations

import os
import re

LANGUAGES = ("en", "zh")

_SENTENCES: dict[str, tuple[str, str]] = {
    # -- what operations are called; {a} and {b} are names
    "op.create": ("create {a}", "新建 {a}"),
    "op.mkdir": ("make directory {a}", "新建目录 {a}"),
    "op.symlink": ("symlink {a} -> {b}", "符号链接 {a} -> {b}"),
    "op.link": ("link {a}", "硬链接 {a}"),
    "op.empty": ("empty {a}", "清空 {a}"),
    "op.truncate": ("truncate {a} to {n}", "把 {a} 截为 {n}"),
    "op.write": ("write {n} to {a}", "向 {a} 写入 {n}"),
    "op.unlink": ("unlink {a}", "删除 {a}"),
    "op.rename": ("rename {a} -> {b}", "改名 {a} -> {b}"),
    "op.replace": ("replace {b} with {a}", "用 {a} 替换 {b}"),
    "op.meta": ("set mode or time of {a}", "设置 {a} 的权限或时间"),
    "op.fsync": ("fsync {a}", "fsync {a}"),
    "op.fsyncdir": ("fsync directory {a}", "fsync 目录 {a}"),
    "op.fsynchere": ("fsync the working directory", "fsync 工作目录"),
    "op.sync": ("sync", "sync"),
    # -- the same as one short word, for the head of a column
    "op.effect": ("outside: {a}", "外部效果：{a}"),
    "verb.effect": ("effect", "效果"),
    "verb.create": ("create", "新建"),
    "verb.mkdir": ("mkdir", "建目录"),
    "verb.symlink": ("symlink", "符号链接"),
    "verb.link": ("link", "硬链接"),
    "verb.empty": ("empty", "清空"),
    "verb.truncate": ("truncate", "截短"),
    "verb.write": ("write", "写入"),
    "verb.unlink": ("unlink", "删除"),
    "verb.rename": ("rename", "改名"),
    "verb.replace": ("replace", "替换"),
    "verb.meta": ("mode/time", "权限/时间"),
    "verb.fsync": ("fsync", "fsync"),
    "verb.fsyncdir": ("fsync", "fsync"),
    "verb.sync": ("sync", "sync"),
    "bytes": ("{n} bytes", "{n} 字节"),
    "byte": ("1 byte", "1 字节"),
    "line": ("line {n}", "第 {n} 行"),
    "file.line": ("{file}, line {n}", "{file} 第 {n} 行"),
    "no.line": ("a line outside the code given", "所给代码之外的一行"),
    # -- the four answers
    "survives_kill": ("survives a kill", "进程被杀后可恢复"),
    "survives_power_loss": ("survives power loss", "断电后可恢复"),
    "durable_on_return": ("durable on return", "返回即持久"),
    "next_save_works": ("next save works", "下次保存正常"),
    "colon": (": ", "："),
    "semicolon": ("; ", "；"),
    "stop": (".", "。"),
    "round": ("({inside})", "（{inside}）"),
    "yes": ("yes", "是"),
    "no": ("NO", "否"),
    "not.asked": ("-", "-"),
    "cant": ("Can't judge: {reason}.", "无法判断：{reason}。"),
    # -- models and moments
    "model.kill": ("kill", "进程被杀"),
    "model.power": ("power loss", "断电"),
    "model.next": ("next save", "下次保存"),
    "start": ("start", "开始"),
    "returned": ("returned", "已返回"),
    "crash.here": ("crash here", "在此崩溃"),
    "op.range": ("operations {a} to {b}", "第 {a} 到 {b} 个操作"),
    # -- verdicts
    "v.O": ("old", "旧"),
    "v.N": ("new", "新"),
    "v.R": ("raises", "报错"),
    "v.W": ("wrong", "错"),
    "v.L": ("lost", "丢失"),
    "v.F": ("fails", "失败"),
    "v.D": ("doubled", "重复"),
    "v.M": ("missing", "缺失"),
    "v.=": ("resumes", "恢复"),
    "v.+": ("leftover", "残留"),
    "v..": ("works", "正常"),
    "why.O": ("the state before the save", "保存之前的状态"),
    "why.N": ("the state being saved", "正在保存的状态"),
    "why.R": ("load raised", "load 报错"),
    "why.W": ("load gave neither state, without a word", "load 不声不响地给出了既非旧也非新的状态"),
    "why.L": ("the save had returned, the old state is found", "保存已返回，读到的却是旧状态"),
    "why.F": ("the next save, or a second crash, fails", "下次保存失败，或经不起第二次崩溃"),
    "why.D": (
        "after resuming, an effect has happened more often than without a crash",
        "恢复之后，某个效果比不崩溃时发生得多",
    ),
    "why.M": ("after resuming, an effect never happens", "恢复之后，某个效果没有发生"),
    "why.=": ("resumed to the same end", "恢复到同样的结局"),
    "why.+": ("a file is left behind for good", "有文件一直留了下来"),
    "why..": ("the next save works on what is left", "在崩溃所留之上，下次保存正常"),
    "legend.many": (
        "Several letters in one column: in this order within a write; after a power loss, any of them.",
        "一列里有几个字母：写入过程中依次出现；断电之后，任何一个都可能。",
    ),
    # -- the report
    "images": ("images", "映像"),
    "distinct": ("distinct", "互异"),
    "loads": ("runs", "实际运行"),
    "bound": ("bound", "范围"),
    "bound.all": ("every byte of every write", "每次写入的每个字节"),
    "bound.sampled": (
        "every operation; writes to a file that recovery reads cut at about {a} places in all ({b} images left out)",
        "每个操作；写入恢复会读的文件时，一共约在 {a} 处切断（略去 {b} 个映像）",
    ),
    "bound.ordered": ("names in order", "改名等按次序落盘"),
    "bound.any": ("names in any order, up to {n} selections at a time", "改名等可按任意次序落盘，每次至多 {n} 种取法"),
    "bound.torn": ("unsynced bytes lost, cut at {n} places", "未 fsync 的字节丢失，或在 {n} 处切断"),
    "bound.zeros": ("zeroed whole and by half", "或全部、后半为零"),
    "bound.lies": ("fsync does nothing", "fsync 什么也不做"),
    "bound.second": (
        "a second crash after some of the leftovers of each kind, in some places of each write",
        "第二次崩溃只考察每类残留中的一部分、每次写入的若干处",
    ),
    "bound.points": (
        "at most {n} moments within a file's unsynced writes",
        "一个文件未 fsync 的写入中至多看 {n} 个时刻",
    ),
    "example.kill.during": (
        "Smallest counterexample: killed during operation {n}, {op}, when {cut} had been written",
        "最小反例：在第 {n} 个操作（{op}）中途被杀，只写了 {cut}",
    ),
    "example.kill.after": (
        "Smallest counterexample: killed right after operation {n}, {op}",
        "最小反例：在第 {n} 个操作（{op}）刚完成时被杀",
    ),
    "example.kill.returned": (
        "Smallest counterexample: killed after the save had returned",
        "最小反例：保存返回之后被杀",
    ),
    "example.kill.start": ("Smallest counterexample: killed at the start of the save", "最小反例：保存刚开始时被杀"),
    "example.power.after": (
        "Smallest counterexample: power lost after operation {n}, {op}",
        "最小反例：在第 {n} 个操作（{op}）之后断电",
    ),
    "example.power.returned": (
        "Smallest counterexample: power lost after the save had returned",
        "最小反例：保存返回之后断电",
    ),
    "example.power.start": (
        "Smallest counterexample: power lost at the start of the save",
        "最小反例：保存刚开始时断电",
    ),
    "example.next.during": (
        "Smallest counterexample: killed during operation {n}, {op}, when {cut} had been written; then the program "
        "starts again",
        "最小反例：在第 {n} 个操作（{op}）中途被杀，只写了 {cut}；然后程序重新启动",
    ),
    "example.next.after": (
        "Smallest counterexample: killed right after operation {n}, {op}; then the program starts again",
        "最小反例：在第 {n} 个操作（{op}）刚完成时被杀；然后程序重新启动",
    ),
    "example.next.returned": (
        "Smallest counterexample: killed after the save had returned; then the program starts again",
        "最小反例：保存返回之后被杀；然后程序重新启动",
    ),
    "example.run.during": (
        "Smallest counterexample: killed during operation {n}, {op}, when {cut} had been written; then resumed",
        "最小反例：在第 {n} 个操作（{op}）中途被杀，只写了 {cut}；然后恢复运行",
    ),
    "example.run.after": (
        "Smallest counterexample: killed right after operation {n}, {op}; then resumed",
        "最小反例：在第 {n} 个操作（{op}）刚完成时被杀；然后恢复运行",
    ),
    "example.run.start": (
        "Smallest counterexample: killed at the start of the run; then resumed",
        "最小反例：运行刚开始时被杀；然后恢复运行",
    ),
    "run.survives": (
        "survives a kill: every crash is resumed to the same end, each of {n} effects once",
        "进程被杀后可恢复：从每次崩溃都恢复到同样的结局，{n} 个效果各发生一次",
    ),
    "run.dies": ("survives a kill: NO", "进程被杀后可恢复：否"),
    "run.resumed": ("resumed {n} times", "实际恢复运行 {n} 次"),
    "run.title": ("Crash map of a run of {n} operations", "一次运行的崩溃图，共 {n} 个操作"),
    "run.more": ("In all, {n} kinds of crash are not mended.", "一共有 {n} 种崩溃没有得到弥补。"),
    "model.run": ("resumed", "恢复运行"),
    "ended": ("ended", "已结束"),
    "example.next.start": (
        "Smallest counterexample: killed at the start of the save; then the program starts again",
        "最小反例：保存刚开始时被杀；然后程序重新启动",
    ),
    "directory": ("a directory", "目录"),
    "on.disk": ("On the disk", "磁盘上"),
    "nothing": ("(nothing)", "（什么也没有）"),
    "size.old.new": ("old {old}, new {new}", "旧 {old}，新 {new}"),
    "is.old": ("the old bytes", "旧的字节"),
    "is.new": ("the new bytes", "新的字节"),
    "gone": ("not there", "不在了"),
    "torn.lost": ("what was written and not fsynced is gone", "写入而未 fsync 的字节没了"),
    "torn.torn": ("{n} of what was written and not fsynced are there", "写入而未 fsync 的字节只剩 {n}"),
    "torn.zeros": ("what was written and not fsynced reads as zeros", "写入而未 fsync 的字节读出来是零"),
    "torn.zero tail": ("what was written and not fsynced ends in zeros", "写入而未 fsync 的字节，后半是零"),
    "recovery": ("Recovery", "恢复"),
    "found.R": ("load raised {detail}", "load 报错：{detail}"),
    "found.W": ("load gave {detail}, which is neither state", "load 给出 {detail}，既非旧状态也非新状态"),
    "found.L": ("load gave the old state, though the save had returned", "load 给出旧状态，尽管保存已经返回"),
    "found.next": ("{detail}", "{detail}"),
    "change": ("What to change", "该改什么"),
    "all.well": ("No crash within the bound hurts this save.", "在上述范围内，没有一种崩溃能伤到这次保存。"),
    "operations": ("Operations", "操作"),
    "more": ("{n} more", "另有 {n} 个"),
    "save": ("save", "保存方式"),
    "title": ("Crash map of a save of {n} operations", "一次保存的崩溃图，共 {n} 个操作"),
    "title.many": ("Crash maps of {n} saves", "{n} 种保存方式的崩溃图"),
    # -- faults: what is wrong, and what to do; {at} and {before} are lines
    "fault.in_place": (
        "{target} is overwritten where it stands ({at}): from the first change to the last byte, the disk holds "
        "neither the old state nor the new one.",
        "{target} 是就地改写的（{at}）：从第一处改动到最后一个字节写完，磁盘上既没有旧状态，也没有新状态。",
    ),
    "advice.in_place": (
        "Write to {target}.tmp in the same directory, flush and fsync it, and only then os.replace it over {target}.",
        "先写到同一目录下的 {target}.tmp，flush 并 fsync，然后才用 os.replace 换掉 {target}。",
    ),
    "fault.copied_over": (
        "{temp} is whole, but it is copied over {target} ({at}), and a copy overwrites {target} byte by byte.",
        "{temp} 是完整的，但它是被复制到 {target} 上的（{at}），而复制就是逐字节改写 {target}。",
    ),
    "advice.copied_over": (
        "Put the temp file in {target}'s own directory and use os.replace instead of copying, {at}. (shutil.move "
        "copies between file systems.)",
        "把临时文件放在 {target} 所在的目录，并把{at}的复制换成 os.replace。（跨文件系统时 shutil.move 也是复制。）",
    ),
    "fault.unlinked": (
        "{target} is deleted ({at}) before the new one takes its name ({before}): in between there is no {target}.",
        "{target} 先被删除（{at}），新文件后来才得到这个名字（{before}）：其间没有 {target}。",
    ),
    "advice.unlinked": (
        "Leave the unlink, {at}, out: os.replace replaces {target} in one step.",
        "去掉{at}的删除：os.replace 一步就换掉 {target}。",
    ),
    "fault.moved_away": (
        "{target} is moved away ({at}) before the new one takes its name ({before}): in between there is no {target}.",
        "{target} 先被移走（{at}），新文件后来才得到这个名字（{before}）：其间没有 {target}。",
    ),
    "advice.moved_away": (
        "Keep a copy by os.link or by copying, not by moving {target}, {at}; or let load fall back to the copy.",
        "要留副本，就用 os.link 或复制，而不要在{at}移走 {target}；或者让 load 退回去读那个副本。",
    ),
    "fault.removed": ("{target} is deleted ({at}).", "{target} 被删除了（{at}）。"),
    "advice.removed": ("Leave the unlink, {at}, out.", "去掉{at}的删除。"),
    "fault.renamed_early": (
        "{temp} takes the name {target} ({before}) before its bytes are written ({at}): they were still in the buffer.",
        "{temp} 得到 {target} 这个名字（{before}）时，它的字节还没有写出（{at}）：还在缓冲区里。",
    ),
    "advice.renamed_early": (
        "Closing (or flushing) {temp} must come before replace, {before}: move it out of the with block.",
        "必须先关闭（或 flush）{temp}，再在{before}替换：把替换移到 with 块之外。",
    ),
    "fault.visible_early": (
        "load reads {target} while it is still being written ({at}).",
        "{target} 还没有写完（{at}），load 就会读它。",
    ),
    "advice.visible_early": (
        "Write it under a name that load passes over, flush and fsync it, and give it its name by os.replace when "
        "it is whole.",
        "先用 load 不会读的名字写，flush 并 fsync，写完整之后再用 os.replace 给它正式的名字。",
    ),
    "fault.appended": (
        "A crash while appending to {target} ({at}) leaves a last record cut short, and load does not put up with one.",
        "在向 {target} 追加时（{at}）崩溃，最后一条记录会残缺，而 load 容不下它。",
    ),
    "advice.appended": (
        "Let load pass over a last record that is not whole, and the next append begin after the last whole one.",
        "让 load 跳过末尾不完整的记录，并让下次追加从最后一条完整记录之后开始。",
    ),
    "fault.two_files": (
        "The state lies in two files changed one after the other, {target} ({at}) and then {other} ({before}): a "
        "crash between leaves one old and one new.",
        "状态分在两个文件里先后改动：先是 {target}（{at}），再是 {other}（{before}）。在两者之间崩溃，就会一新一旧。",
    ),
    "advice.two_files": (
        "Put what belongs together into one file, or write both under new names and let one os.replace of a third "
        "file name the pair.",
        "把属于一起的东西放进一个文件；或者两个都用新名字写好，再用一次 os.replace 换掉指明这一对的第三个文件。",
    ),
    "fault.several": (
        "{target} takes a new state more than once in one call (first {at}, again {before}): in between it holds "
        "one that is neither the old nor the new.",
        "一次调用里 {target} 换了不止一次（先在{at}，又在{before}）：其间它既不是旧状态，也不是新状态。",
    ),
    "advice.several": (
        "Explore one save at a time, or give the last state but one as `old`.",
        "一次只考察一次保存，或者把倒数第二个状态作为 `old`。",
    ),
    "fault.not_fsynced": (
        "{temp} is never fsynced: after a power loss {target} may be empty, torn or zeros, though the rename is on "
        "disk.",
        "{temp} 从未 fsync：断电之后，改名虽已落盘，{target} 却可能是空的、残缺的或全零。",
    ),
    "advice.not_fsynced": (
        "fsync of {temp} must come before {verb}, {before}: f.flush(), then os.fsync(f.fileno()).",
        "必须先 fsync {temp}，再{verb}（{before}）：先 f.flush()，再 os.fsync(f.fileno())。",
    ),
    "fault.not_fsynced_at_all": (
        "{target} is never fsynced: after a power loss what was written to it ({at}) may be gone or torn.",
        "{target} 从未 fsync：断电之后，写进去的字节（{at}）可能没了或残缺。",
    ),
    "advice.not_fsynced_at_all": (
        "fsync of {target} must come before the save returns: f.flush(), then os.fsync(f.fileno()).",
        "保存返回之前必须先 fsync {target}：先 f.flush()，再 os.fsync(f.fileno())。",
    ),
    "fault.fsync_late": (
        "{temp} is fsynced only after it has taken the name {target}: power lost in between leaves {target} damaged.",
        "{temp} 得到 {target} 这个名字之后才 fsync：其间断电，{target} 就会损坏。",
    ),
    "advice.fsync_late": (
        "fsync, {at}, must come before {verb}, {before}.",
        "{at}的 fsync 必须在{before}的{verb}之前。",
    ),
    "fault.fsync_before_write": (
        "{temp} is fsynced ({at}) before its bytes have left Python's buffer, so the fsync secures nothing.",
        "{temp} 在 fsync（{at}）时，字节还没有离开 Python 的缓冲区，这次 fsync 什么也没有保住。",
    ),
    "advice.fsync_before_write": (
        "flush must come before fsync, {at}: f.flush(), then os.fsync(f.fileno()).",
        "{at}的 fsync 之前必须先 flush：先 f.flush()，再 os.fsync(f.fileno())。",
    ),
    "fault.directory_not_fsynced": (
        "The {verb} ({at}) may not be on disk when the save returns: a power loss then brings the old state back.",
        "保存返回时，{verb}（{at}）可能还没有落盘：这时断电，旧状态就又回来了。",
    ),
    "advice.directory_not_fsynced": (
        "Open the directory {directory} and fsync it after {verb}, {at}, before returning.",
        "在{at}的{verb}之后、返回之前，打开目录 {directory} 并 fsync。",
    ),
    "fault.directory_fsync_early": (
        "The directory is fsynced ({before}) before the {verb} ({at}), so that fsync does not cover it.",
        "目录的 fsync（{before}）早于{verb}（{at}），所以没有保住它。",
    ),
    "advice.directory_fsync_early": (
        "{verb}, {at}, must come before the fsync of the directory, {before}.",
        "{at}的{verb}必须在{before}的目录 fsync 之前。",
    ),
    "fault.other_directory": (
        "The directory that is fsynced ({before}) is not {directory}, where {target} lies.",
        "fsync 的目录（{before}）不是 {target} 所在的目录 {directory}。",
    ),
    "advice.other_directory": (
        "fsync {directory} after {verb}, {at}, before returning.",
        "在{at}的{verb}之后、返回之前，fsync {directory}。",
    ),
    "fault.fsync_lies": (
        "On a disk whose fsync does nothing, no order of operations keeps {target} whole.",
        "磁盘的 fsync 若什么也不做，无论操作怎样排序都保不住 {target} 的完整。",
    ),
    "advice.fsync_lies": (
        "Keep the previous copy beside it and a checksum in it, so that load can notice the damage and fall back.",
        "在旁边保留上一份副本，并在文件里写上校验和，让 load 能发现损坏并退回去。",
    ),
    "fault.returned_early": (
        "When the save returned, {target} did not hold the new state: its bytes were still in a buffer, or with a "
        "thread that nobody had waited for.",
        "保存返回时，{target} 里还不是新状态：字节还在缓冲区里，或者在一个没有人等待的线程手里。",
    ),
    "advice.returned_early": (
        "Close the file, or join the thread, before the save returns.",
        "在保存返回之前关闭文件，或者 join 线程。",
    ),
    "fault.leftover_blocks": (
        "A crash leaves {temp} behind, and the next save fails on it ({at}): {error}.",
        "崩溃会留下 {temp}，下次保存因它而失败（{at}）：{error}。",
    ),
    "advice.leftover_blocks": (
        'Let {at} put up with a leftover: remove {temp} first, or open it with "w" instead of "x".',
        '让{at}容得下残留：先删除 {temp}，或者用 "w" 而不是 "x" 打开它。',
    ),
    "fault.next_fails": ("On what a crash leaves, {error}.", "在崩溃所留的磁盘上：{error}。"),
    "advice.next_fails": (
        "Let the save ({at}) put up with what a crash at any line leaves behind.",
        "让保存（{at}）容得下在任何一行崩溃所留下的东西。",
    ),
    "fault.second_crash": (
        "The first crash is survived, the second is not: {error}.",
        "第一次崩溃扛住了，第二次没有：{error}。",
    ),
    "advice.second_crash": (
        "Recovery and the next save must leave the old state in its place until the new one is whole, just as the "
        "first save does.",
        "恢复和下次保存也要像第一次保存那样，在新状态完整之前让旧状态留在原处。",
    ),
    "fault.load_guesses": (
        "load swallows the damage: it gave {error}, and raised nothing.",
        "load 把损坏吞掉了：它给出 {error}，也没有报错。",
    ),
    "advice.load_guesses": (
        "Let load raise when the file is missing or not whole, so that nobody goes on from a state that never was.",
        "文件缺失或不完整时让 load 报错，免得有人从一个从未有过的状态继续下去。",
    ),
    "fault.residue": (
        "A crash leaves {temp} behind for good: no later save takes it over or removes it.",
        "崩溃会把 {temp} 永远留下：以后的保存既不接着用它，也不删除它。",
    ),
    "advice.residue": (
        "Remove stale files when a save begins (or at start-up), or use one fixed name for the temp file.",
        "在保存开始时（或启动时）删除过期的文件，或者让临时文件只用一个固定的名字。",
    ),
    "fault.other": (
        "The order of the changes leaves a moment at which recovery fails ({at}).",
        "改动的次序留下了一个无法恢复的时刻（{at}）。",
    ),
    "advice.other": (
        "Write the whole new state under another name, flush and fsync it, and make it the current one by one "
        "os.replace.",
        "把整个新状态写到另一个名字下，flush 并 fsync，再用一次 os.replace 让它成为当前状态。",
    ),
}


def language(lang: str | None = None) -> str:
    """The language to speak: the one given, else what the environment says, else English."""
    if lang is not None:
        if lang not in LANGUAGES:
            raise ValueError(f"no such language: {lang!r} (one of {', '.join(LANGUAGES)})")
        return lang
    for name in ("CRASH_COURSE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "").strip().lower()
        if value:
            return "zh" if value.startswith("zh") else "en"
    return "en"


def sentence(key: str, lang: str, **names: object) -> str:
    """One sentence of the table, its places filled in."""
    return _SENTENCES[key][LANGUAGES.index(lang)].format(**names)


def known(key: str) -> bool:
    """Whether the table has such a sentence."""
    return key in _SENTENCES


def number_of_bytes(count: int, lang: str) -> str:
    """``2,287 bytes``."""
    return sentence("byte", lang) if count == 1 else sentence("bytes", lang, n=f"{count:,}")


_REASONS = (
    (r"on recovery, (.*)", "恢复时，{0}"),
    (r"the next save raised (.*)", "下次保存报错：{0}"),
    (r"the next save returned, but load then raised (.*)", "下次保存返回了，但随后 load 报错：{0}"),
    (r"the next save returned, but load then gave the (old|new) state", "下次保存返回了，但随后 load 给出{0}状态"),
    (r"the next save returned, but load then gave (.*)", "下次保存返回了，但随后 load 给出 {0}"),
    (
        r"killed again during (recovery|the next save)(?: at line (\d+))?, load raised (.*)",
        "在{0}时再次被杀{1}，load 报错：{2}",
    ),
    (
        r"killed again during (recovery|the next save)(?: at line (\d+))?, load gave the (old|new) state",
        "在{0}时再次被杀{1}，load 给出{2}状态",
    ),
    (
        r"killed again during (recovery|the next save)(?: at line (\d+))?, load gave (.*)",
        "在{0}时再次被杀{1}，load 给出 {2}",
    ),
    (r"resuming raised (.*)", "恢复运行时报错：{0}"),
    (r"(.*) happened (\d+) times, not (\d+)", "{0} 发生了 {1} 次，而不是 {2} 次"),
    (r"the resumed run returned (.*)", "恢复后的运行返回了 {0}"),
    (r"crashed again: (.*)", "再次崩溃：{0}"),
    (r"crashed again at line (\d+): (.*)", "在第 {0} 行再次崩溃：{1}"),
    (r"os\.fwalk walks the real disk", "os.fwalk 走的是真实磁盘"),
    (r"sqlite3 opens its database on the real disk", "sqlite3 在真实磁盘上打开数据库"),
    (r"(.+) opens its database on the real disk", "{0} 在真实磁盘上打开数据库"),
    (r"a subprocess works on the real disk", "子进程在真实磁盘上工作"),
    (r"a spawned process works on the real disk", "新启动的进程在真实磁盘上工作"),
    (r"os\.system starts a process that works on the real disk", "os.system 启动的进程在真实磁盘上工作"),
    (r"os\.exec replaces the process", "os.exec 换掉了整个进程"),
    (r"a forked process can't be followed", "fork 出来的进程无法跟踪"),
    (r"ctypes calls the system past Python", "ctypes 绕过 Python 调用系统"),
    (r"a network connection leaves the disk", "网络连接离开了磁盘"),
    (r"mmap writes to a file without a system call that can be seen", "mmap 写文件不经过看得见的系统调用"),
    (
        r"the real (\S+) was called, perhaps kept from before the run began",
        "调用了真正的 {0}，也许是运行开始之前留下的引用",
    ),
    (
        r"a file of the real disk was opened (for writing )?by a function that is not faked",
        "有一个未被替换的函数打开了真实磁盘上的文件",
    ),
)
_WORDS = {"old": "旧", "new": "新", "recovery": "恢复", "the next save": "下次保存", None: ""}


def translated(text: str, lang: str) -> str:
    """A sentence that the explorer put together in English, in another language as far as it is known."""
    if lang == "en":
        return text
    line = re.fullmatch(r"(.*) \(line (\d+), (.+)\)", text)
    if line:
        return f"{translated(line[1], lang)}（第 {line[2]} 行，{line[3]}）"
    for pattern, words in _REASONS:
        found = re.fullmatch(pattern, text)
        if found:
            parts = [translated(_WORDS.get(part, part) or "", lang) for part in found.groups()]
            if "再次被杀" in words:
                parts[1] = f"（第 {parts[1]} 行）" if parts[1] else ""
            return words.format(*parts)
    return text
