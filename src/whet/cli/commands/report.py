"""whet report: where the agents' time went, what of it bought nothing, and what would spare most."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import click
import msgspec
from rich.table import Table

from whet.cli.analysed import bring_up_to_date
from whet.cli.options import CommandList, filter_options, json_command, own_store, temporary_option
from whet.cli.output import fields, give, moment, next_lines, plain, table
from whet.cli.shown.lessons import change_of
from whet.cli.shown.sessions import (
    left_out,
    none_found,
    overview_record,
    repeating,
    stretch_words,
    trend_record,
)
from whet.improving.learned import folded
from whet.lessons.record import UNDECIDED, Lesson, ProjectLessons
from whet.sessions.exports import iso
from whet.sessions.transcripts import total
from whet.shipped.kinds import label_of
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
from whet.store.troubles import StoredTrouble, session_troubles
from whet.telling.targets.known_projects import KnownProjects, short_name
from whet.text.showing import shown
from whet.text.words import many, share, short
from whet.trouble.overview import (
    BETTER,
    UPPER_BOUND,
    TroubleOverview,
    duration,
    headline,
    interval_words,
    overview,
    per_hour,
    trend_words,
)
from whet.trouble.rollups import (
    TroubleCost,
    TroubleGroup,
    TroubleTrend,
    by_agent,
    by_cause,
    by_model,
    by_subject,
    by_week,
    costs,
    dearest,
    groups,
    trend,
)
from whet.trouble.values import TroubleKind

TO_LESSONS = "• `whet lessons` finds what your sessions teach, project by project."
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
ROWS = 8
DEAREST = 5
GROUP_HEADINGS = ("sessions", "agent time", "lost", "share", "stepped in", "per hour")
COST_HEADINGS = ("lost", "of the time", "times", "sessions", "what")


class LostTime(NamedTuple):
    """All roll-ups of some sessions: what cost most, and groups of sessions, each by its name for programs."""

    overview: TroubleOverview
    costs: dict[str, tuple[TroubleCost, ...]]
    groups: dict[str, tuple[TroubleGroup, ...]]
    dearest: tuple[StoredTrouble, ...]
    trend: TroubleTrend


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
    found = _lost_time(stored, costs_of(own).dollars, known)
    began, ended = _period(own)
    record = {
        **overview_record(found.overview),
        **found.costs,
        **found.groups,
        "dearest": list(map(_dearest, found.dearest)),
        "getting_better": trend_record(found.trend),
        "first": iso(began),
        "last": iso(ended),
        **{name: sum(getattr(fact, name) for fact in own) for name in ("tokens", "calls", "failed_calls")},
        "in_temporary_folders": hidden,
    }
    if not stored:
        return give(record, (none_found(left_out(hidden), is_narrowed=any(wanted)),))
    open_ones = [each for each in taught if each.standing.stage in UNDECIDED]
    advice = (TO_LESSONS,) if any(wanted) else _learned(open_ones, len(taught))
    copied = repeating(listed - len(stored)) if listed > len(stored) else ""
    notes = filter(None, (f"Sessions from {moment(began)} to {moment(ended)}.", copied, left_out(hidden)))
    return give(record, _lines(found, advice, notes, is_whole=not (wanted.since or wanted.until)))


def _count(filters: Filters, *, is_narrowed: bool) -> int:
    with own_store() as (home, database):
        bring_up_to_date(database)
        every = facts_among(database, filters, list_prices(home))
        hidden = count_temporary(database, filters)
    own = [fact for fact in every if not fact.copied]
    whole, paid, (first, last) = usage_of(own), costs_of(own), _period(own)
    used, tools, copies = usage_groups(own), tool_uses(own)[:TOOLS], len(every) - len(own)
    record = {
        **fields(whole, "sessions", "messages"),
        "tokens": {"input": whole.input_tokens, "output": whole.output_tokens, "cached": whole.cached_tokens},
        "cost_dollars": total(fact.usage for fact in own).cost_dollars,
        "first": iso(first),
        "last": iso(last),
        "agents": [_with_rate(each) for each in used],
        "tools": [_with_rate(each) for each in tools],
        "cost": paid._asdict(),
        "copies": copies,
        "in_temporary_folders": hidden,
    }
    if not own:
        return give(record, (none_found(left_out(hidden), is_narrowed=is_narrowed),))
    cost = f"; ${paid.dollars:,.2f} cost{' at list prices' * paid.is_listed}" if paid.dollars is not None else ""
    cached = share(whole.cached_tokens, whole.input_tokens)
    counted = f"[bold]{many(whole.sessions, 'session')}[/], {many(whole.messages, 'message')}"
    lines: tuple[str | Table, ...] = (
        f"{counted}, {moment(first)} to {moment(last)}",
        *filter(None, (repeating(copies) if copies else "", left_out(hidden))),
        f"{short(whole.input_tokens)} tokens read ({cached} from cache), {short(whole.output_tokens)} written{cost}\n",
        AGENTS.table(used),
        "",
        TOOLS_USED.table(tools),
        "[dim]The error rate is of all calls. What a session copied from another is counted there and not again.[/]",
    )
    return give(record, lines)


def _with_rate(each: UsageGroup | ToolUse) -> dict[str, object]:
    return {**each._asdict(), "error_rate": each.failed / each.calls if each.calls else None}


def _period(facts: Sequence[SessionFact]) -> tuple[float | None, float | None]:
    return min((fact.at for fact in facts), default=None), max((fact.at for fact in facts), default=None)


def _lines(found: LostTime, advice: Iterable[str], notes: Iterable[str], *, is_whole: bool) -> Iterator[str | Table]:
    yield from (f"[bold]{plain(line)}[/]" for line in headline(found.overview, label_of))
    yield from (f"[dim]{note}[/]" for note in (*notes, UPPER_BOUND))
    if is_whole:
        yield f"{BETTER} {trend_words(found.trend)}"
    if causes := found.costs["causes"][:ROWS]:
        yield "\n[bold underline]What costs most[/]"
        yield _cost_table(causes, _cause_words)
        yield "[dim]of the time: its share of all agent time, and where that lies as sessions vary (95 %)[/]"
        if any(each.name.startswith(TroubleKind.CORRECTED) for each in causes):
            yield "[dim]What was said each time: `whet sessions --sort stepped-in`, then `whet show ID`.[/]"
        yield "\n[bold underline]The dearest sessions[/]"
        yield from _dearest_lines(found.dearest)
    yield from _group_lines(found)
    yield "\n[bold underline]What to do[/]"
    yield from advice
    session = found.dearest[0].trouble.session[:8] if found.dearest else "ID"
    then = f"`whet learn` to have them read for lessons, `whet show {session} --dearest` for where it cost most."
    yield from next_lines(then)


def _group_lines(found: LostTime) -> Iterator[str | Table]:
    """Tables of what differs; one group alone is what was said already."""
    for heading, rows in zip(("project", "agent", "model", "person", "week"), found.groups.values(), strict=True):
        if len(rows) > 1:
            yield ""
            yield _group_table(heading, rows[-ROWS:] if heading == "week" else rows[:ROWS])
    for heading, name in (("by tool, program or check", "tools"), ("by rule that was told", "rules")):
        if lost := found.costs[name]:
            yield f"\n[bold]Lost {heading}[/]"
            yield _cost_table([each for each in lost if each.name][:ROWS])


def _learned(open_ones: Sequence[Lesson], taught: int) -> Iterator[str]:
    """The most promising drafts, as they were when lessons were last looked for."""
    if not taught:
        yield TO_LESSONS
        return
    counts = Counter(change_of(each).value for each in open_ones)
    kinds = ", ".join(many(number, CHANGE_WORDS[change]) for change, number in counts.items())
    yield f"• {many(len(open_ones), 'lesson')} to decide on{f' ({kinds})' if kinds else ''}: `whet lessons`."
    for each in sorted(open_ones, key=lambda each: -each.evidence.worth)[:DRAFTS]:
        seen = many(each.sessions, "session")
        yield f"  [dim]{each.id}[/] {plain(' '.join(shown(each.rule).split()))} [dim]({seen})[/]"


def _lost_time(stored: Sequence[StoredTrouble], dollars: float | None, known: KnownProjects) -> LostTime:
    """Roll up the trouble of sessions by all that is asked for."""
    sessions = [each.trouble for each in stored]
    of_id = {each.trouble.session: each for each in stored}
    project_of = cache(lambda folder: known.shown(known.identity(folder)))
    told = [
        msgspec.structs.replace(each, troubles=tuple(one for one in each.troubles if one.kind == TroubleKind.TOLD))
        for each in sessions
    ]
    return LostTime(
        overview=overview(sessions, dollars),
        costs={
            "causes": costs(sessions, by_cause),
            "tools": costs(sessions, by_subject),
            "rules": costs(told, lambda _, trouble: trouble.cause),
        },
        groups={
            "projects": groups(sessions, lambda session: project_of(session.folder)),
            "agents": groups(sessions, by_agent),
            "models": groups(sessions, by_model),
            "people": groups(sessions, lambda session: of_id[session.session].maker),
            "weeks": tuple(sorted(groups(sessions, by_week), key=lambda each: each.name)),
        },
        dearest=tuple(of_id[each.session] for each in dearest(sessions, DEAREST)),
        trend=trend(sessions, project_of),
    )


def _cost_table(found: Iterable[TroubleCost], named: Callable[[str], str] = str) -> Table:
    """What costs most, with its share of the agent's time and the interval of that."""
    rows = [
        (duration(each.seconds), interval_words(each), f"{each.troubles:,}", f"{each.sessions:,}", named(each.name))
        for each in found
    ]
    return table(COST_HEADINGS, rows, numbers=COST_HEADINGS[:-1], spare=("sessions",))


