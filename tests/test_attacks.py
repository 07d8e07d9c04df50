"""No area of bench/attacks.py lets anything through, and none is out of date; those that take long run in part."""

import subprocess
import sys
from pathlib import Path

import pytest

from lengths import long

ROOT = Path(__file__).parents[1]
EVERY = {"approval": 40, "machine": 6, "spelled": 30, "team": 7, "walls": 25}  # all of them together by hand
AREAS = sorted(path.stem.removeprefix("attacks_") for path in (ROOT / "bench").glob("attacks_*.py"))


@long
@pytest.mark.parametrize("area", AREAS)
def test_no_attack_of_an_area_gets_through(area: str) -> None:
    command = [sys.executable, str(ROOT / "bench" / "attacks.py"), "--every", str(EVERY.get(area, 1)), area]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n") > 2
