"""Who writes notes and skills, from what, and how what they write is put in force or made to wait."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.changes.apply import apply_all
from whet.changes.pending import propose
from whet.errors import WhetError
from whet.ledger.entries import Actor, Entry, State
from whet.ledger.origins import PatchOrigin
from whet.ledger.patch_faults import LIMITS, TextLimits
from whet.ledger.patches import Form, Patch, Proof
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of


class Author(NamedTuple):
    """The hand that writes. `trust` is the lowest of all that it wrote from; `session` is where it read skills."""

    home: Home
    database: Database
    actor: Actor
    trust: Trust
    now: float
    session: str = ""
    origin: PatchOrigin = PatchOrigin()
    proofs: tuple[Proof, ...] = ()

    @property
    def state(self) -> State:
        return ledger_of(self.home, self.database).state()


def give(
    author: Author, patches: Sequence[Patch], *, limits: TextLimits = LIMITS, waits: bool = False
) -> tuple[Entry, ...]:
    """Put patches in force together; those of foreign trust, or that are to, wait for a person, each by itself."""
    given = [replace(each, trust=author.trust, origin=author.origin, proofs=author.proofs) for each in patches]
    if waits or any(patch.is_foreign for patch in given):
        return tuple(
            propose(author.home, author.database, patch, actor=author.actor, now=author.now, limits=limits)
            for patch in given
        )
    return apply_all(author.home, author.database, given, actor=author.actor, now=author.now, limits=limits)


def expect_own(author: Author, form: Form, name: str, *, advice: str) -> None:
    """Raise where an agent would change what a person made, by a command or by hand."""
    if author.actor is Actor.PERSON:
        return
    ledger = ledger_of(author.home, author.database)
    item = ledger.state().get(form, name)
    if item is None or not item.number or ledger.entry(item.number).actor is not author.actor:
        raise WhetError(f"The {form} {name} belongs to a person.", advice=advice)
