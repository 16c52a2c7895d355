"""A fake disk that records: every change code makes to files, in order, and everything it looked at.

    with Disk() as disk:
        save(state)
    recording = disk.recording()

While the context is open, the file functions of this process act on the fake disk (pyfakefs does the patching and the
paths; ``syscalls`` the descriptors). The real disk is not touched. Patching is process-wide: one Disk at a time.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import posixpath
import site
import stat
import sys
import sysconfig
import tempfile
import time as _time
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import replace as replace_field
from types import FrameType, ModuleType, TracebackType
from typing import Any

from pyfakefs import fake_pathlib
from pyfakefs.fake_file import FakeDirectory, FakeFile
from pyfakefs.fake_filesystem import FakeFilesystem
from pyfakefs.fake_filesystem_unittest import Patcher
from pyfakefs.fake_open import FakeFileOpen
from pyfakefs.fake_path import FakePathModule
from pyfakefs.fake_pathlib import FakePath, FakePathlibModule

from grader.crash import escapes, paths, threads
from grader.crash.image import ROOT, Image, Inode
from grader.crash.installed import Installed, is_installed
from grader.crash.operations import (
    EFFECT,
    Answer,
    Escape,
    Fsync,
    Link,
    Mark,
    Meta,
    Observation,
    Operation,
    Query,
    Recording,
    Rename,
    SyncAll,
    Truncate,
    Unlink,
    Where,
    Write,
)
from grader.crash.replay import answer
from grader.crash.syscalls import FIRST_DESCRIPTOR, PATH_STATS, OpenFile, RecordingIo, RecordingOs, open_file

dumb: ModuleType | None = None
with contextlib.suppress(ImportError):  # a browser's Python has no dbm
    from dbm import dumb

_LIBRARIES = tuple(
    {
        os.path.realpath(path) + os.sep
        for path in (
            sysconfig.get_paths()["stdlib"],
            sysconfig.get_paths()["platstdlib"],
            os.path.dirname(os.path.abspath(__file__)),
            *(site.getsitepackages() if hasattr(site, "getsitepackages") else ()),
            site.getusersitepackages() or "",
        )
        if path
    }
    | {os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "pytest_plugin.py")}
)
_OWN: dict[str, bool] = {}


def is_own(filename: str) -> bool:
    """Whether a source file is the code under judgement: not the standard library, not installed, not this package."""
    known = _OWN.get(filename)
    if known is None:
        known = not filename.startswith("<frozen") and not os.path.realpath(filename).startswith(_LIBRARIES)
        if filename.startswith("<") and filename.endswith(">"):
            known = not filename.startswith(("<frozen", "<string>", "<__array_function__"))
        _OWN[filename] = known
    return known


class _RecordingPatcher(Patcher):  # type: ignore[misc]
    """pyfakefs's patcher with this package's ``os`` and ``io``."""

    def _init_fake_module_classes(self) -> None:
        super()._init_fake_module_classes()
        self._fake_module_classes["os"] = RecordingOs
        self._fake_module_classes["io"] = RecordingIo
        if "_io" in self._fake_module_classes:
            self._fake_module_classes["_io"] = RecordingIo


def _bound(function: Callable[..., Any], disk: Disk) -> Callable[..., Any]:
    """A method of pyfakefs's file system that is answered by this package."""

    def method(fs: FakeFilesystem, *args: Any, **kwargs: Any) -> Any:
        return function(disk, *args, **kwargs)

    return method


