"""On what grounds a thing is in force, a trial or somebody's word, and the models for which a rule is in force."""

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from whet.ledger.entries import Actor, Entry, Item, State, Step
from whet.ledger.origins import UNTRIED
from whet.ledger.patches import Form, Patch, Scope

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


ON_YOUR_WORD = "on your word"
TRIALS = {
    Step.ACCEPTED: "proved in a trial",
    Step.REJECTED: "though a trial rejected it",
    Step.UNDECIDED: "a trial was undecided",
}


def grounds_of(item: Item, entries: Sequence[Entry]) -> str:
    """Why an active thing is active, in a few words."""
    put = next((entry for entry in entries if entry.number == item.number), None)
    tried = last_trial(put.patch, entries) if put else None
    if tried is not None and tried.step is Step.ACCEPTED:
        return _tried(tried)
    if item.canary:
        return "a canary: being tried in live sessions"
    if promoted := _promotion(item, entries):
        return f"{_word(promoted)}, after a canary (entry {promoted.number})"
    if item.form is Form.JOB:  # which no trial tries
        return _word(put)
    return f"{_word(put)}, {_tried(tried) if tried else UNTRIED}"


def _tried(entry: Entry) -> str:
    """What a trial said, and of which model, for it says nothing of others."""
    models = ", ".join(models_tried(entry))
    return f"{TRIALS[entry.step]} ({f'on {models}, ' if models else ''}entry {entry.number})"


def is_untried(item: Item, entries: Sequence[Entry]) -> bool:
    """Whether it is active on somebody's word alone, and a trial could say more."""
    put = next((entry for entry in entries if entry.number == item.number), None)
    is_tried = item.canary or item.form is Form.JOB or (put is not None and last_trial(put.patch, entries) is not None)
    return not is_tried and _promotion(item, entries) is None


def _promotion(item: Item, entries: Sequence[Entry]) -> Entry | None:
    return next((each for each in entries if each.step is Step.PROMOTED and each.about == item.number), None)


def _word(entry: Entry | None) -> str:
    """Whose word it is; what no entry put there, the person wrote into the file."""
    return ON_YOUR_WORD if entry is None or entry.actor is Actor.PERSON else f"by {entry.actor}"


def last_trial(patch: Patch, entries: Iterable[Entry]) -> Entry | None:
    """The latest entry of the ledger in which a trial judged these very words."""
    known = (patch.form, patch.action, patch.text)
    judged = (entry for entry in entries if entry.step in TRIED)
    return max(
        (each for each in judged if (each.patch.form, each.patch.action, each.patch.text) == known),
        key=lambda each: each.number,
        default=None,
    )
