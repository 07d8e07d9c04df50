"""Codex counts tokens in events of their own: which count belongs to which model call."""

from dataclasses import dataclass, field
from typing import Any

from whet.importers.turns import AgentTurn
from whet.sessions.transcripts import Usage
from whet.text import fields


@dataclass(slots=True)
class UsageTally:
    """Gives each model call its count once.

    Older versions write the count before what the model said, newer ones after it; both write counts that only
    repeat the last. A count goes to the latest turn that has none, else waits for the next turn.
    """

    latest: AgentTurn | None = None
    waiting: Usage | None = None
    counted_before: bool = False
    closed: bool = False
    total: dict[str, Any] = field(default_factory=dict)

    def begin(self) -> None:
        """The person asked something: no count from before it concerns what follows."""
        self.waiting = None

    def count(self, info: dict[str, Any]) -> None:
        total = fields.mapping(info, "total_token_usage")
        if not info or (total and total == self.total):
            return
        usage = _usage(fields.mapping(info, "last_token_usage")) or _grown(self.total, total)
        self.total = total
        if self.latest is not None and self.latest.usage is None:
            self.latest.usage = usage
        else:
            self.waiting = usage
        self.closed = True

    def opened(self, turn: AgentTurn) -> None:
        turn.usage, self.waiting = self.waiting, None
        self.latest, self.counted_before, self.closed = turn, turn.usage is not None, False

    def answered(self) -> None:
        """A result came in; where counts come first, more calls of the same model call may follow it."""
        self.closed = self.closed or not self.counted_before

    def divides(self, turn: AgentTurn) -> bool:
        """Whether what the model says next belongs to a later call than `turn`."""
        return turn is not self.latest or self.closed

    def unclaimed(self) -> Usage | None:
        """The count that no turn has taken, such as that of a compaction."""
        usage, self.waiting = self.waiting, None
        return usage


def _usage(record: dict[str, Any]) -> Usage | None:
    if not record:
        return None
    return Usage(
        input=fields.whole(record, "input_tokens"),
        output=fields.whole(record, "output_tokens"),
        cached=fields.whole(record, "cached_input_tokens"),
        cache_written=fields.whole(record, "cache_write_input_tokens"),
    )


def _grown(before: dict[str, Any], after: dict[str, Any]) -> Usage | None:
    """What one call used, where only the session's running total is told."""
    return _usage({key: fields.whole(after, key) - fields.whole(before, key) for key in after})
