"""Search among a million messages: `whet.store.search` beside a LIKE scan over the same messages in the same run.

.venv/bin/python bench/search.py [--messages 1000000] [--home FOLDER]
"""

import argparse
import itertools
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from search_corpus import START, Words, corpus
from whet.sessions.transcripts import Transcript
from whet.store import sessions
from whet.store.database import Database
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.search import CANDIDATES, for_sqlite, of_message, parse, search
from whet.store.words import tidy

BATCH_SESSIONS = 500
ASKED_OF_A_KIND = 12
SCANS_OF_A_KIND = 2
REPEATS = 3
DAY = 86_400.0


class Asked(NamedTuple):
    """One query: its text, its filters, and what a LIKE scan would look for."""

    text: str
    likes: tuple[str, ...]
    filters: Filters = Filters()
    role: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--home", type=Path, help="a folder to build in, or one that was built before")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Home((options.home or Path(folder)).absolute())
        with opened(home) as database:
            if not database.query("SELECT 1 FROM messages LIMIT 1"):
                build(database, options.messages)
            [(count,)] = database.query("SELECT count(*) FROM messages")
            size = home.database_path.stat().st_size / 1e6
            print(f"{count:,} messages in {home.database_path.name}, {size:,.0f} MB\n")
            measure(database)


def build(database: Database, messages: int) -> None:
    """Fill the store through its own functions, many sessions in one transaction."""
    began, keeping = time.perf_counter(), 0.0
    for batch in batches(corpus(messages)):
        start = time.perf_counter()
        with database.writing():
            for transcript in batch:
                provenance = Provenance(f"/bench/{transcript.native_id}", START, START)
                sessions.keep(database, prepare(transcript), provenance)
        keeping += time.perf_counter() - start
    start = time.perf_counter()
    tidy(database)
    keeping += time.perf_counter() - start
    whole = time.perf_counter() - began
    print(f"built in {whole:,.0f} s: {keeping:,.0f} s of it hashing, storing and indexing, the rest making text")


def batches(items: Iterator[Transcript]) -> Iterator[list[Transcript]]:
    while batch := list(itertools.islice(items, BATCH_SESSIONS)):
        yield batch


def measure(database: Database) -> None:
    everything: list[float] = []
    print(f"{'kind':<34}{'matches':>10}{'median ms':>11}{'p95 ms':>9}{'LIKE ms':>10}{'LIKE/whet':>11}  example")
    for kind, queries in kinds(database).items():
        for asked in queries:
            run(database, asked)  # the first read of a page is the disk's time and not the search's
        times = [timed(run, database, asked) for _ in range(REPEATS) for asked in queries]
        likes = [timed(scan, database, asked) for asked in queries[:SCANS_OF_A_KIND]]
        everything += times
        middle, like = statistics.median(times), statistics.median(likes)
        print(
            f"{kind:<34}{matches(database, queries[0]):>10,}{middle:>11.1f}{percentile(times):>9.1f}"
            f"{like:>10,.0f}{like / middle:>10,.0f}×  {queries[0].text}",
            flush=True,
        )
    print(f"\nall {len(everything)} searches: median {statistics.median(everything):.1f} ms,", end=" ")
    print(f"95th percentile {percentile(everything):.1f} ms")


