"""How long each command takes in a store that has grown: sessions generated from real ones, as Claude Code writes them.

.venv/bin/python bench/grown_store.py 1000 [--times 20] [--largest KB] [--home FOLDER]

Every round over the recorded sessions of the three projects is another set of projects, with ids, times and one word in
twelve changed. They are imported into a temporary home, or into a folder that is kept and used again. Then each command
runs in a process of its own: the first time, again, and after 20 more sessions came. Printed are the seconds that a
person waits, and those of processors, which other work on the machine changes little.

With `--times` the analysed sessions are then multiplied in the store itself (`bench/grown_rows.py`), and the commands
measured there again. So that many sessions need not be imported and analysed each.
"""

import argparse
import gzip
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from grown_rows import multiply
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.session_facts import state_of_sessions
from whet.web.cache import PageCache, PageRequest
from whet.web.layout import document
from whet.web.pages import PAGES
from whet.web.site import PageFilter, PageLinks

DATA = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data")) / "projects"
WHET = Path(sys.executable).with_name("whet")
NEW = 20
ONE_WORD_IN = 12
COMMANDS = (
    "sessions",
    "report",
    "lessons",
    "lessons --project cipher",
    "try --dry-run",
    "rules show",
    "status",
    "search permission",
    "report --tool Bash",
    "sessions --tool Bash",
    "templates",
    "lessons --waiting",
    "ledger",
    "live look",
)
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(?:toolu|msg|req)_[A-Za-z0-9]{12,}")
_TIME = re.compile(r'(?<="timestamp": ")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d')
_WORD = re.compile(r'(?<![\w\\"/.])[a-z]{6,}(?![\w"])')  # a key or a fixed value stands between quotes


class Waited(NamedTuple):
    """The seconds that somebody waited, and those of processors."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:.2f} ({self.processor:.2f})"


class Rewriting:
    """The records of one round: the same sessions in other projects, with other ids, times and words."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._words: dict[str, str] = {}

    def text(self, text: str, project: str) -> str:
        text = _ID.sub(lambda found: self._id(found[0]), text)
        text = _TIME.sub(lambda found: self._time(found[0]), text)
        return self.words(text).replace(project, f"{project}-{self.number}")

    def words(self, text: str) -> str:
        return _WORD.sub(lambda found: self._word(found[0]), text)

    def _id(self, id: str) -> str:
        fresh = hashlib.sha256(f"{self.number}/{id}".encode()).hexdigest()
        if "_" in id:
            return id.split("_")[0] + "_" + fresh[: len(id) - id.index("_") - 1]
        return "-".join((fresh[:8], fresh[8:12], fresh[12:16], fresh[16:20], fresh[20:32]))

    def _time(self, at: str) -> str:
        return (datetime.fromisoformat(at) - timedelta(hours=37 * self.number)).isoformat()

    def _word(self, word: str) -> str:
        if word not in self._words:
            digest = hashlib.sha256(word.encode()).digest()
            is_changed = self.number > 0 and digest[self.number % 8] % ONE_WORD_IN == 0
            self._words[word] = word[::-1] if is_changed else word
        return self._words[word]


def originals(largest: int) -> list[Path]:
    """The recorded sessions of at most so many kilobytes."""
    return [path for path in sorted(DATA.glob("*/*.jsonl.gz")) if _length(path) <= largest * 1_000]


def _length(path: Path) -> int:
    return int.from_bytes(path.read_bytes()[-4:], "little")  # what was packed, as the format notes at its end


