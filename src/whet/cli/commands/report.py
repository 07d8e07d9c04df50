"""whet report: where the agents' time went, what of it bought nothing, and what would spare most."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import click
from rich.table import Table

from whet.cli.analysed import bring_up_to_date
from whet.cli.options import CommandList, filter_options, json_command, own_store, temporary_option
from whet.cli.output import give, moment, next_lines, plain
from whet.cli.shown.lessons import change_of
from whet.cli.shown.sessions import (
    ROWS,
    LostTime,
    cause_words,
    cost_table,
    dearest_lines,
    group_table,
    headlines,
    left_out,
    lost_time,
    lost_time_record,
    none_found,
    repeating,
)
from whet.improving.learned import folded
from whet.lessons.record import UNDECIDED, Lesson, ProjectLessons
from whet.sessions.exports import iso
from whet.sessions.transcripts import total
from whet.store.listing import Filters, count_sessions, count_temporary
from whet.store.session_facts import (
    SessionFact,
    ToolUse,
    UsageGroup,
    costs_of,
    facts_among,
    list_prices,
    tool_uses,
    usage_groups,
    usage_of,
)
from whet.store.teachings import all_kept_lessons
from whet.store.troubles import session_troubles
from whet.telling.targets.known_projects import KnownProjects
from whet.text.showing import shown
from whet.text.words import many, share, short
from whet.trouble.overview import BETTER, UPPER_BOUND, trend_words
from whet.trouble.values import TroubleKind

DRAFTS = 3
TOOLS = 15
AGENTS: CommandList[UsageGroup] = CommandList(
    {
        "agent": lambda each: each.source,
        "model": lambda each: each.model or "–",
        "sessions": lambda each: f"{each.sessions:,}",
        "messages": lambda each: f"{each.messages:,}",
        "tokens": lambda each: short(tokens) if (tokens := each.input_tokens + each.output_tokens) else "–",
        "calls": lambda each: f"{each.calls:,}",
        "failed": lambda each: f"{each.failed:,}",
        "error rate": lambda each: share(each.failed, each.calls),
    },
    numbers=("sessions", "messages", "tokens", "calls", "failed", "error rate"),
    spare=("messages", "tokens", "calls"),
)
TOOLS_USED: CommandList[ToolUse] = CommandList(
    {
        "tool": lambda each: each.tool or "–",
        "calls": lambda each: f"{each.calls:,}",
        "sessions": lambda each: f"{each.sessions:,}",
        "failed": lambda each: f"{each.failed:,}",
        "rejected": lambda each: f"{each.rejected:,}",
        "error rate": lambda each: share(each.failed, each.calls),
    },
    numbers=("calls", "sessions", "failed", "rejected", "error rate"),
    spare=("rejected", "sessions"),
)
CHANGE_WORDS = {"rule": "rule", "skill": "skill", "memory": "memory note"}


@json_command("report", epilog="Example: whet report --since 30d --source claude-code")
@filter_options
@temporary_option
@click.option(
    "--counts", is_flag=True, help="Count instead: sessions, messages, tokens, calls and errors, by agent and tool."
)
def command(filters: Filters, temporary: bool, counts: bool) -> int:
    """Show where the agents' time went: how much of it bought nothing, what costs most (by cause, project, tool, agent,
    model and week), the dearest sessions, and whether it is getting better.
    """
    wanted, filters = filters, filters._replace(without_own_work=True, without_temporary=not temporary)
    if counts:
        return _count(filters, is_narrowed=any(wanted))
    with own_store() as (home, database):
        bring_up_to_date(database)
        stored = list(session_troubles(database, filters))
        facts = facts_among(database, filters, list_prices(home))
        listed, hidden = count_sessions(database, filters), count_temporary(database, filters)
        taught = folded(home, database, all_kept_lessons(database, ProjectLessons))
        known = KnownProjects(database)
    own = [fact for fact in facts if not fact.copied]
    found = lost_time(stored, costs_of(own).dollars, known)
    record = {**lost_time_record(found), **_counts(own), "in_temporary_folders": hidden}
    if not stored:
        return give(record, (none_found(left_out(hidden), is_narrowed=any(wanted)),))
    open_ones = [each for each in taught if each.standing.stage in UNDECIDED]
    advice = _to_lessons() if any(wanted) else _learned(open_ones, len(taught))
    first, last = map(moment, _period(own))
    copied = repeating(listed - len(stored)) if listed > len(stored) else ""
    notes = filter(None, (f"Sessions from {first} to {last}.", copied, left_out(hidden)))
    return give(record, _lines(found, advice, notes, is_whole=not (wanted.since or wanted.until)))


def _count(filters: Filters, *, is_narrowed: bool) -> int:
    with own_store() as (home, database):
        bring_up_to_date(database)
        every = facts_among(database, filters, list_prices(home))
        hidden = count_temporary(database, filters)
    own = [fact for fact in every if not fact.copied]
    whole, costs, (first, last) = usage_of(own), costs_of(own), _period(own)
    groups, tools, copies = usage_groups(own), tool_uses(own)[:TOOLS], len(every) - len(own)
    record = {
        "sessions": whole.sessions,
        "messages": whole.messages,
        "tokens": {"input": whole.input_tokens, "output": whole.output_tokens, "cached": whole.cached_tokens},
        "cost_dollars": total(fact.usage for fact in own).cost_dollars,
        "first": iso(first),
        "last": iso(last),
        "agents": [_with_rate(each) for each in groups],
        "tools": [_with_rate(each) for each in tools],
        "cost": costs._asdict(),
        "copies": copies,
        "in_temporary_folders": hidden,
    }
    if not own:
        return give(record, (none_found(left_out(hidden), is_narrowed=is_narrowed),))
    cost = f"; ${costs.dollars:,.2f} cost{' at list prices' * costs.is_listed}" if costs.dollars is not None else ""
    cached = share(whole.cached_tokens, whole.input_tokens)
    counted = f"[bold]{many(whole.sessions, 'session')}[/], {many(whole.messages, 'message')}"
    lines: tuple[str | Table, ...] = (
        f"{counted}, {moment(first)} to {moment(last)}",
        *filter(None, (repeating(copies) if copies else "", left_out(hidden))),
        f"{short(whole.input_tokens)} tokens read ({cached} from cache), {short(whole.output_tokens)} written{cost}\n",
        AGENTS.table(groups),
        "",
        TOOLS_USED.table(tools),
        "[dim]The error rate is of all calls. What a session copied from another is counted there and not again.[/]",
    )
    return give(record, lines)


def _with_rate(each: UsageGroup | ToolUse) -> dict[str, object]:
    return {**each._asdict(), "error_rate": each.failed / each.calls if each.calls else None}


def _counts(facts: Sequence[SessionFact]) -> dict[str, object]:
    first, last = _period(facts)
    return {
        "first": iso(first),
        "last": iso(last),
        "tokens": sum(fact.tokens for fact in facts),
        "calls": sum(fact.calls for fact in facts),
        "failed_calls": sum(fact.failed_calls for fact in facts),
    }


def _period(facts: Sequence[SessionFact]) -> tuple[float | None, float | None]:
    return min((fact.at for fact in facts), default=None), max((fact.at for fact in facts), default=None)


def _lines(found: LostTime, advice: Iterable[str], notes: Iterable[str], *, is_whole: bool) -> Iterator[str | Table]:
    yield from (f"[bold]{line}[/]" for line in headlines(found.overview))
    yield from (f"[dim]{note}[/]" for note in (*notes, UPPER_BOUND))
    if is_whole:
        yield f"{BETTER} {trend_words(found.trend)}"
    if found.causes:
        yield "\n[bold underline]What costs most[/]"
        yield cost_table(found.causes[:ROWS], cause_words)
        yield "[dim]of the time: its share of all agent time, and where that lies as sessions vary (95 %)[/]"
        if any(each.name.startswith(TroubleKind.CORRECTED) for each in found.causes[:ROWS]):
            yield "[dim]What was said each time: `whet sessions --sort stepped-in`, then `whet show ID`.[/]"
        yield "\n[bold underline]The dearest sessions[/]"
        yield from dearest_lines(found.dearest)
    yield from _group_lines(found)
    yield "\n[bold underline]What to do[/]"
    yield from advice
    session = found.dearest[0].trouble.session[:8] if found.dearest else "ID"
    then = f"`whet learn` to have them read for lessons, `whet show {session} --dearest` for where it cost most."
    yield from next_lines(then)


def _group_lines(found: LostTime) -> Iterator[str | Table]:
    """Tables of what differs; one group alone is what was said already."""
    for heading, groups in (
        ("project", found.projects[:ROWS]),
        ("agent", found.agents[:ROWS]),
        ("model", found.models[:ROWS]),
        ("person", found.people[:ROWS]),
        ("week", found.weeks[-ROWS:]),
    ):
        if len(groups) > 1:
            yield ""
            yield group_table(heading, groups)
    for heading, costs in (("by tool, program or check", found.tools), ("by rule that was told", found.rules)):
        if costs:
            yield f"\n[bold]Lost {heading}[/]"
            yield cost_table([each for each in costs if each.name][:ROWS])


def _learned(open_ones: Sequence[Lesson], taught: int) -> Iterator[str]:
    """The most promising drafts, as they were when lessons were last looked for."""
    if not taught:
        yield from _to_lessons()
        return
    counts = Counter(change_of(each).value for each in open_ones)
    kinds = ", ".join(many(number, CHANGE_WORDS[change]) for change, number in counts.items())
    yield f"• {many(len(open_ones), 'lesson')} to decide on{f' ({kinds})' if kinds else ''}: `whet lessons`."
    for each in sorted(open_ones, key=lambda each: -each.evidence.worth)[:DRAFTS]:
        seen = many(each.sessions, "session")
        yield f"  [dim]{each.id}[/] {plain(' '.join(shown(each.rule).split()))} [dim]({seen})[/]"


def _to_lessons() -> Iterator[str]:
    yield "• `whet lessons` finds what your sessions teach, project by project."
