"""One process of the test of many at once: applies and reverts, and prints what was acknowledged."""

import json
import sys
from pathlib import Path

from whet.changes.apply import apply, revert, undo
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, digest
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.files import Conflict
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened

NOW = 1_800_000_000.0


def work(home: Home, database: Database, worker: int, rounds: int) -> list[str]:
    """Add a rule, a note and a template in each round, take every second one back, and grow what all share."""
    kept: list[str] = []
    for number in range(rounds):
        mark = f"w{worker}n{number}"
        for form, name in ((Form.RULE, mark), (Form.NOTE, f"user/{mark}"), (Form.TEMPLATE, mark)):
            patch = Patch(form, Action.ADD, name, f"alpha{mark} beta{mark}", trust=Trust.USER)
            entry = apply(home, database, patch, actor=Actor.POLICY, now=NOW)
            if number % 2:
                revert(home, database, entry.number, actor=Actor.WATCH, now=NOW)
            else:
                kept.append(f"{form} {name}")
        grow(home, database, mark)
    return kept


def grow(home: Home, database: Database, mark: str) -> None:
    """Add a line to the one file that everybody writes, on what is there now."""
    while True:
        known = ledger_of(home, database).state().get(Form.JOB, "shared")
        text = known.text if known else ""
        action = Action.CHANGE if known else Action.ADD
        before = digest(text) if known else ""
        patch = Patch(Form.JOB, action, "shared", f"{text}line {mark}\n", trust=Trust.USER, before=before)
        try:
            apply(home, database, patch, actor=Actor.POLICY, now=NOW)
        except Conflict:
            continue
        return


def churn(home: Home, database: Database) -> None:
    """Apply and undo for ever, until somebody kills this process."""
    number = 0
    while True:
        number += 1
        text = f"alpha{number} beta{number}"
        for form, name in ((Form.NOTE, "memory/churn"), (Form.TEMPLATE, "churn"), (Form.RULE, "churn")):
            apply(home, database, Patch(form, Action.ADD, name, text, trust=Trust.USER), actor=Actor.POLICY, now=NOW)
        for _ in range(3):
            undo(home, database, actor=Actor.PERSON, now=NOW)


def main() -> None:
    folder, url, worker, rounds = sys.argv[1:]
    home = Home(Path(folder), url)
    with opened(home) as database:
        if int(rounds):
            sys.stdout.write(json.dumps(work(home, database, int(worker), int(rounds))))
        else:
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            churn(home, database)


if __name__ == "__main__":
    main()
