"""Apply, revert, undo and redo: the only ways in which what an agent is told changes.

Entries and files changed together: old or new, and never a change that the ledger does not know. A change of files is
announced by begun entries, carried out, and confirmed by the entries that it was for. Whoever comes after a sudden stop
finds the announcement and looks at the files: what was carried out is confirmed, what was not is abandoned; and a batch
of which a part was carried out is finished. The lock of the home makes sure that what is found unfinished was left by
somebody who is gone.
"""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from whet.changes.places import conflict, current, edits, expect_allowed, expect_fitting, is_done, place_of, write
from whet.errors import WhetError
from whet.ledger.entries import CHANGES, Actor, Change, Entry, Key, State, Step
from whet.ledger.folding import is_last, last_batch, move_of, step_of
from whet.ledger.patch_faults import LIMITS, Fault, FaultKind, TextLimits, faults
from whet.ledger.patches import Action, Form, Patch, derived, digest
from whet.sessions.trust import Trust
from whet.store import files
from whet.store.database import Database
from whet.store.files import Conflict
from whet.store.home import Home, prepare_home
from whet.store.ledger import Ledger, ledger_of
from whet.trials.told_rules import SHARE

LOCK_FOLDER = ".changing"
ADVICE = {
    FaultKind.NAME: "Use lower-case words joined by hyphens; the name of a note starts with memory/ or user/.",
    FaultKind.EMPTY: "Give it a text, or remove it.",
    FaultKind.LENGTH: "Shorten it, or make it a skill.",
    FaultKind.CHARACTERS: "Write it without invisible or direction-changing characters.",
    FaultKind.SECRET: "Name where the secret is kept instead of the secret.",
    FaultKind.STALE: "Read the current text, then write the change again; `whet rules add --replace` changes a rule.",
    FaultKind.SAME: "There is nothing to do; to change its text, run `whet rules add --replace`.",
    FaultKind.DUPLICATE: "Change the existing one instead.",
    FaultKind.CONTRADICTION: "Change or remove the existing one first.",
    FaultKind.BROKEN_TOOL: "Say what to do when the tool fails; tell the person about the fault.",
    FaultKind.ACCIDENT: "Tell the person; describe the set-up that works in a skill.",
    FaultKind.BUDGET: "Remove or shorten a rule first.",
    FaultKind.TRUST: "Propose it, then decide with `whet lessons --waiting`.",
}


@contextlib.contextmanager
def changing(home: Home, ledger: Ledger, *, now: float) -> Iterator[None]:
    """Nobody else changes this home's files meanwhile, and nothing is left unfinished at the start."""
    prepare_home(home)
    with files.locked(home.folder, (LOCK_FOLDER,)):
        _settle(home, ledger, now=now)
        yield


def settle(home: Home, ledger: Ledger, *, now: float) -> None:
    """Finish or abandon what a sudden stop left unfinished."""
    if ledger.state().unfinished:
        with changing(home, ledger, now=now):
            return


def record(home: Home, ledger: Ledger, drafts: Sequence[Entry], state: State) -> tuple[Entry, ...]:
    """Append entries that change what is in force, and change the files that they are about.

    Called within `changing` where files are concerned, and never within a transaction.
    """
    as_batch = len(drafts) > 1
    if drafts[0].patch.form is Form.RULE:
        return ledger.append(drafts, as_batch=as_batch)
    moves = [move_of(state, draft) for draft in drafts]
    planned = edits(home, moves)
    if drafts[0].step is Step.APPLIED:  # what stood there once may always come back
        expect_fitting(planned)
    announced = [replace(draft, step=Step.BEGUN, intends=draft.step) for draft in drafts]
    begun = ledger.append(announced, as_batch=as_batch)
    try:
        for edit in planned:
            write(edit)
    except WhetError:
        # The fault is the one to tell; where even this fails, the next change settles it.
        with contextlib.suppress(WhetError):
            _settle(home, ledger, now=drafts[0].at)
        raise
    return ledger.append(_finished(entry) for entry in begun)


