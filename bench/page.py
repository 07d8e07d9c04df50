"""What the views of the page cost with many sessions, made of the examples: python bench/page.py 2000.

Printed are seconds of processors, which other work on the machine changes little. What the program loads before it can
answer is counted in a process of its own.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count, cycle, islice
from pathlib import Path
from statistics import median

from msgspec.structs import replace

import whet
from whet.sessions.transcripts import Transcript
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.rows import Provenance, prepare
from whet.store.session_facts import state_of_sessions
from whet.store.sessions import keep
from whet.web.cache import PageCache, PageRequest
from whet.web.layout import FramedView, document
from whet.web.pages import PAGES
from whet.web.site import PageFilter, PageLinks

EXAMPLES = Path(__file__).parents[1] / "examples" / "sessions"
WEEK = 7 * 86_400
ROUNDS = 5


def copies(number: int) -> Iterator[Transcript]:
    """So many different sessions, spread over half a year."""
    found = [each for each in whet.read(str(EXAMPLES)) if isinstance(each, Transcript)]
    for place, transcript in zip(count(), islice(cycle(found), number), strict=False):
        began = 1_772_000_000 + (place % 26) * WEEK + place  # no two alike, or one would be a copy of the other
        messages = tuple(replace(each, at=began + index) for index, each in enumerate(transcript.messages))
        folder = f"{transcript.folder or '/srv/none'}-{place % 40}"
        yield replace(
            transcript, native_id=f"{transcript.native_id}-{place}", messages=messages, folder=folder, started=began
        )


def fill(database: Database, number: int) -> None:
    for transcript in copies(number):
        keep(database, prepare(transcript), Provenance(f"/{transcript.native_id}", 1.0, 2.0))
    refresh(database, progress=lambda _: None)


def draw(cache: PageCache, database: Database, path: str) -> str:
    site = PageLinks(PageFilter(temporary=True), "mark")
    looked = cache.look(database, site.filter)
    page = dict(PAGES)[path]
    framed: FramedView = page(PageRequest(site, database, cache, looked, part="", given={}, now=1_790_000_000.0))
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
            print(f"loading the program: {loaded():.2f} s")
            for what in ("facts read for the first time, with the first view", "first view again"):
                print(f"{what}: {1000 * spent(cache, database, '/')[0]:.0f} ms")
            for path in ("/", "/failures", "/sessions", "/coverage", "/work", "/waiting", "/rules"):
                found = [spent(cache, database, path) for _ in range(ROUNDS)]
                print(f"{path}: {1000 * median(each for each, _ in found):.0f} ms, {found[0][1] // 1000} kB")
            began = time.process_time()
            cache.lessons.wait(state_of_sessions(database))
            print(f"lessons, in the background: {time.process_time() - began:.1f} s")


def spent(cache: PageCache, database: Database, path: str) -> tuple[float, int]:
    """The seconds that a view takes, and its length."""
    began = time.process_time()
    size = len(draw(cache, database, path))
    return time.process_time() - began, size


def loaded() -> float:
    """The seconds until the server is loaded, of a new process."""
    asked = "import time; before = time.process_time(); import whet.web.server; print(time.process_time() - before)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    main()