def write(folder: Path, number: int, files: list[Path], *, first: int = 0) -> int:
    """Write so many sessions, each round by any processor; how many bytes they have."""
    rounds = range(first, first + -(-number // len(files)))
    shares = [files[: number - len(files) * (each - first)] for each in rounds]
    with ProcessPoolExecutor() as pool:
        return sum(pool.map(_write_round, [folder] * len(rounds), rounds, shares))


def _write_round(folder: Path, number: int, files: list[Path]) -> int:
    rewriting, size = Rewriting(number), 0
    for original in files:
        project = original.parent.name
        path = folder / f"{project}-{number}" / rewriting.text(original.name.removesuffix(".gz"), "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(original, "rt") as file:
            size += path.write_bytes(rewriting.text(file.read(), project).encode())
    return size


def run(home: Path, *arguments: str) -> Waited:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "WHET_HOME": str(home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled once
    done = subprocess.run([WHET, *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return Waited(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def draw(home: Path) -> Waited:
    """The first view of the page, of a server that has just started."""
    before, began = time.process_time(), time.perf_counter()
    with opened(Home(home)) as database:
        site, cache = PageLinks(PageFilter(temporary=True), "mark"), PageCache(Home(home))
        looked = cache.look(database, site.filter)
        asked = PageRequest(site, database, cache, looked, part="", given={}, now=time.time())
        document(site, looked.choices, dict(PAGES)["/"](asked))
    return Waited(time.perf_counter() - began, time.process_time() - before)


def learn(home: Path) -> Waited:
    """The lessons of the page, of a server that has just started."""
    before, began = time.process_time(), time.perf_counter()
    with opened(Home(home)) as database:
        PageCache(Home(home)).lessons.wait(state_of_sessions(database))
    return Waited(time.perf_counter() - began, time.process_time() - before)


def fill(home: Path, number: int, files: list[Path]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        size = write(Path(folder), number, files)
        print(f"{number} sessions, {size / 1e6:,.0f} MB: imported in {run(home, 'import', folder)} s", flush=True)
        print(f"imported again, nothing new: {run(home, 'import', folder)} s", flush=True)


def measure(home: Path, files: list[Path], *, rounds: int) -> None:
    """Each command so many times, and once after new sessions came."""
    rows: dict[str, list[Waited]] = {}
    for _ in range(rounds):
        for command in COMMANDS:
            rows.setdefault(command, []).append(run(home, *command.split()))
        rows.setdefault("page, first view", []).append(draw(home))
        rows.setdefault("page, lessons", []).append(learn(home))
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), NEW, files, first=9_000)
        rows["import of 20 more"] = [run(home, "import", folder)]
    for command in COMMANDS:
        rows[command].append(run(home, *command.split()))
    print(f"| command | {'first | ' * (rounds - 1)}again | after 20 more |\n|---|{'--:|' * (rounds + 1)}")
    for command, waited in rows.items():
        print(f"| {command} | {' | '.join(map(str, [*waited, *['–'] * (rounds + 1 - len(waited))]))} |", flush=True)


def grow(home: Path, times: int) -> None:
    rewritings = {copy: Rewriting(copy) for copy in range(times)}
    with opened(Home(home)) as database:
        multiply(database, times, lambda text, copy: rewritings[copy].words(text))
        [(number,)] = database.query("SELECT count(*) FROM sessions")
    print(f"{number} sessions in the store", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sessions", type=int)
    parser.add_argument("--times", type=int, default=1, help="how often the rows of the store are multiplied")
    parser.add_argument("--largest", type=int, default=10**6, help="leave out recorded sessions of more kilobytes")
    parser.add_argument("--home", type=Path, help="a folder that is filled, kept and used again")
    options = parser.parse_args()
    files = originals(options.largest)
    with tempfile.TemporaryDirectory() as folder:
        original, home = options.home or Path(folder, "original"), Path(folder, "home")
        if not original.exists():
            fill(original, options.sessions, files)
        shutil.copytree(original, home)
        if options.times == 1:
            measure(home, files, rounds=2)
            return
        for command in ("report", "lessons"):
            run(home, command)
        grow(home, options.times)
        for command in ("report", "lessons"):
            print(f"{command}, the first time after that: {run(home, command)} s", flush=True)
        measure(home, files, rounds=1)


if __name__ == "__main__":
    main()
