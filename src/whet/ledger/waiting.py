"""Changes that wait for a person: in which order they are looked at, whose words they are, and how they were tried."""

from collections.abc import Iterable
from typing import NamedTuple

from whet.ledger.entries import Entry
from whet.ledger.patches import Form, Patch, Scope
from whet.ledger.reach import TRIED
from whet.ledger.traces import Move
from whet.sessions.trust import Trust

WHOSE = {
    Trust.OPERATOR: "your own",
    Trust.USER: "a user's in a session",
    Trust.AGENT: "an agent's",
    Trust.TOOL: "a tool's output",
    Trust.EXTERNAL: "from elsewhere: a web page, a file or another program",
}
UNVOUCHED = "said in the user's place; the record cannot tell whether a person typed them"
EVERYWHERE = "Every project"
HOME = "This home"


class WaitingChange(NamedTuple):
    """A change that waits, what it would do, and the entry of its last trial."""

    entry: Entry
    move: Move
    tried: Entry | None
    scope: Scope  # where it would hold
    place: str = ""  # its project as people read it

    @property
    def project(self) -> str:
        return self.scope.project

    @property
    def group(self) -> str:
        """Where it holds, as a heading."""
        if self.project:
            return self.place or self.project
        return EVERYWHERE if self.entry.patch.form is Form.RULE else HOME

    @property
    def verdict(self) -> str:
        """What its last trial said, in a line; without one, why there was none where that is known."""
        tried = self.tried
        if tried is None:
            return self.entry.patch.origin.untried_words
        return f"{tried.step} (entry {tried.number}) {tried.note}".strip()

    @property
    def whose(self) -> str:
        """Whose words they are, and how far they are trusted."""
        patch = self.entry.patch
        whose = UNVOUCHED if patch.situation.said and patch.trust is Trust.TOOL else WHOSE[patch.trust]
        return f"{whose} (trust {patch.trust.label})"

    @property
    def why(self) -> str:
        """Why it was proposed, without what the verdict says."""
        return self.entry.patch.origin.why


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
