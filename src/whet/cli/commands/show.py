"""whet show: read one session."""

import os

import click
import msgspec

from whet.cli.options import json_option
from whet.cli.output import print_json, say
from whet.cli.shown.records import session_record
from whet.cli.shown.transcript import heading, lines, outline_lines
from whet.outcomes.deciding import decide
from whet.sessions.outline import OutlineItem, outline
from whet.sessions.transcripts import Message, Origin, pair
from whet.store import sessions
from whet.store.home import find_home
from whet.store.listing import find
from whet.store.opening import opened


@click.command(
    "show",
    epilog="Example: whet show 3fa9c1 --outline",
    help="Show one session: its messages, and each tool call with its outcome. ID is a session id or the start of one.",
)
@click.argument("id_", metavar="ID")
@click.option("--outline", "as_outline", is_flag=True, help="Show only the requests, and the tools used for each.")
@click.option("--full", is_flag=True, help="Do not shorten arguments and results.")
@click.option("--thoughts", is_flag=True, help="Show the model's reasoning too.")
@click.option("--from", "start", default=0, type=click.IntRange(min=0), help="First message to show.")
@click.option("--to", "stop", type=click.IntRange(min=0), help="Stop before this message.")
@json_option
def command(id_: str, as_outline: bool, full: bool, thoughts: bool, start: int, stop: int | None, as_json: bool) -> int:
    with opened(find_home(os.environ)) as database:
        session = find(database, id_)
        messages = tuple(sessions.messages(database, session))
    shown_messages = range(start, len(messages) if stop is None else min(stop, len(messages)))
    if as_json:
        print_json({"session": session_record(session), **_record(messages, shown_messages, as_outline)})
        return 0
    for line in heading(session):
        say(line)
    if as_outline:
        shown = outline_lines(_outline(messages, shown_messages))
    else:
        shown = lines(messages, among=shown_messages, full=full, thoughts=thoughts)
    for line in shown:
        say(line)
    return 0


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
