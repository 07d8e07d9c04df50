"""Where a rule reaches: the models of its scope count where somebody named them, and not where Whet wrote them down.

Earlier versions scoped what Whet proposed or tried to the model that wrote it or was tried with it.
"""

from collections.abc import Collection, Iterable

from msgspec.structs import replace

from whet.ledger.entries import Actor, Entry, Item, State, Step
from whet.ledger.patches import Scope

TRIED = (Step.ACCEPTED, Step.REJECTED, Step.UNDECIDED)
ON_THEIR_OWN = frozenset({Actor.POLICY, Actor.WATCH})


def are_given(
    entry: Entry, known: Item | None, waiting: Iterable[Entry], carried: Collection[tuple[str, tuple[str, ...]]]
) -> bool:
    """Whether somebody named the models of an entry's scope.

    Who approves, edits or changes a rule carries on the models that Whet gave it (`carried`) without having named
    them; what Whet tries or changes keeps those that a person named.
    """
    name, models = entry.patch.name, entry.patch.scope.models
    waits = any((each.patch.name, each.patch.scope.models) == (name, models) for each in waiting)
    is_carried = (name, models) in carried
    if entry.actor in ON_THEIR_OWN:
        return bool(known and known.scope.models) or (waits and not is_carried)
    return not (is_carried and (waits or bool(known and known.came_with == models)))


def models_tried(entry: Entry) -> tuple[str, ...]:
    """The model of a trial; earlier versions wrote it into the scope of what was tried."""
    if entry.step not in TRIED:
        return ()
    return (entry.tried_on,) if entry.tried_on else entry.patch.scope.models


def scope_of(entry: Entry, state: State) -> Scope:
    """Where the words of a change that waits will hold."""
    scope, known = entry.patch.scope, state.get(entry.patch.form, entry.patch.name)
    if not scope.models or are_given(entry, known, (*state.pending, *state.granted), state.carried):
        return scope
    return replace(scope, models=())
