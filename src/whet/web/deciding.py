"""What a person can change from the page: exactly what they saw, through the same ways as the commands."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from whet.changes import apply, pending
from whet.errors import WhetError
from whet.improving.learned import propose_lesson
from whet.ledger.entries import Actor, Entry
from whet.lessons.record import Lesson
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.web.site import known_by

SYNC = "To update other agents, run `whet sync`."


class PageDecision(NamedTuple):
    """What a form asks for: the entry, the patch that the person saw, and their own text where they edited it."""

    number: int
    patch: str
    text: str = ""


class DecidedOnPage(NamedTuple):
    """What was done, in words, and the way back: the entry to turn back, at which address."""

    said: str
    entry: Entry | None = None
    way_back: str = ""


def approve(home: Home, database: Database, asked: PageDecision, *, now: float) -> DecidedOnPage:
    _seen(home, database, asked, now=now)
    made = pending.approve(home, database, asked.number, actor=Actor.PERSON, now=now)
    return _in_force(made)


def edit(home: Home, database: Database, asked: PageDecision, *, now: float) -> DecidedOnPage:
    """Put the person's own text in force in the place of the proposed one."""
    _seen(home, database, asked, now=now)
    text = asked.text.replace("\r\n", "\n").strip("\n")
    if not text.strip():
        raise WhetError("Your text is empty.", advice="Write what agents should be told, or refuse the change.")
    made = pending.approve_edited(home, database, asked.number, text, actor=Actor.PERSON, now=now)
    return _in_force(made)


def refuse(home: Home, database: Database, asked: PageDecision, *, now: float) -> DecidedOnPage:
    _seen(home, database, asked, now=now)
    made = pending.refuse(home, database, asked.number, actor=Actor.PERSON, now=now)
    return _refused(f"Refused: {_what(made)}.", made)


def never(home: Home, database: Database, asked: PageDecision, *, now: float) -> DecidedOnPage:
    """Refuse it, and all that says the same, for ever."""
    _seen(home, database, asked, now=now)
    made = pending.say_never(home, database, asked.number, actor=Actor.PERSON, now=now)
    words = "neither it nor what says the same or is for the same failure will be proposed"
    return _refused(f"Never again: {_what(made)}; {words}.", made)


def revert(home: Home, database: Database, asked: PageDecision, *, now: float) -> DecidedOnPage:
    """Undo one entry that is still in force."""
    _expect_seen(home, database, asked)
    made = apply.revert(home, database, asked.number, actor=Actor.PERSON, now=now)
    return DecidedOnPage(f"Entry {asked.number} was undone: the {_what(made)} {_stands(made)}. {SYNC}")


def reopen(home: Home, database: Database, asked: PageDecision, *, now: float) -> DecidedOnPage:
    """Take a refusal back: the change waits again."""
    _expect_seen(home, database, asked)
    made = pending.reopen(home, database, asked.number, actor=Actor.PERSON, now=now)
    return DecidedOnPage(f"Taken back: the {_what(made)} waits again (entry {made.number}).")


def propose(
    home: Home, database: Database, lessons: Sequence[Lesson], id: str, patch: str, *, now: float
) -> DecidedOnPage:
    """Put a lesson, which must be the very one that the person saw, among what waits."""
    found = next((each for each in lessons if each.id == id and each.patch.id == patch), None)
    if found is None:
        raise WhetError("This lesson is no longer as you saw it.", advice="Look at the lessons again.")
    made = propose_lesson(home, database, found, now=now)
    return DecidedOnPage(f"Proposed: the {_what(made)} waits for your decision (entry {made.number}).")


Decide = Callable[..., DecidedOnPage]
DECISIONS: Mapping[str, Decide] = {
    "approve": approve,
    "edit": edit,
    "refuse": refuse,
    "never": never,
    "reopen": reopen,
}


def _seen(home: Home, database: Database, asked: PageDecision, *, now: float) -> Entry:
    """The entry that waits, which must be the very one that the person saw."""
    found = next((each for each in pending.pending(home, database, now=now) if each.number == asked.number), None)
    if found is None or found.patch.id != asked.patch:
        raise WhetError("This change is no longer pending as you saw it.", advice="Look at what is pending now.")
    return found


def _expect_seen(home: Home, database: Database, asked: PageDecision) -> None:
    if ledger_of(home, database).entry(asked.number).patch.id != asked.patch:
        raise WhetError("This entry is not the one that you saw.", advice="Look at it again.")


def _in_force(made: Entry) -> DecidedOnPage:
    said = f"Approved: the {_what(made)} {_stands(made)} (entry {made.number}). {SYNC}"
    return DecidedOnPage(said, made, f"/ledger/{made.number}/revert")


def _refused(said: str, made: Entry) -> DecidedOnPage:
    later = f"Later, `whet lessons undo {made.number}` takes this back."
    return DecidedOnPage(f"{said} {later}", made, f"/waiting/{made.number}/reopen")


def _what(made: Entry) -> str:
    return f"{made.patch.form} {known_by(made.patch.name, made.patch.text)}"


def _stands(made: Entry) -> str:
    return "is active" if made.after else "is removed"
