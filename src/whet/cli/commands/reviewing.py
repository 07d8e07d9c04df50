"""A session looked back on for notes and skills worth keeping: `whet learn --review`."""

import os
from typing import TYPE_CHECKING

from whet.cli.output import moment, plain, print_json, say

if TYPE_CHECKING:
    from whet.improving.review import ReviewRequest
    from whet.store.home import Home


def review_session(session: str, kind: str, model: str, *, background: bool, work: bool, as_json: bool) -> int:
    """Look back on a session for notes and skills worth keeping; after long turns, `whet chat` does so by itself."""
    from whet.improving.review import ReviewRequest, look_back
    from whet.store.home import find_home
    from whet.store.listing import find
    from whet.store.opening import opened
    from whet.told.review_when import ReviewKind

    home = find_home(os.environ)
    with opened(home) as database:
        found = find(database, session)
        ask = ReviewRequest(found.id, found.message_count, ReviewKind(kind), model)
        if background and (not work or _can_queue()):
            id = _submit(home, ask, as_json)
            return _work(home, id) if work else 0
        from whet.cli.chat.interrupts import interruptible

        with interruptible() as stop:
            outcome = look_back(home, database, ask, environment=os.environ, interrupt=stop)
    if as_json:
        print_json(outcome)
    else:
        say(plain(outcome.summary or f"Nothing to keep ({outcome.ending}{_because(outcome.detail)})."))
    return 0 if outcome.ending in ("finished", "budget") else 1


def _submit(home: "Home", ask: "ReviewRequest", as_json: bool) -> str:
    from whet.engine.orders import Queue
    from whet.engine.work import WorkState, given_orders
    from whet.improving.review import order

    with given_orders(home) as orders:
        id = orders.submit(order(ask), Queue.REVIEWS)
        work = orders.find(id)
    if as_json:
        print_json({"work": id, "state": work.state})
    elif work.is_open:
        say(f"Queued as {id}. To run it: `whet worker`.")
    elif work.state is WorkState.DONE:
        kept = work.done.sessions[0][:12] if work.done and work.done.sessions else "REVIEW"
        again = f"To do it again, run `whet forget {kept}`, then `whet learn --review {ask.session[:12]}`."
        say(f"This session was already reviewed, on {moment(work.changed)}. {again}")
    else:
        say(f"Its review {work.state} on {moment(work.changed)}. To resume it, run `whet worker retry {id}`.")
    return id


def _can_queue() -> bool:
    """Whether the engine is installed. Without it a review behind a conversation is made at once; a crash loses it."""
    from whet.errors import WhetError

    try:
        import whet.engine.library  # noqa: F401
    except WhetError:
        return False
    return True


def _work(home: "Home", id: str) -> int:
    """Out of the way of whoever is talking meanwhile; they hear of a failure from its session, or by the exit code."""
    from whet.cli.commands.worker import work_off
    from whet.engine.orders import Queue
    from whet.engine.work import WorkState, given_orders

    os.nice(10)
    code = work_off(home, [Queue.REVIEWS], concurrency=1)
    with given_orders(home) as orders:
        work = orders.find(id)
    return 1 if work.state is WorkState.FAILED and not work.left.sessions else code


def _because(detail: str) -> str:
    return f": {detail}" if detail else ""
