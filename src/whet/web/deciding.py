"""What a person can change from the page: exactly what they saw, through the same ways as the commands."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from whet.changes import apply, pending
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of

SYNC = "To update other agents, run `whet sync`."


class PageDecision(NamedTuple):
    """What a form asks for: the entry, the patch that the person saw, and their own text where they edited it."""

    number: int
    patch: str
    text: str = ""


def approve(home: Home, database: Database, asked: PageDecision, *, now: float) -> str:
    _seen(home, database, asked, now=now)
    made = pending.approve(home, database, asked.number, actor=Actor.PERSON, now=now)
    return _in_force(made)


def edit(home: Home, database: Database, asked: PageDecision, *, now: float) -> str:
    """Put the person's own text in force in the place of the proposed one."""
    _seen(home, database, asked, now=now)
    text = asked.text.replace("\r\n", "\n").strip("\n")
    if not text.strip():
        raise WhetError("Your text is empty.", advice="Write what agents should be told, or refuse the change.")
    made = pending.approve_edited(home, database, asked.number, text, actor=Actor.PERSON, now=now)
    return _in_force(made)


def refuse(home: Home, database: Database, asked: PageDecision, *, now: float) -> str:
    _seen(home, database, asked, now=now)
    made = pending.refuse(home, database, asked.number, actor=Actor.PERSON, now=now)
    return f"Refused: {made.patch.form} {made.patch.name}."


def never(home: Home, database: Database, asked: PageDecision, *, now: float) -> str:
    """Refuse it, and all that says the same, for ever."""
    _seen(home, database, asked, now=now)
    made = pending.say_never(home, database, asked.number, actor=Actor.PERSON, now=now)
    return f"Never again: {made.patch.form} {made.patch.name}."


def revert(home: Home, database: Database, asked: PageDecision, *, now: float) -> str:
    """Undo one entry that is still in force."""
    if ledger_of(home, database).entry(asked.number).patch.id != asked.patch:
        raise WhetError("This entry is not the one that you saw.", advice="Look at it again.")
    made = apply.revert(home, database, asked.number, actor=Actor.PERSON, now=now)
    return f"Entry {asked.number} was undone: the {made.patch.form} {made.patch.name} {_stands(made)}. {SYNC}"


Decide = Callable[..., str]
DECISIONS: Mapping[str, Decide] = {"approve": approve, "edit": edit, "refuse": refuse, "never": never}


def _seen(home: Home, database: Database, asked: PageDecision, *, now: float) -> Entry:
    """The entry that waits, which must be the very one that the person saw."""
    found = next((each for each in pending.pending(home, database, now=now) if each.number == asked.number), None)
    if found is None or found.patch.id != asked.patch:
        raise WhetError("This change is no longer pending as you saw it.", advice="Look at what is pending now.")
    return found


def _in_force(made: Entry) -> str:
    return f"Approved: the {made.patch.form} {made.patch.name} {_stands(made)} (entry {made.number}). {SYNC}"


def _stands(made: Entry) -> str:
    return "is active" if made.after else "is removed"
