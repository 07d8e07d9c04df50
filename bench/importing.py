"""Import speed: the whole path (parse, redact, hash, store, index) beside `json.loads` alone over the same bytes.

.venv/bin/python bench/importing.py [--megabytes 500]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from corpus import write_corpus

DATA = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data"))
WHET = Path(sys.executable).with_name("whet")
AIM = 0.25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=500, help="size of the generated corpus")
    options = parser.parse_args()
    print(f"{'corpus':<24}{'MB':>7}{'json.loads MB/s':>17}{'whet MB/s':>11}{'ratio':>8}{'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("claude_code", "codex"):
            if (DATA / "samples" / name).exists():
                row(f"{name} samples", sorted((DATA / "samples" / name).glob("*.jsonl")))
        row(f"generated {options.megabytes} MB", write_corpus(Path(folder), options.megabytes << 20))


def row(name: str, files: list[Path]) -> None:
    size = sum(path.stat().st_size for path in files) / 1e6
    loads = size / parse_only(files)
    seconds, peak = whole_path(files)
    ratio = size / seconds / loads
    verdict = "" if ratio >= AIM else f"  (below {AIM})"
    print(
        f"{name:<24}{size:>7.1f}{loads:>17.1f}{size / seconds:>11.1f}{ratio:>8.2f}{peak / 1e6:>9.0f}{verdict}",
        flush=True,
    )


def parse_only(files: list[Path]) -> float:
    began = time.perf_counter()
    for path in files:
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
    return time.perf_counter() - began


def whole_path(files: list[Path]) -> tuple[float, int]:
    """Seconds of `whet import` from start to end, and the peak memory of all of its processes together."""
    with tempfile.TemporaryDirectory() as home:
        listed = [str(path) for path in files]
        began = time.perf_counter()
        process = subprocess.Popen(
            [WHET, "import", "--json", *listed], env={**os.environ, "WHET_HOME": home}, stdout=subprocess.PIPE
        )
        peak = [0]
        watcher = threading.Thread(target=_watch, args=(process, peak), daemon=True)
        watcher.start()
        output, _ = process.communicate()
        seconds = time.perf_counter() - began
        report = json.loads(output)
        if not report["imported"]:
            sys.exit(f"nothing was imported: {report}")
        return seconds, peak[0]


def _watch(process: subprocess.Popen[bytes], peak: list[int]) -> None:
    while process.poll() is None:
        peak[0] = max(peak[0], sum(_resident(each) for each in _family(process.pid)))
        time.sleep(0.1)


def _family(root: int) -> list[int]:
    """A process and all that descend from it."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
    family = [root]
    for found in family:
        family += [child for child, parent in parents.items() if parent == found]
    return family


def _resident(process: int) -> int:
    """Memory of a process without what it shares with its family."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


if __name__ == "__main__":
    main()
