"""Measures redaction: recall on planted secrets by format and context, altered clean strings, and speed.

The rules were tuned on the first seed in the tuned contexts; the held-out contexts were written before and first run
when the rules were done; the later contexts were written after that, and mended once for what they had shown (99.5 %
in their first run). All three are by the author of the rules, who knew of line numbers and diffs around private keys,
so other people's text will do worse. Clean text is every string of the real sessions
and samples in the data folder, the source files of this Python's library in pieces of 2,000 characters, and a list of
things that look like secrets and are none.

    python bench/redaction.py [--data FOLDER] [--show]
"""

import argparse
import gzip
import json
import os
import random
import sysconfig
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from redaction_plants import (
    COLOURED,
    COMMAND_LINES,
    FORMATS,
    HARD_NEGATIVES,
    HELD_OUT,
    LATER,
    TUNED,
    Context,
    Planted,
    password,
    planted,
)
from whet.secrets.redactor import Redactor

TUNING_SEED, FRESH_SEED, LATER_SEED = 1, 20_240_917, 77
SAMPLES_PER_CELL = 5
PIECE_CHARACTERS = 2_000
LIBRARY_LIMIT_CHARACTERS = 40_000_000
SPEED_BYTES = 12_000_000
ROUNDS = 3

Cells = dict[tuple[str, str], tuple[int, int]]


def is_found(case: Planted) -> bool:
    redactor = Redactor()
    redacted = redactor.arguments(case.text) if case.is_arguments else redactor.text(case.text)
    if case.is_arguments:
        json.loads(redacted)
    return not any(trace in redacted for trace in case.traces)


def recall(contexts: Sequence[Context], seed: int, show: bool) -> Cells:
    cells: Cells = {}
    chance = random.Random(seed)
    for form in FORMATS:
        for context in contexts:
            cases = [planted(form, context, chance) for _ in range(SAMPLES_PER_CELL)]
            hits = [(case, is_found(case)) for case in cases if case is not None]
            if hits:
                cells[form.name, context.__name__] = sum(hit for _, hit in hits), len(hits)
            for case, hit in hits:
                if show and not hit:
                    print(f"missed {form.name} {context.__name__}: {case.text[:160]!r}")
    return cells


def on_command_lines(seed: int, show: bool) -> Cells:
    """Passwords behind the flags of many programs, written in mind of those programs."""
    chance = random.Random(seed)
    cells: Cells = {}
    for line in COMMAND_LINES:
        values = [password(chance) for _ in range(SAMPLES_PER_CELL)]
        hits = [is_found(Planted(line.format(value), (value,))) for value in values]
        cells["password", line] = sum(hits), len(hits)
        for value, hit in zip(values, hits, strict=True):
            if show and not hit:
                print(f"missed {line.format(value)!r}")
    return cells


