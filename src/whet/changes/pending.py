"""Changes that wait for a person: proposed by anybody, approved or refused by a person alone.

The rules of other members of a team are among them, each until this home's person decides.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from whet.changes.apply import ChangePlace, Refused, apply, draft, own, ready, record, try_out_all
from whet.changes.places import current
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, Key, State, Step
from whet.ledger.folding import Move, suggestions
from whet.ledger.patch_faults import LIMITS, FaultKind, TextLimits, faults
from whet.ledger.patches import Action, Form, Patch, marks
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import Ledger, ledger_of


def submit(
    home: Home, database: Database, patch: Patch, *, actor: Actor, now: float, limits: TextLimits = LIMITS
) -> Entry:
    """Apply a patch if it may be applied, else let it wait for a person; the entry's step says which."""
    (given,) = own((patch,), actor)
    if given.is_foreign:
        return propose(home, database, given, actor=actor, now=now, limits=limits)
    return apply(home, database, given, actor=actor, now=now, limits=limits)


def propose(
    home: Home, database: Database, patch: Patch, *, actor: Actor, now: float, limits: TextLimits = LIMITS
) -> Entry:
    """Let a patch wait for a person's decision; once, and not again after it was refused."""
    books = ChangePlace(home, ledger_of(home, database), actor, now)
    (given,) = own((patch,), actor)
    with database.writing():
        _expire(books)
        state = books.ledger.state()
        known = next((entry for entry in state.pending if entry.patch.id == given.id), None)
        if known is not None:
            return known
        found = [fault for fault in faults(given, state, limits=limits) if fault.kind is not FaultKind.TRUST]
        if found:
            raise Refused(given, found)
        if given.id in state.refused:
            raise WhetError(
                "A person has already refused this change.",
                advice="Who wants it after all finds it by `whet ledger` and runs `whet ledger undo ID`.",
            )
        if marks(given) & state.never:
            raise WhetError(
                "A person never wants this proposed.", advice="To add it all the same, run `whet rules add`."
            )
        if len(state.pending) >= limits.pending:
            raise WhetError(
                f"{len(state.pending)} changes already need a person's approval.",
                advice="Decide on some of them: `whet lessons --waiting`.",
            )
        return books.ledger.append([books.entry(Step.PROPOSED, given)])[0]


def supersede(home: Home, database: Database, entry: Entry, *, by: Entry, now: float) -> None:
    """Take back a change that waits, because a later one of the same session, which waits as well, holds it."""
    books = ChangePlace(home, ledger_of(home, database), Actor.POLICY, now)
    books.ledger.append([books.entry(Step.EXPIRED, entry.patch, about=entry.number, note=f"held by entry {by.number}")])


def pending(home: Home, database: Database, *, now: float) -> tuple[Entry, ...]:
    """What waits for a person's decision, the oldest first, without what waited too long."""
    found = _open(ledger_of(home, database))
    return tuple(entry for entry in found if not _is_late(entry, now=now))


def move_for(home: Home, database: Database, entry: Entry) -> Move:
    """What a proposed change would do to what stands there now."""
    ledger = ledger_of(home, database)
    key = Key(entry.patch.form, entry.patch.name, entry.home)
    known = ledger.state().get(key.form, key.name)
    text = known.text if known else None
    if key.form is not Form.RULE:
        text = current(home, key, entry.patch.before)
    return Move(key, text, entry.patch.text if entry.after else None)


def approve(home: Home, database: Database, number: int, *, actor: Actor, now: float) -> Entry:
    """Put exactly the text that was proposed in force. Only a person can."""
    need_person(actor)
    books = ChangePlace(home, ledger_of(home, database), actor, now)
    with ready(books, _waiting(books.ledger, number, now=now).patch.form) as state:
        entry = _waiting(books.ledger, number, now=now)  # as it is now that nobody else changes it
        granted = replace(state, granted=(*state.granted, entry))
        planned = draft(books, granted, entry.patch)
        _grant(books, entry)
        return record(home, books.ledger, [planned], state)[0]


def approve_live(
    home: Home, database: Database, numbers: Sequence[int], *, actor: Actor, now: float, share: float
) -> tuple[Entry, ...]:
    """Tell exactly the texts that were proposed to a share of the sessions, together. Only a person can."""
    need_person(actor)
    books = ChangePlace(home, ledger_of(home, database), actor, now)
    with database.writing():
        entries = [_waiting(books.ledger, number, now=now) for number in numbers]
        for entry in entries:
            _grant(books, entry)
        patches = [entry.patch for entry in entries]
        return try_out_all(home, database, patches, actor=actor, now=now, share=share)


def approve_edited(home: Home, database: Database, number: int, text: str, *, actor: Actor, now: float) -> Entry:
    """Put a person's own words in force in the place of what was proposed, which is refused with that."""
    need_person(actor)
    entry = _waiting(ledger_of(home, database), number, now=now)
    if entry.step is Step.APPROVED or entry.patch.action is Action.REMOVE:
        raise WhetError(f"Entry {number} has no words to edit.", advice="Approve or refuse it as it is.")
    if text == entry.patch.text:
        return approve(home, database, number, actor=actor, now=now)
    theirs = replace(entry.patch, text=text, example="", trust=Trust.OPERATOR)
    made = apply(home, database, theirs, actor=actor, now=now)
    refuse(home, database, number, actor=actor, now=now, note=f"edited: entry {made.number}")
    return made


