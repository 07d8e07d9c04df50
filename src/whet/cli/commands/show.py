"""whet show and whet search: read one session, find messages by their words."""

import itertools
import os
from collections.abc import Iterator
from typing import Any

import click

from whet.cli.options import filter_options, json_command, own_store
from whet.cli.output import fields, give, is_json, moment, plain, reviewed, table
from whet.cli.shown.sessions import heading, session_record, trouble_heading, with_troubles
from whet.errors import WhetError
from whet.sessions.exports import iso
from whet.sessions.transcripts import Exchange, Message, Origin, Role, pair
from whet.shipped.data import list_price
from whet.shipped.kinds import known_troubles
from whet.store import sessions
from whet.store.database import Database
from whet.store.home import find_home
from whet.store.listing import Filters, find
from whet.store.memory_files import connected, search_own
from whet.store.rows import Session
from whet.store.search import Hit, search
from whet.store.sessions import copied_in
from whet.store.troubles import trouble_of_session
from whet.text.words import many
from whet.trouble.finding import find_trouble
from whet.trouble.outcomes.deciding import Decision, Outcome, decide
from whet.trouble.outcomes.view import gather

ALL = "all"
ROLES = {**{role.value: role.value for role in Role}, "assistant": Role.AGENT.value}


@json_command("search", epilog='Example: whet search "connection refused" --tool Bash')
@click.argument("words", nargs=-1, required=True)
@filter_options
@click.option("--role", type=click.Choice(sorted(ROLES)), help="Only messages of this role.")
@click.option("--limit", default=10, show_default=True, type=click.IntRange(min=1), help="Maximum number to list.")
@click.option("--notes", is_flag=True, help="Search the notes and the connected folder (`whet memory`) instead.")
def search_command(words: tuple[str, ...], filters: Filters, role: str | None, limit: int, notes: bool) -> int:
    """Find messages that contain all the words. Use "quotes" for a phrase, begin* for a prefix and -word to exclude a
    word. Code, paths and languages without spaces are found too.
    """
    if notes:
        return _search_notes(words, limit)
    with own_store() as (_, database):
        hits = search(database, " ".join(words), filters=filters, role=ROLES[role] if role else "", limit=limit)
        give({"hits": [_hit_record(hit) for hit in hits]}, _lines(hits))
    return 0 if hits or is_json() else 1


def _hit_record(hit: Hit) -> dict[str, object]:
    return {
        "session": hit.session_id,
        **fields(hit, "source", "title"),
        "message": hit.position,
        "role": hit.role,
        "at": iso(hit.at),
        **fields(hit, "score", "snippet"),
    }


def _lines(hits: list[Hit]) -> Iterator[str]:
    if not hits:
        yield "Nothing found. Try fewer words, the beginning of a word (`begin*`), or no filters."
    for hit in hits:
        start, end = hit.match
        before, match, after = hit.snippet[:start], hit.snippet[start:end], hit.snippet[end:]
        place = f"[bold]{hit.session_id[:8]}[/] [dim]#{hit.position}[/]"
        yield f"{place} {hit.source} [dim]{moment(hit.at)} {hit.role}[/]  {plain(hit.title[:70])}"
        yield f"    {plain(before)}[bold yellow]{plain(match)}[/]{plain(after)}"
    if hits:
        yield f"[dim]{many(len(hits), 'hit')}; to read on, run `whet show ID --from N`.[/]"


def _search_notes(words: tuple[str, ...], limit: int) -> int:
    home = find_home(os.environ)
    vault = connected(home.folder)
    asked = " ".join(words)
    found = [*search_own(home.folder, asked, limit), *(vault.search(asked, limit) if vault else ())][:limit]
    lines_of = (
        line
        for each in found
        for line in (f"[bold]{plain(each.place)}[/bold]  {each.trust.label}", *reviewed(each.text), "")
    )
    record = [{"place": each.place, "text": each.text, "trust": each.trust.label} for each in found]
    give(record, lines_of if found else ("Nothing found.",))
    return 0 if found else 1


@json_command("show", epilog="Example: whet show 3fa9c1 --dearest")
@click.argument("id_", metavar="ID")
@click.option("--full", is_flag=True, help="Shorten nothing, and show the model's thoughts.")
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
def command(id_: str, full: bool, dearest: bool, calls: str | None, start: int, stop: int | None) -> int:
    """Show one session: its messages, each tool call with its outcome, and in the margin the stretches that bought
    nothing. ID is a session id or the start of one.
    """
    with own_store() as (_, database):
        session = find(database, id_)
        if calls:
            return _show_calls(database, session, only=None if calls == ALL else calls)
        messages = tuple(sessions.messages(database, session))
        trouble = trouble_of_session(database, session)
        if trouble is None:  # it was not analysed yet
            copied = copied_in(database, session, messages)
            whole = sessions.load(database, session)
            trouble = find_trouble(whole, price=list_price, copied=copied, kinds=known_troubles())
    if dearest:
        if (found := trouble.dearest) is None:
            raise WhetError("This session has no stretch that bought nothing.", advice="Leave out --dearest.")
        start, stop = found.first, found.last + 1
    shown_messages = range(start, len(messages) if stop is None else min(stop, len(messages)))
    record: dict[str, object] = {"session": session_record(session), "trouble": trouble}
    lines = with_troubles(messages, trouble.troubles, shown_messages, full=full)
    record |= _record(messages, shown_messages) if is_json() else {}
    return give(record, itertools.chain(heading(session), trouble_heading(trouble), lines))


def _record(messages: tuple[Message, ...], among: range) -> dict[str, object]:
    """The messages asked for; how a call ended is decided by all of them."""
    own = (each for each in pair(messages).exchanges if messages[each.asked].origin is not Origin.INSERTED)
    return {
        "messages": [messages[index] for index in among],
        "exchanges": [
            _call_record(each, decide(each), fields(each, "asked", "answered")) for each in own if each.asked in among
        ],
    }


def _call_record(exchange: Exchange, decision: Decision, where: dict[str, Any]) -> dict[str, Any]:
    call = {"call_id": exchange.call.id, "tool": exchange.call.name}
    return {**call, **where, **fields(decision, "outcome", "evidence")}


def _show_calls(database: Database, session: Session, *, only: str | None) -> int:
    """How every call of a session ended, and what decided it."""
    steps = gather(sessions.load(database, session)).steps
    chosen = [(step.exchange, step.decision) for step in steps if only in (None, step.decision.outcome.value)]
    counts = {outcome.value: sum(step.decision.outcome is outcome for step in steps) for outcome in Outcome}
    calls = [_call_record(exchange, decision, {"message": exchange.asked}) for exchange, decision in chosen]
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
