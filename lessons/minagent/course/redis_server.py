"""A Redis server of one's own for a lesson or a test: on the loopback only, nothing on disk, gone with its process."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Any

# The server runs under a small keeper, which ends it as soon as the pipe from us closes: also when we are killed.
KEEPER = """
import subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
sys.stdin.read()
server.kill()
server.wait()
"""
TRIES = 5


class NoRedis(Exception):
    """There is no Redis here; the sentence says what is missing."""


@dataclass
class RedisServer:
    """A running server: a client that is connected to it, and where it listens."""

    client: Any
    port: int
    _keeper: subprocess.Popen[str]
    _folder: tempfile.TemporaryDirectory[str] = field(repr=False)

    def stop(self) -> None:
        """End the server, with everything in it."""
        self.client.close()
        _end(self._keeper)
        self._folder.cleanup()


def start_redis() -> RedisServer:
    """Start a server on a free port of the loopback; raise NoRedis when the server or its client is not installed."""
    try:
        import redis
    except ImportError:
        raise NoRedis("The Python package redis is not installed (pip install redis).") from None
    program = shutil.which("redis-server")
    if program is None:
        raise NoRedis("The program redis-server is not installed (Debian and Ubuntu: apt install redis-server).")
    folder = tempfile.TemporaryDirectory(prefix="redis-")
    for _ in range(TRIES):
        port = _free_port()
        nothing_on_disk = ["--save", "", "--appendonly", "no", "--dir", folder.name]
        command = [program, "--bind", "127.0.0.1", "--port", str(port), *nothing_on_disk]
        keeper = subprocess.Popen(
            [sys.executable, "-c", KEEPER, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if _ready(keeper):
            return RedisServer(redis.Redis(host="127.0.0.1", port=port), port, keeper, folder)
        _end(keeper)
    folder.cleanup()
    raise NoRedis(f"redis-server did not start in {TRIES} tries.")


def _free_port() -> int:
    """Ask for a free port. Somebody can take it before the server does; then we try again."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _ready(keeper: subprocess.Popen[str]) -> bool:
    assert keeper.stdout is not None
    for line in keeper.stdout:
        if "eady to accept connections" in line:
            return True
        if "ould not create server" in line or "atal" in line or "Failed" in line:
            return False
    return False


def _end(keeper: subprocess.Popen[str]) -> None:
    keeper.communicate(timeout=60)  # closes the pipe, and the keeper ends the server
