"""What a program really asks of the kernel, read from strace, in the words of a recording."""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.crash import Image, Operation
from grader.crash.operations import Fsync, Link, Mark, Meta, Rename, SyncAll, Truncate, Unlink, Write
from grader.crash.replay import Names

STRACE = shutil.which("strace")
HERE = Path(__file__).parent

CHANGING = (
    "?open,openat,?creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,rename,renameat,renameat2,link,"
    "linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat,fsync,fdatasync,sync,chmod,fchmod,fchmodat,?fchmodat2,"
    "utimensat,sendfile,copy_file_range"
)
FOLLOWED = CHANGING + ",read,readv,lseek,close,dup,dup2,dup3,fcntl"
_RANDOM = re.compile(r"(?<![a-z0-9_])tmp[a-z0-9_]{8}(?![a-z0-9_])")


def plain(name: str) -> str:
    """A name with tempfile's random part taken out."""
    return _RANDOM.sub("tmp*", name)


def of_recording(initial: Image, operations: Iterable[Operation]) -> list[str]:
    """A recording as lines such as ``write a 0+5``."""
    names = Names(initial)
    root = initial.cwd.rstrip("/") + "/"
    known: dict[int, str] = {}

    def shown(number: int) -> str:
        path = names.path_of(number)
        if path is not None:
            known[number] = plain(path.removeprefix(root)) if path + "/" != root else "."
        return known.get(number, "(nameless)")

    def entry(parent: int, name: str) -> str:
        return plain(posixpath.normpath(posixpath.join(shown(parent), name)))

    lines = []
    for op in operations:
        if isinstance(op, Mark):
            continue
        if isinstance(op, Write):
            line = f"write {shown(op.inode)} {op.offset}+{len(op.data)}"
        elif isinstance(op, Truncate):
            line = f"truncate {shown(op.inode)} {op.size}"
        elif isinstance(op, Link):
            again = names.path_of(op.inode) is not None
            what = {"directory": "mkdir", "symlink": "symlink"}.get(op.kind, "link" if again else "create")
            line = f"{what} {entry(op.parent, op.name)}"
        elif isinstance(op, Unlink):
            line = f"unlink {entry(op.parent, op.name)}"
        elif isinstance(op, Rename):
            line = f"rename {entry(op.old_parent, op.old_name)} {entry(op.new_parent, op.new_name)}"
        elif isinstance(op, Meta):
            line = f"meta {shown(op.inode)}"
        elif isinstance(op, Fsync):
            line = f"fsync {shown(op.inode)}"
        else:
            assert isinstance(op, SyncAll)
            line = "sync"
        if isinstance(op, Unlink):
            shown(op.inode)
        names.apply(op)
        if isinstance(op, (Link, Rename)):
            shown(op.inode)
        lines.append(line)
    return lines


class _File:
    """What the tracer must know of an inode: its size, and the last name it had."""

    def __init__(self, path: str, size: int = 0) -> None:
        self.path = path
        self.size = size


class _Opened:
    def __init__(self, file: _File, append: bool) -> None:
        self.file = file
        self.append = append
        self.position = 0


