"""Changes that wait for a person: in which order they are looked at, whose words they are, and how they were tried."""

from collections.abc import Iterable
from typing import NamedTuple

from whet.ledger.entries import Entry, Step
from whet.ledger.patches import Form, Patch
from whet.ledger.traces import Move
from whet.sessions.trust import Trust

TRIED = (Step.ACCEPTED, Step.REJECTED, Step.UNDECIDED)
WHOSE = {
    Trust.OPERATOR: "your own",
    Trust.USER: "a user's in a session",
    Trust.AGENT: "an agent's",
    Trust.TOOL: "a tool's output",
    Trust.EXTERNAL: "from elsewhere: a web page, a file or another program",
}
EVERYWHERE = "Every project"
HOME = "This home"


class WaitingChange(NamedTuple):
    """A change that waits, what it would do, and the entry of its last trial."""

    entry: Entry
    move: Move
    tried: Entry | None

    @property
    def project(self) -> str:
        return self.entry.patch.scope.project

    @property
    def group(self) -> str:
        """Where it holds, as a heading."""
        if self.project:
            return self.project
        return EVERYWHERE if self.entry.patch.form is Form.RULE else HOME

    @property
    def verdict(self) -> str:
        """What its last trial said, in a line."""
        tried = self.tried
        return f"{tried.step} (entry {tried.number}) {tried.note}".strip() if tried else "not tried"


def last_trial(patch: Patch, entries: Iterable[Entry]) -> Entry | None:
    """The latest entry of the ledger in which a trial judged these very words."""
    known = (patch.form, patch.action, patch.text)
    judged = (entry for entry in entries if entry.step in TRIED)
    return max(
        (each for each in judged if (each.patch.form, each.patch.action, each.patch.text) == known),
        key=lambda each: each.number,
        default=None,
    )


def in_order(changes: Iterable[WaitingChange]) -> list[WaitingChange]:
    """By project, those of every project last, the oldest first."""
    return sorted(changes, key=lambda each: (not each.project, each.project, each.group, each.entry.number))
