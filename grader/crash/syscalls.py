"""The fake disk's system calls: descriptors, reads and writes, below CPython's own buffers.

pyfakefs looks after paths; its open files are not used. A handle here is CPython's own ``TextIOWrapper`` and
``BufferedWriter`` over a raw file whose ``write`` is one system call on the fake disk, so what reaches the disk, in
which pieces and when, is what CPython would have sent to the kernel.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from pyfakefs.fake_file import FakeDirectory, FakeFile
from pyfakefs.fake_io import FakeIoModule
from pyfakefs.fake_os import FakeOsModule

from grader.crash import paths
from grader.crash.installed import is_installed

if TYPE_CHECKING:
    from grader.crash.disk import Disk

FIRST_DESCRIPTOR = 10_000
"""Fake descriptors begin here, so that none can equal a real one: a real call on a fake one fails with EBADF."""

REAL_OPEN = open
_REAL_OS: dict[str, Any] = {
    name: getattr(os, name)
    for name in (
        "open", "close", "read", "write", "fstat", "lseek", "isatty", "dup", "dup2", "sync", "pipe", "getcwd",
        "urandom",
    )
    if hasattr(os, name)
}
with REAL_OPEN(os.devnull, "rb", buffering=0) as _null:
    BLOCK = int(getattr(_null, "_blksize", io.DEFAULT_BUFFER_SIZE))
    """The buffer size this interpreter gives to a file on a usual Linux disk."""
if sys.version_info >= (3, 14):
    BLOCK = max(min(BLOCK, 8 * 1024 * 1024), io.DEFAULT_BUFFER_SIZE)

_DESCRIPTOR = re.compile(r"(?:/proc/self|/dev)/fd/(\d+)")
_DEVICES = ("/dev/", "/proc/", "/sys/")


def wants_write(flags: int) -> bool:
    """Whether an ``open`` with these flags may write."""
    return flags & os.O_ACCMODE != os.O_RDONLY


class OpenFile:
    """An open file description: what one ``open`` made, shared by the descriptors that ``dup`` gives it."""

    def __init__(self, disk: Disk, node: FakeFile, path: str, flags: int) -> None:
        self.disk = disk
        self.node = node
        self.file_object = node
        self.path = path
        self.file_path = path
        self.position = 0
        access = flags & os.O_ACCMODE
        self.readable = access in (os.O_RDONLY, os.O_RDWR)
        self.writable = access in (os.O_WRONLY, os.O_RDWR)
        self.append = bool(flags & os.O_APPEND)
        self.synchronous = bool(flags & (getattr(os, "O_SYNC", 0) | getattr(os, "O_DSYNC", 0)))
        self.is_directory = isinstance(node, FakeDirectory)
        self.descriptors = 0

    def get_object(self) -> FakeFile:
        """What pyfakefs asks an open file for: the inode behind it."""
        return self.node


class RawFile(io.RawIOBase):
    """The unbuffered file at the bottom of every handle; the counterpart of ``io.FileIO`` on the fake disk."""

    def __init__(self, calls: RecordingOs, fd: int, mode: str, name: Any, closefd: bool) -> None:
        self._calls = calls
        self._fd = fd
        self._closefd = closefd
        self.name = name
        self.mode = mode
        opened = calls.described(fd)
        self._readable = opened.readable
        self._writable = opened.writable

    def fileno(self) -> int:
        self._check()
        return self._fd

    def _check(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def readable(self) -> bool:
        self._check()
        return self._readable

    def writable(self) -> bool:
        self._check()
        return self._writable

    def seekable(self) -> bool:
        self._check()
        return True

    def isatty(self) -> bool:
        self._check()
        return False

    def readinto(self, buffer: Any) -> int:
        self._check()
        if not self._readable:
            raise io.UnsupportedOperation("File not open for reading")
        view = memoryview(buffer).cast("B")
        data: bytes = self._calls.read(self._fd, len(view))
        view[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        self._check()
        if not self._readable:
            raise io.UnsupportedOperation("File not open for reading")
        return self._calls.read(self._fd, sys.maxsize)

    def write(self, data: Any) -> int:
        self._check()
        if not self._writable:
            raise io.UnsupportedOperation("File not open for writing")
        return self._calls.write(self._fd, data)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._check()
        return self._calls.lseek(self._fd, offset, whence)

    def tell(self) -> int:
        self._check()
        return self._calls.lseek(self._fd, 0, os.SEEK_CUR)

    def truncate(self, size: int | None = None) -> int:
        self._check()
        if not self._writable:
            raise io.UnsupportedOperation("File not open for writing")
        if size is None:
            size = self.tell()
        self._calls.ftruncate(self._fd, size)
        return size

    def close(self) -> None:
        if self.closed:
            return
        try:
            super().close()
        finally:
            if self._closefd:
                self._calls.close(self._fd)


def open_file(
    disk: Disk,
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Callable[[Any, int], int] | None = None,
) -> Any:
    """``open`` as CPython does it, over the fake disk's system calls."""
    if not isinstance(file, int):
        file = os.fspath(file)
    if _is_real(file):
        return REAL_OPEN(file, mode, buffering, encoding, errors, newline, closefd, opener)
    if not isinstance(mode, str):
        raise TypeError(f"open() argument 'mode' must be str, not {type(mode).__name__}")
    letters = set(mode)
    if letters - set("axrwb+t") or len(mode) > len(letters):
        raise ValueError(f"invalid mode: {mode!r}")
    creating, reading = "x" in letters, "r" in letters
    writing, appending, updating = "w" in letters, "a" in letters, "+" in letters
    text, binary = "t" in letters, "b" in letters
    if text and binary:
        raise ValueError("can't have text and binary mode at once")
    if creating + reading + writing + appending != 1:
        raise ValueError("must have exactly one of create/read/write/append mode")
    if binary and encoding is not None:
        raise ValueError("binary mode doesn't take an encoding argument")
    if binary and errors is not None:
        raise ValueError("binary mode doesn't take an errors argument")
    if binary and newline is not None:
        raise ValueError("binary mode doesn't take a newline argument")
    if buffering == 0 and not binary:
        raise ValueError("can't have unbuffered text I/O")
    raw = open_raw(disk, file, mode, closefd, opener)
    try:
        if buffering == 0:
            return raw
        line_buffering = buffering == 1 and not binary
        size = BLOCK if buffering in (-1, 1) else buffering
        if updating:
            buffer: Any = io.BufferedRandom(raw, size)
        elif reading:
            buffer = io.BufferedReader(raw, size)
        else:
            buffer = io.BufferedWriter(raw, size)
        if binary:
            return buffer
        if encoding is None and hasattr(io, "text_encoding"):
            encoding = "utf-8" if sys.flags.utf8_mode else "locale"
        wrapper = io.TextIOWrapper(buffer, encoding, errors, newline, line_buffering)
        wrapper.mode = mode  # type: ignore[misc]
        return wrapper
    except BaseException:
        raw.close()
        raise