class Follower:
    """Turns successful system calls into the lines of a recording.

    It keeps just enough state to tell creating from opening, growing from not, and where a write lands.
    """

    def __init__(self, root: str, sizes: dict[str, int]) -> None:
        self.root = root
        self.names = {
            posixpath.join(root, path): _File(posixpath.join(root, path), size) for path, size in sizes.items()
        }
        self.opened: dict[int, _Opened] = {}
        self.lines: list[str] = []

    def _shown(self, path: str) -> str:
        if "/#" in path:
            return "(nameless)"
        return "." if path == self.root else plain(path.removeprefix(self.root + "/"))

    def _inside(self, path: str) -> bool:
        return path == self.root or path.startswith(self.root + "/")

    def _grown(self, file: _File, at: int, count: int) -> None:
        if count > 0:
            self.lines.append(f"write {self._shown(file.path)} {at}+{count}")
            file.size = max(file.size, at + count)

    def _written(self, descriptor: int, count: int, at: int | None = None) -> None:
        opened = self.opened.get(descriptor)
        if opened is None:
            return
        where = opened.file.size if opened.append else opened.position if at is None else at
        self._grown(opened.file, where, count)
        if at is None:
            opened.position = where + count

    def _cut(self, file: _File, size: int) -> None:
        if file.size != size:
            file.size = size
            self.lines.append(f"truncate {self._shown(file.path)} {size}")

    def call(self, name: str, arguments: str, result: int) -> None:
        """One call as strace prints it: ``openat(AT_FDCWD</x>, "a", O_WRONLY) = 3``."""
        paths = _paths(arguments, self.root)
        numbers = [int(n) for n in re.findall(r"(?<![\w\"<.#/-])(-?\d+)(?=[<,) ]|$)", arguments)]
        first = numbers[0] if numbers else -1
        opened = self.opened.get(first)
        if name in ("open", "openat", "creat"):
            self._open(paths[-1], arguments, result)
        elif name == "close":
            self.opened.pop(first, None)
        elif name in ("dup", "fcntl", "dup2", "dup3"):
            if opened is not None and (name != "fcntl" or "F_DUPFD" in arguments):
                self.opened[result] = opened
        elif name in ("read", "readv") and opened:
            opened.position += result
        elif name == "lseek" and opened:
            opened.position = result
        elif name in ("write", "writev"):
            self._written(first, result)
        elif name == "pwrite64" or name in ("pwritev", "pwritev2"):
            self._written(first, result, numbers[-1] if name != "pwritev2" else int(arguments.split(", ")[-2]))
        elif name in ("sendfile", "copy_file_range"):
            target = first if name == "sendfile" else numbers[1]
            self._written(target, result)
            source = self.opened.get(numbers[1] if name == "sendfile" else first)
            if source is not None and "NULL" in arguments:
                source.position += result
        elif name in ("ftruncate", "fallocate") and opened:
            if name == "ftruncate":
                self._cut(opened.file, numbers[-1])
            elif opened.file.size < numbers[-2] + numbers[-1]:
                self._cut(opened.file, numbers[-2] + numbers[-1])
        elif name == "truncate" and self._inside(paths[0]):
            self._cut(self.names[paths[0]], numbers[-1])
        elif name == "sync":
            self.lines.append("sync")
        elif name in ("fsync", "fdatasync", "fchmod"):
            path = opened.file.path if opened else paths[0]
            self.lines.append(f"{'meta' if name == 'fchmod' else 'fsync'} {self._shown(path)}")
        elif paths and all(self._inside(p) for p in paths[-1:]):
            self._names(name, paths, arguments)

    def _names(self, name: str, paths: list[str], arguments: str) -> None:
        if name.startswith("rename"):
            old, new = paths
            if self.names.get(old) is not None and self.names.get(old) is self.names.get(new):
                return
            self.lines.append(f"rename {self._shown(old)} {self._shown(new)}")
            for path in [p for p in self.names if p == old or p.startswith(old + "/")]:
                file = self.names.pop(path)
                file.path = new + path.removeprefix(old)
                self.names[file.path] = file
        elif name in ("link", "linkat"):
            nameless = re.search(r"/proc/self/fd/(\d+)", arguments)
            file = self.opened[int(nameless.group(1))].file if nameless else self.names[paths[0]]
            self.lines.append(f"{'create' if nameless else 'link'} {self._shown(paths[-1])}")
            if nameless:
                file.path = paths[-1]
            self.names[paths[-1]] = file
        elif name.startswith("symlink"):
            self.lines.append(f"symlink {self._shown(paths[-1])}")
        elif name in ("unlink", "unlinkat", "rmdir"):
            self.lines.append(f"unlink {self._shown(paths[-1])}")
            file = self.names.pop(paths[-1], None)  # type: ignore[assignment]
            other = next((p for p, f in self.names.items() if f is file), None)
            if other is not None:
                file.path = other
        elif name.startswith("mkdir"):
            self.lines.append(f"mkdir {self._shown(paths[-1])}")
        elif name.startswith(("chmod", "fchmodat", "utimensat")):
            self.lines.append(f"meta {self._shown(paths[-1])}")

    def _open(self, path: str, arguments: str, result: int) -> None:
        if not self._inside(path):
            return
        if "O_TMPFILE" in arguments:
            self.opened[result] = _Opened(_File(path + "/#"), False)
            return
        if "O_DIRECTORY" in arguments or (path not in self.names and "O_CREAT" not in arguments):
            return  # a directory
        file = self.names.get(path)
        if file is None:
            file = self.names[path] = _File(path)
            self.lines.append(f"create {self._shown(path)}")
        elif "O_TRUNC" in arguments:
            self._cut(file, 0)
        self.opened[result] = _Opened(file, "O_APPEND" in arguments)


