"""The hand that writes notes and skills from the command line, and what became of what it wrote."""

import os
import time
from collections.abc import Iterable

from whet.changes.author import Author
from whet.cli.acting import actor_of, has_terminal, trust_at, trust_of
from whet.cli.last_change import OWN
from whet.cli.output import plain, print_json, say
from whet.cli.shown.entries import entry_record
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.store.database import Database
from whet.store.home import Home

SESSION = "command line"


def author_at(home: Home, database: Database) -> Author:
    """The person at the command line, or the agent that runs commands for one."""
    actor = actor_of(os.environ)
    writer = PatchWriter.PERSON if actor is Actor.PERSON else PatchWriter.AGENT
    origin = PatchOrigin(writer, said="written at the command line")
    return Author(home, database, actor, trust_of(actor), time.time(), SESSION, origin)


def person_at(home: Home, database: Database) -> Author:
    """The person at the command line; raises WhetError for an agent."""
    author = author_at(home, database)
    if author.actor is not Actor.PERSON:
        raise WhetError("Only a person may do this.", advice="Ask the person to run it in their own terminal.")
    return author


def careful(author: Author, *, yes: bool) -> Author:
    """The author as one whose words wait where there is no terminal, unless `yes` is given and a setting allows it."""
    return author._replace(trust=min(author.trust, trust_at(author.home, author.actor, yes=yes)))


def tell(entries: Iterable[Entry], *, as_json: bool, done: str = "") -> int:
    """Say which changes are in force, and which wait for a person; `done` is what to call what was done."""
    made = tuple(entries)
    if as_json:
        print_json({"entries": [entry_record(entry) for entry in made]})
        return 0
    for entry in made:
        what = f"{entry.patch.form} {plain(entry.patch.name)}"
        if entry.step is Step.PROPOSED:
            say(f"Needs a person's approval: {what} (`whet lessons show {entry.number}`).")
        else:
            verb = done or DONE[entry.patch.action]
            undo = "undo" if entry.patch.form in OWN else f"undo {entry.number}"
            say(f"{verb} {what} (entry {entry.number}; to undo, run `whet ledger {undo}`).")
    say_why(made)
    return 0


def say_why(entries: Iterable[Entry]) -> None:
    """Say why what a person seems to have written waits: here nobody can tell."""
    if any(each.step is Step.PROPOSED and each.actor is Actor.PERSON for each in entries) and not has_terminal():
        say("There is no terminal. To apply changes at once, set trust.commands to true and pass --yes.")


DONE = {"add": "Added", "change": "Changed", "remove": "Removed"}
