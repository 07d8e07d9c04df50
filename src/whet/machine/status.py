"""How Whet stands on this machine: what is installed, what runs, what was learned, what waits and what it costs."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from whet.agent.metering import local_day
from whet.agents.registry import hosts
from whet.changes.pending import waiting
from whet.errors import WhetError
from whet.ledger.entries import Entry, Item, Step
from whet.ledger.patches import Action, Form
from whet.lessons.record import ProjectLessons
from whet.machine.looking import FoundAgent, find_agents
from whet.machine.records import load_record
from whet.own.runs.models import Amount
from whet.own.runs.settings import DailyLimit
from whet.store.analyses import is_behind
from whet.store.background_costs import DayCost, costs_since
from whet.store.database import Database
from whet.store.home import Home
from whet.store.job_records import list_jobs
from whet.store.ledger import ledger_of
from whet.store.listing import COUNTED, count_sessions, count_temporary, makers
from whet.store.opening import identity_of, opened
from whet.store.session_facts import costs_of, count_copies, facts_among, list_prices
from whet.store.settings_file import load
from whet.store.teachings import all_kept_lessons
from whet.store.troubles import session_troubles
from whet.telling.hooks.installing import are_installed, are_outdated, has_plugin
from whet.telling.targets import settings as targets
from whet.telling.targets.project_names import name_of_project
from whet.telling.targets.settings import LATELY_SECONDS, last_calls
from whet.trouble.overview import TroubleOverview, overview
from whet.trouble.rollups import TroubleTrend, trend
from whet.work.life import is_worker_alive, last_life
from whet.work.system import OpenWork, count_open_work

WEEK_DAYS = 7
DAY_SECONDS = 86_400.0
LEARNED = frozenset({Step.APPLIED, Step.CANARY, Step.PROMOTED})


class TeamStatus(NamedTuple):
    """Who shares the store: this member, the others, and how many active rules each of them made."""

    member: str
    others: tuple[str, ...] = ()
    rules: Mapping[str, int] = {}


class StoreStatus(NamedTuple):
    """What the store says: sessions, changes of this week by form, what is active, pending and open, and costs."""

    sessions: int = 0
    sessions_this_week: int = 0
    copies: int = 0  # sessions besides that only repeat others
    is_behind: bool = False  # not every session is analysed as it is now
    temporary: int = 0  # sessions in temporary folders, which are in no other count
    overview: TroubleOverview | None = None  # None where no session is stored
    trend: TroubleTrend | None = None
    lessons: int = 0  # that are kept and were never proposed
    learned: Mapping[str, int] = {}
    rules: int = 0
    canaries: int = 0
    pending: int = 0
    work: OpenWork = OpenWork()
    costs: tuple[DayCost, ...] = ()
    team: TeamStatus | None = None  # None where nobody else can use the store


class MachineStatus(NamedTuple):
    """Everything that `whet status` shows."""

    agents: tuple[FoundAgent, ...]
    hooked: Mapping[str, float | None]  # the agents with hooks, and when they last called Whet
    service: str  # the file of the worker's service, empty where it is none
    may_have_service: bool  # as far as is known: nobody tried, and nothing forbids it
    targets: tuple[str, ...]
    jobs: tuple[str, ...]
    limit: DailyLimit
    today: str
    now: float
    is_worker_running: bool
    worker_seen: float | None  # None where none ever ran here
    stored: StoreStatus

    @property
    def spent_today(self) -> Amount:
        return _sum(each for each in self.stored.costs if each.day == self.today)

    @property
    def spent_this_week(self) -> Amount:
        return _sum(self.stored.costs)


def machine_status(home: Home, person: Path, environment: Mapping[str, str], *, now: float) -> MachineStatus:
    """How Whet stands now. It changes nothing, and makes no home where there is none."""
    agents = find_agents(person, environment)
    calls = last_calls(home)
    lately = {name for name, at in calls.items() if at > now - LATELY_SECONDS}
    record = load_record(home)
    service = record.service
    has_store = bool(home.database_url) or home.database_path.exists()
    return MachineStatus(
        agents=agents,
        hooked={each.name: calls.get(each.name) for each in agents if each.name in lately or _has_hooks(each)},
        service=service.path if service and Path(service.path).exists() else "",
        may_have_service=record.is_empty and not home.database_url,
        targets=tuple(each.name for each in targets.load(home)),
        jobs=tuple(each.name for each in list_jobs(home.folder)),
        limit=load(home).background,
        today=local_day(now),
        now=now,
        is_worker_running=is_worker_alive(home.folder),
        worker_seen=last_life(home),
        stored=_stored(home, now) if has_store else StoreStatus(),
    )


def _has_hooks(agent: FoundAgent) -> bool:
    if agent.config is None or agent.name not in hosts():
        return False
    try:
        name, config = agent.name, agent.config
        return are_installed(name, config) or are_outdated(name, config) or has_plugin(name, config)
    except WhetError:  # its file is not in order, which is not for a status to complain about
        return False


def _stored(home: Home, now: float) -> StoreStatus:
    since = now - WEEK_DAYS * DAY_SECONDS
    first_day = (datetime.fromtimestamp(now).astimezone().date() - timedelta(days=WEEK_DAYS - 1)).isoformat()
    own = identity_of(home)
    with opened(home) as database:
        ledger = ledger_of(home, database)
        entries = ledger.entries()
        state = ledger.state()
        rules = state.rules
        sessions = [each.trouble for each in session_troubles(database, COUNTED)]
        facts = facts_among(database, COUNTED, list_prices(home))
        paid = costs_of(fact for fact in facts if not fact.copied)
        this_week, copies = COUNTED._replace(since=since), count_copies(database, COUNTED)
        return StoreStatus(
            sessions=count_sessions(database, COUNTED) - copies,
            sessions_this_week=count_sessions(database, this_week) - count_copies(database, this_week),
            copies=copies,
            temporary=count_temporary(database, COUNTED),
            is_behind=is_behind(database),
            overview=overview(sessions, paid.dollars) if sessions else None,
            trend=trend(sessions, cache(name_of_project)) if sessions else None,
            lessons=_unseen_lessons(database, entries),
            learned=Counter(form.value for form, name in sorted(_learned(entries, since)) if state.get(form, name)),
            rules=sum(not rule.canary for rule in rules),
            canaries=sum(bool(rule.canary) for rule in rules),
            pending=waiting(home, database, now=now),
            work=count_open_work(home, database, now=now),
            costs=costs_since(database, own, first_day),
            team=_team(home, database, rules),
        )


def _team(home: Home, database: Database, rules: Iterable[Item]) -> TeamStatus | None:
    if not home.database_url:
        return None
    others = sorted(set(makers(database)) - {database.member, ""})
    return TeamStatus(database.member, tuple(others), Counter(rule.maker or database.member for rule in rules))


def _learned(entries: Iterable[Entry], since: float) -> set[tuple[Form, str]]:
    """What was put in force since then, by form and name; jobs are not learned."""
    found = (each for each in entries if each.at >= since and each.step in LEARNED)
    kept = (each.patch for each in found if each.patch.form is not Form.JOB and each.patch.action is not Action.REMOVE)
    return {(patch.form, patch.name) for patch in kept}


def _unseen_lessons(database: Database, entries: Iterable[Entry]) -> int:
    """Lessons with words of their own that nobody proposed yet, as far as what sessions teach is kept."""
    known = {each.patch.name for each in entries}
    kept = (lesson for project in all_kept_lessons(database, ProjectLessons) for lesson in project.lessons)
    return len({lesson.patch.name for lesson in kept if lesson.is_proposable} - known)


def _sum(costs: Iterable[DayCost]) -> Amount:
    found = tuple(costs)
    dollars = [each.cost.dollars for each in found if each.cost.dollars is not None]
    return Amount(sum(each.cost.tokens for each in found), sum(dollars) if dollars else None)
