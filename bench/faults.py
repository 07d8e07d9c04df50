"""Whether every write of state leaves the old state or the new one, beside the original's way in the same run.

.venv/bin/python bench/faults.py [--kills 200] [--only WORDS] [--every 1]

1. A fault at every system call that touches state: kill -9, ENOSPC, EIO, EROFS, put there by strace (Debian:
   `apt-get install strace`). 2. Kills at random times. 3. Eight processes at once. It fails if anything of Whet's
is torn, lost, unlogged, or stuck.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fault_crowds import crowd_original, crowd_whet
from fault_injection import FAULTS, Result, inject_everywhere
from fault_kills import kill_original, kill_whet
from fault_operations import SIDES, Tally

WRONG = ("torn", "disagreement", "lost", "stuck")
SEED = 4
QUICK = Path("/dev/shm")  # the same system calls, without the waiting of a real disk


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="kills at random times; 1000 for the full count")
    parser.add_argument("--only", default="", help="only operations whose name holds this")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th system call")
    parser.add_argument("--skip-injection", action="store_true")
    options = parser.parse_args()
    failed = 0
    if not options.skip_injection:
        with tempfile.TemporaryDirectory(prefix="whet-faults-", dir=QUICK if QUICK.is_dir() else None) as name:
            failed += injections(Path(name), options)
    if not options.only:
        with tempfile.TemporaryDirectory(prefix="whet-faults-") as name:
            failed += crowds(Path(name), options.kills)
    sys.exit(bool(failed))


def injections(work: Path, options: argparse.Namespace) -> int:
    if shutil.which("strace") is None:
        print("strace is not installed: apt-get install strace. Faults in system calls were NOT tried.")
        return 1
    print(f"1. One fault in one system call: {', '.join(FAULTS)}")
    print(f"   {'':<34}{'calls':>6}{'faults':>8}{'old':>6}{'new':>6}{'torn':>6}{'disagree':>10}{'lost':>6}{'stuck':>7}")
    failed = 0
    totals: dict[str, Counter[str]] = {}
    for side, operations in SIDES.items():
        for number, operation in enumerate(operations):
            if options.only not in operation.name:
                continue
            results = list(inject_everywhere(operation, work / f"{side}-{number}", every=options.every))
            row = _counts(results)
            totals.setdefault(side, Counter()).update(row)
            _print(f"{side}: {operation.name}", row)
            _explain(results if side == "whet" else ())
            failed += sum(row[word] for word in WRONG) if side == "whet" else 0
    for side, row in totals.items():
        _print(f"{side}: all", row)
    return failed


def crowds(work: Path, kills: int) -> int:
    columns = f"{'tries':>8}{'done':>8}{'torn':>6}{'lost':>6}{'unlogged':>10}{'other':>7}{'seconds':>9}"
    print(f"\n2. {kills} kills at random times, and 3. eight processes at once")
    print(f"   {'':<28}{columns}")
    failed = 0
    runs: tuple[tuple[str, Callable[[], Tally]], ...] = (
        ("whet: killed", lambda: kill_whet(work / "kills", kills, seed=SEED)),
        ("original: killed", lambda: kill_original(work / "kills", kills, seed=SEED)),
        ("whet: 8 processes", lambda: crowd_whet(work)),
        ("original: 8 processes", lambda: crowd_original(work)),
    )
    for title, run in runs:
        began = time.perf_counter()
        tally = run()
        seconds = time.perf_counter() - began
        other = sum(count for word, count in tally.wrong.items() if word not in ("torn", "lost", "unlogged"))
        print(
            f"   {title:<28}{tally.tries:>8,}{tally.acknowledged:>8,}{tally.wrong['torn']:>6}{tally.wrong['lost']:>6}"
            f"{tally.wrong['unlogged']:>10}{other:>7}{seconds:>9.1f}{_looks(tally)}"
        )
        failed += sum(tally.wrong.values()) if title.startswith("whet") else 0
    return failed


def _counts(results: list[Result]) -> Counter[str]:
    row = Counter(result.wrong for result in results if result.wrong)
    row.update(result.state for result in results if result.wrong in ("", "traceback"))
    row["faults"] = len(results)
    row["calls"] = len({result.point for result in results})
    return row


def _print(title: str, row: Counter[str]) -> None:
    words = (row["calls"], row["faults"], row["old"], row["new"], row["torn"], row["disagreement"], row["lost"])
    widths = (6, 8, 6, 6, 6, 10, 6)
    cells = "".join(f"{word:>{width},}" for word, width in zip(words, widths, strict=True))
    rest = f"  ({row['missed']} missed)" if row["missed"] else ""
    print(f"   {title:<34}{cells}{row['stuck']:>7,}{rest}", flush=True)


def _explain(results: list[Result] | tuple[()]) -> None:
    shown: Counter[tuple[str, str]] = Counter()
    for result in results:
        if result.wrong and not shown[(result.wrong, result.point.call)]:
            last = result.detail.strip().splitlines()[-1:] or [""]
            print(f"      {result.wrong} at {result.point.call} {result.point.number}, {result.fault}: {last[0][:140]}")
        shown[(result.wrong, result.point.call)] += 1


def _looks(tally: Tally) -> str:
    return f"   ({tally.looks:,} looks of a reader meanwhile)" if tally.looks else ""


if __name__ == "__main__":
    main()
