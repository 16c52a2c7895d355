"""Where strangers' code runs: inside bubblewrap, with nothing in sight but Python, or as well as can be without it.

Three kinds of isolation. ``plain`` is a learner's own notebook: their code, their machine. ``auto`` is a class:
bubblewrap where it is installed and works; else the same limits, and a fresh user where the process is root.
``required`` is a class that would rather not run at all than without bubblewrap.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import shutil
import site
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.answers.start import SETTINGS, package_paths
from grader.verdict import Text
from grader.words import catalogue, plain, say

Isolation = Literal["plain", "auto", "required"]
REQUIRE = "CRASH_COURSE_REQUIRE_SANDBOX"
"""Set to anything but 0 or nothing, a class's workers are ``required`` to have a sandbox."""

SCRATCH_SIZE = 64 * 1024 * 1024
HOME = "/tmp/learner"
"""Made new for each run that has a real disk; elsewhere it is not there, as on the fake disk."""
_NOBODY = 65534
_FIRST_USER = 0x70000000
"""Users from here on belong to nobody; each worker of a root's takes one of its own."""

_MACHINE = (
    "/etc/ca-certificates", "/etc/fonts", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/etc/pki/ca-trust",
    "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/timezone", "/usr/share/ca-certificates", "/usr/share/fonts",
    "/usr/share/zoneinfo",
)  # fmt: skip
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
_OWN_FOLDERS = ("crash",)
_OWN_FILES = (
    "__init__.py", "answers/__init__.py", "answers/fence.py", "answers/frames.py", "answers/given.py",
    "answers/inotify.py", "answers/live.py", "answers/patience.py", "answers/play.py", "answers/scratch.py",
    "answers/syncs.py", "answers/talk.py", "answers/wire.py", "answers/worker.py", "answers/zygote.py",
    "levels/__init__.py", "levels/failures.py", "levels/level4_town.py", "levels/literals.py", "levels/sightings.py",
    "levels/trial.py", "levels/values.py", "levels/*_drive.py", "levels/*_live.py",
)  # fmt: skip
"""What a worker imports of this package. The judges, their words, criteria and answers are not among it."""

_PACKAGE = Path(__file__).resolve().parents[1]
_words = catalogue()


class NoSandbox(Exception):
    """A sandbox is required, and there is none. Its ``text`` is one sentence in both languages."""

    def __init__(self, text: Text) -> None:
        super().__init__(say(text))
        self.text = text


@dataclass(frozen=True)
class Enclosure:
    """How to start a worker's process."""

    prefix: tuple[str, ...] = ()
    """What stands in front of its command; nothing without bubblewrap."""
    user: int | None = None
    """Whom it becomes before it runs anything."""
    isolated: bool = False
    data: tuple[bytes, ...] = ()
    """Files that bubblewrap reads from descriptors; ``{0}``, ``{1}`` … in the prefix stand for their numbers."""

    @property
    def sandboxed(self) -> bool:
        """Whether it is inside bubblewrap."""
        return bool(self.prefix)

    @contextlib.contextmanager
    def command(self, command: list[str]) -> Iterator[tuple[list[str], tuple[int, ...]]]:
        """Give the whole command, and the descriptors to pass on."""
        open_ends = []
        try:
            for content in self.data:
                end, into = os.pipe()
                open_ends.append(end)
                os.write(into, content)
                os.close(into)
            filled = [part.format(*open_ends) if part.startswith("{") else part for part in self.prefix]
            yield [*filled, *command], tuple(open_ends)
        finally:
            for end in open_ends:
                os.close(end)


def for_class() -> Isolation:
    """Return how a class's workers are isolated: ``auto``, or ``required`` where the environment says so."""
    return "required" if os.environ.get(REQUIRE, "0") not in ("", "0") else "auto"


def enclosure(isolation: Isolation) -> Enclosure:
    """Return how a worker is to be started.

    Raises:
        NoSandbox: ``required``, and bubblewrap can't be used.
    """
    if isolation == "plain":
        return Enclosure()
    why = why_not()
    if why is None:
        return _bubblewrap()
    if isolation == "required":
        raise NoSandbox(_words("sandbox.required", why=why))
    return Enclosure(user=_fresh_user(), isolated=True)


def notice() -> Text | None:
    """Return the one warning for whoever grades a class here without bubblewrap; None with it."""
    why = why_not()
    if why is None:
        return None
    return _words("sandbox.fresh_user" if _fresh_user() is not None else "sandbox.none", why=why)


@functools.cache
def why_not() -> Text | None:
    """Return why bubblewrap can't be used here, tried once; None when it can."""
    if not sys.platform.startswith("linux"):
        return _words("sandbox.not_linux")
    if shutil.which("bwrap") is None:
        return _words("sandbox.not_installed")
    trial = _bubblewrap()
    imports = f"import sys; sys.path += {package_paths()!r}; import msgspec, pyfakefs"
    with trial.command([sys.executable, "-I", "-c", imports]) as (command, passed):
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, pass_fds=passed
            )
        except (OSError, subprocess.SubprocessError) as error:
            return _words("sandbox.not_usable", reason=plain(type(error).__name__))
    if done.returncode == 0:
        return None
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return _words("sandbox.not_usable", reason=plain(lines[-1][:200] if lines else str(done.returncode)))


