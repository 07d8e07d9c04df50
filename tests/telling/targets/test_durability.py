"""A write of state that is killed, or that finds the disk full, leaves the old state or the new one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lengths import long

WORKER = Path(__file__).with_name("durability_worker.py")


SAMPLE = {("note", "kill"), ("skill", "full")}
ALL = [(operation, harm) for harm in ("kill", "full") for operation in ("rule", "note", "skill", "undo", "sync")]


@pytest.mark.parametrize(
    ("operation", "harm"), [pytest.param(*each, marks=() if each in SAMPLE else long) for each in ALL]
)
def test_state_is_old_or_new_whatever_happens(operation: str, harm: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, WORKER, operation, harm, tmp_path], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    report = json.loads(done.stdout)
    assert report["differ"]
    assert report["points"] >= 3
    assert report["faults"] == []
