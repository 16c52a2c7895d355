"""What the kernel forbids a learner's process: new processes, other processes, the network, what outlives it; limits.

Linux only, and only what needs no rights. Everything here fails soft: a kernel that lacks a part leaves the others
standing, for none of them is the only line of defence (see ``docs/sandbox.md``).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import math
import os
import platform
import re
import struct
import sys

from grader.answers.frames import Limits

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP = 1, 4, 22
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38

try:
    import resource
except ImportError:  # Windows, a browser
    resource = None  # type: ignore[assignment]

_LIBC = ctypes.CDLL(None) if sys.platform.startswith("linux") else None

FILE_SIZE = 1 << 20
"""Bytes of a file on the real disk. On the fake one it doesn't count."""


def _prctl(option: int, value: int, pointer: int = 0) -> bool:
    if _LIBC is None:
        return False
    zero = ctypes.c_ulong(0)
    return bool(_LIBC.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(pointer), zero, zero) == 0)


def show(shown: bool) -> None:
    """Let processes of the same user look into this one's memory and environment, or not."""
    _prctl(_PR_SET_DUMPABLE, int(shown))


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent dies, so that none gets away."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def limit(limits: Limits, seconds: float, *, own_user: bool = False, file_size: int = FILE_SIZE) -> None:
    """Take this process's limits on. ``own_user``: nothing but this run counts as its user's processes."""
    if resource is None:
        return
    with contextlib.suppress(ValueError, OSError):

        def lower(which: int, value: int) -> None:
            hard = resource.getrlimit(which)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(which, (value, value))

        lower(resource.RLIMIT_CORE, 0)
        lower(resource.RLIMIT_FSIZE, file_size)
        lower(resource.RLIMIT_NOFILE, limits.files)
        cpu = math.ceil(seconds + limits.grace) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))  # where there is no /proc to measure by
        if own_user:
            lower(resource.RLIMIT_NPROC, limits.processes)
        lower(resource.RLIMIT_AS, limits.memory)


def counts_by_namespace() -> bool:
    """Tell whether the kernel counts a user's processes for each user namespace by itself (Linux 5.14)."""
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return found is not None and (int(found[1]), int(found[2])) >= (5, 14)


# ------------------------------------------------------------------------------------------ seccomp

_X86, _ARM = 0, 1
_ARCHITECTURES = {"x86_64": (_X86, 0xC000003E), "aarch64": (_ARM, 0xC00000B7), "arm64": (_ARM, 0xC00000B7)}
_NO = -1
_REFUSED = {
    "fork": (57, _NO), "vfork": (58, _NO), "execve": (59, 221), "execveat": (322, 281),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "kcmp": (312, 272), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "tkill": (200, 130),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
}  # fmt: skip
"""Calls that start or touch other processes, change what is in sight, or leave something behind that no process is."""
_UNREACHABLE = {"connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "sendmmsg": (307, 269)}
_OWN_PROCESS = {"kill": (62, 129), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240)}
_PRLIMIT, _CLONE, _CLONE3, _SENDTO = (302, 261), (56, 220), (435, 435), (44, 206)

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_CLONE_THREAD, _X32 = 0x00010000, 0x40000000


def _filter(own: int, system: int, architecture: int) -> bytes:
    """Return the BPF program; each check of a call's arguments ends it one way or the other."""
    code: list[tuple[int, int, int, int]] = []

    def step(what: int, value: int, yes: int = 0, no: int = 0) -> None:
        code.append((what, yes, no, value))

    def when(numbers: tuple[int, int], *body: tuple[int, int, int, int]) -> None:
        if numbers[system] != _NO:
            step(_EQUAL, numbers[system], 0, len(body))
            code.extend(body)

    def argument(number: int) -> tuple[int, int, int, int]:
        return (_LOAD, 0, 0, 16 + 8 * number)

    def give(value: int) -> tuple[int, int, int, int]:
        return (_RETURN, 0, 0, value)

    refuse, allow = give(_ERROR | errno.EPERM), give(_ALLOW)
    step(_LOAD, 4)
    step(_EQUAL, architecture, 1, 0)
    step(_RETURN, _KILL)
    step(_LOAD, 0)
    if system == _X86:
        step(_AT_LEAST, _X32, 0, 1)
        step(_RETURN, _KILL)
    when(_CLONE, argument(0), (_ANY_BIT, 0, 1, _CLONE_THREAD), allow, refuse)
    when(_CLONE3, give(_ERROR | errno.ENOSYS))  # its flags can't be seen from here; the C library then uses clone
    for numbers in _OWN_PROCESS.values():
        when(numbers, argument(0), (_EQUAL, 2, 0, own), (_EQUAL, 1, 0, 0), refuse, allow)
    when(_PRLIMIT, argument(0), (_EQUAL, 2, 0, own), (_EQUAL, 1, 0, 0), refuse, allow)
    when(_SENDTO, argument(4), (_EQUAL, 1, 0, 0), give(_ERROR | errno.ENETUNREACH), allow)
    for numbers in _UNREACHABLE.values():
        when(numbers, give(_ERROR | errno.ENETUNREACH))
    for numbers in _REFUSED.values():
        when(numbers, refuse)
    step(_RETURN, _ALLOW)
    return b"".join(struct.pack("=HBBI", what, yes, no, value) for what, yes, no, value in code)


