"""On what grounds a thing is in force: a trial that proved it, or somebody's word."""

from collections.abc import Sequence

from whet.ledger.entries import Actor, Entry, Item, Step
from whet.ledger.patches import Form
from whet.ledger.waiting import last_trial

ON_YOUR_WORD = "on your word"
NOT_TRIED = "not tried"
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
        return f"{TRIALS[Step.ACCEPTED]} (entry {tried.number})"
    if item.canary:
        return "a canary: being tried in live sessions"
    promoted = next((each for each in entries if each.step is Step.PROMOTED and each.about == item.number), None)
    if promoted is not None:
        return f"{_word(promoted)}, after a canary (entry {promoted.number})"
    if item.form is Form.JOB:  # which no trial tries
        return _word(put)
    return f"{_word(put)}, {f'{TRIALS[tried.step]} (entry {tried.number})' if tried else NOT_TRIED}"


def _word(entry: Entry | None) -> str:
    """Whose word it is; what no entry put there, the person wrote into the file."""
    return ON_YOUR_WORD if entry is None or entry.actor is Actor.PERSON else f"by {entry.actor}"
