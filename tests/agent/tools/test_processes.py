"""Processes without a supervisor, as on macOS: what they leave in their group ends with them."""

import os
import threading
from pathlib import Path

from patience import PATIENCE_SECONDS, until
from whet.agent.tools.processes import Launch, Process


def test_what_a_command_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        # What is left behind holds the pipe open and nothing else: its end is the end of the pipe.
        left = f'(echo begun; exec sleep 100000) > "{pipe}" 2>/dev/null &'
        script = f'{left} until [ -s "{tmp_path}/go" ]; do sleep 0.01; done'
        process = Process(Launch(("/bin/sh", "-c", script), (), dict(os.environ), tmp_path), script, limit=1_000)
        until(lambda: _read(reader) == b"begun\n")
        (tmp_path / "go").write_text("go")
        assert process.wait(PATIENCE_SECONDS, threading.Event()) == "done"
        assert process.exit_code == 0
        until(lambda: _read(reader) == b"")
    finally:
        os.close(reader)


def _read(descriptor: int) -> bytes | None:
    """What is in the pipe: None for nothing yet, and no bytes where nobody can write to it any more."""
    try:
        return os.read(descriptor, 100)
    except BlockingIOError:
        return None
