"""whet search: find messages by their words."""

import os
from collections.abc import Iterator

import click

from whet.cli.options import filter_options, json_command, own_store
from whet.cli.output import give, is_json, moment, plain
from whet.cli.shown.reviewing import reviewed
from whet.cli.shown.transcript import lines
from whet.sessions.exports import iso
from whet.sessions.transcripts import Role
from whet.store import sessions
from whet.store.database import Database
from whet.store.home import find_home
from whet.store.listing import Filters, find
from whet.store.memory_files import OwnMemory, connected
from whet.store.search import Hit, search
from whet.text.words import many

ROLES = {**{role.value: role.value for role in Role}, "assistant": Role.AGENT.value}


@json_command("search", epilog='Example: whet search "connection refused" --tool Bash --context 2')
@click.argument("words", nargs=-1, required=True)
@filter_options
@click.option("--role", type=click.Choice(sorted(ROLES)), help="Only messages of this role.")
@click.option("--limit", default=10, show_default=True, type=click.IntRange(min=1), help="Maximum number to list.")
@click.option("--context", default=0, type=click.IntRange(min=0), help="Number of messages to show around each hit.")
@click.option("--notes", is_flag=True, help="Search the notes and the connected folder (`whet memory`) instead.")
def command(
    words: tuple[str, ...],
    filters: Filters,
    role: str | None,
    limit: int,
    context: int,
    notes: bool,
) -> int:
    """Find messages that contain all the words. Use "quotes" for a phrase, begin* for a prefix and -word to exclude a
    word. Code, paths and languages without spaces are found too.
    """
    if notes:
        return _search_notes(words, limit)
    with own_store() as (_, database):
        hits = search(
            database,
            " ".join(words),
            filters=filters,
            role=ROLES[role] if role else "",
            limit=limit,
        )
        give({"hits": [_record(hit) for hit in hits]}, _lines(database, hits, context))
    return 0 if hits or is_json() else 1


def _record(hit: Hit) -> dict[str, object]:
    return {
        "session": hit.session_id,
        "source": hit.source,
        "title": hit.title,
        "message": hit.position,
        "role": hit.role,
        "at": iso(hit.at),
        "score": hit.score,
        "snippet": hit.snippet,
        "how": hit.how,
    }


def _lines(database: Database, hits: list[Hit], context: int) -> Iterator[str]:
    if not hits:
        yield "Nothing found. Try fewer words, the beginning of a word (`begin*`), or no filters."
    if hits and hits[0].how != "words":
        yield "[dim]No whole word matches; these contain it as part of a word.[/]"
    for hit in hits:
        start, end = hit.match
        before, match, after = hit.snippet[:start], hit.snippet[start:end], hit.snippet[end:]
        place = f"[bold]{hit.session_id[:8]}[/] [dim]#{hit.position}[/]"
        yield f"{place} {hit.source} [dim]{moment(hit.at)} {hit.role}[/]  {plain(hit.title[:70])}"
        yield f"    {plain(before)}[bold yellow]{plain(match)}[/]{plain(after)}"
        if context:
            messages = tuple(sessions.messages(database, find(database, hit.session_id)))
            around = range(max(0, hit.position - context), min(hit.position + context + 1, len(messages)))
            yield from (f"    {line}" for line in lines(messages, among=around, full=False, thoughts=False))
            yield ""
    if hits:
        yield f"[dim]{many(len(hits), 'hit')}; to read on, run `whet show ID --from N`.[/]"


def _search_notes(words: tuple[str, ...], limit: int) -> int:
    home = find_home(os.environ)
    vault = connected(home.folder)
    providers = (OwnMemory(home.folder), *((vault,) if vault else ()))
    found = [passage for provider in providers for passage in provider.search(" ".join(words), limit)][:limit]
    lines_of = (
        line
        for each in found
        for line in (f"[bold]{plain(each.place)}[/bold]  {each.trust.label}", *reviewed(each.text), "")
    )
    record = [{"place": each.place, "text": each.text, "trust": each.trust.label} for each in found]
    give(record, lines_of if found else ("Nothing found.",))
    return 0 if found else 1
