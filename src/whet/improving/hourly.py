"""What the engine's clock does besides the jobs: once an hour it has canaries and templates looked at."""

import time
from collections.abc import Callable

from whet.engine.orders import Done, Order, Queue
from whet.engine.steps import Steps
from whet.engine.work import office
from whet.examples.choosing import FRESH_SECONDS
from whet.improving import watch
from whet.store.home import Home
from whet.store.ledger import identity_of, ledger_of
from whet.store.opening import opened
from whet.store.template_draws import is_drawn

EVERY_SECONDS = 3600.0


def beside(clock: Callable[[Home, Steps, str], Done]) -> Callable[[Home, Steps, str], Done]:
    """The clock with one more duty."""

    def looked(home: Home, steps: Steps, body: str) -> Done:
        done = clock(home, steps, body)
        steps.do("watch", lambda: order_watch(home, now=time.time()), str)
        return done

    return looked


def order_watch(home: Home, *, now: float) -> str:
    """Have canaries and drawn templates looked at, where there are any; once an hour, however often it is asked."""
    with opened(home) as database:
        has_canaries = any(item.canary for item in ledger_of(home, database).state().rules)
        if not has_canaries and not is_drawn(database, since=now - FRESH_SECONDS):
            return ""
    own = identity_of(home)
    with office(home) as counter:
        return counter.submit(
            Order(watch.KIND, f"{own}/{int(now // EVERY_SECONDS)}", alone=f"watch {own}"), Queue.CHORES
        )
