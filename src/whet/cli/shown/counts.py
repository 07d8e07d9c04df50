"""What is in the store, counted: sessions, messages, tools, tokens and errors."""

from collections.abc import Iterator

from rich.table import Table

from whet.cli.options import CommandList
from whet.cli.output import count, moment
from whet.cli.shown.records import repeating
from whet.sessions.exports import iso
from whet.store.session_facts import SessionCosts, Statistics, ToolUse, UsageGroup
from whet.text.words import many, share, short

TOOLS = 15
AGENTS: CommandList[UsageGroup] = CommandList(
    {
        "agent": lambda each: each.source,
        "model": lambda each: each.model or "–",
        "sessions": lambda each: count(each.sessions),
        "messages": lambda each: count(each.messages),
        "tokens": lambda each: short(tokens) if (tokens := each.input_tokens + each.output_tokens) else "–",
        "calls": lambda each: count(each.calls),
        "failed": lambda each: count(each.failed),
        "error rate": lambda each: share(each.failed, each.calls),
    },
    {},
    numbers=("sessions", "messages", "tokens", "calls", "failed", "error rate"),
    spare=("messages", "tokens", "calls"),
)
TOOLS_USED: CommandList[ToolUse] = CommandList(
    {
        "tool": lambda each: each.tool or "–",
        "calls": lambda each: count(each.calls),
        "sessions": lambda each: count(each.sessions),
        "failed": lambda each: count(each.failed),
        "rejected": lambda each: count(each.rejected),
        "error rate": lambda each: share(each.failed, each.calls),
    },
    {},
    numbers=("calls", "sessions", "failed", "rejected", "error rate"),
    spare=("rejected", "sessions"),
)


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


def count_lines(found: Statistics, *, hidden: str) -> Iterator[str | Table]:
    totals = found.totals
    yield (
        f"[bold]{many(totals.sessions, 'session')}[/], {many(totals.messages, 'message')}, "
        f"{moment(totals.first)} to {moment(totals.last)}"
    )
    yield from filter(None, (repeating(found.copies) if found.copies else "", hidden))
    tokens = f"{short(totals.input_tokens)} tokens read ({share(totals.cached_tokens, totals.input_tokens)} from cache)"
    yield f"{tokens}, {short(totals.output_tokens)} written{_cost(found.costs)}\n"
    yield AGENTS.table(found.groups)
    yield ""
    yield TOOLS_USED.table(found.tools)
    yield (
        "[dim]The error rate is of all calls. What a session copied from another is counted there and not again. "
        "Next: `whet report` says where the time went.[/]"
    )


def _cost(costs: SessionCosts) -> str:
    if costs.dollars is None:
        return ""
    how = " at list prices" if costs.is_listed else ""
    return f"; ${costs.dollars:,.2f} cost{how} of {many(costs.sessions, 'session')}"
