"""The areas of bench/attacks.py that are quick run whole: nothing gets through, and none is out of date."""

import subprocess
import sys
from pathlib import Path

import pytest

from lengths import long

ROOT = Path(__file__).parents[1]


@long
@pytest.mark.parametrize("area", ["arrivals", "lineage", "refusals", "speakers", "words"])
def test_no_attack_of_an_area_gets_through(area: str) -> None:
    command = [sys.executable, str(ROOT / "bench" / "attacks.py"), area]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n") > 2
