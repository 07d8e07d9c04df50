"""How long `whet rules show` takes the first time and again: what sessions say of rules is kept in the store.

.venv/bin/python bench/rules_speed.py [FOLDER]...

Imports the sessions into a temporary home and puts the rules that they teach in force, as if from before the first of
them. Then it runs the command in processes of its own: three times with nothing kept, and three times with all of it.
Prints the median processor seconds of each, which other work on the machine changes little, and their ratio.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

from lessons_speed import run
from whet.changes.apply import Refused, apply
from whet.improving.taught import taught
from whet.ledger.entries import Actor
from whet.ledger.patches import Form
from whet.store.home import Home
from whet.store.listing import Filters
from whet.store.opening import opened

ROUNDS = 3
MOST_RULES = 20


def put_in_force(home: Home) -> int:
    """Apply what sessions teach; how many rules that makes."""
    made = 0
    with opened(home) as database:
        for lesson in taught(database, Filters()):
            if lesson.patch is None or lesson.patch.form is not Form.RULE or made == MOST_RULES:
                continue
            try:
                apply(home, database, lesson.patch, actor=Actor.PERSON, now=1.0)
            except Refused:  # it says what another says
                continue
            made += 1
    return made


def forget(home: Home) -> None:
    with opened(home) as database:
        database.execute("DELETE FROM rule_findings")


def main(folders: list[str]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        home = Home(Path(temporary, "home"))
        run(home.folder, "import", *folders)
        rules = put_in_force(home)
        with opened(home) as database:
            sessions = database.query("SELECT count(*) FROM sessions")[0][0]
        first, again = [], []
        for _ in range(ROUNDS):
            forget(home)
            first.append(run(home.folder, "rules", "show"))
            again.append(run(home.folder, "rules", "show"))
        with opened(home) as database:
            [(size,)] = database.query("SELECT sum(length(record)) FROM rule_findings")
    cold, warm = statistics.median(first), statistics.median(again)
    print(f"{sessions} sessions, {rules} rules: first {cold:.2f} s, again {warm:.2f} s of processor time:", end=" ")
    print(f"{cold / warm:.1f} times; {size:,} bytes kept")


if __name__ == "__main__":
    data = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data")) / "projects"
    main(sys.argv[1:] or [str(path) for path in sorted(data.iterdir()) if path.is_dir()])