def _settle(home: Home, ledger: Ledger, *, now: float) -> None:
    state = ledger.state()
    for _, group in itertools.groupby(state.unfinished, key=lambda entry: entry.batch or entry.number):
        ledger.append(_finish_or_abandon(home, state, list(group), now=now))


def _finish_or_abandon(home: Home, state: State, begun: list[Entry], *, now: float) -> list[Entry]:
    """What ends the entries of one batch: all confirmed if any of it was carried out, else all abandoned."""
    if not any(is_done(home, move_of(state, entry)) for entry in begun):
        return [_abandoned(entry, now, "nothing was changed") for entry in begun]
    ended: list[Entry] = []
    for entry in begun:
        move = move_of(state, entry)
        try:
            if not is_done(home, move):
                for edit in edits(home, [move]):
                    write(edit)
            ended.append(_finished(entry))
        except files.Conflict:
            ended.append(_abandoned(entry, now, "it was edited in the meantime and left unchanged"))
    return ended


def _finished(entry: Entry) -> Entry:
    return replace(entry, step=step_of(entry), begun=entry.number, intends=None)


def _abandoned(entry: Entry, now: float, why: str) -> Entry:
    return replace(entry, step=Step.ABANDONED, begun=entry.number, at=now, note=why)


class Refused(WhetError):
    """A patch that has faults. Nothing was changed."""

    def __init__(self, patch: Patch, found: Sequence[Fault]) -> None:
        reasons = "; ".join(fault.message for fault in found)
        super().__init__(f"The {patch.form} {patch.name} is refused: {reasons}.", advice=ADVICE[found[0].kind])
        self.faults = tuple(found)


class ChangePlace(NamedTuple):
    """What a change is made in: the home, its ledger, who decides and when."""

    home: Home
    ledger: Ledger
    actor: Actor
    now: float

    def entry(self, step: Step, patch: Patch, **more: Any) -> Entry:
        """A new entry without its number; it does what its patch says, in this home's files, unless `more` differs."""
        home = "" if patch.form is Form.RULE else self.ledger.home
        known = {"before": patch.before, "after": patch.after, "home": home, **more}
        return Entry(0, step, patch, self.actor, self.now, **known)


def apply(
    home: Home, database: Database, patch: Patch, *, actor: Actor, now: float, limits: TextLimits = LIMITS
) -> Entry:
    """Put a patch in force. Raises Refused for its faults, and Conflict where a person's edit stands."""
    return apply_all(home, database, (patch,), actor=actor, now=now, limits=limits)[0]


def apply_all(
    home: Home, database: Database, patches: Sequence[Patch], *, actor: Actor, now: float, limits: TextLimits = LIMITS
) -> tuple[Entry, ...]:
    """Put patches in force together, all or none; they are undone together too."""
    books = ChangePlace(home, ledger_of(home, database), actor, now)
    _check_batch(patches)
    with ready(books, patches[0].form) as state:
        made = frozenset(patch.name for patch in patches if patch.form is Form.SKILL)
        drafts = [draft(books, state, patch, limits=limits, beside=made) for patch in own(patches, actor)]
        return record(home, books.ledger, drafts, state)


def try_out(home: Home, database: Database, patch: Patch, *, actor: Actor, now: float, share: float = SHARE) -> Entry:
    """Put a rule in force for a share of the sessions only."""
    return try_out_all(home, database, (patch,), actor=actor, now=now, share=share)[0]


def try_out_all(
    home: Home, database: Database, patches: Sequence[Patch], *, actor: Actor, now: float, share: float = SHARE
) -> tuple[Entry, ...]:
    """Put rules in force for a share of the sessions only; several are a bundle, told or untold as one."""
    books = ChangePlace(home, ledger_of(home, database), actor, now)
    _check_batch(patches)
    if any(each.form is not Form.RULE or each.action is Action.REMOVE for each in patches) or not 0 < share < 1:
        raise WhetError(
            "Only a new or a changed rule can go to a share of sessions.",
            advice="Give a rule, and a share between 0 and 1.",
        )
    with ready(books, Form.RULE) as state:
        drafts = [draft(books, state, each, step=Step.CANARY) for each in own(patches, actor)]
        return record(home, books.ledger, [replace(each, share=share) for each in drafts], state)