class Disk:
    """A recording fake disk.

    Args:
        image: what is on the disk at the start; an empty ``cwd`` when None.
        cwd: the working directory.
        tmp_elsewhere: whether ``/tmp`` is another file system, so that a rename from there raises EXDEV.
        own: tells the code under judgement (by file name) from the libraries it calls; ``is_own`` when None.
        aside: names of packages that keep the real functions, as this one does.
    """

    def __init__(
        self,
        image: Image | None = None,
        *,
        cwd: str = ROOT,
        tmp_elsewhere: bool = True,
        own: Callable[[str], bool] | None = None,
        aside: tuple[str, ...] = (),
    ) -> None:
        self.cwd = image.cwd if image else cwd
        self.tmp_elsewhere = tmp_elsewhere
        self.own = own or is_own
        self._aside = ("grader.crash.", *(f"{name}." for name in aside))
        self._standing_by = False
        self.descriptors: dict[int, OpenFile] = {}
        self._start_image = image
        self._log: list[Operation] = []
        self._escapes: list[Escape] = []
        self._observed: dict[Query, Answer] = {}
        self._silent = 0
        self._now = 0.0
        self._restore: list[tuple[Any, str, Any]] = []

    # -- entering and leaving -------------------------------------------------------------------------------------

    def __enter__(self) -> Disk:
        self._dont_write_bytecode = sys.dont_write_bytecode
        sys.dont_write_bytecode = True  # a .pyc written by an import is not the learner's file
        self._tempdir, tempfile.tempdir = tempfile.tempdir, "/tmp"  # else tempfile writes a probe file
        mine = {module for name, module in sys.modules.items() if name.startswith(self._aside)}
        _RecordingPatcher.SKIPMODULES = Patcher.SKIPMODULES | mine  # this package keeps the real os
        self.patcher = _RecordingPatcher(use_known_patches=False)
        self.patcher.setUp()
        try:
            self.fs: FakeFilesystem = self.patcher.fs
            self.calls: RecordingOs = self.patcher.fake_modules["os"]
            self.calls.disk = self
            for name in ("io", "_io"):
                if name in self.patcher.fake_modules:
                    self.patcher.fake_modules[name].disk = self
            self.fs.shuffle_listdir_results = False
            self.installed = Installed(self.fs)
            self._mount_of_root = self.fs.root_dir.st_dev
            self._elsewhere: int = self.fs.add_mount_point("/crash-disk-tmp")["idev"]
            self._hook()
            self._gate = threads.Gate(self.own)
            self._gate.__enter__()
            self._watch = escapes.watch(self)
            self._watch.__enter__()
            self.load(self._start_image or Image.of({}, cwd=self.cwd))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for part in ("_watch", "_gate"):
            if hasattr(self, part):
                getattr(self, part).__exit__(None, None, None)
        self._unhook()
        self.patcher.tearDown()
        sys.dont_write_bytecode = self._dont_write_bytecode
        tempfile.tempdir = self._tempdir

    def _hook(self) -> None:
        disk = self

        def replace(owner: Any, name: str, new: Callable[..., Any]) -> None:
            self._restore.append((owner, name, owner.__dict__[name]))
            setattr(owner, name, new)

        def wrap(owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
            replace(owner, name, make(getattr(owner, name)))

        def call(opener: Any, file: Any, mode: str = "r", *args: Any, open_modes: Any = None, **kwargs: Any) -> Any:
            return open_file(disk, file, mode, *args, **kwargs)

        def adding(original: Callable[..., Any]) -> Callable[..., Any]:
            def add_entry(directory: FakeDirectory, node: FakeFile) -> None:
                recorded = disk._before()
                if is_installed(directory) or is_installed(node):
                    raise OSError(errno.EROFS, os.strerror(errno.EROFS), node.name)
                original(directory, node)
                if recorded:
                    disk._added(directory, node)

            return add_entry

        def removing(original: Callable[..., Any]) -> Callable[..., Any]:
            def remove_entry(directory: FakeDirectory, name: str, recursive: bool = True) -> None:
                recorded = disk._before()
                if is_installed(directory):
                    raise OSError(errno.EROFS, os.strerror(errno.EROFS), name)
                node = directory.get_entry(name)
                original(directory, name, recursive)
                if recorded:
                    disk._removed(directory, name, node)

            return remove_entry

        def content(fs: Any, directory: FakeFile, component: str) -> tuple[str | None, FakeFile | None]:
            if not isinstance(directory, FakeDirectory):
                return None, None
            node = directory._entries.get(component)
            disk.saw_name(directory, component)
            return (component, node) if node is not None else (None, None)

        def confirming(original: Callable[..., Any]) -> Callable[..., Any]:
            def confirmdir(*args: Any, **kwargs: Any) -> FakeDirectory:
                directory: FakeDirectory = original(*args, **kwargs)
                disk._saw_list(directory)
                return directory

            return confirmdir

        def stating(original: Callable[..., Any]) -> Callable[..., Any]:
            def stat_path(fs: Any, path: Any, follow_symlinks: bool = True) -> Any:
                result = original(fs, path, follow_symlinks)
                disk._saw_stat(result.st_ino)
                return result

            return stat_path

        def measuring(original: Callable[..., Any]) -> Callable[..., Any]:
            def measure(module: Any, path: Any) -> Any:
                if not isinstance(path, int):
                    disk._saw_stat(disk.fs.resolve(path).st_ino)
                return original(module, path)

            return measure

        def moding(original: Callable[..., Any]) -> Callable[..., Any]:
            def change(fs: Any, path: Any, *args: Any, **kwargs: Any) -> None:
                disk._before()
                node = fs.resolve(path, kwargs.get("follow_symlinks", True), allow_fd=True)
                if is_installed(node):
                    raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
                original(fs, path, *args, **kwargs)
                disk._changed_meta(node)

            return change

        def linking(original: Callable[..., Any]) -> Callable[..., Any]:
            def create_symlink(fs: FakeFilesystem, *args: Any, **kwargs: Any) -> FakeFile:
                node: FakeFile = original(fs, *args, **kwargs)  # gives the link its target after it has its name
                last = disk._log[-1] if disk._log else None
                if isinstance(last, Link) and last.inode == node.st_ino:
                    disk._log[-1] = replace_field(last, target=_text(node._byte_contents))
                return node

            return create_symlink

        def pathlib_open(fs: FakeFilesystem, skip_names: Any, *args: Any, **kwargs: Any) -> Any:
            return open_file(disk, *args, **kwargs)

        replace(fake_pathlib, "fake_open", pathlib_open)
        def touching(path: Any, mode: int = 0o666, exist_ok: bool = True) -> None:
            if exist_ok and disk.fs.exists(path):
                disk.calls.utime(path, None)
                return
            flags = os.O_CREAT | os.O_WRONLY | (0 if exist_ok else os.O_EXCL)
            disk.calls.close(disk.calls.open(path, flags, mode))

        replace(FakeFileOpen, "call", call)
        wrap(FakeDirectory, "add_entry", adding)
        wrap(FakeDirectory, "remove_entry", removing)
        wrap(FakeFilesystem, "create_symlink", linking)
        replace(FakeFilesystem, "_directory_content", content)
        for name in ("resolve", "exists", "rename", "remove"):
            replace(FakeFilesystem, name, _bound(getattr(paths, name), disk))
        wrap(FakeFilesystem, "confirmdir", confirming)
        wrap(FakeFilesystem, "stat", stating)
        wrap(FakeFilesystem, "chmod", moding)
        wrap(FakeFilesystem, "utime", moding)
        replace(FakePath, "touch", touching)
        replace(FakePath, "read_text", pathlib.Path.read_text)  # Python's own know what this version takes
        for name in ("owner", "group"):
            replace(FakePathlibModule.PosixPath, name, getattr(pathlib.Path, name))
        for name, module in (("_os", self.calls), ("_io", self.patcher.fake_modules["io"])):
            if dumb is not None and name in dumb._Database.__dict__:  # kept in the class, where no patcher looks
                replace(dumb._Database, name, module)
        for name in PATH_STATS:
            wrap(FakePathModule, name, measuring)

    def _unhook(self) -> None:
        while self._restore:
            owner, name, original = self._restore.pop()
            setattr(owner, name, original)

    def stand_by(self) -> None:
        """Follow nothing until ``begin``. A process that forks from here need not enter a disk of its own."""
        self._standing_by = True

    def begin(self, image: Image | None, *, tmp_elsewhere: bool) -> None:
        """Follow the code under judgement from here on, on a disk that starts as ``image``."""
        self._standing_by, self.tmp_elsewhere = False, tmp_elsewhere
        self.load(image or Image.of({}, cwd=self.cwd))

    # -- what is on the disk --------------------------------------------------------------------------------------

    def load(self, image: Image) -> None:
        """Put ``image`` on the disk in place of all that is there, and begin a new recording."""
        fs = self.fs
        self._gate.new_life()
        self._silent += 1
        self._made_directories = False
        try:
            self.descriptors.clear()
            del fs.open_files[FIRST_DESCRIPTOR:]
            fs._free_fd_heap.clear()
            fs.root_dir._entries.clear()
            nodes: dict[int, FakeFile] = {}
            top = image.inodes[image.top]
            fs.last_ino = max([fs.last_ino, *image.inodes])
            device = self._mount_of_root
            if "crash-disk" not in top.entries and self.cwd == ROOT:
                self._make_directory(fs.root_dir, "crash-disk")
            self._fill(fs.root_dir, top, image, nodes, device)
            fs.root_dir.st_ino = image.top
            if "tmp" not in top.entries:
                self._make_directory(fs.root_dir, "tmp")
            tmp = fs.root_dir._entries["tmp"]
            if self.tmp_elsewhere and isinstance(tmp, FakeDirectory):
                tmp.st_mode = stat.S_IFDIR | 0o1777
                self._set_device(tmp, self._elsewhere)
            here = fs.root_dir
            for part in [p for p in self.cwd.split("/") if p]:
                if part not in here._entries:
                    self._make_directory(here, part)
                here = here._entries[part]
            fs.cwd = self.cwd
        finally:
            self._silent -= 1
        self._world, self._log = list(image.world), []
        self.start(None if self._made_directories else image)

    def _make_directory(self, parent: FakeDirectory, name: str) -> None:
        self._made_directories = True
        parent.add_entry(FakeDirectory(name, 0o755, filesystem=self.fs))

    def _set_device(self, node: FakeFile, device: int) -> None:
        node.st_dev = device
        if isinstance(node, FakeDirectory):
            for child in node._entries.values():
                self._set_device(child, device)

    def _fill(
        self, directory: FakeDirectory, inode: Inode, image: Image, nodes: dict[int, FakeFile], device: int
    ) -> None:
        for name, number in inode.entries.items():
            child = image.inodes[number]
            node = nodes.get(number)
            if node is None:
                if child.kind == "directory":
                    node = FakeDirectory(name, child.mode & 0o7777, filesystem=self.fs)
                else:
                    kind = stat.S_IFLNK if child.kind == "symlink" else stat.S_IFREG
                    node = FakeFile(name, kind | (child.mode & 0o7777), "", filesystem=self.fs)
                    node._byte_contents = child.target.encode() if child.kind == "symlink" else child.data
                    node.stat_result.st_size = len(node._byte_contents)
                node.st_ino = number
                node.st_mtime = child.mtime
                nodes[number] = node
            node.name = name
            directory.add_entry(node)
            if isinstance(node, FakeDirectory):
                self._fill(node, child, image, nodes, device)

    def flip(self, number: int, position: int) -> None:
        """Turn the lowest bit of one byte of a file over: a fault of the disk, which no recording knows of."""
        stack: list[FakeFile] = [self.fs.root_dir]
        while stack:
            node = stack.pop()
            if isinstance(node, FakeDirectory):
                stack += node._entries.values()
            elif node.st_ino == number:
                data = bytearray(node._byte_contents)
                data[position] ^= 1
                node._byte_contents = bytes(data)
                return

    def image(self) -> Image:
        """What is on the disk now."""
        inodes: dict[int, Inode] = {}
        stack: list[FakeFile] = [self.fs.root_dir]
        while stack:
            node = stack.pop()
            if node.st_ino in inodes:
                continue
            mode = node.st_mode
            if isinstance(node, FakeDirectory):
                inside = {
                    name: child.st_ino
                    for name, child in node._entries.items()
                    if not (node is self.fs.root_dir and name in ("dev", "crash-disk-tmp"))
                }
                inodes[node.st_ino] = Inode("directory", entries=inside, mode=mode & 0o7777, mtime=node.st_mtime)
                stack += [child for child in node._entries.values() if child.st_ino in inside.values()]
            elif stat.S_ISLNK(mode):
                inodes[node.st_ino] = Inode("symlink", target=_text(node._byte_contents), mode=mode & 0o7777)
            else:
                inodes[node.st_ino] = Inode(
                    "file", data=bytes(node._byte_contents or b""), mode=mode & 0o7777, mtime=node.st_mtime
                )
        return Image(inodes, self.fs.root_dir.st_ino, self.cwd, self.world())

    # -- the recording --------------------------------------------------------------------------------------------

    def start(self, known: Image | None = None) -> None:
        """Begin a new recording: what lies on the disk now is its initial image (``known`` where the caller has it)."""
        self._initial = known or self.image()
        self._world = list(self._initial.world)
        self._happened = Counter(key for _, key in self._world)
        self._log = []
        self._escapes = []
        self._observed = {}
        self._paths: dict[int, str] = {}
        self._virgin: set[int] = set()
        self._touched: set[tuple[int, str]] = set()
        self._looked_up: set[tuple[int, str]] = set()
        stack = [("/", self._initial.top)]
        while stack:
            path, number = stack.pop()
            self._paths.setdefault(number, path)
            inode = self._initial.inodes[number]
            if inode.kind == "file":
                self._virgin.add(number)
            stack += [(posixpath.join(path, name), child) for name, child in inode.entries.items()]

    def settle(self) -> None:
        """Let threads that still write finish, as they would if nothing happened for a while."""
        self._gate.drain()

    def mark(self, kind: str, data: Any = None) -> None:
        """Put a note of the driving program into the log. ``data`` must be plain data."""
        self._gate.step()
        self._log.append(Mark(kind, data, self._tick(), self.where() if kind == EFFECT else None))
        if kind == EFFECT:
            name, key = data
            self._world.append((name, key))
            self._happened[key] += 1

    def world(self) -> tuple[tuple[str, str], ...]:
        """Every effect outside the disk so far, as (name, key)."""
        return tuple(self._world)

    def ask_world(self, key: str) -> int:
        """How often the effect ``key`` has happened."""
        self._saw(("world", key))
        return self._happened[key]

    def recording(self) -> Recording:
        """What was recorded since the last ``start`` or ``load``."""
        return Recording(self._initial, tuple(self._log), tuple(self._escapes), self.cwd)

    def observations(self) -> tuple[Observation, ...]:
        """What the run learnt of the disk it was started on, in the order of asking."""
        return tuple(self._observed.items())

    def escape(self, reason: str, frame: FrameType | None) -> None:
        """Note that the code went past the fake disk."""
        self._escapes.append(Escape(reason, self.where(frame), len(self._log)))

    def follows(self) -> bool:
        """Whether the calling thread runs the code under judgement, not the program around it."""
        return not self._standing_by and self._gate.follows()

    def where(self, frame: FrameType | None = None) -> Where | None:
        """The innermost line of the code under judgement on the stack."""
        frame = frame or sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if self.own(code.co_filename):
                return Where(code.co_filename, frame.f_lineno, code.co_name)
            frame = frame.f_back
        return None

    def _tick(self) -> float:
        self._now = max(_time.time(), self._now + 1e-6)  # no two operations share a time, none goes back
        return self._now

    def _before(self) -> bool:
        """Called before every change: a writer thread waits here. False when the change is not the learner's."""
        if self._silent:
            return False
        self._gate.pass_through()
        return True

    # -- changes, called by the system calls and by the hooks ------------------------------------------------------

    def write(self, node: FakeFile, offset: int, data: bytes) -> None:
        """One ``write``: ``data`` at ``offset``, the gap before it filled with zeros."""
        if not data:
            return
        self._before()
        number = node.st_ino
        if number in self._virgin:
            self._saw_data(number)
        buffer = self._buffer(node)
        if offset > len(buffer):
            buffer.extend(bytes(offset - len(buffer)))
        buffer[offset : offset + len(data)] = data
        now = self._tick()
        self._resized(node, now)
        self._log.append(Write(number, offset, data, now, self.where()))

    def truncate(self, node: FakeFile, size: int) -> None:
        """Cut or grow a file; nothing is recorded when it has that size already."""
        self._before()
        number = node.st_ino
        if is_installed(node):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        if number in self._virgin and size == 0:
            self._virgin.discard(number)  # none of the old bytes can be seen through this file any more
        elif number in self._virgin:
            self._saw_data(number)
        buffer = self._buffer(node)
        if len(buffer) == size:
            return
        if size < len(buffer):
            del buffer[size:]
        else:
            buffer.extend(bytes(size - len(buffer)))
        now = self._tick()
        self._resized(node, now)
        self._log.append(Truncate(number, size, now, self.where()))

    def contents(self, node: FakeFile, offset: int, count: int) -> bytes:
        """What a ``read`` returns."""
        if node.st_ino in self._virgin:
            self._saw_data(node.st_ino)
        data = node._byte_contents or b""
        return bytes(data[offset : offset + min(count, len(data))])

    def end_of(self, node: FakeFile) -> int:
        """The size, for appends and for seeks from the end."""
        if node.st_ino in self._virgin:
            self._saw_data(node.st_ino)
        return len(node._byte_contents or b"")

    def stat_of(self, node: FakeFile) -> Any:
        """What ``fstat`` returns."""
        self._saw_stat(node.st_ino)
        return node.stat_result.copy()

    def set_meta(self, node: FakeFile, *, mode: int) -> None:
        """``fchmod``."""
        self._before()
        node.st_mode = stat.S_IFMT(node.st_mode) | (mode & 0o7777)
        self._changed_meta(node)

    def fsync(self, node: FakeFile) -> None:
        """``fsync`` or ``fdatasync`` of a file or a directory."""
        self._before()
        self._log.append(Fsync(node.st_ino, isinstance(node, FakeDirectory), self._tick(), self.where()))

    def sync(self) -> None:
        """``sync``."""
        self._before()
        self._log.append(SyncAll(self._tick(), self.where()))

    def give_name(self, node: FakeFile, path: str) -> None:
        """``linkat`` of a nameless file."""
        if self.fs.exists(path, check_link=True):
            raise FileExistsError(17, os.strerror(17), path)
        path = self.fs.absnormpath(path)
        node.name = posixpath.basename(path)
        self.fs.resolve(posixpath.dirname(path)).add_entry(node)

    def _buffer(self, node: FakeFile) -> bytearray:
        buffer = node._byte_contents
        if type(buffer) is not bytearray:
            buffer = node._byte_contents = bytearray(buffer or b"")
        return buffer

    def _resized(self, node: FakeFile, now: float) -> None:
        node.stat_result.st_size = len(node._byte_contents)
        node.st_mtime = node.st_ctime = now

    def _added(self, directory: FakeDirectory, node: FakeFile) -> None:
        self._touched.add((directory.st_ino, node.name))
        if node.st_ino in self._virgin:
            self._saw_data(node.st_ino)  # its bytes may now be found under another name
        mode = node.st_mode
        if isinstance(node, FakeDirectory):
            kind, target = "directory", ""
        elif stat.S_ISLNK(mode):
            kind, target = "symlink", _text(node._byte_contents)
        else:
            kind, target = "file", ""
        now = self._tick()
        node.st_mtime = now if node.st_nlink <= 1 else node.st_mtime
        self._log.append(
            Link(
                directory.st_ino,
                os.fsdecode(node.name),
                node.st_ino,
                kind,  # type: ignore[arg-type]
                mode & 0o7777,
                target,
                now,
                self.where(),
            )
        )

    def unlink(self, directory: FakeDirectory, name: str, node: FakeFile) -> None:
        """Take a file's name away."""
        self._before()
        del directory._entries[name]
        node.st_nlink -= 1
        self._removed(directory, name, node)

    def _removed(self, directory: FakeDirectory, name: str, node: FakeFile) -> None:
        name = os.fsdecode(name)
        self._touched.add((directory.st_ino, name))
        self._log.append(Unlink(directory.st_ino, name, node.st_ino, self._tick(), self.where()))

    def rename(
        self,
        old: FakeDirectory,
        old_name: str,
        new: FakeDirectory,
        new_name: str,
        moved: FakeFile,
        gone: FakeFile | None,
    ) -> None:
        """Give ``moved`` its new name in one step; ``gone`` is what had that name."""
        self._before()
        del old._entries[old_name]
        if gone is not None:
            del new._entries[new_name]
            gone.st_nlink -= 1
        new._entries[new_name] = moved
        moved.name = new_name
        moved.parent_dir = weakref.ref(new)
        self._touched |= {(old.st_ino, old_name), (new.st_ino, new_name)}
        if moved.st_ino in self._virgin:
            self._saw_data(moved.st_ino)
        replaced = gone.st_ino if gone is not None else None
        self._log.append(
            Rename(
                old.st_ino, old_name, new.st_ino, new_name, moved.st_ino, replaced, self._tick(), self.where()
            )
        )

    def _changed_meta(self, node: FakeFile) -> None:
        if not self._silent:
            self._log.append(
                Meta(node.st_ino, node.st_mode & 0o7777, node.st_mtime, self._tick(), self.where())
            )

    # -- observations ---------------------------------------------------------------------------------------------

    def _saw(self, query: Query) -> None:
        if not self._silent and query not in self._observed:
            self._observed[query] = answer(self._initial, query)

    def saw_name(self, directory: FakeDirectory, name: str) -> None:
        """A name was looked up in a directory."""
        key = (directory.stat_result.st_ino, name)
        if key in self._looked_up or self._silent:
            return
        self._looked_up.add(key)
        path = self._paths.get(directory.st_ino)
        if path is not None and (directory.st_ino, name) not in self._touched:
            self._saw(("name", posixpath.join(path, name)))

    def _saw_list(self, directory: FakeDirectory) -> None:
        path = self._paths.get(directory.st_ino)
        if path is not None:
            self._saw(("list", path))

    def _saw_data(self, number: int) -> None:
        self._virgin.discard(number)
        self._saw(("data", self._paths[number]))

    def _saw_stat(self, number: int) -> None:
        path = self._paths.get(number)
        if path is not None and path != "/":
            self._saw(("stat", path))


def _text(data: bytes | bytearray | None) -> str:
    return bytes(data or b"").decode("utf-8", "surrogateescape")
