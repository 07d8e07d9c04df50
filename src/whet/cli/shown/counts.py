"""What is in the store, counted: sessions, messages, tools, tokens and errors."""

from rich.table import Table

from whet.cli.output import console, count, moment, say, table
from whet.cli.shown.records import repeating
from whet.sessions.exports import iso
from whet.store.session_facts import SessionCosts, Statistics
from whet.text.words import many, share, short

TOOLS = 15


def counts_record(found: Statistics) -> dict[str, object]:
    totals = found.totals
    return {
        "sessions": totals.sessions,
        "messages": totals.messages,
        "tokens": {
            "input": totals.input_tokens,
            "output": totals.output_tokens,
            "cached": totals.cached_tokens,
        },
        "cost_dollars": totals.cost_dollars,
        "first": iso(totals.first),
        "last": iso(totals.last),
        "agents": [
            {
                **group._asdict(),
                "error_rate": group.failed / group.calls if group.calls else None,
            }
            for group in found.groups
        ],
        "tools": [
            {**use._asdict(), "error_rate": use.failed / use.calls if use.calls else None} for use in found.tools
        ],
        "cost": found.costs._asdict(),
        "copies": found.copies,
    }


def tell_counts(found: Statistics, *, hidden: str) -> None:
    totals = found.totals
    say(
        f"[bold]{many(totals.sessions, 'session')}[/], {many(totals.messages, 'message')}, "
        f"{moment(totals.first)} to {moment(totals.last)}"
    )
    if found.copies:
        say(repeating(found.copies))
    if hidden:
        say(hidden)
    tokens = f"{short(totals.input_tokens)} tokens read ({share(totals.cached_tokens, totals.input_tokens)} from cache)"
    say(f"{tokens}, {short(totals.output_tokens)} written{_cost(found.costs)}\n")
    console().print(_agents(found))
    say()
    console().print(_tools(found))
    say(
        "[dim]The error rate is of all calls. What a session copied from another is counted there and not again. "
        "Next: `whet report` says where the time went.[/]"
    )


def _cost(costs: SessionCosts) -> str:
    if costs.dollars is None:
        return ""
    how = " at list prices" if costs.is_listed else ""
    return f"; ${costs.dollars:,.2f} cost{how} of {many(costs.sessions, 'session')}"


def _agents(found: Statistics) -> Table:
    headings = ("agent", "model", "sessions", "messages", "tokens", "calls", "failed", "error rate")
    rows = [
        (
            group.source,
            group.model or "–",
            count(group.sessions),
            count(group.messages),
            short(tokens) if (tokens := group.input_tokens + group.output_tokens) else "–",
            count(group.calls),
            count(group.failed),
            share(group.failed, group.calls),
        )
        for group in found.groups
    ]
    return table(headings, rows, numbers=headings[2:], spare=("messages", "tokens", "calls"))


def _tools(found: Statistics) -> Table:
    headings = ("tool", "calls", "sessions", "failed", "rejected", "error rate")
    rows = [
        (
            use.tool or "–",
            *map(count, (use.calls, use.sessions, use.failed, use.rejected)),
            share(use.failed, use.calls),
        )
        for use in found.tools
    ]
    return table(headings, rows, numbers=headings[1:], spare=("rejected", "sessions"))