def promote(home: Home, database: Database, number: int, *, actor: Actor, now: float, note: str = "") -> Entry:
    """Put what the canary tried in force for every session."""
    books = ChangePlace(home, ledger_of(home, database), actor, now)
    _forbid_agents(actor)
    with database.writing():
        state = books.ledger.state()
        change = _done(books, state, number)
        if change.after is None or not change.after.canary or not is_last(state, change):
            raise WhetError(f"Entry {number} is not an active canary.", advice="To list entries, run `whet ledger`.")
        patch, stands = books.ledger.entry(number).patch, digest(change.after.text)
        promoted = books.entry(Step.PROMOTED, patch, before=stands, after=stands, note=note, about=number)
        return books.ledger.append([promoted])[0]


def revert(home: Home, database: Database, number: int, *, actor: Actor, now: float, note: str = "") -> Entry:
    """Turn one entry back, which must still be what is in force; this can be undone in its turn."""
    books = ChangePlace(home, ledger_of(home, database), actor, now)
    _forbid_agents(actor)
    with ready(books, books.ledger.entry(number).patch.form) as state:
        change = _done(books, state, number)
        if not is_last(state, change):
            raise _superseded(state, change)
        return record(home, books.ledger, [_turn(books, change, Step.REVERTED, note)], state)[0]


def undo(home: Home, database: Database, *, actor: Actor, now: float) -> tuple[Entry, ...]:
    """Take the last change back, or the last batch; as often as there are changes."""
    return _walk(ChangePlace(home, ledger_of(home, database), actor, now), Step.UNDONE)


def redo(home: Home, database: Database, *, actor: Actor, now: float) -> tuple[Entry, ...]:
    """Make again what was undone last, until something else is changed."""
    return _walk(ChangePlace(home, ledger_of(home, database), actor, now), Step.REDONE)


def draft(
    books: ChangePlace,
    state: State,
    patch: Patch,
    *,
    step: Step = Step.APPLIED,
    limits: TextLimits = LIMITS,
    beside: frozenset[str] = frozenset(),
) -> Entry:
    """The entry that would put a patch in force, without its number; raises Refused or Conflict.

    `beside` are the skills of the same batch, which may have support files though they are not there yet.
    """
    found = faults(patch, state, limits=limits)
    if found:
        raise Refused(patch, found)
    expect_allowed(books.home, state, patch, actor=books.actor, beside=beside)
    known = state.get(patch.form, patch.name)
    text = known.text if known else None
    if patch.form is not Form.RULE:
        text = _standing(books, patch)
    replaced = text if text is not None and (known is None or known.text != text) else None
    return books.entry(step, patch, before=digest(text), replaced=replaced)


def own(patches: Sequence[Patch], actor: Actor) -> tuple[Patch, ...]:
    """The patches as this actor may give them: an agent's are never trusted more than an agent."""
    if actor is not Actor.AGENT:
        return tuple(patches)
    return tuple(derived(patch, (Trust.AGENT,)) for patch in patches)


@contextlib.contextmanager
def ready(books: ChangePlace, form: Form) -> Iterator[State]:
    """The state, which nobody else changes meanwhile: rules in one transaction, files under the home's lock."""
    if form is Form.RULE:
        with books.ledger.database.writing():
            yield books.ledger.state()
        return
    with changing(books.home, books.ledger, now=books.now):
        yield books.ledger.state()


