"""How soon a live trial is known, at the pace of late."""

from conversations import agent, shell, user
from whet.evidence.coin_looks import LOOKS
from whet.improving.live_sessions import DAY_SECONDS, DAYS, ENOUGH, days_seen, days_until_known
from whet.ledger.entries import Item
from whet.ledger.patches import Form, RuleSituation
from whet.own.runs.run import Ended, Run
from whet.sessions.transcripts import Ending
from whet.sessions.trust import Trust
from whet.store.analyses import refresh
from whet.store.database import Database
from whet.store.recording import recorded

NOW = 1_800_000_000.0
BUN = Item(Form.RULE, "bun", "Run bun.", trust=Trust.USER, situation=RuleSituation("rtk bun i", "no such", "bun i"))


def worked(database: Database, name: str, command: str, *, at: float) -> None:
    turns = (user("Install it."), *shell(command, "Done"), agent("Installed."))
    list(recorded(database, Run(name, "m", ""), [*turns, Ended(Ending.FINISHED)], now=lambda: at))


def test_a_file_that_is_drawn_for_by_the_day_takes_as_many_days_as_sessions_are_needed(database: Database) -> None:
    for number in range(20):
        worked(database, f"s{number}", "rtk bun i" if number % 2 else "ls", at=NOW - DAY_SECONDS + number)
    refresh(database, progress=lambda _: None)
    assert ENOUGH == LOOKS[2] == 20
    assert days_until_known(database, [BUN], now=NOW) == 2, "ten a day came into its situation"
    assert days_until_known(database, [BUN], by_day=True, now=NOW) == 20, "all sessions of a day count as one"
    assert days_until_known(database, [BUN], now=NOW + DAYS * DAY_SECONDS) is None


def test_the_pace_of_a_beginner_is_that_of_the_days_since_the_first_session() -> None:
    now = 100.0 * DAY_SECONDS
    assert days_seen(now - 600.0, now=now) == 1
    assert days_seen(now - 5 * DAY_SECONDS, now=now) == 5
    assert days_seen(0.0, now=now) == DAYS
