"""Packages find their data files on the fake disk, nobody can write there, and none of it is part of an image."""

# ruff: noqa: SIM115

import errno
import os
import sysconfig
import zoneinfo
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import grader
from grader.crash import Disk

STDLIB = sysconfig.get_paths()["stdlib"]
MODULE = STDLIB + "/this.py"


@pytest.fixture
def disk() -> Iterator[Disk]:
    real = os.path.getsize(MODULE)
    with Disk() as made:
        yield made
        assert made.recording().operations == () or os.path.getsize(MODULE) == real
        assert all(path.startswith(("/crash-disk", "/tmp")) for path in made.image().files())


def test_files_of_the_standard_library_are_read(disk: Disk) -> None:
    import importlib.resources

    assert "Gur Mra" in open(MODULE, encoding="utf-8").read()
    assert Path(MODULE).stat().st_size == os.lstat(MODULE).st_size == len(Path(MODULE).read_bytes())
    assert "this.py" in os.listdir(STDLIB)
    assert any(entry.name == "json" and entry.is_dir() for entry in os.scandir(STDLIB))
    assert sorted(path.name for path in Path(STDLIB, "json").glob("*.py"))[0] == "__init__.py"
    assert "class" in importlib.resources.files("email").joinpath("charset.py").read_text(encoding="utf-8")
    assert zoneinfo.ZoneInfo("UTC").key == "UTC"
    assert disk.recording().operations == () and disk.recording().escapes == ()


def test_what_packages_bring_is_read(disk: Disk) -> None:
    import importlib.metadata

    assert importlib.metadata.version("pyfakefs")


WRITES: list[Callable[[], object]] = [
    lambda: open(MODULE, "w"),
    lambda: open(MODULE, "r+"),
    lambda: open(STDLIB + "/json/new.txt", "x"),
    lambda: os.open(MODULE, os.O_RDONLY | os.O_TRUNC | os.O_WRONLY),
    lambda: os.remove(MODULE),
    lambda: os.rename(MODULE, "mine.py"),
    lambda: os.replace("mine.txt", MODULE),
    lambda: os.link(MODULE, "mine.py"),
    lambda: os.truncate(MODULE, 0),
    lambda: os.chmod(MODULE, 0o600),
    lambda: os.utime(MODULE),
    lambda: os.mkdir(STDLIB + "/new"),
    lambda: os.rmdir(STDLIB + "/json"),
    lambda: os.symlink("a", STDLIB + "/link"),
    lambda: Path(STDLIB, "new").touch(),
]


@pytest.mark.parametrize("write", WRITES)
def test_nothing_is_written_there(disk: Disk, write: Callable[[], object]) -> None:
    Path("mine.txt").write_text("mine")
    before = disk.recording().operations
    with pytest.raises(OSError) as raised:
        write()
    assert raised.value.errno in (errno.EROFS, errno.ENOENT, errno.EXDEV, errno.ENOTEMPTY)
    assert disk.recording().operations == before
    assert "Gur Mra" in Path(MODULE).read_text()


def test_what_is_not_pythons_is_not_there(disk: Disk) -> None:
    assert not os.path.exists("/etc/passwd")
    assert not os.path.exists("/usr/bin/env") or sysconfig.get_config_var("base") == "/usr"
    assert not os.path.exists(os.path.dirname(grader.__file__))
    assert not os.path.exists(os.path.abspath(os.path.join(os.path.dirname(grader.__file__), "..", "pyproject.toml")))
    assert os.listdir("/") == ["crash-disk", "tmp"] or set(os.listdir("/")) >= {"crash-disk", "tmp"}


def test_a_folder_of_ones_own_may_lie_above_pythons(disk: Disk) -> None:
    above = "/" + STDLIB.split("/")[1]
    os.makedirs(above + "/mine")
    Path(above, "mine", "checkpoint.json").write_text("{}")
    assert Path(above, "mine", "checkpoint.json").read_text() == "{}"
    assert "Gur Mra" in Path(MODULE).read_text()
    os.remove(above + "/mine/checkpoint.json")


def test_file_io_is_a_type(disk: Disk) -> None:
    import io

    with disk.patcher.fake_modules["io"].FileIO("a.bin", "w") as raw:
        assert isinstance(raw, disk.patcher.fake_modules["io"].FileIO)
    assert not isinstance(io.BytesIO(), disk.patcher.fake_modules["io"].FileIO)
    os.remove("a.bin")
