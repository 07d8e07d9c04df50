"""Other agents told what is in force: their files, with the canaries that are drawn for each of them today."""

from datetime import UTC, datetime
from functools import partial

from msgspec.structs import replace

from whet.store.canary_counts import Delivery, keep_delivery
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.targets.offering import offered
from whet.targets.readers import hooked_agents
from whet.targets.settings import load
from whet.targets.sync import SyncOrder, TargetChange, sync
from whet.targets.sync_log import FileTelling, note


def tell(home: Home, database: Database, *, now: float) -> tuple[TargetChange, ...]:
    """Bring every target up to date; each day draws anew which files have a canary."""
    targets = load(home)
    return sync(order_of(home, database, now=now), targets) if targets else ()


def order_of(home: Home, database: Database, *, now: float, dry_run: bool = False, force: bool = False) -> SyncOrder:
    """How targets are written: what is in force with the canaries of the day, and what stood there kept on record."""

    def keep(delivery: Delivery) -> None:
        keep_delivery(database, delivery._replace(at=now))

    def log(telling: FileTelling) -> None:
        note(home, replace(telling, at=now))

    offer = partial(offered, home, ledger_of(home, database))
    hooked = hooked_agents(home, now=now)
    return SyncOrder(home, offer, dry_run, force, day=day_of(now), delivered=keep, hooked=hooked, noted=log)


def day_of(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).date().isoformat()
