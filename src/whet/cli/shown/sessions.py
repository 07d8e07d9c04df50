"""Sessions and where their time went: as records, as transcripts for reading, and summed up."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
from rich.table import Table

from whet.cli.output import moment, plain, table
from whet.sessions.exports import iso
from whet.sessions.transcripts import Exchange, Media, Message, Origin, Role, Text, ToolCall, ToolResult, pair
from whet.shipped.kinds import label_of
from whet.store.rows import Session
from whet.store.troubles import StoredTrouble
from whet.telling.targets.known_projects import KnownProjects, short_name
from whet.telling.targets.project_names import folder_of_project, name_of_project
from whet.text.words import many
from whet.trouble.outcomes.deciding import Decision, Outcome, decide
from whet.trouble.overview import (
    ENDINGS,
    TroubleOverview,
    duration,
    headline,
    interval_words,
    money,
    overview,
    per_hour,
    sort_words,
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
from whet.trouble.values import SessionTrouble, Trouble, TroubleKind


def left_out(temporary: int, *, own_work: int = 0, how: str = "--temporary") -> str:
    """How many sessions are left out by default, and which option includes them; empty where none is."""
    found = ((temporary, "in temporary folders", how), (own_work, "of trials and reviews", "--all"))
    return " ".join(
        f"{many(number, 'session')} {which} {'is' if number == 1 else 'are'} left out ({option})."
        for number, which, option in found
        if number
    )


def among_them(copies: int) -> str:
    """That some of the sessions that were just listed only repeat others; empty where none does."""
    return f", {copies:,} of them only repeat{'s' if copies == 1 else ''} others" if copies else ""


def repeating(copies: int) -> str:
    """That more sessions than were just counted are stored, which only repeat others."""
    return f"{many(copies, 'more session')} only repeat{'s' if copies == 1 else ''} others: not counted again."


def none_found(hidden: str, *, is_narrowed: bool) -> str:
    """What to say where no session is left, and what to do."""
    if hidden:
        return f"No sessions match. {hidden}"
    return (
        "No sessions match: try fewer filters."
        if is_narrowed
        else "No sessions yet. To import them, run `whet import`."
    )


def session_record(session: Session) -> dict[str, object]:
    return {
        "id": session.id,
        "source": session.source,
        "native_id": session.native_id,
        "parent": session.parent_id or None,
        "title": session.title,
        "model": session.model,
        "folder": session.folder,
        "branch": session.branch,
        "purpose": session.purpose,
        "ending": session.ending,
        "started": iso(session.started),
        "ended": iso(session.ended),
        "messages": session.message_count,
        "tokens": {
            "input": session.input_tokens,
            "output": session.output_tokens,
            "cached": session.cached_tokens,
        },
        "cost_dollars": session.cost_dollars,
        "path": session.path,
    }


def project_of_session(folder: str, project: str = "") -> str:
    """The name of the repository's folder that a session worked in; where that is not here, of its project."""
    return short_name(folder_of_project(folder) or project or name_of_project(folder)) if folder else ""


RESULT_LINES = 6
LINE_CHARACTERS = 200
BAR = "    │ "
ARGUMENT_CHARACTERS = 300
MARKS = {
    Outcome.OK: "[green]✓[/]",
    Outcome.FAILED: "[red]✗[/]",
    Outcome.REJECTED: "[yellow]⊘[/]",
    Outcome.CANCELLED: "[yellow]–[/]",
    Outcome.UNKNOWN: "[dim]?[/]",
}
STYLES = {Role.SYSTEM: "magenta", Role.USER: "bold cyan", Role.AGENT: "bold", Role.TOOL: "dim"}


def heading(session: Session) -> Iterator[str]:
    """What is known of a session besides its messages."""
    yield f"[bold]{plain(session.title or session.native_id)}[/]"
    when = f"{moment(session.started)} to {moment(session.ended)}"
    yield f"{session.source} · {plain(session.model or 'unknown model')} · {when}"
    place = f"{session.folder} ({session.branch})" if session.branch else session.folder
    facts = [
        f"session {session.id[:12]}",
        plain(place),
        many(session.message_count, "message"),
        f"ended: {session.ending}",
        f"part of {session.parent_id[:12]}" if session.parent_id else "",
    ]
    yield "[dim]" + " · ".join(fact for fact in facts if fact) + "[/]"
    for check in session.facts.checks:
        verdict = {True: "[green]passed[/]", False: "[red]failed[/]", None: "recorded"}[check.passed]
        yield f"check {plain(check.name)}: {verdict}" + (f" ({check.score:g})" if check.score is not None else "")


def trouble_heading(found: SessionTrouble) -> Iterator[str]:
    """What the session lost, and where most of it went."""
    if not found.troubles and not found.times_stepped_in:
        return
    stepped = f"somebody stepped in {many(found.times_stepped_in, 'time')}" if found.times_stepped_in else ""
    lost = f"{duration(found.lost_seconds)} of {duration(found.agent_seconds)} bought nothing" if found.is_timed else ""
    yield "[yellow]" + ", ".join(filter(None, (lost, stepped))) + "[/]"
    if (worst := found.dearest) is not None:
        yield f"[yellow]the dearest: {stretch_words(worst)}, {duration(worst.seconds)}[/] [dim](--dearest)[/]"


