"""Import into Postgres beside import into SQLite: the same files, one after the other, in one run.

PYTHONPATH=tests .venv/bin/python bench/importing_postgres.py [--megabytes 60] [--sessions 300] [--runs 2]

Printed are the seconds that a person waits, with their ratio, and those of processors: of the import and of the server,
which other work on the machine changes little.
"""

import argparse
import contextlib
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psycopg
import psycopg.conninfo

from corpus import write_corpus
from disks import fast_folder
from grown_store import originals, write
from postgres_server import fresh_schema, serve

DATA = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data"))
WHET = Path(sys.executable).with_name("whet")
AIM = 1.5
LARGEST_KB = 579
ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER: what readers took counts too, though nobody waits for them
SIZE = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = '{}'::regnamespace"


class Taken(NamedTuple):
    """How long an import took, the processor seconds of its own and of the server, and how large the database is."""

    seconds: float
    own: float
    server: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=60, help="size of the generated corpus")
    parser.add_argument("--sessions", type=int, default=0, help="so many made from recorded ones of at most 579 kB too")
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    print(
        "| corpus | MB | SQLite s | Postgres s | ratio | SQLite processor s | Postgres | ratio"
        " | SQLite MB | Postgres MB |"
    )
    print(f"|---|{'--:|' * 9}")
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder, serve() as server:
        for name in ("claude_code", "codex"):
            files = sorted((DATA / "samples" / name).glob("*.jsonl"))
            if files:
                row(f"{name} samples", files, server, options.runs)
        if options.sessions:
            write(Path(folder, "grown"), options.sessions, originals(LARGEST_KB))
            row("made from recorded ones", sorted(Path(folder, "grown").rglob("*.jsonl")), server, options.runs)
        corpus = write_corpus(Path(folder), options.megabytes << 20)
        row("generated", corpus, server, options.runs)


def row(name: str, files: list[Path], server: str, runs: int) -> None:
    size = sum(path.stat().st_size for path in files) / 1e6
    found = [(on_sqlite(files), on_postgres(files, server)) for _ in range(runs)]
    ratio = median(theirs.seconds / ours.seconds for ours, theirs in found)
    ours, theirs = min(each[0] for each in found), min(each[1] for each in found)
    least = min(each.own for each, _ in found)
    spent = min((each for _, each in found), key=lambda each: each.own + each.server)
    verdict = "" if ratio <= AIM else f" (above {AIM})"
    cells = (
        f"{size:.1f} | {ours.seconds:.1f} | {theirs.seconds:.1f} | {ratio:.2f}{verdict}",
        f"{least:.2f} | {spent.own:.2f} + {spent.server:.2f} | {(spent.own + spent.server) / least:.2f}",
        f"{ours.megabytes:.1f} | {theirs.megabytes:.1f}",
    )
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def on_sqlite(files: list[Path]) -> Taken:
    with tempfile.TemporaryDirectory(dir=fast_folder()) as home:
        seconds, own = alone(files, {"WHET_HOME": home})
        return Taken(seconds, own, 0.0, sum(path.stat().st_size for path in Path(home).glob("whet.db*")) / 1e6)


def on_postgres(files: list[Path], server: str) -> Taken:
    with tempfile.TemporaryDirectory(dir=fast_folder()) as home, fresh_schema(server, "bench") as url:
        before = server_seconds(server)
        seconds, own = alone(files, {"WHET_HOME": home, "WHET_DATABASE_URL": url})
        spent = server_seconds(server) - before
        with psycopg.connect(server) as connection:
            [(size,)] = connection.execute(SIZE.format("bench").encode()).fetchall()
        return Taken(seconds, own, spent, float(size) / 1e6)


def server_seconds(server: str) -> float:
    """Processor seconds of the server's processes so far, those that have ended included."""
    folder = psycopg.conninfo.conninfo_to_dict(server)["host"]
    main = int(Path(str(folder), "data", "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
    ticks = sum(
        sum(map(int, _times(process)[: 4 if process == str(main) else 2])) for process in (str(main), *children)
    )
    return ticks / os.sysconf("SC_CLK_TCK")


def _times(process: str) -> list[str]:
    """In user and system mode, then the same of children that have ended."""
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[11:15]


def alone(files: list[Path], variables: dict[str, str]) -> tuple[float, float]:
    """Import in a process that has no other children; those of the import become its own when they are orphaned."""
    with ProcessPoolExecutor(1, initializer=ctypes.CDLL(None).prctl, initargs=(ADOPT_ORPHANS, 1, 0, 0, 0)) as pool:
        return pool.submit(imported, files, variables).result()


def imported(files: list[Path], variables: dict[str, str]) -> tuple[float, float]:
    """The seconds that the import took, and its processor seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [WHET, "import", "--json", *map(str, files)],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        check=True,
    )
    seconds = time.perf_counter() - began
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not json.loads(done.stdout)["imported"]:
        sys.exit("nothing was imported")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
