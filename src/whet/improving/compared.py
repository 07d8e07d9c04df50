"""What ideas are compared with before anything is spent on them: what is in force, and all that was decided."""

from typing import NamedTuple

from whet.ledger.entries import Entry, State
from whet.ledger.marks import marks
from whet.ledger.patch_faults import FaultKind, faults
from whet.ledger.patches import Patch
from whet.trials.ideas import decided


class ComparedWith(NamedTuple):
    """What ideas are compared with: what is in force and all that was decided."""

    state: State
    entries: tuple[Entry, ...]
    model: str  # as its provider calls it
    named: str  # as the settings call it


def against(books: ComparedWith, patch: Patch, latest: float | None) -> str:
    """What speaks against a patch besides where its words come from; empty where nothing does."""
    if marks(patch) & books.state.never:
        return "a person never wants it proposed"
    found = [fault.message for fault in faults(patch, books.state) if fault.kind is not FaultKind.TRUST]
    models = frozenset({books.model, books.named} - {""})
    return decided(patch, books.entries, latest=latest, models=models) or "; ".join(found)