def _standing(books: ChangePlace, patch: Patch) -> str | None:
    """The text in the file that the patch changes, which must be the one that its writer saw."""
    key = Key(patch.form, patch.name, books.ledger.home)
    text = current(books.home, key, patch.before)
    if patch.before != digest(text) or (patch.action is Action.ADD) is not (text is None):
        raise conflict(key, place_of(books.home, key))
    return text


def _walk(books: ChangePlace, step: Step) -> tuple[Entry, ...]:
    _forbid_agents(books.actor)
    verb = "undo" if step is Step.UNDONE else "redo"
    top = _top(books.ledger.state(), step)
    if not top:
        raise WhetError(f"Nothing to {verb}.", advice="To list changes, run `whet ledger`.")
    with ready(books, top[0].key.form) as state:
        if _top(state, step) != top:
            raise WhetError("Another process changed the ledger in the meantime.", advice="Look at it, then try again.")
        wanted = [change.after if step is Step.UNDONE else change.before for change in top]
        for change, item in zip(top, wanted, strict=True):
            if state.get(change.key.form, change.key.name) != item:
                raise _superseded(state, change)
        return record(books.home, books.ledger, [_turn(books, change, step) for change in top], state)


def _top(state: State, step: Step) -> tuple[Change, ...]:
    return last_batch(state.done if step is Step.UNDONE else state.undone)


def _turn(books: ChangePlace, change: Change, step: Step, note: str = "") -> Entry:
    """The entry that turns a change back, or makes it again."""
    old, new = change.after, change.before
    if step is Step.REDONE:
        old, new = new, old
    before, after = (digest(each.text if each else None) for each in (old, new))
    patch = books.ledger.entry(change.number).patch
    return books.entry(step, patch, before=before, after=after, note=note, about=change.number, home=change.key.home)


def _done(books: ChangePlace, state: State, number: int) -> Change:
    change = next((change for change in state.done if change.number == number), None)
    if change is not None:
        return change
    entry = books.ledger.entry(number)
    if entry.home not in ("", books.ledger.home):
        raise WhetError(f"Entry {number} is about the files of another home.", advice="Revert it there.")
    if entry.number not in {each.number for each in books.ledger.entries()}:
        raise WhetError(
            f"Entry {number} is by {entry.maker}, and does not apply here.",
            advice="Whoever made it can revert it; `whet rules` lists the rules that apply here.",
        )
    step = entry.step
    why = (
        "was undone" if step in CHANGES and step not in (Step.UNDONE, Step.REDONE) else "changed nothing that is active"
    )
    raise WhetError(f"Entry {number} {why}.", advice="To list entries, run `whet ledger`.")


def _superseded(state: State, change: Change) -> Conflict:
    key, item = change.key, state.get(change.key.form, change.key.name)
    later = next(
        (each.number for each in reversed(state.done) if key in (each.key, *(item.key for item in each.along))), 0
    )
    by = f"entry {later}" if later > change.number else "a person's edit"
    became = "changed" if item else "taken away"
    return Conflict(
        f"The {key.form} {key.name} was {became} since entry {change.number}, by {by}.",
        advice=f"Revert that first, or see `whet ledger show {later or change.number}`.",
    )


def _check_batch(patches: Sequence[Patch]) -> None:
    if not patches:
        raise WhetError("Nothing to apply.", advice="Give at least one change.")
    keys = {(patch.form, patch.name) for patch in patches}
    kinds = {patch.form is Form.RULE for patch in patches}
    removed = {patch.name for patch in patches if patch.form is Form.SKILL and patch.action is Action.REMOVE}
    torn = any(patch.form is Form.FILE and patch.name.partition("/")[0] in removed for patch in patches)
    if len(keys) < len(patches) or len(kinds) > 1 or torn:
        raise WhetError(
            "These changes cannot be made together.",
            advice="Change each item once, change rules and files separately, and change no file of a removed skill.",
        )


def _forbid_agents(actor: Actor) -> None:
    if actor is Actor.AGENT:
        raise WhetError("An agent may not undo changes.", advice="Ask the person to do it.")
