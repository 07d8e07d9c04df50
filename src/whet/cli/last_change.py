"""Whether a person means the change that an undo would take back."""

import click

from whet.cli.acting import has_terminal
from whet.cli.output import moment
from whet.cli.shown.entries import BY_WHOM
from whet.errors import WhetError
from whet.jobs.nightly import NAME
from whet.ledger.entries import Actor, Entry
from whet.ledger.patches import Form
from whet.ledger.traces import last_batch
from whet.setup.records import load_record
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
