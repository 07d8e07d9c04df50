"""What starting costs: `whet --help` and `import whet` beside `python -c pass`, taken in turns in one run.

.venv/bin/python bench/startup.py [--runs 40]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AIM = 4.0
WHET = Path(sys.executable).with_name("whet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "WHET_HOME": home}
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import whet": [sys.executable, "-c", "import whet"],
            "whet --help": [str(WHET), "--help"],
            "whet sessions (empty store)": [str(WHET), "sessions"],
        }
        for command in commands.values():
            taken(command, environment)  # byte code and file cache are warm for all of them
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.runs):
            for name, command in commands.items():
                times[name].append(taken(command, environment))
    base = statistics.median(times["python -c pass"])
    print(f"{'command':<30}{'median ms':>11}{'ratio':>8}   ({options.runs} runs each, in turns)")
    for name, found in times.items():
        print(f"{name:<30}{statistics.median(found):>11.1f}{statistics.median(found) / base:>8.2f}")
    ratio = statistics.median(times["whet --help"]) / base
    print(f"whet --help costs {ratio:.2f} × python -c pass; the aim is at most {AIM:g}")
    sys.exit(ratio > AIM)


def taken(command: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    main()