def kinds(database: Database) -> dict[str, list[Asked]]:
    """A mixed set of queries by kind; the words come from the vocabulary by rank, paths from stored messages."""
    words, chance = Words(7), random.Random(11)
    very = [word(each) for each in words.vocabulary[:10]]
    common = [word(each) for each in chance.sample(words.vocabulary[50:200], ASKED_OF_A_KIND)]
    medium = [word(each) for each in chance.sample(words.vocabulary[1_000:5_000], ASKED_OF_A_KIND)]
    rare = [word(each) for each in chance.sample(words.vocabulary[60_000:110_000], ASKED_OF_A_KIND)]
    texts = sampled(database, chance)
    paths = [word(each) for each in found(texts, r"src/[a-z]+/[a-z]+_[a-z]+\.py")]
    names = [word(each) for each in found(texts, r"def ([a-z]+_[a-z]+)\(")]
    folders = [Filters(folder=folder) for folder in words.folders[30:200:15]]
    old = [Filters(since=START + day * DAY, until=START + (day + 2) * DAY) for day in range(5, 300, 30)]
    return {
        "rare word": rare,
        "medium word": medium,
        "common word": common,
        "very common word": very,
        "two words, one very common": [both(a, b) for a, b in zip(very, medium, strict=False)],
        "two very common words": [both(a, b) for a, b in itertools.pairwise(very)],
        "phrase of very common words": [phrase(a, b) for a, b in itertools.pairwise(very)],
        "path": paths,
        "name_of_a_function": names,
        "flag": [Asked("--no-verify", ("--no-verify",))],
        "prefix of 5 letters": [Asked(f"{a.text[:5]}*", (a.text[:5],)) for a in medium if len(a.text) > 5],
        "very common without another": [a._replace(text=f"{a.text} -{b.text}") for a, b in itertools.pairwise(very)],
        "very common, by role user": [a._replace(role="user") for a in very],
        "very common, by a rare tool": [a._replace(filters=Filters(tool="NotebookEdit")) for a in very],
        "very common, in 10 % (a source)": [a._replace(filters=Filters(source="pi")) for a in very],
        "very common, in 0.2 % (a source)": [a._replace(filters=Filters(source="openhands")) for a in very],
        "very common, in a folder": [a._replace(filters=b) for a, b in zip(very, folders, strict=False)],
        "common, in a folder": [a._replace(filters=b) for a, b in zip(common, folders, strict=False)],
        "medium, in a folder": [a._replace(filters=b) for a, b in zip(medium, folders, strict=False)],
        "very common, two days long ago": [a._replace(filters=b) for a, b in zip(very, old, strict=False)],
        "common, two days long ago": [a._replace(filters=b) for a, b in zip(common, old, strict=False)],
        "no such word": [Asked("xqzzyq", ("xqzzyq",))],
    }


def word(text: str) -> Asked:
    return Asked(text, (text,))


def both(first: Asked, second: Asked) -> Asked:
    return Asked(f"{first.text} {second.text}", (first.text, second.text))


def phrase(first: Asked, second: Asked) -> Asked:
    words = f"{first.text} {second.text}"
    return Asked(f'"{words}"', (words,))


def sampled(database: Database, chance: random.Random) -> list[str]:
    [(most,)] = database.query("SELECT max(no) FROM messages")
    numbers = [chance.randrange(1, most) for _ in range(300)]
    rows = (database.query("SELECT body FROM messages WHERE no = ?", (number,)) for number in numbers)
    return [row[0][0].decode() for row in rows if row]


def found(texts: list[str], pattern: str) -> list[str]:
    return [match[-1] for text in texts for match in [re.findall(pattern, text)] if match][:ASKED_OF_A_KIND]


def run(database: Database, asked: Asked) -> None:
    search(database, asked.text, filters=asked.filters, role=asked.role)


def scan(database: Database, asked: Asked) -> None:
    """The newest matches by LIKE, as many as the search ranks; they are not ranked."""
    where, parameters = of_message(asked.filters, asked.role)
    likes = " AND ".join("CAST(m.body AS TEXT) LIKE ?" for _ in asked.likes)
    database.query(
        "SELECT m.no FROM messages AS m CROSS JOIN sessions AS s ON s.no = m.session"
        f" WHERE {where} AND {likes} ORDER BY m.no DESC LIMIT ?",
        (*parameters, *(f"%{each}%" for each in asked.likes), CANDIDATES),
    )


def matches(database: Database, asked: Asked) -> int:
    """How many messages hold the words, before any filter."""
    sql = "SELECT count(*) FROM message_index WHERE message_index MATCH ?"
    return int(database.query(sql, (for_sqlite(parse(asked.text)),))[0][0])


def timed(call: Callable[[Database, Asked], None], database: Database, asked: Asked) -> float:
    start = time.perf_counter()
    call(database, asked)
    return (time.perf_counter() - start) * 1e3


def percentile(times: list[float], share: float = 0.95) -> float:
    return sorted(times)[min(len(times) - 1, round(share * (len(times) - 1)))]


if __name__ == "__main__":
    main()
