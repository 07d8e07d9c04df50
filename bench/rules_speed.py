"""How long `whet rules show` takes the first time and again: what sessions say of rules is kept in the store.

.venv/bin/python bench/rules_speed.py [FOLDER]... [--times 112]

Imports the sessions into a temporary home and puts the rules that they teach in force, as if from before the first of
them. Then it runs the command in processes of its own: three times with nothing kept, and three times with all of it.
Prints the median processor seconds of each, which other work on the machine changes little, and their ratio. Then the
sessions are multiplied in the store, with what is kept of them, and the command is measured there.
"""

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from lessons_speed import run
from whet.changes.apply import Refused, apply
from whet.improving.taught import taught_by_projects
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
        for lesson in (each for one in taught_by_projects(database, Filters()) for each in one.lessons):
            if not lesson.is_proposable or lesson.patch.form is not Form.RULE or made == MOST_RULES:
                continue
            try:
                apply(home, database, lesson.patch, actor=Actor.PERSON, now=1.0)
            except Refused:  # it says what another says
                continue
            made += 1
    return made


def forget(home: Home) -> None:
    with opened(home) as database:
        database.execute("DELETE FROM derived WHERE kind = 'findings'")


def multiply(home: Home, times: int) -> None:
    """So many times the sessions that there are, with what is kept of each and without their messages."""
    with opened(home) as database:
        columns = [row[1] for row in database.query("PRAGMA table_info(sessions)") if row[1] not in ("no", "id")]
        rest = ", ".join(columns)
        [(beyond,)] = database.query("SELECT max(no) + 1 FROM sessions")
        for copy in range(1, times):
            number = copy * beyond
            with database.writing():
                database.execute(
                    f"INSERT INTO sessions (no, id, {rest}) SELECT no + ?, id || '-' || ?, {rest} FROM sessions"
                    " WHERE no < ?",
                    (number, copy, beyond),
                )
                database.execute(
                    "INSERT INTO derived (kind, session, name, maker, version, made_from, record)"
                    " SELECT kind, session + ?, name, maker, version, made_from, record FROM derived"
                    " WHERE kind = 'findings' AND session < ?",
                    (number, beyond),
                )


def count(home: Home) -> tuple[int, int]:
    """How many sessions there are, and the bytes that are kept of what they say of rules."""
    with opened(home) as database:
        [(sessions,)] = database.query("SELECT count(*) FROM sessions")
        [(size,)] = database.query("SELECT sum(length(record)) FROM derived WHERE kind = 'findings'")
    return sessions, size


def main(folders: list[str], times: int) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        home = Home(Path(temporary, "home"))
        run(home.folder, "import", *folders)
        rules = put_in_force(home)
        first, again = [], []
        for _ in range(ROUNDS):
            forget(home)
            first.append(run(home.folder, "rules", "show"))
            again.append(run(home.folder, "rules", "show"))
        cold, warm = statistics.median(first), statistics.median(again)
        sessions, size = count(home)
        print(
            f"{sessions:,} sessions, {rules} rules: first {cold:.2f} s, again {warm:.2f} s of processor time:", end=" "
        )
        print(f"{cold / warm:.1f} times; {size:,} bytes kept")
        multiply(home, times)
        many = statistics.median(run(home.folder, "rules", "show") for _ in range(ROUNDS))
        sessions, size = count(home)
        print(f"{sessions:,} sessions: again {many:.2f} s of processor time; {size:,} bytes kept")


if __name__ == "__main__":
    data = Path(os.environ.get("WHET_BENCH_DATA", "../shared/data")) / "projects"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", default=[str(path) for path in sorted(data.glob("*/"))])
    parser.add_argument("--times", type=int, default=112)
    options = parser.parse_args()
    main(options.folders, options.times)
