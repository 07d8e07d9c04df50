"""whet search: find messages by their words."""

import os
from collections.abc import Iterable, Iterator

import click

from whet.cli.options import filter_options, filters_of, json_option
from whet.cli.output import many, moment, plain, print_json, say
from whet.cli.shown.reviewing import reviewed
from whet.cli.shown.transcript import lines, outline_lines
from whet.sessions.activity import outline
from whet.sessions.exports import iso
from whet.sessions.transcripts import Message, Role
from whet.store import sessions
from whet.store.database import Database
from whet.store.home import find_home
from whet.store.listing import find
from whet.store.memory_files import OwnMemory, connected
from whet.store.opening import opened
from whet.store.search import Hit, search

ROLES = {**{role.value: role.value for role in Role}, "assistant": Role.AGENT.value}


@click.command(
    "search",
    epilog='Example: whet search "connection refused" --tool Bash --context 2',
    help='Find messages that contain all the words. Use "quotes" for a phrase, begin* for a prefix and -word to '
    "exclude a word. Code, paths and languages without spaces are found too.",
)
@click.argument("words", nargs=-1, required=True)
@filter_options
@click.option("--role", type=click.Choice(sorted(ROLES)), help="Only messages of this role.")
@click.option("--limit", default=10, show_default=True, type=click.IntRange(min=1), help="Maximum number to list.")
@click.option("--page", default=1, show_default=True, type=click.IntRange(min=1), help="Page to show.")
@click.option("--context", default=0, type=click.IntRange(min=0), help="Number of messages to show around each hit.")
@click.option("--outline", "as_outline", is_flag=True, help="Show an outline of each session found.")
@click.option("--notes", is_flag=True, help="Search the notes and the connected folder (`whet memory`) instead.")
@json_option
def command(
    words: tuple[str, ...],
    source: str | None,
    model: str | None,
    folder: str | None,
    tool: str | None,
    since: str | None,
    until: str | None,
    role: str | None,
    limit: int,
    page: int,
    context: int,
    as_outline: bool,
    notes: bool,
    as_json: bool,
) -> int:
    if notes:
        return _search_notes(words, limit, as_json)
    filters = filters_of(source, model, folder, tool, since, until)
    with opened(find_home(os.environ)) as database:
        hits = search(
            database,
            " ".join(words),
            filters=filters,
            role=ROLES[role] if role else "",
            limit=limit,
            offset=(page - 1) * limit,
        )
        if as_json:
            print_json({"hits": [_record(hit) for hit in hits]})
            return 0
        for line in _lines(database, hits, context, as_outline):
            say(line)
    if not hits:
        say("Nothing found. Try fewer words, the beginning of a word (`begin*`), or no filters.")
    return 0 if hits else 1


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


def _lines(database: Database, hits: list[Hit], context: int, as_outline: bool) -> Iterator[str]:
    if hits and hits[0].how != "words":
        yield "[dim]No whole word matches; these contain it as part of a word.[/]"
    shown: set[str] = set()
    for hit in hits:
        start, end = hit.match
        before, match, after = hit.snippet[:start], hit.snippet[start:end], hit.snippet[end:]
        place = f"[bold]{hit.session_id[:8]}[/] [dim]#{hit.position}[/]"
        yield f"{place} {hit.source} [dim]{moment(hit.at)} {hit.role}[/]  {plain(hit.title[:70])}"
        yield f"    {plain(before)}[bold yellow]{plain(match)}[/]{plain(after)}"
        if as_outline and hit.session_id not in shown:
            shown.add(hit.session_id)
            yield from _indented(outline_lines(outline(_messages(database, hit))))
        elif context:
            messages = tuple(_messages(database, hit))
            around = range(max(0, hit.position - context), min(hit.position + context + 1, len(messages)))
            yield from _indented(lines(messages, among=around, full=False, thoughts=False))
            yield ""
    if hits:
        yield f"[dim]{many(len(hits), 'hit')}; to read on, run `whet show ID --from N`.[/]"


def _indented(texts: Iterable[str]) -> Iterator[str]:
    return (f"    {text}" for text in texts)


def _messages(database: Database, hit: Hit) -> Iterator[Message]:
    return sessions.messages(database, find(database, hit.session_id))


def _search_notes(words: tuple[str, ...], limit: int, as_json: bool) -> int:
    home = find_home(os.environ)
    vault = connected(home.folder)
    providers = (OwnMemory(home.folder), *((vault,) if vault else ()))
    found = [passage for provider in providers for passage in provider.search(" ".join(words), limit)][:limit]
    if as_json:
        print_json([{"place": each.place, "text": each.text, "trust": each.trust.label} for each in found])
    for each in [] if as_json else found:
        say(f"[bold]{plain(each.place)}[/bold]  {each.trust.label}")
        for line in (*reviewed(each.text), ""):
            say(line)
    if not found and not as_json:
        say("Nothing found.")
    return 0 if found else 1
