"""What an install costs: a fresh environment each time, size and CPU seconds of `pip install .` and its extras.

.venv/bin/python bench/install.py [--extras "" work postgres] [--runs 3]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Install(NamedTuple):
    """What one install took and left."""

    cpu_seconds: float
    wall_seconds: float
    megabytes: float
    packages: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", nargs="*", default=["", "postgres", "work", "web,work,mcp"])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    found: dict[str, list[Install]] = {extras: [] for extras in options.extras}
    for _ in range(options.runs):
        for extras in options.extras:
            found[extras].append(installed(f"{ROOT}[{extras}]" if extras else str(ROOT)))
    print(f"{'extras':<18}{'MB':>6}{'packages':>10}{'CPU s':>8}{'wall s':>8}   (median of {options.runs}, in turns)")
    for extras, runs in found.items():
        size, cpu, wall = (
            statistics.median(values) for values in zip(*((r[2], r[0], r[1]) for r in runs), strict=True)
        )
        print(f"{extras or 'plain':<18}{size:>6.0f}{runs[0].packages:>10}{cpu:>8.1f}{wall:>8.1f}")


def installed(what: str) -> Install:
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        [packages] = Path(folder).glob("lib/python*/site-packages")
        python, before, begun, used = f"{folder}/bin/python", weight(packages), time.perf_counter(), children_seconds()
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        subprocess.run([*pip, what], check=True, stdout=sys.stderr)
        wall, cpu = time.perf_counter() - begun, children_seconds() - used
        count = len(list(packages.glob("*.dist-info"))) - 2  # pip and setuptools were there
        return Install(cpu, wall, (weight(packages) - before) / 1e6, count)


def weight(folder: Path) -> int:
    """Bytes on the disk, as `du` counts them."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    main()
