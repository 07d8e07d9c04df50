"""whet show: read one session."""

import itertools

import click
import msgspec

from whet.cli.options import json_command, own_store
from whet.cli.output import give, is_json, plain, table
from whet.cli.shown.records import session_record
from whet.cli.shown.transcript import heading, outline_lines, trouble_heading, with_troubles
from whet.errors import WhetError
from whet.outcomes.deciding import Outcome, decide
from whet.outcomes.view import gather
from whet.sessions.activity import OutlineItem, outline
from whet.sessions.transcripts import Message, Origin, pair
from whet.shipped.kinds import known_troubles
from whet.shipped.prices import list_price
from whet.store import sessions
from whet.store.database import Database
from whet.store.listing import find
from whet.store.rows import Session
from whet.store.sessions import copied_in
from whet.store.troubles import trouble_of_session
from whet.text.words import many
from whet.trouble.finding import find_trouble
from whet.trouble.values import SessionTrouble

ALL = "all"


@json_command("show", epilog="Example: whet show 3fa9c1 --outline")
@click.argument("id_", metavar="ID")
@click.option("--outline", "as_outline", is_flag=True, help="Show only the requests, and the tools used for each.")
@click.option("--full", is_flag=True, help="Do not shorten arguments and results.")
@click.option("--thoughts", is_flag=True, help="Show the model's reasoning too.")
@click.option("--dearest", is_flag=True, help="Show only the stretch that cost most.")
@click.option(
    "--calls",
    is_flag=False,
    flag_value=ALL,
    type=click.Choice([ALL, *(outcome.value for outcome in Outcome)]),
    help="List every call with its outcome and the evidence for it; or those with this outcome.",
)
@click.option("--from", "start", default=0, type=click.IntRange(min=0), help="First message to show.")
@click.option("--to", "stop", type=click.IntRange(min=0), help="Stop before this message.")
def command(
    id_: str,
    as_outline: bool,
    full: bool,
    thoughts: bool,
    dearest: bool,
    calls: str | None,
    start: int,
    stop: int | None,
) -> int:
    """Show one session: its messages, each tool call with its outcome, and in the margin the stretches that bought
    nothing. ID is a session id or the start of one.
    """
    with own_store() as (_, database):
        session = find(database, id_)
        if calls:
            return _show_calls(database, session, only=None if calls == ALL else calls)
        messages = tuple(sessions.messages(database, session))
        trouble = trouble_of_session(database, session) or _found_now(database, session)
    if dearest:
        start, stop = _dearest(trouble)
    shown_messages = range(start, len(messages) if stop is None else min(stop, len(messages)))
    record = {"session": session_record(session), "trouble": msgspec.to_builtins(trouble)}
    if as_outline:
        lines = outline_lines(_outline(messages, shown_messages))
    else:
        lines = with_troubles(messages, trouble.troubles, shown_messages, full=full, thoughts=thoughts)
    record |= _record(messages, shown_messages, as_outline) if is_json() else {}
    return give(record, itertools.chain(heading(session), trouble_heading(trouble), lines))


def _found_now(database: Database, session: Session) -> SessionTrouble:
    """The trouble of a session that was not analysed yet."""
    transcript = sessions.load(database, session)
    copied = copied_in(database, session, transcript.messages)
    return find_trouble(transcript, price=list_price, copied=copied, kinds=known_troubles())


def _dearest(trouble: SessionTrouble) -> tuple[int, int]:
    """The first message of the stretch that cost most, and the one after its last."""
    found = trouble.dearest
    if found is None:
        raise WhetError("This session has no stretch that bought nothing.", advice="Leave out --dearest.")
    return found.first, found.last + 1


def _outline(messages: tuple[Message, ...], among: range) -> tuple[OutlineItem, ...]:
    return tuple(item for item in outline(messages) if item.message in among)


def _record(messages: tuple[Message, ...], among: range, as_outline: bool) -> dict[str, object]:
    """The messages asked for; how a call ended is decided by all of them."""
    if as_outline:
        return {"outline": [msgspec.to_builtins(item) for item in _outline(messages, among)]}
    own = (each for each in pair(messages).exchanges if messages[each.asked].origin is not Origin.INSERTED)
    exchanges = tuple(each for each in own if each.asked in among)
    decisions = [decide(exchange) for exchange in exchanges]
    return {
        "messages": [msgspec.to_builtins(messages[index]) for index in among],
        "exchanges": [
            {
                "call_id": exchange.call.id,
                "tool": exchange.call.name,
                "asked": exchange.asked,
                "answered": exchange.answered,
                "outcome": decision.outcome.value,
                "evidence": decision.evidence,
            }
            for exchange, decision in zip(exchanges, decisions, strict=True)
        ],
    }


def _show_calls(database: Database, session: Session, *, only: str | None) -> int:
    """How every call of a session ended, and what decided it."""
    steps = gather(sessions.load(database, session)).steps
    chosen = [(step.exchange, step.decision) for step in steps if only in (None, step.decision.outcome.value)]
    counts = {outcome.value: sum(step.decision.outcome is outcome for step in steps) for outcome in Outcome}
    calls = [
        {
            "call_id": exchange.call.id,
            "tool": exchange.call.name,
            "message": exchange.asked,
            "outcome": decision.outcome.value,
            "evidence": decision.evidence,
        }
        for exchange, decision in chosen
    ]
    rows = [
        (f"#{e.asked}", e.call.name, d.outcome.value, d.evidence, " ".join(e.call.arguments.split())[:100])
        for e, d in chosen
    ]
    listed = table(("message", "tool", "outcome", "evidence", "arguments"), rows)
    lines = (
        f"[bold]{plain(session.title)}[/]",
        ", ".join(f"{number:,} {name}" for name, number in counts.items() if number) or "No calls.",
        listed if rows else f"[dim]{many(0, 'call')} to show.[/]",
    )
    return give({"session": session.id, "calls": counts, "exchanges": calls}, lines)
