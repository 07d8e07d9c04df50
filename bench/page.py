"""How long the first view of the page takes with many sessions, made of the examples: python bench/page.py 2000."""

import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count, cycle, islice
from pathlib import Path

from msgspec.structs import replace

import whet
from whet.sessions.transcripts import Transcript
from whet.shipped.data import failure_weights
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.preparing import prepare
from whet.store.session_facts import state_of_sessions
from whet.store.sessions import Provenance, keep
from whet.web.cache import PageCache
from whet.web.layout import Framed, document
from whet.web.pages import PAGES, PageRequest
from whet.web.site import PageFilter, Site

EXAMPLES = Path(__file__).parents[1] / "examples" / "sessions"
WEEK = 7 * 86_400
ROUNDS = 5


def copies(number: int) -> Iterator[Transcript]:
    """So many different sessions, spread over half a year."""
    found = [each for each in whet.read(str(EXAMPLES)) if isinstance(each, Transcript)]
    for place, transcript in zip(count(), islice(cycle(found), number), strict=False):
        began = 1_772_000_000 + (place % 26) * WEEK
        messages = tuple(replace(each, at=began + index) for index, each in enumerate(transcript.messages))
        folder = f"{transcript.folder or '/srv/none'}-{place % 40}"
        yield replace(
            transcript, native_id=f"{transcript.native_id}-{place}", messages=messages, folder=folder, started=began
        )


def fill(database: Database, number: int) -> None:
    for transcript in copies(number):
        keep(database, prepare(transcript), Provenance(f"/{transcript.native_id}", 1.0, 2.0))
    refresh(database, failure_weights(), progress=lambda _: None)


def draw(cache: PageCache, database: Database, path: str) -> str:
    site = Site(PageFilter(temporary=True), "mark")
    looked = cache.look(database, site.filter)
    page = dict(PAGES)[path]
    framed: Framed = page(PageRequest(site, database, cache, looked, part="", given={}, now=1_790_000_000.0))
    return document(site, looked.choices, framed)


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        with opened(home) as database:
            began = time.perf_counter()
            fill(database, number)
            print(f"{number} sessions kept and analysed: {time.perf_counter() - began:.1f} s")
            cache = PageCache(home)
            for what in ("facts read for the first time, with the first view", "first view again"):
                began = time.perf_counter()
                draw(cache, database, "/")
                print(f"{what}: {1000 * (time.perf_counter() - began):.0f} ms")
            for path in ("/", "/failures", "/sessions", "/coverage", "/work", "/waiting", "/rules"):
                began = time.perf_counter()
                size = min(len(draw(cache, database, path)) for _ in range(ROUNDS))
                print(f"{path}: {1000 * (time.perf_counter() - began) / ROUNDS:.0f} ms, {size // 1000} kB")
            began = time.perf_counter()
            cache.lessons.wait(state_of_sessions(database))
            print(f"lessons, in the background: {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