def _paths(arguments: str, base: str) -> list[str]:
    """The paths among a call's arguments, made absolute by the directory each is relative to."""
    found: list[str] = []
    for directory, quoted in re.findall(r"(?:(?:AT_FDCWD|\d+)<([^>]*)>)|(?:\"((?:[^\"\\]|\\.)*)\")", arguments):
        if directory:
            base = directory.removesuffix(" (deleted)")
        elif quoted:
            found.append(posixpath.normpath(posixpath.join(base, quoted)))
    return found or [base]


def run_under_strace(arguments: Sequence[str], log: Path, *, calls: str = CHANGING, inject: str | None = None) -> int:
    """Run this interpreter on ``arguments`` under strace, its calls in ``log``; return the exit status."""
    assert STRACE is not None
    command = [STRACE, "-f", "-y", "-qq", "--seccomp-bpf", "-s", "0", "-o", str(log), "-e", f"trace={calls}"]
    command += ["-e", "signal=none"]
    if inject:
        command += ["-e", f"inject={inject}"]
    command += [sys.executable, "-B", "-I", *arguments]
    return subprocess.run(command, check=False, timeout=300).returncode


def calls_of(log: Path) -> Iterable[tuple[str, str, int | None]]:
    """Name, arguments and result (None for a failure) of each call in a log, those of several threads put together.

    Those of the first process, which forks the others, are left out: it has descriptors of its own, and from Python
    3.12 on it opens and closes one just when a child begins, to count its threads.
    """
    half: dict[str, str] = {}
    lines = log.read_text(errors="replace").splitlines()
    first = lines[0].partition(" ")[0] if lines else ""
    for line in lines:
        pid, _, rest = line.partition(" ")
        rest = rest.strip()
        if pid == first:
            continue
        if rest.endswith("<unfinished ...>"):
            half[pid] = rest.removesuffix("<unfinished ...>").rstrip()
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", rest)
        if resumed:
            rest = half.pop(pid) + resumed.group(1)
        match = re.match(r"(\w+)\((.*)\)\s+= (-?\d+)", rest)
        if match:
            result = int(match.group(3))
            yield match.group(1), match.group(2), result if result >= 0 else None


MARKER = "/no-such-folder-for-marks/"


def lines_of(log: Path, root: str, sizes: dict[str, int]) -> dict[str, list[str]]:
    """The lines of each part of a log between two marks; ``{name}`` in ``root`` is the part's name."""
    parts: dict[str, list[str]] = {}
    follower: Follower | None = None
    for name, arguments, result in calls_of(log):
        if name == "rmdir" and MARKER in arguments:
            mark = arguments.partition(MARKER)[2].rstrip('"')
            what, _, part = mark.partition(":")
            follower = Follower(posixpath.join(root, part), sizes) if what == "begin" else None
            if follower is not None:
                parts[part] = follower.lines
        elif follower is not None and result is not None:
            follower.call(name, arguments, result)
    return parts