def summed(cells: Cells, index: int) -> dict[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for key, (found, total) in cells.items():
        sums[key[index]] = sums[key[index]][0] + found, sums[key[index]][1] + total
    return sums


def share(found: int, total: int) -> str:
    return f"{100 * found / total:6.1f} % ({found}/{total})"


def total(cells: Cells) -> tuple[int, int]:
    return sum(found for found, _ in cells.values()), sum(count for _, count in cells.values())


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def parsed(body: bytes) -> Iterator[object]:
    """The JSON values of a file: one, or one a line; what is not JSON is left out."""
    try:
        yield json.loads(body)
    except ValueError:
        for line in body.split(b"\n"):
            try:
                yield json.loads(line)
            except ValueError:
                continue


def bodies(path: Path) -> Iterator[bytes]:
    if path.suffix == ".gz":
        yield gzip.decompress(path.read_bytes())
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from (archive.read(name) for name in archive.namelist() if name.endswith(".json"))
    else:
        yield path.read_bytes()


def session_strings(folder: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("sessions/*.gz")):
        records = [record for body in bodies(path) for record in parsed(body)]
        found[path.name] = [s for record in records if isinstance(record, dict) for s in strings(record["messages"])]
    samples = [path for path in sorted(folder.glob("samples/*/*")) if path.is_file()]
    found["samples"] = [
        s for path in samples for body in bodies(path) for value in parsed(body) for s in strings(value)
    ]
    return found


def library_strings() -> list[str]:
    pieces: list[str] = []
    size = 0
    for root in (sysconfig.get_paths()["purelib"], sysconfig.get_paths()["stdlib"]):
        # Not what else happens to be installed beside the library.
        for path in sorted(
            path for path in Path(root).rglob("*.py") if "site-packages" not in path.relative_to(root).parts
        ):
            try:
                text = path.read_text(encoding="utf-8")
            except (UnicodeDecodeError, OSError):
                continue
            pieces += (text[i : i + PIECE_CHARACTERS] for i in range(0, len(text), PIECE_CHARACTERS))
            size += len(text)
            if size > LIBRARY_LIMIT_CHARACTERS:
                return pieces
    return pieces


def altered(texts: Iterable[str], show: bool) -> int:
    count = 0
    for text in texts:
        redactor = Redactor()
        redacted = redactor.text(text)
        if redacted is not text:
            count += 1
            if show:
                place = redacted.index("[redacted:")
                print(f"altered: {redacted[max(0, place - 60) : place + 60]!r} was {text[place : place + 40]!r}")
    return count


def megabytes_per_second(work: Callable[[str], object], texts: Sequence[str]) -> float:
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for text in texts:
            work(text)
        best = min(best, time.process_time() - started)
    return size / 1e6 / best


def part_of(context: str) -> str:
    if any(known.__name__ == context for known in HELD_OUT):
        return "held out"
    return "tuned" if any(known.__name__ == context for known in TUNED) else "mended once"


def print_recall(show: bool) -> None:
    runs = {
        "tuned contexts, tuning seed": recall(TUNED, TUNING_SEED, show),
        "tuned contexts, fresh seed": recall(TUNED, FRESH_SEED, show),
        "held-out contexts, fresh seed": recall(HELD_OUT, FRESH_SEED, show),
        "later contexts, third seed": recall(LATER, LATER_SEED, show),
        "colours, third seed": recall(COLOURED, LATER_SEED, show),
    }
    for name, cells in runs.items():
        print(f"recall, {name:32} {share(*total(cells))}")
    name = f"{len(COMMAND_LINES)} command lines, third seed"
    print(f"recall, {name:32} {share(*total(on_command_lines(LATER_SEED, show)))}")
    del runs["tuned contexts, tuning seed"]
    fresh = {cell: counts for cells in runs.values() for cell, counts in cells.items()}
    contexts = len(TUNED) + len(HELD_OUT) + len(LATER) + len(COLOURED)
    print(f"\n{len(FORMATS)} formats × {contexts} contexts, without the tuning seed; formats below 100 %:")
    for name, counts in summed(fresh, 0).items():
        if counts[0] < counts[1]:
            print(f"  {name:32} {share(*counts)}")
    print("by context:")
    for name, counts in summed(fresh, 1).items():
        print(f"  {name:32} {share(*counts)}  {part_of(name)}")


def print_clean(corpora: dict[str, list[str]], show: bool) -> None:
    print("\nclean strings that were altered:")
    for name, texts in corpora.items():
        print(f"  {name:32} {100 * altered(texts, show) / len(texts):7.3f} %  of {len(texts):,}")


def print_speed(texts: Sequence[str]) -> None:
    """Only strings of some length: below it both sides measure the cost of a call."""
    chosen: list[str] = []
    size = 0
    for text in texts:
        if len(text) >= 200 and size < SPEED_BYTES:
            chosen.append(text)
            size += len(text)
    known = tuple(f"kn0wn-value-{number}" for number in range(20))
    documents = [json.dumps({"type": "text", "text": text}) for text in chosen]
    records = [json.dumps([{"role": "user", "n": 1, "ok": True, "text": text[:200]}]) for text in chosen]
    print(
        f"\nspeed on {size / 1e6:.0f} MB of session strings (mean {size // len(chosen)} characters), MB/s of CPU time:"
    )
    print(f"  redact                           {megabytes_per_second(Redactor().text, chosen):7.0f}")
    print(f"  redact with 20 known values      {megabytes_per_second(Redactor(known).text, chosen):7.0f}")
    print(f"  json.loads, the same as strings  {megabytes_per_second(json.loads, documents):7.0f}")
    print(f"  json.loads, small records        {megabytes_per_second(json.loads, records):7.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("WHET_BENCH_DATA", "../shared/data")))
    parser.add_argument("--show", action="store_true", help="print what was missed and what was altered")
    options = parser.parse_args()
    print_recall(options.show)
    corpora = session_strings(options.data) if options.data.is_dir() else {}
    print_clean(corpora | {"Python library": library_strings(), "hard negatives": list(HARD_NEGATIVES)}, options.show)
    if corpora:
        print_speed([text for name, texts in corpora.items() if "code" in name for text in texts])


if __name__ == "__main__":
    main()
