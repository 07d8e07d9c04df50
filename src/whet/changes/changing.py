"""Entries and files changed together: old or new, and never a change that the ledger does not know.

A change of files is announced by begun entries, carried out, and confirmed by the entries that it was for. Whoever
comes after a sudden stop finds the announcement and looks at the files: what was carried out is confirmed, what was
not is abandoned; and a batch of which a part was carried out is finished. The lock of the home makes sure that what
is found unfinished was left by somebody who is gone.
"""

import contextlib
import itertools
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from whet.changes.places import edits, expect_fitting, is_done, write
from whet.errors import WhetError
from whet.ledger.entries import Entry, State, Step
from whet.ledger.patches import Form
from whet.ledger.traces import move_of, step_of
from whet.store import files
from whet.store.home import Home, prepare_home
from whet.store.ledger import Ledger

LOCK_FOLDER = ".changing"


@contextlib.contextmanager
def changing(home: Home, ledger: Ledger, *, now: float) -> Iterator[None]:
    """Nobody else changes this home's files meanwhile, and nothing is left unfinished at the start."""
    prepare_home(home)
    with files.locked(home.folder, (LOCK_FOLDER,)):
        _settle(home, ledger, now=now)
        yield


def settle(home: Home, ledger: Ledger, *, now: float) -> None:
    """Finish or abandon what a sudden stop left unfinished."""
    if ledger.is_unfinished():
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
    if not ledger.is_unfinished():
        return
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
