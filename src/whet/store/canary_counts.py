"""Canaries in the database: what was counted for each, and which of them each session of another agent drew."""

from collections.abc import Iterable
from typing import NamedTuple

from whet.store.database import Database
from whet.store.rows import blanks, columns_of, made

NOTHING_TOLD = 0  # the entry that says that a hook ran at all


class CountedUnit(NamedTuple):
    """One unit that drew together, a session or a day of a file, and how its sessions went on average.

    What follows is None where it was not measured; `failed` also where the rule's situation did not come up.
    """

    unit: str
    told: bool
    loss: float
    sessions: int
    failed: bool | None = None  # the rule's own failure, in any of its sessions
    corrected: bool | None = None  # a person had to correct the agent
    unchecked: bool | None = None  # files were changed and nothing was checked
    tokens: int | None = None
    ids: tuple[str, ...] = ()  # of its sessions


class Delivery(NamedTuple):
    """What stood in a file on a day: with the canary or without it, and for whose sessions."""

    entry: int
    file: str
    day: str
    told: bool
    agents: tuple[str, ...]
    project: str
    at: float


class KeptDraw(NamedTuple):
    """Whether a session was told a canary, the share that it drew with, which session, and when it started."""

    entry: int
    told: bool
    share: float
    agent: str
    session: str  # as its agent names it
    at: float


class Telling(NamedTuple):
    """The entries of the rules that a session was told by its hook when it started."""

    agent: str
    session: str
    entries: tuple[int, ...]
    at: float


COUNTED, DELIVERED, DRAWN = (", ".join(kind._fields) for kind in (CountedUnit, Delivery, KeptDraw))


def counted(database: Database, *entries: int) -> list[CountedUnit]:
    """What was counted for canaries, the first first."""
    rows = database.query(
        f"SELECT {COUNTED} FROM canary_counts WHERE entry IN ({blanks(entries)}) ORDER BY no", entries
    )
    return [made(CountedUnit, (*rest, tuple(ids.split()))) for *rest, ids in rows]


def count(database: Database, entry: int, units: Iterable[CountedUnit], *, now: float) -> None:
    """Count units for a canary; one that is counted already stays as it is."""
    database.many(
        f"INSERT INTO canary_counts (entry, at, {COUNTED}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (entry, unit) DO NOTHING",
        [(entry, now, *columns_of(each[:-1]), " ".join(each.ids)) for each in units],
    )


def keep_delivery(database: Database, delivery: Delivery) -> None:
    """Write down what stands in a file; the first of a day counts."""
    *first, _, project, at = delivery
    database.execute(
        f"INSERT INTO canary_deliveries ({DELIVERED}) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (entry, file, day) DO NOTHING",
        columns_of((*first, "\n".join(delivery.agents), project, at)),
    )


def deliveries(database: Database, entry: int) -> list[Delivery]:
    """What was delivered of a canary, the oldest first."""
    sql = f"SELECT {DELIVERED} FROM canary_deliveries WHERE entry = ? ORDER BY day, file"
    rows = database.query(sql, (entry,))
    return [made(Delivery, (*first, tuple(agents.split("\n")), project, at)) for *first, agents, project, at in rows]


def keep_session_draws(database: Database, draws: Iterable[KeptDraw]) -> None:
    """Write draws down; what a session drew first holds."""
    database.many(
        f"INSERT INTO tellings (kind, {DRAWN}) VALUES ('draw', ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        map(columns_of, draws),
    )


def session_draws(database: Database, entry: int) -> list[KeptDraw]:
    """What was drawn for a canary, the oldest first."""
    sql = f"SELECT {DRAWN} FROM tellings WHERE entry = ? AND kind = 'draw' ORDER BY at, session"
    rows = database.query(sql, (entry,))
    return [made(KeptDraw, row) for row in rows]


def keep_tellings(database: Database, tellings: Iterable[Telling]) -> None:
    """Write down what sessions were told; what a session was told first holds."""
    with database.writing():
        for each in tellings:
            if told_entries(database, each.agent, each.session) is None:
                _keep_entries(database, "start", each._replace(entries=(NOTHING_TOLD, *each.entries)))


def told_entries(database: Database, agent: str, session: str) -> frozenset[int] | None:
    """The entries that a session was told by its hook; None where no hook ran when it started."""
    sql = "SELECT entry FROM tellings WHERE kind = 'start' AND agent = ? AND session = ?"
    entries = frozenset(int(entry) for (entry,) in database.query(sql, (agent, session)))
    return entries - {NOTHING_TOLD} if entries else None


def keep_reminders(database: Database, given: Iterable[Telling]) -> None:
    """Write down of which rules sessions were reminded."""
    for each in given:
        _keep_entries(database, "reminder", each)


def reminders(database: Database) -> frozenset[tuple[str, str, int]]:
    """Every reminder that was given: the agent, the session as it names it, and the rule's entry."""
    return frozenset(database.query("SELECT agent, session, entry FROM tellings WHERE kind = 'reminder'"))


def _keep_entries(database: Database, kind: str, telling: Telling) -> None:
    database.many(
        "INSERT INTO tellings (kind, agent, session, entry, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(kind, telling.agent, telling.session, entry, telling.at) for entry in telling.entries],
    )
