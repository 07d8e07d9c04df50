"""A run that leaves the sandbox untested says so in its last lines."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ESCAPES = str(Path(__file__).parent / "agent" / "tools" / "test_escapes.py")


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("bash") is None, reason="sandboxes are Linux's")
def test_a_run_without_bubblewrap_says_what_it_skipped(tmp_path: Path) -> None:
    (tmp_path / "bash").symlink_to(str(shutil.which("bash")))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", ESCAPES, "-k", "bubblewrap and (appending or removing)"],
        env={**environment, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    *_, said, counted = done.stdout.splitlines()
    assert said == "2 sandbox tests were skipped: bubblewrap is not installed"
    assert counted.startswith("2 skipped")
