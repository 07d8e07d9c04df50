"""Sessions that have something in common besides project, agent or failure: those that a number on a view counts."""

from collections.abc import Callable
from typing import NamedTuple

from whet.sessions.transcripts import Purpose
from whet.sessions.worktrees import is_temporary
from whet.store.session_facts import SessionFact

# Of the sessions that a canary counts: those in its situation, those that failed in it, and those in which half or
# more was lost, which is one of its guards.
CAME_UP, FAILED, DOUBTFUL = "came-up", "failed", "doubtful"
SITUATIONS = {CAME_UP: ", in its situation", FAILED: ", with its own failure", DOUBTFUL: ", with half or more lost"}


class NamedSessions(NamedTuple):
    """A group by the name in its address: what its sessions are, and which they are."""

    name: str
    words: str
    holds: Callable[[SessionFact], bool]


# Those that count in no number, or of which little is known.
TELLING_LITTLE = (
    NamedSessions(
        "trials", "attempts of trials, which are experiments", lambda fact: fact.purpose == Purpose.TRIAL.value
    ),
    NamedSessions("copies", "copies of another session", lambda fact: fact.copied),
    NamedSessions(
        "temporary",
        "in temporary folders, hidden unless asked for",
        lambda fact: fact.counts and is_temporary(fact.folder),
    ),
    NamedSessions("nowhere", "in no folder", lambda fact: fact.counts and not fact.folder),
    NamedSessions("unpriced", "whose cost is not known", lambda fact: fact.counts and fact.dollars is None),
)
GROUPS = {group.name: group for group in TELLING_LITTLE}