def open_raw(
    disk: Disk, file: Any, mode: str, closefd: bool = True, opener: Callable[[Any, int], int] | None = None
) -> RawFile:
    """``io.FileIO`` over the fake disk."""
    letters = set(mode)
    flags = os.O_CLOEXEC
    if "+" in letters:
        flags |= os.O_RDWR
    elif "r" in letters:
        flags |= os.O_RDONLY
    else:
        flags |= os.O_WRONLY
    if "x" in letters:
        flags |= os.O_CREAT | os.O_EXCL
    elif "w" in letters:
        flags |= os.O_CREAT | os.O_TRUNC
    elif "a" in letters:
        flags |= os.O_CREAT | os.O_APPEND
    calls = disk.calls
    if isinstance(file, int):
        fd = file
        calls.described(fd)
    else:
        if not closefd:
            raise ValueError("Cannot use closefd=False with file name")
        if opener is None:
            fd = calls.open(file, flags, 0o666)
        else:
            fd = opener(file, flags)
            if not isinstance(fd, int):
                raise TypeError("expected integer from opener")
            if fd < 0:
                raise ValueError(f"opener returned {fd}")
    if calls.described(fd).is_directory:
        if not isinstance(file, int):
            calls.close(fd)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), file)
    shown = ("xb+" if "x" in letters else "rb+") if "+" in letters else next(c for c in "rwax" if c in letters) + "b"
    raw = RawFile(calls, fd, shown, file, closefd)
    if "a" in letters:
        raw.seek(0, os.SEEK_END)
    return raw


