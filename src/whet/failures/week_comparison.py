"""Whether it is getting better: the last weeks that have sessions against those before them, in one answer for all."""

from collections.abc import Mapping
from typing import NamedTuple

from whet.evidence.classical import newcombe

BETTER = "Is it getting better?"
WEEKS = 4
LEAST = 5  # sessions on either side, below which nothing is said


class WeekComparison(NamedTuple):
    """How many sessions of the last four weeks with sessions likely failed, and of the four such weeks before them."""

    failed: int = 0
    sessions: int = 0
    failed_before: int = 0
    sessions_before: int = 0
    weeks: tuple[str, ...] = ()
    weeks_before: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        """Whether it is getting better, as far as the interval of the difference says so."""
        if min(self.sessions, self.sessions_before) < LEAST:
            return "Too early to tell"
        low, high = newcombe((self.failed, self.sessions), (self.failed_before, self.sessions_before))
        return "Not clearly" if low <= 0 <= high else "Yes" if high < 0 else "No, worse"

    @property
    def pieces(self) -> tuple[str, ...]:
        """What follows the answer, cut so that each share and each number of sessions is a piece of its own."""
        if min(self.sessions, self.sessions_before) < LEAST:
            return (f"it takes {LEAST} sessions in the last {WEEKS} weeks with sessions, and {LEAST} before",)
        share, share_before = self.failed / self.sessions, self.failed_before / self.sessions_before
        low, high = newcombe((self.failed, self.sessions), (self.failed_before, self.sessions_before))
        lately, before = len(self.weeks), len(self.weeks_before)
        points = f"{100 * (share - share_before):+.0f} points, {100 * low:+.0f} to {100 * high:+.0f}"
        return (
            f"{100 * share:.1f} %",
            " of ",
            f"{self.sessions:,} sessions",
            f" likely failed in the last {lately} week{'' if lately == 1 else 's'} with sessions, ",
            f"{100 * share_before:.1f} %",
            " of ",
            f"{self.sessions_before:,} sessions",
            f" in the {before} before ({points})",
        )

    @property
    def words(self) -> str:
        """The answer in a sentence, the same wherever it is shown."""
        return f"{self.answer}: {''.join(self.pieces)}."


def compare_weeks(outcomes: Mapping[str, tuple[int, int]]) -> WeekComparison:
    """The last weeks against those before them, given how many of how many sessions likely failed in each week."""
    named = sorted(outcomes)
    weeks, before = tuple(named[-WEEKS:]), tuple(named[-2 * WEEKS : -WEEKS])
    new, old = ([outcomes[week] for week in some] for some in (weeks, before))
    return WeekComparison(
        failed=sum(failed for failed, _ in new),
        sessions=sum(sessions for _, sessions in new),
        failed_before=sum(failed for failed, _ in old),
        sessions_before=sum(sessions for _, sessions in old),
        weeks=weeks,
        weeks_before=before,
    )
