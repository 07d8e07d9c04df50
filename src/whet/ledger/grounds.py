"""On what grounds a thing is in force: a trial that proved it, or somebody's word."""

from collections.abc import Iterable, Sequence

from whet.ledger.entries import Actor, Entry, Item, Step
from whet.ledger.origins import UNTRIED
from whet.ledger.patches import Form, Patch
from whet.ledger.reach import TRIED, models_tried

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
