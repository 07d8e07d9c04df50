"""What an entry did to the texts in force, and which entries put a sentence there."""

import difflib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from whet.ledger.entries import DECISIONS, Actor, Change, Entry, Item, Key, State, Step
from whet.ledger.folding import fold
from whet.ledger.patches import TRUSTED

CONTEXT_LINES = 3
PUTTING = (Step.APPLIED, Step.CANARY)
ONLY_SAID = {Step.PROPOSED: 0, Step.ACCEPTED: 1, Step.REJECTED: 1, Step.UNDECIDED: 1}


class Move(NamedTuple):
    """One thing from one text to another; None is a thing that is not there."""

    key: Key
    before: str | None
    after: str | None


class Trace(NamedTuple):
    """An entry that put a text there, and the one that took it away again; None where it is in force.

    Where nothing ever put it there: the entry that proposed or tried it, and the decision on it; None where it waits.
    """

    entry: Entry
    ended: Entry | None


def step_of(entry: Entry) -> Step:
    """What an entry is, or what it was begun for."""
    return entry.intends or entry.step


def move_of(state: State, entry: Entry) -> Move:
    """What an entry does, or would do, to the state before it."""
    step, patch = step_of(entry), entry.patch
    if step in (Step.UNDONE, Step.REDONE, Step.REVERTED):
        change = _change(state, entry.about)
        before, after = (change.before, change.after) if step is Step.REDONE else (change.after, change.before)
        return Move(change.key, _text(before), _text(after))
    known = state.get(patch.form, patch.name)
    text = entry.replaced if entry.replaced is not None else (_text(known) if entry.before else None)
    return Move(Key(patch.form, patch.name, entry.home), text, patch.text if entry.after else None)


def difference(before: str | None, after: str | None) -> str:
    """Two texts as a unified diff; empty where they are equal."""
    lines = difflib.unified_diff(
        (before or "").splitlines(), (after or "").splitlines(), "before", "after", n=CONTEXT_LINES, lineterm=""
    )
    return "\n".join(lines)


def is_last(state: State, change: Change) -> bool:
    """Whether what the change put there, or took away, still stands so in the ledger."""
    return state.get(change.key.form, change.key.name) == change.after


def last_batch(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes on top of a stack that were made together, the newest first."""
    if not changes:
        return ()
    top = changes[-1]
    taken = [top]
    for change in reversed(changes[:-1]):
        if not top.batch or change.batch != top.batch:
            break
        taken.append(change)
    return tuple(taken)


def trace(entries: Sequence[Entry], text: str) -> tuple[Trace, ...]:
    """The changes that put these words there, the newest first: which entry it was, and whether they still stand."""
    wanted = _plain(text)
    state = fold(entries)
    in_force = {item.number for item in state.items}
    undone = {entry.about: entry for entry in entries if entry.step is Step.UNDONE}
    # A later one of the same number overwrites: the last to take it away is the one that counts.
    taken = {change.before.number: change.number for change in state.done if change.before}
    by_number = {entry.number: entry for entry in entries}
    found: list[Trace] = []
    for entry in reversed(entries):
        if entry.step in PUTTING and entry.after and wanted in _plain(entry.patch.text):
            ended = by_number.get(taken.get(entry.number, 0)) or undone.get(entry.number)
            found.append(Trace(entry, None if entry.number in in_force else ended))
    return (*found, *_never_applied(entries, wanted, {each.entry.patch.id for each in found}))


def _never_applied(entries: Sequence[Entry], wanted: str, applied: set[str]) -> Iterator[Trace]:
    """What has these words and was only proposed or tried: each text once, proposals first, each the newest first."""
    decided = {entry.about: entry for entry in entries if entry.step in DECISIONS}
    seen = set(applied)
    newest = sorted(
        (each for each in reversed(entries) if each.step in ONLY_SAID), key=lambda each: ONLY_SAID[each.step]
    )
    for entry in newest:
        if entry.patch.id not in seen and wanted in _plain(entry.patch.text):
            seen.add(entry.patch.id)
            yield Trace(entry, decided.get(entry.number) if entry.step is Step.PROPOSED else entry)


def is_vouched_for(item: Item, entries: Sequence[Entry]) -> bool:
    """Whether a text may be told to an agent: it is trusted, or a person approved that exact text.

    What applies a patch sees to it already; where text leaves for an agent it is looked up again.
    """
    return item.trust >= TRUSTED or was_approved(item, entries)


def was_approved(item: Item, entries: Sequence[Entry]) -> bool:
    """Whether a person approved the very patch that put this text there, before it was put there."""
    put = next((entry.patch.id for entry in entries if entry.number == item.number), None)
    return any(
        entry.step is Step.APPROVED and entry.actor is Actor.PERSON and entry.patch.id == put
        for entry in entries
        if entry.number < item.number
    )


def _change(state: State, number: int) -> Change:
    return next(change for change in (*state.done, *state.undone) if change.number == number)


def _text(item: Item | None) -> str | None:
    return item.text if item else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
