"""whet outcomes: how every call of a session ended, and what decided it."""

import os

import click

from whet.cli.options import json_option
from whet.cli.output import console, many, plain, print_json, say, table
from whet.outcomes.deciding import Outcome
from whet.outcomes.view import gather
from whet.store.home import find_home
from whet.store.listing import find
from whet.store.opening import opened
from whet.store.sessions import load


@click.command(
    "outcomes",
    epilog="Example: whet outcomes 3fa9c1 --only failed",
    help="List every tool call in a session with its outcome (ok, failed, rejected, cancelled, unknown) and the "
    "evidence for it.",
)
@click.argument("id_", metavar="ID")
@click.option("--only", type=click.Choice([outcome.value for outcome in Outcome]), help="Only calls with this outcome.")
@click.option("--ignore-flags", is_flag=True, help="Judge by the text alone and ignore the agent's own error flags.")
@json_option
def command(id_: str, only: str | None, ignore_flags: bool, as_json: bool) -> int:
    with opened(find_home(os.environ)) as database:
        session = find(database, id_)
        steps = gather(load(database, session), ignore_flags=ignore_flags).steps
    chosen = [(step.exchange, step.decision) for step in steps if only in (None, step.decision.outcome.value)]
    counts = {outcome.value: sum(step.decision.outcome is outcome for step in steps) for outcome in Outcome}
    if as_json:
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
        print_json({"session": session.id, "calls": counts, "exchanges": calls})
        return 0
    say(f"[bold]{plain(session.title)}[/]")
    say(", ".join(f"{number:,} {name}" for name, number in counts.items() if number) or "No calls.")
    rows = [
        (f"#{e.asked}", e.call.name, d.outcome.value, d.evidence, " ".join(e.call.arguments.split())[:100])
        for e, d in chosen
    ]
    if rows:
        console().print(table(("message", "tool", "outcome", "evidence", "arguments"), rows))
    else:
        say(f"[dim]{many(0, 'call')} to show.[/]")
    return 0
