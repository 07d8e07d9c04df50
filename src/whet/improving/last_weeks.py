"""Whether it is getting better, by the sessions that are stored."""

from collections.abc import Callable, Iterable

from whet.failures.week_comparison import WEEKS, WeekComparison, compare_weeks
from whet.store.database import Database
from whet.store.listing import Filters
from whet.store.session_facts import SessionFact, newest_facts, weekly_outcomes
from whet.targets.known_projects import KnownProjects


def last_weeks(database: Database, filters: Filters) -> WeekComparison:
    """The last weeks against those before them, of the sessions that match."""
    return weeks_of(newest_facts(database, filters), KnownProjects(database).identity)


def weeks_of(newest: Iterable[SessionFact], project_of: Callable[[str], str]) -> WeekComparison:
    """The same of sessions that were read already, the newest first."""
    return compare_weeks(weekly_outcomes(newest, weeks=2 * WEEKS), project_of)
