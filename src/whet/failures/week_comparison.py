"""Whether this week went better than those before it: the share of sessions that may have failed, with an interval."""

from collections.abc import Iterable
from typing import NamedTuple

from whet.evidence.classical import newcombe

WEEK_SECONDS = 7 * 86_400.0
WEEKS_BEFORE = 4


class WeekComparison(NamedTuple):
    """How many of the sessions of the last seven days may have failed, and of those of the four weeks before."""

    failed: int = 0
    sessions: int = 0
    failed_before: int = 0
    sessions_before: int = 0

    @property
    def words(self) -> str:
        """The comparison in a line; points are of the share, fewer is better."""
        if not self.sessions:
            return "no session this week to compare"
        failed = f"{self.failed:,} of {self.sessions:,} may have failed"
        now = f"this week {failed} ({100 * self.failed / self.sessions:.0f} %)"
        if not self.sessions_before:
            return f"{now}; none in the four weeks before to compare with"
        share = self.failed_before / self.sessions_before
        before = f"in the four weeks before {self.failed_before:,} of {self.sessions_before:,} ({100 * share:.0f} %)"
        low, high = newcombe((self.failed, self.sessions), (self.failed_before, self.sessions_before))
        verdict = "perhaps better" if high < 0 else "perhaps worse" if low > 0 else "no difference to tell"
        return f"{now}, {before}: {verdict} ({100 * low:+.0f} to {100 * high:+.0f} points)"


def begin_of_weeks(now: float) -> float:
    """From when on sessions are compared."""
    return now - (1 + WEEKS_BEFORE) * WEEK_SECONDS


def compare_weeks(sessions: Iterable[tuple[float, bool]], *, now: float) -> WeekComparison:
    """The last seven days against the four weeks before them; of each session when it was, and whether it failed."""
    counts = [[0, 0], [0, 0]]
    for at, failed in sessions:
        if begin_of_weeks(now) <= at <= now:
            count = counts[at < now - WEEK_SECONDS]
            count[0] += failed
            count[1] += 1
    return WeekComparison(*counts[0], *counts[1])
