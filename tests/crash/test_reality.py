"""The images a kill is said to leave, against those that real kills leave on the real disk."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import kernel
import pytest
import saves
from thorough import one_in

from grader.crash import ROOT, Disk, Image, Inode
from grader.crash.operations import Fsync, Mark, SyncAll, Write
from grader.crash.replay import replay

REAL = [save.name for save in saves.SAVES if save.real]
SIZES = (1_000, 40_000)
CALLS = ",".join(c for c in kernel.CHANGING.split(",") if c not in ("fsync", "fdatasync", "sync"))
Tree = dict[str, tuple[str, int, bytes | str]]


def test_there_are_enough_of_them():
    assert len(REAL) >= 40


def tree_of_folder(folder: Path) -> Tree:
    found: Tree = {}
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = Path(place, name)
            shown, mode = kernel.plain(str(path.relative_to(folder))), path.lstat().st_mode
            if stat.S_ISLNK(mode):
                found[shown] = ("symlink", 0, os.readlink(path))
            elif stat.S_ISDIR(mode):
                found[shown] = ("directory", mode & 0o7777, b"")
            else:
                found[shown] = ("file", mode & 0o7777, path.read_bytes())
    return found


def tree_of_image(image: Image, numbers: dict[str, int] | None = None) -> Tree:
    """What lies below the working directory; the inode of each file goes into ``numbers``."""
    found: Tree = {}
    stack = [("", image.find(ROOT))]
    while stack:
        path, number = stack.pop()
        assert number is not None
        inode = image.inodes[number]
        if inode.kind == "directory":
            stack += [(f"{path}/{name}" if path else name, child) for name, child in inode.entries.items()]
            if path:
                found[kernel.plain(path)] = ("directory", inode.mode, b"")
        elif inode.kind == "symlink":
            found[kernel.plain(path)] = ("symlink", 0, inode.target)
        else:
            found[kernel.plain(path)] = ("file", inode.mode, inode.data)
            if numbers is not None:
                numbers[kernel.plain(path)] = number
    return found


def image_of_folder(folder: Path) -> Image:
    """What the first save left, as the initial image of the fake disk."""
    tree = tree_of_folder(folder)
    image = Image.of(
        {
            path + ("/" if kind == "directory" else ""): data
            for path, (kind, _, data) in tree.items()
            if kind != "symlink"
        },
        cwd=ROOT,
    )
    inodes = dict(image.inodes)
    for path, (kind, mode, target) in tree.items():
        if kind == "symlink":
            number, parent = max(inodes) + 1, image.find(os.path.dirname(path) or ".")
            inodes[number] = Inode("symlink", target=target)
            entries = {**inodes[parent].entries, os.path.basename(path): number}
            inodes[parent] = Inode("directory", entries=entries, mode=inodes[parent].mode, mtime=inodes[parent].mtime)
        else:
            number = image.find(path)
            old = inodes[number]
            inodes[number] = Inode(kind, data=old.data, entries=inodes[number].entries, mode=mode, mtime=old.mtime)
    return Image(inodes, image.top, image.cwd)


class Predicted:
    """All images of a kill, asked whether a tree is one of them."""

    def __init__(self, recording) -> None:
        self.operations = recording.operations
        self.boundaries, self.named = [], []
        for count in range(len(self.operations) + 1):
            snapshot = replay(recording, count)
            numbers: dict[str, int] = {}
            self.boundaries.append(tree_of_image(snapshot.image(), numbers))
            following = self.operations[count] if count < len(self.operations) else None
            written = following.inode if isinstance(following, Write) else None
            self.named.append([name for name, number in numbers.items() if number == written])

    def holds(self, tree: Tree) -> bool:
        return tree in self.boundaries or any(self._within(tree, count) for count in range(len(self.operations)))

    def holds_short(self, tree: Tree, limit: int) -> bool:
        """Whether this is an image with a file cut at the limit.

        At its limit the kernel first writes a part and says so; CPython may keep the rest in its buffer, and the
        program goes on until its next write. A kill does not do that: this is the way of killing, not the prediction.
        """
        return any(
            tree == {path: (kind, mode, data[:limit]) for path, (kind, mode, data) in boundary.items()}
            for boundary in self.boundaries
        )

    def _within(self, tree: Tree, count: int) -> bool:
        names, before, write = self.named[count], self.boundaries[count], self.operations[count]
        if not names or tree.keys() != before.keys():
            return False
        path = names[0]
        if any(tree[other] != before[other] for other in tree if other not in names):
            return False
        if any(tree[name] != tree[path] for name in names) or tree[path][:2] != before[path][:2]:
            return False
        base, found = before[path][2], tree[path][2]
        cuts = [len(found) - write.offset] if len(found) > len(base) else range(len(write.data))
        for cut in cuts:
            grown = base + bytes(max(0, write.offset - len(base)))
            if 0 <= cut < len(write.data) and found == (
                grown[: write.offset] + write.data[:cut] + grown[write.offset + cut :]
            ):
                return True
        return False


def recorded(name: str, size: int, base: Path):
    with Disk(image_of_folder(base), tmp_elsewhere=False) as disk:
        saves.BY_NAME[name].save(saves.state(2, size))
        return disk.recording()


@pytest.mark.parametrize("part", one_in(4, range(8)))
def test_a_real_kill_leaves_what_was_predicted(part, tmp_path):
    """Every leftover is among the predicted images, and every predicted operation boundary is reached by a kill."""
    jobs = [(name, size) for name in REAL[part::8] for size in SIZES]
    program = [sys.executable, "-B", "-I", str(kernel.HERE / "real_saves.py"), str(tmp_path), json.dumps(jobs)]
    told = subprocess.run(
        [*program, kernel.STRACE or "", CALLS], capture_output=True, text=True, timeout=240, check=False
    )
    assert told.returncode == 0, told.stderr
    done = json.loads((tmp_path / "done.json").read_text())
    by_call = [entry for entry in done if entry[2] == "call"]
    assert sum(1 for entry in done if entry[2] == "byte" and entry[4]) > 5 * len(jobs) // 2
    wrong = []
    for name, size in jobs:
        recording = recorded(name, size, tmp_path / f"{name}-{size}")
        predicted = Predicted(recording)
        reached = []
        for _, _, how, folder, died in [entry for entry in done if entry[:2] == [name, size]]:
            tree = tree_of_folder(tmp_path / folder)
            if how == "call":
                reached.append(tree)
                if not died and not folder.endswith("-whole"):
                    wrong.append(f"{folder} did not die")
            elif not died:
                continue  # a short write that the save took for a whole one: not a crash
            short = (
                how == "byte"
                and name == "replace_before_close"
                and predicted.holds_short(tree, int(folder.split("-")[-1]))
            )
            if not predicted.holds(tree) and not short:
                wrong.append(f"{name}, {size} bytes, killed at {how}: {sizes(tree)} is not predicted")
        if by_call:
            wrong += [
                f"{name}, {size} bytes: no kill reached {sizes(tree)}, after {operation}"
                for tree, operation in zip(predicted.boundaries, [None, *recording.operations], strict=True)
                if not isinstance(operation, (Mark, Fsync, SyncAll)) and tree not in reached
            ]
    assert wrong == []
    if not by_call:
        pytest.skip("strace is not installed or can't trace here: only RLIMIT_FSIZE kills were compared")


def sizes(tree: Tree) -> dict[str, int | str]:
    return {path: len(data) if kind == "file" else kind for path, (kind, _, data) in tree.items()}
