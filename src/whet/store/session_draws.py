"""Sessions of other agents: which canaries each drew, which rules its hook told it and which it was reminded of."""

from collections.abc import Iterable
from typing import NamedTuple

from whet.store.database import Database


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


def keep_session_draws(database: Database, draws: Iterable[KeptDraw]) -> None:
    """Write draws down; what a session drew first holds."""
    database.many(
        f"INSERT INTO session_draws ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (entry, agent, session) DO NOTHING",
        [(*draw[:1], int(draw.told), *draw[2:]) for draw in draws],
    )


def session_draws(database: Database, entry: int) -> list[KeptDraw]:
    """What was drawn for a canary, the oldest first."""
    rows = database.query(f"SELECT {COLUMNS} FROM session_draws WHERE entry = ? ORDER BY at, session", (entry,))
    return [KeptDraw(number, bool(told), *rest) for number, told, *rest in rows]


def keep_tellings(database: Database, tellings: Iterable[Telling]) -> None:
    """Write down what sessions were told; what a session was told first holds."""
    database.many(
        "INSERT INTO session_tellings (agent, session, entries, at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (agent, session) DO NOTHING",
        [(each.agent, each.session, " ".join(map(str, each.entries)), each.at) for each in tellings],
    )


def told_entries(database: Database, agent: str, session: str) -> frozenset[int] | None:
    """The entries that a session was told by its hook; None where no hook ran when it started."""
    rows = database.query("SELECT entries FROM session_tellings WHERE agent = ? AND session = ?", (agent, session))
    return frozenset(int(word) for word in rows[0][0].split() if word.isdecimal()) if rows else None


def keep_reminders(database: Database, given: Iterable[Telling]) -> None:
    """Write down of which rules sessions were reminded."""
    database.many(
        "INSERT INTO session_reminders (agent, session, entry, at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (agent, session, entry) DO NOTHING",
        [(each.agent, each.session, entry, each.at) for each in given for entry in each.entries],
    )


def reminders(database: Database) -> frozenset[tuple[str, str, int]]:
    """Every reminder that was given: the agent, the session as it names it, and the rule's entry."""
    return frozenset(database.query("SELECT agent, session, entry FROM session_reminders"))


COLUMNS = ", ".join(KeptDraw._fields)
