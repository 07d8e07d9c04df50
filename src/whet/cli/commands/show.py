"""whet show: read one session."""

import os

import click
import msgspec

from whet.cli.options import json_option
from whet.cli.output import print_json, say
from whet.cli.shown.records import session_record
from whet.cli.shown.transcript import heading, lines, outline_lines
from whet.outcomes.deciding import decide
from whet.sessions.outline import outline
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
        messages = tuple(sessions.messages(database, session, start=start, stop=stop))
    if as_json:
        print_json({"session": session_record(session), **_record(messages, start, as_outline)})
        return 0
    for line in heading(session):
        say(line)
    shown = (
        outline_lines(outline(messages)) if as_outline else lines(messages, start=start, full=full, thoughts=thoughts)
    )
    for line in shown:
        say(line)
    return 0


def _record(messages: tuple[Message, ...], start: int, as_outline: bool) -> dict[str, object]:
    if as_outline:
        return {"outline": [msgspec.to_builtins(item) for item in outline(messages)]}
    own = (each for each in pair(messages).exchanges if messages[each.asked].origin is not Origin.INSERTED)
    exchanges = tuple(own)
    decisions = [decide(exchange) for exchange in exchanges]
    return {
        "messages": [msgspec.to_builtins(message) for message in messages],
        "exchanges": [
            {
                "call_id": exchange.call.id,
                "tool": exchange.call.name,
                "asked": start + exchange.asked,
                "answered": None if exchange.answered is None else start + exchange.answered,
                "outcome": decision.outcome.value,
                "evidence": decision.evidence,
            }
            for exchange, decision in zip(exchanges, decisions, strict=True)
        ],
    }