def _is_real(file: Any) -> bool:
    """Standard streams, other real descriptors and device files stay the machine's own."""
    if isinstance(file, int):
        return 0 <= file < FIRST_DESCRIPTOR
    try:
        name = os.fsdecode(file)
        again = _DESCRIPTOR.fullmatch(name)
        return name.startswith(_DEVICES) and not (again and int(again[1]) >= FIRST_DESCRIPTOR)
    except TypeError:
        return False


class RecordingOs(FakeOsModule):  # type: ignore[misc]
    """The ``os`` module that the code under judgement sees."""

    disk: Disk

    @staticmethod
    def dir() -> list[str]:
        """Names replaced where a module imported them one by one, as in ``from os import replace``."""
        mine = [name for name in RecordingOs.__dict__ if not name.startswith("_")]
        known = [*FakeOsModule.dir(), "truncate", "ftruncate", "sendfile", "fdopen"]
        return [name for name in dict.fromkeys([*known, *mine]) if hasattr(os, name)]

    # -- descriptors ---------------------------------------------------------------------------------------------

    def described(self, fd: int) -> OpenFile:
        """The open file behind a fake descriptor; EBADF when there is none."""
        if isinstance(fd, bool) or not isinstance(fd, int):
            fd = _as_descriptor(fd)
        handle = self.disk.descriptors.get(fd)
        if handle is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return handle

    def _install(self, handle: OpenFile) -> int:
        disk = self.disk
        fd = FIRST_DESCRIPTOR
        while fd in disk.descriptors:
            fd += 1
        self._put(fd, handle)
        return fd

    def _put(self, fd: int, handle: OpenFile) -> None:
        disk = self.disk
        disk.descriptors[fd] = handle
        handle.descriptors += 1
        table = self.filesystem.open_files
        if len(table) <= fd:
            table.extend([None] * (fd + 1 - len(table)))
        table[fd] = [handle]

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if isinstance(path, int):
            raise TypeError("open: path should be string, bytes or os.PathLike, not int")
        path = os.fspath(path)
        again = _DESCRIPTOR.fullmatch(os.fsdecode(path))
        if again and int(again[1]) >= FIRST_DESCRIPTOR:  # a second opening of an open file
            node = self.described(int(again[1])).node
            if flags & os.O_TRUNC and wants_write(flags):
                self.disk.truncate(node, 0)
            return self._install(OpenFile(self.disk, node, os.fsdecode(path), flags))
        if _is_real(path):
            real: int = _REAL_OS["open"](path, flags, mode, dir_fd=dir_fd)
            return real
        shown = path
        fs = self.filesystem
        path = os.fsdecode(self._path_with_dir_fd(path, self.open, dir_fd))
        if "\0" in path:
            raise ValueError("embedded null byte")
        if not path:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown)
        writing = wants_write(flags)
        if flags & getattr(os, "O_TMPFILE", 0) == getattr(os, "O_TMPFILE", -1):
            node = self._nameless(path, mode)
            return self._install(OpenFile(self.disk, node, path, flags))
        directory, name, node = paths.place(
            self.disk, path, shown, follow=not flags & (getattr(os, "O_NOFOLLOW", 0) | os.O_EXCL)
        )
        if flags & os.O_CREAT and path.endswith("/"):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), shown)
        if node is None:
            if not flags & os.O_CREAT:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown)
            if os.geteuid() != 0 and not directory.st_mode & 0o200:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), shown)
            node = FakeFile(name, stat.S_IFREG | (mode & 0o7777 & ~fs.umask), "", filesystem=fs)
            directory.add_entry(node)
        else:
            if flags & os.O_CREAT and flags & os.O_EXCL:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), shown)
            if stat.S_ISLNK(node.st_mode):
                if flags & getattr(os, "O_NOFOLLOW", 0):
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), shown)
                node = self._lookup(path, shown)  # O_EXCL without O_CREAT means nothing
                if node is None:
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown)
            if isinstance(node, FakeDirectory):
                if writing or flags & os.O_CREAT:
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), shown)
            elif flags & getattr(os, "O_DIRECTORY", 0) or path.endswith("/"):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), shown)
            elif os.geteuid() != 0 and not node.st_mode & (0o200 if writing else 0o400):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), shown)
            if is_installed(node):
                if writing:
                    raise OSError(errno.EROFS, os.strerror(errno.EROFS), shown)
                if not isinstance(node, FakeDirectory):
                    self.disk.installed.load(node)
            if flags & os.O_TRUNC and writing and not isinstance(node, FakeDirectory):
                self.disk.truncate(node, 0)
        return self._install(OpenFile(self.disk, node, path, flags))

    def _lookup(self, path: str, shown: Any, *, follow: bool = True) -> FakeFile | None:
        """The inode at ``path``; None when the last name is missing. Other errors are raised as the kernel would."""
        return paths.find(self.disk, path, shown, follow=follow)

    def _nameless(self, path: str, mode: int) -> FakeFile:
        directory = self._lookup(path, path)
        if directory is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        fs = self.filesystem
        node = FakeFile("", stat.S_IFREG | (mode & 0o7777 & ~fs.umask), "", filesystem=fs)
        fs.last_ino += 1
        node.st_ino = fs.last_ino
        node.st_dev = directory.st_dev
        return node

    def close(self, fd: int) -> None:
        if _is_real(fd):
            _REAL_OS["close"](fd)
            return
        handle = self.described(fd)
        del self.disk.descriptors[fd]
        handle.descriptors -= 1
        self.filesystem.open_files[fd] = None

    def closerange(self, low: int, high: int, /) -> None:
        for fd in [fd for fd in self.disk.descriptors if low <= fd < high]:
            self.close(fd)

    def dup(self, fd: int) -> int:
        if _is_real(fd):
            return int(_REAL_OS["dup"](fd))
        return self._install(self.described(fd))

    def dup2(self, fd: int, fd2: int, inheritable: bool = True) -> int:
        if _is_real(fd) and _is_real(fd2):
            return int(_REAL_OS["dup2"](fd, fd2, inheritable))
        handle = self.described(fd)
        if fd == fd2:
            return fd2
        if _is_real(fd2):
            self._unknown("os.dup2 gives a file the number of a real descriptor")
        if fd2 in self.disk.descriptors:
            self.close(fd2)
        self._put(fd2, handle)
        return fd2

    def pipe(self) -> tuple[int, int]:
        """A pipe is no file: it stays the machine's own."""
        read, write = _REAL_OS["pipe"]()
        return read, write

    def splice(self, src: int, dst: int, count: int, *offsets: Any, **named: Any) -> int:
        """Not followed: one side is a pipe, which is no file."""
        self._unknown("os.splice moves bytes between a file and a pipe")

    def _unknown(self, what: str) -> NoReturn:
        """Say that this can't be followed, and fail as a call that the system does not have."""
        self.disk.escape(f"{what}, which the fake disk does not follow", sys._getframe(1))
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    def fdopen(self, fd: int, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(fd, int):
            raise TypeError(f"invalid fd type ({type(fd)}, expected integer)")
        return open_file(self.disk, fd, *args, **kwargs)

    def isatty(self, fd: int) -> bool:
        if _is_real(fd):
            return bool(_REAL_OS["isatty"](fd))
        self.described(fd)
        return False

    def get_inheritable(self, fd: int) -> bool:
        if not _is_real(fd):
            self.described(fd)
        return False

    def set_inheritable(self, fd: int, inheritable: bool) -> None:
        if not _is_real(fd):
            self.described(fd)

    def get_blocking(self, fd: int) -> bool:
        if not _is_real(fd):
            self.described(fd)
        return True

    def set_blocking(self, fd: int, blocking: bool) -> None:
        if not _is_real(fd):
            self.described(fd)

    # -- data ----------------------------------------------------------------------------------------------------

    def _readable(self, fd: int) -> OpenFile:
        handle = self.described(fd)
        if handle.is_directory:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not handle.readable:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return handle

    def _writable(self, fd: int) -> OpenFile:
        handle = self.described(fd)
        if handle.is_directory or not handle.writable:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return handle

    def read(self, fd: int, n: int) -> bytes:
        if _is_real(fd):
            real: bytes = _REAL_OS["read"](fd, n)
            return real
        handle = self._readable(fd)
        data = self.disk.contents(handle.node, handle.position, n)
        handle.position += len(data)
        return data

    def pread(self, fd: int, n: int, offset: int, /) -> bytes:
        return self.disk.contents(self._readable(fd).node, offset, n)

    def readv(self, fd: int, buffers: Iterable[Any], /) -> int:
        handle = self._readable(fd)
        done = self._fill(handle, buffers, handle.position)
        handle.position += done
        return done

    def preadv(self, fd: int, buffers: Iterable[Any], offset: int, flags: int = 0, /) -> int:
        return self._fill(self._readable(fd), buffers, offset)

    def _fill(self, handle: OpenFile, buffers: Iterable[Any], offset: int) -> int:
        done = 0
        for buffer in buffers:
            view = memoryview(buffer).cast("B")
            data = self.disk.contents(handle.node, offset + done, len(view))
            view[: len(data)] = data
            done += len(data)
        return done

    def readinto(self, fd: int, buffer: Any, /) -> int:
        return self.readv(fd, [buffer])

    def write(self, fd: int, data: Any) -> int:
        if _is_real(fd):
            return int(_REAL_OS["write"](fd, data))
        handle = self._writable(fd)
        piece = bytes(data)
        at = self.disk.end_of(handle.node) if handle.append else handle.position
        self._write_at(handle, at, piece)
        handle.position = at + len(piece)
        return len(piece)

    def writev(self, fd: int, buffers: Iterable[Any], /) -> int:
        return self.write(fd, b"".join(bytes(b) for b in buffers))

    def pwrite(self, fd: int, data: Any, offset: int, /) -> int:
        handle = self._writable(fd)
        piece = bytes(data)
        # pwrite(2), BUGS: with O_APPEND, Linux appends whatever the offset.
        self._write_at(handle, self.disk.end_of(handle.node) if handle.append else offset, piece)
        return len(piece)

    def pwritev(self, fd: int, buffers: Iterable[Any], offset: int, flags: int = 0, /) -> int:
        return self.pwrite(fd, b"".join(bytes(b) for b in buffers), offset)

    def _write_at(self, handle: OpenFile, at: int, piece: bytes) -> None:
        self.disk.write(handle.node, at, piece)
        if handle.synchronous and piece:
            self.disk.fsync(handle.node)  # open(2): a write to an O_SYNC file returns once its bytes are on the disk

    def lseek(self, fd: int, pos: int, whence: int) -> int:
        if _is_real(fd):
            return int(_REAL_OS["lseek"](fd, pos, whence))
        handle = self.described(fd)
        if whence == os.SEEK_SET:
            target = pos
        elif whence == os.SEEK_CUR:
            target = handle.position + pos
        elif whence == os.SEEK_END:
            target = self.disk.end_of(handle.node) + pos
        else:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if target < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        handle.position = target
        return target

    def ftruncate(self, fd: int, length: int) -> None:
        handle = self.described(fd)
        if handle.is_directory or not handle.writable or length < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self.disk.truncate(handle.node, length)

    def truncate(self, path: Any, length: int) -> None:
        if isinstance(path, int):
            self.ftruncate(path, length)
            return
        node = self._lookup(os.fsdecode(os.fspath(path)), path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if isinstance(node, FakeDirectory):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if length < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        self.disk.truncate(node, length)

    def posix_fallocate(self, fd: int, offset: int, length: int, /) -> None:
        handle = self._writable(fd)
        if self.disk.end_of(handle.node) < offset + length:
            self.disk.truncate(handle.node, offset + length)

    def posix_fadvise(self, fd: int, offset: int, length: int, advice: int, /) -> None:
        self.described(fd)

    def copy_file_range(
        self, src: int, dst: int, count: int, offset_src: int | None = None, offset_dst: int | None = None
    ) -> int:
        source = self._readable(src)
        at = source.position if offset_src is None else offset_src
        data = self.disk.contents(source.node, at, count)
        if offset_src is None:
            source.position += len(data)
        return self.write(dst, data) if offset_dst is None else self.pwrite(dst, data, offset_dst)

    def sendfile(self, out_fd: int, in_fd: int, offset: int | None, count: int) -> int:
        return self.copy_file_range(in_fd, out_fd, count, offset)

    def fstat(self, fd: int) -> Any:
        if _is_real(fd):
            return _REAL_OS["fstat"](fd)
        return self.disk.stat_of(self.described(fd).node)

    def fchmod(self, fd: int, mode: int) -> None:
        self.disk.set_meta(self.described(fd).node, mode=mode)

    def fchown(self, fd: int, uid: int, gid: int) -> None:
        self.described(fd)

    def lockf(self, fd: int, command: int, length: int, /) -> None:
        self.described(fd)

    # -- durability ----------------------------------------------------------------------------------------------

    def fsync(self, fd: Any) -> None:
        fd = _as_descriptor(fd)
        if _is_real(fd):
            if fd > 2:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self.disk.fsync(self.described(fd).node)

    def fdatasync(self, fd: Any) -> None:
        self.fsync(fd)

    def sync(self) -> None:
        self.disk.sync()

    # -- names that need more than pyfakefs gives -----------------------------------------------------------------

    def link(
        self,
        src: Any,
        dst: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
        follow_symlinks: bool = True,
    ) -> None:
        at = src_dir_fd is not None or dst_dir_fd is not None
        follow = at and follow_symlinks  # without a dir_fd CPython calls link(2), which does not follow
        source = os.fsdecode(os.fspath(src))
        target = os.fsdecode(self._path_with_dir_fd(dst, self.link, dst_dir_fd))
        if source.startswith("/proc/self/fd/"):  # how a nameless O_TMPFILE gets its name
            if not follow:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), src, None, dst)
            self.disk.give_name(self.described(int(source.rpartition("/")[2])).node, target)
            return
        paths.link(self.disk, self._path_with_dir_fd(src, self.link, src_dir_fd), target, follow, (src, dst))

    def listdir(self, path: Any = None) -> list[Any]:
        if isinstance(path, int):
            path = self.described(path).path
        found: list[Any] = super().listdir("." if path is None else path)
        return found

    def urandom(self, size: int, /) -> bytes:
        return bytes(_REAL_OS["urandom"](size))