def _fresh_user() -> int | None:
    """Return a user of nobody's for this process's next worker, when it may become one that can still read Python."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    return _FIRST_USER + os.getpid() if all(map(_open_to_all, _read_by_python())) else None


def _read_by_python() -> list[Path]:
    """Return files of which each stands for a folder that Python must be able to read."""
    found = [Path(sys.executable).resolve(), Path(os.__file__).resolve(), _PACKAGE / "answers" / "worker.py"]
    spec = importlib.util.find_spec("msgspec")
    return [*found, Path(spec.origin).resolve()] if spec is not None and spec.origin else found


def _open_to_all(path: Path, *, folders: bool = True) -> bool:
    try:
        above = all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents) if folders else True
        return above and bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:
        return False


# ------------------------------------------------------------------------------------------ bubblewrap


def _bubblewrap() -> Enclosure:
    """Return the enclosure by bubblewrap.

    No ``--die-with-parent``: the kernel would take a thread of the judge's that ends for the judge. The worker ends
    when its standard input does, in the middle of a run too.
    """
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    apart = root and all(_open_to_all(path, folders=False) for path in _read_by_python())
    user = _FIRST_USER + os.getpid() if apart else _NOBODY
    account = f"learner:x:{user}:{user}::{HOME}:/bin/false\n".encode()
    who = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    if not apart:
        who = ["--unshare-user", "--uid", str(user), "--gid", str(user), "--cap-drop", "ALL"]
    prefix = [
        "bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", *who,
        "--hostname", "sandbox", "--new-session", "--as-pid-1",
        "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev",
        "--perms", "1777", "--size", str(SCRATCH_SIZE), "--tmpfs", "/dev/shm",
        "--perms", "1777", "--size", str(SCRATCH_SIZE), "--tmpfs", "/tmp",
        *_in_sight(), "--perms", "0644", "--ro-bind-data", "{0}", "/etc/passwd",
        "--remount-ro", "/", "--chdir", "/tmp", "--clearenv",
    ]  # fmt: skip
    for name, value in settings().items():
        prefix += ["--setenv", name, value]
    return Enclosure((*prefix, "--"), user if apart else None, True, (account,))


def settings() -> Mapping[str, str]:
    """Return a sandboxed worker's environment."""
    return {**SETTINGS, "PATH": "/usr/bin:/bin", "HOME": HOME, "USER": "learner", "LOGNAME": "learner"}


def _in_sight() -> list[str]:
    """Return the options that show Python, its packages and what a worker needs of this one, and hide the rest."""
    shown: list[str] = []
    folders: list[str] = []
    for path in _LIBRARIES:
        if os.path.islink(path):
            shown += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            folders.append(path)
    folders += [path for path in _MACHINE if os.path.exists(path)]
    python = [sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"], *site.getsitepackages()]
    python += [path for path in package_paths() if os.path.isdir(path)]
    for prefix in (sys.base_prefix, sys.prefix):
        lib = os.path.join(prefix, "lib")
        python += [lib] if prefix != "/usr" and os.path.isdir(lib) else []
        python += [os.path.join(prefix, name) for name in ("pyvenv.cfg", "share/zoneinfo", "share/fonts")]
    executables = {sys.executable, os.path.realpath(sys.executable)}
    if sys.base_prefix != sys.prefix:
        executables |= {getattr(sys, "_base_executable", sys.executable)}
    python += sorted(executables)
    python += [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if os.path.isabs(path)]
    for path in [*folders, *dict.fromkeys(python)]:
        path = os.path.normpath(path)
        if os.path.exists(path) and not any(path == f or path.startswith(f + "/") for f in _shown(shown)):
            shown += ["--ro-bind", path, path]
    shown += _own(_shown(shown))
    return _folders_above([*_shown(shown), "/etc/passwd"]) + shown


def _folders_above(paths: list[str]) -> list[str]:
    """Return the options that make the folders in which others are shown, so that any user may pass through them."""
    above = {str(folder) for path in paths for folder in Path(path).parents} - {"/", "/tmp"}
    inside = [path for path in sorted(above) if not any(path == one or path.startswith(one + "/") for one in paths)]
    return [part for path in inside for part in ("--perms", "0755", "--dir", path)]


def _shown(options: list[str]) -> list[str]:
    return [options[n + 1] for n, option in enumerate(options) if option == "--ro-bind"]


def _own(shown: list[str]) -> list[str]:
    """Return the options that show a worker's part of this package and what learners have of the course, no more."""
    options: list[str] = []
    if any(str(_PACKAGE).startswith(folder + "/") for folder in shown):
        options += ["--perms", "0755", "--tmpfs", str(_PACKAGE)]
        inside = {str(path.parent) for pattern in _OWN_FILES for path in _PACKAGE.glob(pattern)} - {str(_PACKAGE)}
        folders = sorted([*inside, *(f"{folder}/__pycache__" for folder in (str(_PACKAGE), *inside))])
        options += [part for folder in folders for part in ("--perms", "0755", "--dir", folder)]
    for name in _OWN_FOLDERS:
        options += ["--ro-bind", str(_PACKAGE / name), str(_PACKAGE / name)]
    for pattern in _OWN_FILES:
        for path in sorted(_PACKAGE.glob(pattern)):
            cached = importlib.util.cache_from_source(str(path))
            options += [part for one in (str(path), cached) if os.path.exists(one) for part in ("--ro-bind", one, one)]
    spec = importlib.util.find_spec("minagent")
    if spec is not None and spec.origin is not None:
        folder = os.path.dirname(os.path.realpath(spec.origin))
        if not any(folder.startswith(one + "/") for one in shown):
            options += ["--ro-bind", folder, folder]
    return options