def _cause_words(name: str) -> str:
    """A cause as people read it: the label of its kind, then what it was about."""
    kind, *rest = name.split(" · ")
    return ": ".join(filter(None, (label_of(kind), ", ".join(rest))))


def _group_table(heading: str, found: Iterable[TroubleGroup]) -> Table:
    """What groups of sessions spent and lost."""
    rows = [
        (
            short_name(each.name) if heading == "project" else each.name or "–",
            f"{each.sessions:,}",
            duration(each.agent_seconds),
            duration(each.lost.seconds),
            interval_words(each.lost) if each.agent_seconds else "–",
            f"{each.interventions:,}",
            per_hour(each),
        )
        for each in found
    ]
    return table((heading, *GROUP_HEADINGS), rows, numbers=GROUP_HEADINGS, spare=("per hour", "sessions"))


def _dearest_lines(found: Iterable[StoredTrouble]) -> Iterator[str]:
    """The sessions that lost most, each with its dearest stretch and how to open it there."""
    for each in found:
        session, worst = each.trouble, each.trouble.dearest
        if worst is None:
            continue
        yield (
            f"[bold]{session.session[:8]}[/]  {duration(session.lost_seconds)} of {duration(session.agent_seconds)}  "
            f"{plain(each.title[:60])}"
        )
        yield f"          [dim]longest: {duration(worst.seconds)}: {stretch_words(worst)}[/]"


def _dearest(each: StoredTrouble) -> dict[str, Any]:
    session = each.trouble
    return {
        "session": session.session,
        "title": each.title,
        "started": iso(session.started),
        "agent_seconds": session.agent_seconds,
        "lost_seconds": round(session.lost_seconds, 1),
        "dearest": session.dearest,
    }