_OWN = 0x7F0F1F3F
"""Stands in the program for the process that takes it on, which is known only then."""


class _Fence:
    """Program and arguments, laid out once, so that a new process has next to nothing to do."""

    def __init__(self, system: int, architecture: int) -> None:
        program = _filter(_OWN, system, architecture)
        self.steps = ctypes.create_string_buffer(program, len(program))
        self.own = [at for at in range(4, len(program), 8) if program[at : at + 4] == struct.pack("=I", _OWN)]
        head = struct.pack("@HP", len(program) // 8, ctypes.addressof(self.steps))
        self.head = ctypes.create_string_buffer(head, len(head))
        self.version = ctypes.create_string_buffer(struct.pack("=II", 0x20080522, 0), 8)  # version 3, this process
        self.no_rights = ctypes.create_string_buffer(24)


_FENCE = _Fence(*_ARCHITECTURES[platform.machine()]) if _LIBC and platform.machine() in _ARCHITECTURES else None


def forbid() -> bool:
    """Forbid this process, for good, to start or reach other processes or the network; False where that can't be.

    Of root's rights it keeps none but that of owning root's files.
    """
    if _FENCE is None or _LIBC is None:
        return False
    if os.geteuid() == 0:
        _LIBC.capset(_FENCE.version, _FENCE.no_rights)
    for at in _FENCE.own:
        struct.pack_into("=I", _FENCE.steps, at, os.getpid())
    return _prctl(_PR_SET_NO_NEW_PRIVS, 1) and _prctl(_PR_SET_SECCOMP, 2, ctypes.addressof(_FENCE.head))


_SYNCS = {"fsync": (74, 82), "fdatasync": (75, 83), "sync": (162, 81), "syncfs": (306, 267)}
_WRITES = {"write": (1, 64), "pwrite64": (18, 68), "writev": (20, 66), "pwritev": (296, 70), "pwritev2": (328, 287)}
_SECCOMP, _SET_FILTER, _NEW_LISTENER = (317, 277), 1, 8
_TELL = 0x7FC00000


class _Telling:
    """The program that lets another process know of every sync, laid out once."""

    def __init__(self, calls: dict[str, tuple[int, int]], system: int, architecture: int) -> None:
        numbers = [calls[name][system] for name in calls]
        code = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, 0)]
        for left, number in zip(range(len(numbers), 0, -1), numbers, strict=True):
            code.append((_EQUAL, left, 0, number))
        code += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _TELL)]
        program = b"".join(struct.pack("=HBBI", *step) for step in code)
        self.steps = ctypes.create_string_buffer(program, len(program))
        head = struct.pack("@HP", len(code), ctypes.addressof(self.steps))
        self.head = ctypes.create_string_buffer(head, len(head))
        self.seccomp = _SECCOMP[system]
        self.names = dict(zip(numbers, calls, strict=True))


if _LIBC and platform.machine() in _ARCHITECTURES:
    _TELLING = {
        writes: _Telling({**_SYNCS, **(_WRITES if writes else {})}, *_ARCHITECTURES[platform.machine()])
        for writes in (False, True)
    }
else:
    _TELLING = {}


def tell_syncs(writes: bool = False) -> int | None:
    """From now on, for good, let whoever reads the descriptor returned know of each sync of this process's.

    The process stands still in the call until the reader answers. None where the kernel offers no such thing.

    Args:
        writes: of each write as well, for files may be open so that every write is a sync.
    """
    if not _TELLING or _LIBC is None or not _prctl(_PR_SET_NO_NEW_PRIVS, 1):
        return None
    telling = _TELLING[writes]
    head = ctypes.c_void_p(ctypes.addressof(telling.head))
    call, what, how = (ctypes.c_long(number) for number in (telling.seccomp, _SET_FILTER, _NEW_LISTENER))
    descriptor = int(_LIBC.syscall(call, what, how, head))
    return descriptor if descriptor >= 0 else None


def call_told(number: int) -> str:
    """Return the name of a call that ``tell_syncs`` lets know of, by its number."""
    return _TELLING[True].names.get(number, "") if _TELLING else ""


def become(user: int) -> None:
    """Give up being root for good: from now on this process is ``user``, who owns nothing.

    Raises:
        OSError: this process is not root, or not allowed to.
    """
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
