"""A process of its own that adds notes through the ledger: `python note_worker.py FOLDER URL WHO`."""

import sys
import time
from pathlib import Path

from whet.changes.author import Author
from whet.changes.skill_changes import remember
from whet.ledger.entries import Actor
from whet.ledger.patches import Action
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.opening import opened
from whet.told.memory import NoteChange, Refusal


def main(folder: str, url: str, who: str) -> None:
    home = Home(Path(folder), url)
    with opened(home) as database:
        for number in range(3):
            author = Author(home, database, Actor.PERSON, Trust.OPERATOR, time.time())
            made = remember(author, "memory", [NoteChange(Action.ADD, f"fact{number} of{who}")])
            if isinstance(made, Refusal):
                sys.exit(made.message)


if __name__ == "__main__":
    main(*sys.argv[1:])
