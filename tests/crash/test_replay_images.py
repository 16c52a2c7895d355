"""The images along a recording are those that replaying from the start makes, and share what does not change."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.crash import Disk, Mark
from grader.crash.operations import Write
from grader.crash.replay import images_along, replay, step


def in_place() -> None:
    for text in ("one", "longer text"):
        with open("state.json", "w") as file:
            file.write(text)


def replaced() -> None:
    os.makedirs("a/b")
    Path("a/b/new.tmp").write_text("x" * 20_000)
    os.replace("a/b/new.tmp", "state.json")
    os.symlink("state.json", "latest")
    os.link("state.json", "twin")
    os.truncate("twin", 10)
    os.chmod("twin", 0o600)
    os.rename("a", "c")
    os.unlink("latest")
    os.rmdir("c/b")


def nameless() -> None:
    if not hasattr(os, "O_TMPFILE"):
        pytest.skip("no O_TMPFILE here")
    descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR)
    os.write(descriptor, b"whole")
    os.link(f"/proc/self/fd/{descriptor}", "state.json", src_dir_fd=0)
    os.close(descriptor)


@pytest.mark.parametrize("save", [in_place, replaced, nameless])
def test_every_image_is_what_replaying_gives(save: Callable[[], None]) -> None:
    with Disk() as disk:
        disk.mark("begin")
        save()
        last = disk.image()
    recording = disk.recording()
    found = images_along(recording)
    assert len(found) == len(recording.operations) + 1
    for number, image in enumerate(found):
        replayed = replay(recording, number).image()
        assert image.fingerprint() == replayed.fingerprint()
    assert found[-1].fingerprint() == last.fingerprint()
    for before, image, operation in zip(found, found[1:], recording.operations, strict=False):
        if isinstance(operation, Mark):
            assert image is before
        if isinstance(operation, Write):
            half = len(operation.data) // 2
            assert step(before, operation).fingerprint() == image.fingerprint()
            whole = step(before, operation, half).inodes.get(operation.inode)
            assert whole is None or len(whole.data) <= max(len(operation.data), operation.offset + half)
