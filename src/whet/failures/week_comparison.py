"""Whether it is getting better: the last weeks that have sessions against those before them, in one answer for all."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from whet.evidence.classical import newcombe

BETTER = "Is it getting better?"
WEEKS = 4
LEAST = 5  # sessions on either side, below which nothing is said

Outcomes = Mapping[str, Mapping[str, tuple[int, int]]]  # of a week, in a folder: how many of how many may have failed
Shares = tuple[tuple[int, int], tuple[int, int]]


class WeekComparison(NamedTuple):
    """How many sessions of the last four weeks with sessions may have failed, and of the four such weeks before them.

    Projects differ more than weeks do. So the answer compares each project with itself.
    """

    failed: int = 0
    sessions: int = 0
    failed_before: int = 0
    sessions_before: int = 0
    weeks: tuple[str, ...] = ()
    weeks_before: tuple[str, ...] = ()
    shared: tuple[Shares, ...] = ()  # of each project with sessions on both sides: lately, and before

    @property
    def answer(self) -> str:
        """Whether it is getting better, as far as the interval of the difference says so."""
        if not self._can_tell:
            return "Too early to tell"
        low, high = newcombe(*self.shared)[1]
        return "Not clearly" if low <= 0 <= high else "Perhaps better" if high < 0 else "Perhaps worse"

    @property
    def pieces(self) -> tuple[str, ...]:
        """What follows the answer, cut so that each share and each number of sessions is a piece of its own."""
        if min(self.sessions, self.sessions_before) < LEAST:
            return (f"it takes {LEAST} sessions in the last {WEEKS} weeks with sessions, and {LEAST} before",)
        share, share_before = self.failed / self.sessions, self.failed_before / self.sessions_before
        lately, before = len(self.weeks), len(self.weeks_before)
        return (
            f"{100 * share:.1f} %",
            " of ",
            f"{self.sessions:,} sessions",
            f" may have failed in the last {lately} week{'' if lately == 1 else 's'} with sessions, ",
            f"{100 * share_before:.1f} %",
            " of ",
            f"{self.sessions_before:,} sessions",
            f" in the {before} before{self._difference}",
        )

    @property
    def words(self) -> str:
        """The answer in a sentence, the same wherever it is shown."""
        return f"{self.answer}: {''.join(self.pieces)}."

    @property
    def _can_tell(self) -> bool:
        return min((sum(each[side][1] for each in self.shared) for side in (0, 1)), default=0) >= LEAST

    @property
    def _difference(self) -> str:
        if not self._can_tell:
            return ", in other projects"
        difference, (low, high) = newcombe(*self.shared)
        if sum(new[1] + old[1] for new, old in self.shared) < self.sessions + self.sessions_before:
            which = " in projects with sessions in both"
        else:
            which = " within the same project" if len(self.shared) > 1 else ""
        return f" ({100 * difference:+.0f} points{which}, {100 * low:+.0f} to {100 * high:+.0f})"


def compare_weeks(outcomes: Outcomes, project_of: Callable[[str], str]) -> WeekComparison:
    """The last weeks against those before them, each project against itself."""
    named = sorted(outcomes)
    weeks, before = tuple(named[-WEEKS:]), tuple(named[-2 * WEEKS : -WEEKS])
    new, old = (_by_project((outcomes[week] for week in some), project_of) for some in (weeks, before))
    return WeekComparison(
        failed=sum(failed for failed, _ in new.values()),
        sessions=sum(sessions for _, sessions in new.values()),
        failed_before=sum(failed for failed, _ in old.values()),
        sessions_before=sum(sessions for _, sessions in old.values()),
        weeks=weeks,
        weeks_before=before,
        shared=tuple((new[project], old[project]) for project in sorted(new.keys() & old.keys())),
    )


def _by_project(
    weeks: Iterable[Mapping[str, tuple[int, int]]], project_of: Callable[[str], str]
) -> dict[str, tuple[int, int]]:
    failed, sessions = Counter[str](), Counter[str]()
    for folders in weeks:
        for folder, (some, of) in folders.items():
            project = project_of(folder)
            failed[project] += some
            sessions[project] += of
    return {project: (failed[project], number) for project, number in sessions.items()}