def with_troubles(
    messages: tuple[Message, ...], troubles: tuple[Trouble, ...], among: range, *, full: bool
) -> Iterator[str]:
    """The messages, with a bar beside each stretch that bought nothing, and its cost and cause where it begins."""
    coming = sorted((each for each in troubles if each.last >= among.start), key=lambda each: each.first)
    within = {at for each in troubles for at in range(each.first, each.last + 1)}
    for index, line in _placed(messages, among=among, full=full):
        while coming and coming[0].first <= index:
            each = coming.pop(0)
            yield ""
            yield f"[yellow]▌ {stretch_words(each)} · {stretch_costs(each)} · {ENDINGS[each.ending]}[/]"
        yield f"[yellow]▌[/] {line}" if index in within else line


def _placed(messages: tuple[Message, ...], *, among: range, full: bool) -> Iterator[tuple[int, str]]:
    """The messages at the places `among`; each call with its outcome and the beginning of its result.

    How a call ended is decided by the whole session, whatever of it is shown.
    """
    exchanges = {(each.asked, each.call.id): each for each in pair(messages).exchanges}
    answered = {each.answered for each in exchanges.values() if each.asked in among}  # shown with their calls
    for index in among:
        message = messages[index]
        if message.role is Role.TOOL and index in answered:
            continue
        for line in _message(index, message, exchanges, full=full):
            yield index, line


def _message(
    index: int, message: Message, exchanges: Mapping[tuple[int, str], Exchange], *, full: bool
) -> Iterator[str]:
    who = message.role.value if message.origin is Origin.TURN else f"{message.role.value} ({message.origin.value})"
    yield ""
    yield f"[{STYLES[message.role]}]{who}[/] [dim]#{index}  {moment(message.at)}[/]"
    said_here = message.role is not Role.SYSTEM and message.origin is Origin.TURN
    for part in message.parts:
        if isinstance(part, ToolCall):
            yield from _call(exchanges[(index, part.id)], full)
        elif isinstance(part, ToolResult):
            yield f"[dim]result of call {plain(part.call_id)}[/]"
            yield from _styled(part.text, full, "dim", BAR)
        elif isinstance(part, Media):
            yield from _styled(_described(part), full, "dim")
        elif isinstance(part, Text):
            yield from _styled(part.text, full or said_here, "")
        elif full:
            yield from _styled(part.text, full, "dim italic")


def _described(media: Media) -> str:
    words = (media.kind, media.media_type, f"{media.size_bytes:,} bytes", media.name)
    return f"[{' '.join(word for word in words if word)}]"


def _call(exchange: Exchange, full: bool) -> Iterator[str]:
    decision: Decision = decide(exchange)
    arguments = exchange.call.arguments
    if not full and len(arguments) > ARGUMENT_CHARACTERS:
        arguments = f"{arguments[:ARGUMENT_CHARACTERS]}…"
    why = "" if decision.outcome is Outcome.OK else f" [dim]{decision.outcome.value}: {plain(decision.evidence)}[/]"
    yield f"  {MARKS[decision.outcome]} [bold]{plain(exchange.call.name)}[/] {plain(arguments)}{why}"
    if exchange.result is not None:
        yield from _styled(exchange.result.text, full, "dim", BAR)


def _styled(text: str, full: bool, style: str, margin: str = "") -> Iterator[str]:
    """Each line of a text by itself, in a style; a long text shortened unless all of it is wanted."""
    all_lines = text.splitlines()
    shown = all_lines if full else [_cut(line) for line in all_lines[:RESULT_LINES]]
    if len(all_lines) > len(shown):
        shown.append(f"… {many(len(all_lines) - len(shown), 'more line')}")
    for line in shown:
        yield f"[{style}]{margin}{plain(line)}[/]" if style else f"{margin}{plain(line)}"


def _cut(line: str) -> str:
    return line if len(line) <= LINE_CHARACTERS else f"{line[:LINE_CHARACTERS]}…"


ROWS = 8
DEAREST = 5
GROUP_HEADINGS = ("sessions", "agent time", "lost", "share", "stepped in", "per hour")
COST_HEADINGS = ("lost", "of the time", "times", "sessions", "what")


class LostTime(NamedTuple):
    """All roll-ups of some sessions."""

    overview: TroubleOverview
    causes: tuple[TroubleCost, ...]
    tools: tuple[TroubleCost, ...]
    rules: tuple[TroubleCost, ...]
    projects: tuple[TroubleGroup, ...]
    agents: tuple[TroubleGroup, ...]
    models: tuple[TroubleGroup, ...]
    people: tuple[TroubleGroup, ...]
    weeks: tuple[TroubleGroup, ...]
    dearest: tuple[StoredTrouble, ...]
    trend: TroubleTrend


