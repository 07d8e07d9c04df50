"""Changes made at the command line: by whom, what became of them, and whether the last one is meant by an undo."""

import os
import time
from collections.abc import Iterable, Iterator

import click

from whet.changes.author import Author
from whet.cli.acting import actor_of, has_terminal, trust_at, trust_of
from whet.cli.output import give, moment, plain
from whet.cli.shown.entries import BY_WHOM, entry_record
from whet.errors import WhetError
from whet.jobs.job import NAME
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.origins import PatchOrigin, PatchWriter
from whet.ledger.patches import Form
from whet.ledger.traces import last_batch
from whet.machine.records import load_record
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.text.showing import shown

OWN = frozenset({Form.RULE, Form.NOTE, Form.SKILL, Form.FILE})  # what people decide on every day


def is_last(ledger: Ledger, number: int) -> bool:
    """Whether an entry is among the changes that were made last, together."""
    return number in {change.number for change in last_batch(ledger.state().done)}


def expect_meant(home: Home, ledger: Ledger, number: int | None) -> None:
    """Go on where the last change is the person's own, is named by its number, or they say yes to it."""
    top = last_batch(ledger.state().done)
    if not top:
        return  # whoever undoes it says so
    if number is not None:
        return
    entries = [ledger.entry(change.number) for change in top]
    if all(each.actor is Actor.PERSON and each.patch.form in OWN for each in entries):
        return
    last = _named(entries)
    instead = _instead(home, entries)
    if not has_terminal():
        raise WhetError(
            f"The last change is {last}.", advice=f"{instead}To undo it, run `whet ledger undo {top[0].number}`."
        )
    click.echo(f"The last change is {last}. {instead}".strip(), err=True)
    click.confirm("Undo it?", abort=True, err=True)


def _named(entries: list[Entry]) -> str:
    first = entries[0]
    patch = first.patch
    others = f", with {len(entries) - 1} more" if len(entries) > 1 else ""
    what = f"{patch.action} {patch.form} {shown(patch.name)}"
    return f"entry {first.number}{others}: {what}, {first.step} by {BY_WHOM[first.actor]}, {moment(first.at)}"


def _instead(home: Home, entries: list[Entry]) -> str:
    """What belongs together is taken back together."""
    is_job = any(each.patch.form is Form.JOB and each.patch.name == NAME for each in entries)
    is_of_setup = is_job and load_record(home).job is not None
    return "It is a part of `whet setup`; `whet setup --undo` takes all of that back. " if is_of_setup else ""


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


def tell(entries: Iterable[Entry], *, done: str = "") -> int:
    """Say which changes are in force, and which wait for a person; `done` is what to call what was done."""
    made = tuple(entries)
    record = {"entries": [entry_record(entry) for entry in made]}
    return give(record, (*(_told(entry, done) for entry in made), *why_waits(made)))


def _told(entry: Entry, done: str) -> str:
    what = f"{entry.patch.form} {plain(entry.patch.name)}"
    if entry.step is Step.PROPOSED:
        return f"Needs a person's approval: {what} (`whet lessons show {entry.number}`)."
    undo = "undo" if entry.patch.form in OWN else f"undo {entry.number}"
    return f"{done or DONE[entry.patch.action]} {what} (entry {entry.number}; to undo, run `whet ledger {undo}`)."


def why_waits(entries: Iterable[Entry]) -> Iterator[str]:
    """Why what a person seems to have written waits: here nobody can tell."""
    if any(each.step is Step.PROPOSED and each.actor is Actor.PERSON for each in entries) and not has_terminal():
        yield "There is no terminal. To apply changes at once, set trust.commands to true and pass --yes."


DONE = {"add": "Added", "change": "Changed", "remove": "Removed"}