def refuse(home: Home, database: Database, number: int, *, actor: Actor, now: float, note: str = "") -> Entry:
    """Decide against a proposed change, for good. Only a person can."""
    return _refuse(ChangePlace(home, ledger_of(home, database), actor, now), number, note, is_never=False)


def say_never(home: Home, database: Database, number: int, *, actor: Actor, now: float, note: str = "") -> Entry:
    """Decide against a proposed change and against all that shares a mark with it. Only a person can."""
    return _refuse(ChangePlace(home, ledger_of(home, database), actor, now), number, note, is_never=True)


def reopen(home: Home, database: Database, number: int, *, actor: Actor, now: float) -> Entry:
    """Let a refused change wait again, with its support files; this takes a never back too. Only a person can."""
    need_person(actor)
    ledger = ledger_of(home, database)
    books = ChangePlace(home, ledger, actor, now)
    with database.writing():
        refused, state = ledger.entry(number), ledger.state()
        if refused.step is not Step.REFUSED or refused.patch.id not in state.refused:
            raise WhetError(f"Entry {number} is no refusal that holds.", advice="To find it, run `whet ledger`.")
        again = [each for each in ledger.entries() if each == refused or _went_along(each, refused)]
        return ledger.append(books.entry(Step.PROPOSED, each.patch, about=each.number) for each in again)[0]


def _went_along(entry: Entry, skill: Entry) -> bool:
    """Whether a support file was refused together with its skill."""
    is_file = (entry.step, entry.patch.form, skill.patch.form) == (Step.REFUSED, Form.FILE, Form.SKILL)
    is_its = entry.patch.name.startswith(f"{skill.patch.name}/") and entry.home == skill.home
    return is_file and is_its and entry.at == skill.at


def _refuse(books: ChangePlace, number: int, note: str, *, is_never: bool) -> Entry:
    need_person(books.actor)
    with books.ledger.database.writing():
        entry = _waiting(books.ledger, number, now=books.now)
        refused = books.entry(Step.REFUSED, entry.patch, about=number, note=note, is_never=is_never)
        beside = f"with its skill: entry {number}"
        files = _files_of(books.ledger.state(), entry)
        also = [books.entry(Step.REFUSED, each.patch, about=each.number, note=beside) for each in files]
        return books.ledger.append([refused, *also])[0]


def _files_of(state: State, skill: Entry) -> Iterator[Entry]:
    """The support files that wait for a skill which nothing will bring: it is not there, nor proposed once more."""
    if (skill.patch.form, skill.patch.action) != (Form.SKILL, Action.ADD) or state.get(Form.SKILL, skill.patch.name):
        return
    waiting = [entry for entry in state.pending if entry.number != skill.number and entry.home == skill.home]
    if not any((entry.patch.form, entry.patch.name) == (Form.SKILL, skill.patch.name) for entry in waiting):
        prefix = f"{skill.patch.name}/"
        yield from (each for each in waiting if each.patch.form is Form.FILE and each.patch.name.startswith(prefix))


def need_person(actor: Actor) -> None:
    """Raise unless a person decides: no agent and no policy approves for them."""
    if actor is not Actor.PERSON:
        raise WhetError(
            f"Only a person can decide this, not the {actor}.", advice="Run `whet lessons --waiting` yourself."
        )


def waiting(home: Home, database: Database, *, now: float) -> int:
    """How many changes wait for a person."""
    return len(pending(home, database, now=now))


def _open(ledger: Ledger) -> tuple[Entry, ...]:
    """What waits, what was approved but stopped before it was in force, and what other members suggest by having it."""
    state = ledger.state()
    # Of very many suggestions the first, so that nobody can fill the screen.
    suggested = suggestions(ledger.entries(), ledger.of_others())[: LIMITS.pending]
    return (*state.granted, *state.pending, *suggested)


def _waiting(ledger: Ledger, number: int, *, now: float) -> Entry:
    entry = next((entry for entry in _open(ledger) if entry.number == number), None)
    if entry is None:
        ledger.entry(number)  # says so where there is none
        raise WhetError(
            f"Entry {number} is not pending.", advice="To list pending changes, run `whet lessons --waiting`."
        )
    if _is_late(entry, now=now):
        raise WhetError(f"Entry {number} was pending too long and has expired.", advice="It can be proposed again.")
    return entry


def _is_late(entry: Entry, *, now: float) -> bool:
    return entry.step is Step.PROPOSED and now - entry.at > LIMITS.pending_seconds


def _grant(books: ChangePlace, entry: Entry) -> None:
    if entry.step is not Step.APPROVED:
        books.ledger.append([books.entry(Step.APPROVED, entry.patch, about=entry.number)])


def _expire(books: ChangePlace) -> None:
    late = [entry for entry in books.ledger.state().pending if _is_late(entry, now=books.now)]
    policy = books._replace(actor=Actor.POLICY)
    books.ledger.append(policy.entry(Step.EXPIRED, entry.patch, about=entry.number) for entry in late)
