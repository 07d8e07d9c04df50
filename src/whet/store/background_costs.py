"""Model calls in the background, by day: what each was allowed to cost while it ran, and what it cost."""

from typing import NamedTuple

from whet.own.runs.models import Amount, DaySpent, Headroom, room_for
from whet.own.runs.settings import DailyLimit
from whet.store.database import Database


class BackgroundCall(NamedTuple):
    """One call: whose, on which day, for what, and the most that it can cost."""

    id: str
    home: str
    day: str
    purpose: str
    most: Amount
    at: float


class DayCost(NamedTuple):
    """What one purpose cost on one day."""

    day: str
    purpose: str
    calls: int
    cost: Amount


def begin_call(database: Database, call: BackgroundCall, limit: DailyLimit) -> Headroom:
    """Set aside what a call can cost, where there is room for it. Two workers never take the same room."""
    with database.writing():
        found = room_for(call.most, spent_on_day(database, call.home, call.day), limit)
        if found is Headroom.FREE:
            database.execute(
                "INSERT INTO background_calls (id, home, day, purpose, tokens, dollars, ended, at)"
                " VALUES (?, ?, ?, ?, ?, ?, 0, ?)",
                (call.id, call.home, call.day, call.purpose, call.most.tokens, call.most.dollars, call.at),
            )
    return found


def end_call(database: Database, id: str, cost: Amount) -> None:
    """Write down what a call cost. One whose worker died keeps what was set aside: nobody knows what it cost."""
    database.execute(
        "UPDATE background_calls SET tokens = ?, dollars = ?, ended = 1 WHERE id = ?", (cost.tokens, cost.dollars, id)
    )


def spent_on_day(database: Database, home: str, day: str) -> DaySpent:
    """What the background work of a home has cost on a day."""
    rows = database.query(
        "SELECT ended, sum(tokens), sum(dollars) FROM background_calls WHERE home = ? AND day = ? GROUP BY ended",
        (home, day),
    )
    found = {bool(ended): Amount(int(tokens), dollars) for ended, tokens, dollars in rows}
    return DaySpent(found.get(True, Amount()), found.get(False, Amount()))


def costs_since(database: Database, home: str, day: str) -> tuple[DayCost, ...]:
    """What background work cost from a day on, the newest day first."""
    rows = database.query(
        "SELECT day, purpose, count(*), sum(tokens), sum(dollars) FROM background_calls WHERE home = ? AND day >= ?"
        " GROUP BY day, purpose ORDER BY day DESC, purpose",
        (home, day),
    )
    return tuple(
        DayCost(found, purpose, int(calls), Amount(int(tokens), dollars))
        for found, purpose, calls, tokens, dollars in rows
    )
