"""git, asked so that nothing a repository configures is run, and so that it never takes long."""

import os
import subprocess
import threading
from pathlib import Path

QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false")
SURROUNDINGS = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
AMBIENT = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")
MOST_BYTES = 100_000_000


def surroundings() -> dict[str, str]:
    """The environment of a git that asks nothing and belongs to no other repository."""
    return {name: value for name, value in os.environ.items() if name not in AMBIENT} | SURROUNDINGS


def output_of(folder: Path, *args: str, seconds: float, given: bytes = b"") -> tuple[bytes, bool]:
    """What git prints, of very much the beginning, and whether that is all; nothing where there is no git."""
    try:
        running = subprocess.Popen(
            ["git", *QUIET, "-C", str(folder), *args], env=surroundings(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return b"", False
    stopping = threading.Timer(seconds, running.kill)
    stopping.start()
    writing = threading.Thread(target=_give, args=(running, given), daemon=True)
    writing.start()  # beside reading, for both pipes may be full
    try:
        assert running.stdout is not None
        body = running.stdout.read(MOST_BYTES)
        running.kill() if len(body) == MOST_BYTES else None
        code = running.wait()
    finally:
        stopping.cancel()
        running.stdout.close() if running.stdout else None
        writing.join()
    return body, code == 0


def _give(running: "subprocess.Popen[bytes]", given: bytes) -> None:
    assert running.stdin is not None
    try:
        with running.stdin as pipe:
            pipe.write(given)
    except BrokenPipeError:  # it ended before it read all
        return