def _as_descriptor(fd: Any) -> int:
    if isinstance(fd, int):
        return int(fd)
    if hasattr(fd, "fileno"):
        return int(fd.fileno())
    raise TypeError("argument must be an int, or have a fileno() method.")


class RecordingIo(FakeIoModule):  # type: ignore[misc]
    """The ``io`` module that the code under judgement sees."""

    disk: Disk

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """``open`` on the fake disk."""
        return open_file(self.disk, *args, **kwargs)

    @property
    def FileIO(self) -> Any:
        """``io.FileIO`` on the fake disk: to be called, and to be asked for with ``isinstance``."""
        disk = self.disk

        class Kind(type):
            def __instancecheck__(cls, value: Any) -> bool:
                return isinstance(value, RawFile | io.FileIO)

            def __call__(
                cls, file: Any, mode: str = "r", closefd: bool = True, opener: Callable[[Any, int], int] | None = None
            ) -> Any:
                if _is_real(file):
                    return io.FileIO(file, mode, closefd, opener)
                return open_raw(disk, file if isinstance(file, int) else os.fspath(file), mode, closefd, opener)

        return Kind("FileIO", (), {})


PATH_STATS = ("getsize", "getmtime", "getatime", "getctime")
"""Functions of ``os.path`` that pyfakefs answers without going through ``stat``."""
