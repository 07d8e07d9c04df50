"""Import into Postgres beside import into SQLite: the same files, one after the other, in one run.

PYTHONPATH=tests .venv/bin/python bench/importing_postgres.py [--megabytes 60] [--runs 2]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psycopg

from corpus import write_corpus
from disks import fast_folder
from postgres_server import fresh_schema, serve

DATA = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data"))
WHET = Path(sys.executable).with_name("whet")
AIM = 1.5
SIZE = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = '{}'::regnamespace"


class Taken(NamedTuple):
    """How long an import took, and how large the database is afterwards."""

    seconds: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=60, help="size of the generated corpus")
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    print(f"{'corpus':<24}{'MB':>7}{'SQLite s':>10}{'Postgres s':>12}{'ratio':>7}{'SQLite MB':>11}{'Postgres MB':>13}")
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder, serve() as server:
        for name in ("claude_code", "codex"):
            files = sorted((DATA / "samples" / name).glob("*.jsonl"))
            if files:
                row(f"{name} samples", files, server, options.runs)
        corpus = write_corpus(Path(folder), options.megabytes << 20)
        row(f"generated {options.megabytes} MB", corpus, server, options.runs)


def row(name: str, files: list[Path], server: str, runs: int) -> None:
    size = sum(path.stat().st_size for path in files) / 1e6
    found = [(on_sqlite(files), on_postgres(files, server)) for _ in range(runs)]
    ratio = median(theirs.seconds / ours.seconds for ours, theirs in found)
    ours, theirs = min(each[0] for each in found), min(each[1] for each in found)
    verdict = "" if ratio <= AIM else f"  (above {AIM})"
    print(
        f"{name:<24}{size:>7.1f}{ours.seconds:>10.1f}{theirs.seconds:>12.1f}{ratio:>7.2f}{ours.megabytes:>11.1f}"
        f"{theirs.megabytes:>13.1f}{verdict}",
        flush=True,
    )


def on_sqlite(files: list[Path]) -> Taken:
    with tempfile.TemporaryDirectory(dir=fast_folder()) as home:
        seconds = imported(files, {"WHET_HOME": home})
        return Taken(seconds, sum(path.stat().st_size for path in Path(home).glob("whet.db*")) / 1e6)


def on_postgres(files: list[Path], server: str) -> Taken:
    with tempfile.TemporaryDirectory(dir=fast_folder()) as home, fresh_schema(server, "bench") as url:
        seconds = imported(files, {"WHET_HOME": home, "WHET_DATABASE_URL": url})
        with psycopg.connect(server) as connection:
            [(size,)] = connection.execute(SIZE.format("bench").encode()).fetchall()
        return Taken(seconds, float(size) / 1e6)


def imported(files: list[Path], variables: dict[str, str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(
        [WHET, "import", "--json", *map(str, files)],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        check=True,
    )
    seconds = time.perf_counter() - began
    if not json.loads(done.stdout)["imported"]:
        sys.exit("nothing was imported")
    return seconds


if __name__ == "__main__":
    main()