def lost_time(stored: Sequence[StoredTrouble], dollars: float | None, known: KnownProjects) -> LostTime:
    """Roll up the trouble of sessions by all that is asked for."""
    sessions = [each.trouble for each in stored]
    of_id = {each.trouble.session: each for each in stored}
    project_of = cache(lambda folder: known.shown(known.identity(folder)))
    told = [_only(session, TroubleKind.TOLD) for session in sessions]
    return LostTime(
        overview=overview(sessions, dollars),
        causes=costs(sessions, by_cause),
        tools=costs(sessions, by_subject),
        rules=costs(told, lambda _, trouble: trouble.cause),
        projects=groups(sessions, lambda session: project_of(session.folder)),
        agents=groups(sessions, by_agent),
        models=groups(sessions, by_model),
        people=groups(sessions, lambda session: of_id[session.session].maker),
        weeks=tuple(sorted(groups(sessions, by_week), key=lambda each: each.name)),
        dearest=tuple(of_id[each.session] for each in dearest(sessions, DEAREST)),
        trend=trend(sessions, project_of),
    )


def _only(session: SessionTrouble, kind: str) -> SessionTrouble:
    return msgspec.structs.replace(session, troubles=tuple(one for one in session.troubles if one.kind == kind))


def headlines(found: TroubleOverview) -> Iterator[str]:
    """The lines that a person acts on."""
    return (plain(line) for line in headline(found, label_of))


def cost_table(found: Iterable[TroubleCost], named: Callable[[str], str] = str) -> Table:
    """What costs most, with its share of the agent's time and the interval of that."""
    rows = [
        (duration(each.seconds), interval_words(each), f"{each.troubles:,}", f"{each.sessions:,}", named(each.name))
        for each in found
    ]
    return table(COST_HEADINGS, rows, numbers=COST_HEADINGS[:-1], spare=("sessions",))


def cause_words(name: str) -> str:
    """A cause as people read it: the label of its kind, then what it was about."""
    kind, *rest = name.split(" · ")
    return ": ".join(filter(None, (label_of(kind), ", ".join(rest))))


def group_table(heading: str, found: Iterable[TroubleGroup]) -> Table:
    """What groups of sessions spent and lost."""
    rows = [
        (
            _last_part(each.name) if heading == "project" else each.name or "–",
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


def _last_part(project: str) -> str:
    return project.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or "–"


def dearest_lines(found: Iterable[StoredTrouble]) -> Iterator[str]:
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


def stretch_words(trouble: Trouble) -> str:
    """A stretch: where it is, and why it bought nothing."""
    return f"#{trouble.first}–#{trouble.last} {plain(sort_words(trouble, label_of(trouble.kind)))}"


def stretch_costs(trouble: Trouble) -> str:
    """What a stretch cost."""
    calls = f"{trouble.calls} call{'' if trouble.calls == 1 else 's'}"
    paid = [money(trouble.dollars)] if trouble.dollars >= 0.005 else []
    return ", ".join((duration(trouble.seconds), calls, *paid))


def lost_time_record(found: LostTime) -> dict[str, Any]:
    """The roll-ups for programs."""
    return {
        **overview_record(found.overview),
        "causes": _costs(found.causes),
        "tools": _costs(found.tools),
        "rules": _costs(found.rules),
        **{
            name: [msgspec.to_builtins(each) for each in every]
            for name, every in (
                ("projects", found.projects),
                ("agents", found.agents),
                ("models", found.models),
                ("people", found.people),
                ("weeks", found.weeks),
            )
        },
        "dearest": [_dearest(each) for each in found.dearest],
        "getting_better": trend_record(found.trend),
    }


def overview_record(found: TroubleOverview) -> dict[str, Any]:
    """The whole picture for programs."""
    return {
        "sessions": found.total.sessions,
        "agent_seconds": found.total.agent_seconds,
        "dollars": found.dollars,
        "lost": msgspec.to_builtins(found.total.lost),
        "interventions": found.total.interventions,
        "guessed_interventions": found.total.guessed,
        "untimed_sessions": found.untimed,
        "kinds": _costs(found.kinds),
    }


def _costs(found: Iterable[TroubleCost]) -> list[Any]:
    return [msgspec.to_builtins(each) for each in found]


def _dearest(each: StoredTrouble) -> dict[str, Any]:
    session = each.trouble
    return {
        "session": session.session,
        "title": each.title,
        "started": iso(session.started),
        "agent_seconds": session.agent_seconds,
        "lost_seconds": round(session.lost_seconds, 1),
        "dearest": msgspec.to_builtins(session.dearest),
    }


def trend_record(found: TroubleTrend) -> dict[str, Any]:
    """Whether it gets better, for programs."""
    return {"answer": found.answer, **{name: msgspec.to_builtins(value) for name, value in found._asdict().items()}}
