"""How long `whet lessons` takes the first time and again: what sessions teach is kept in the store.

.venv/bin/python bench/lessons_speed.py [FOLDER]...

Imports the sessions into a temporary home and analyses them, then runs the command in processes of its own: three
times with nothing kept of what sessions teach, and three times with all of it. Prints the median processor seconds of
each, which other work on the machine changes little, and their ratio.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from whet.store.home import Home
from whet.store.opening import opened

COMMAND = Path(sys.executable).with_name("whet")
ROUNDS = 3


def run(home: Path, *arguments: str) -> float:
    """Run a command and give its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "WHET_HOME": str(home)}
    subprocess.run([COMMAND, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def forget(home: Path) -> None:
    with opened(Home(home)) as database:
        database.execute("DELETE FROM derived WHERE kind = 'teaching'")


def main(folders: list[str]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary, "home")
        run(home, "import", *folders)
        run(home, "lessons")
        with opened(Home(home)) as database:
            sessions = database.query("SELECT count(*) FROM sessions")[0][0]
        first, again = [], []
        for _ in range(ROUNDS):
            forget(home)
            first.append(run(home, "lessons"))
            again.append(run(home, "lessons"))
    cold, warm = statistics.median(first), statistics.median(again)
    print(f"{sessions} sessions: first {cold:.2f} s, again {warm:.2f} s of processor time: {cold / warm:.1f} times")


if __name__ == "__main__":
    data = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data")) / "projects"
    main(sys.argv[1:] or [str(path) for path in sorted(data.iterdir()) if path.is_dir()])
