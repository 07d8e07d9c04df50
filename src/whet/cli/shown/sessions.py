"""Sessions and where their time went: as records, as transcripts for reading, and summed up."""

from collections.abc import Iterator, Mapping
from typing import Any

from whet.cli.output import fields, moment, plain
from whet.sessions.exports import iso
from whet.sessions.transcripts import Exchange, Media, Message, Origin, Role, Text, ToolCall, ToolResult, pair
from whet.shipped.kinds import label_of
from whet.store.rows import Session
from whet.telling.targets.known_projects import short_name
from whet.telling.targets.project_names import folder_of_project, name_of_project
from whet.text.words import cut, many
from whet.trouble.outcomes.deciding import Decision, Outcome, decide
from whet.trouble.overview import (
    ENDINGS,
    TroubleOverview,
    duration,
    money,
    sort_words,
)
from whet.trouble.rollups import (
    TroubleTrend,
)
from whet.trouble.values import SessionTrouble, Trouble

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
    if is_narrowed:
        return "No sessions match: try fewer filters."
    return "No sessions yet. To import them, run `whet import`."


def session_record(session: Session) -> dict[str, object]:
    return {
        **fields(session, "id", "source", "native_id"),
        "parent": session.parent_id or None,
        **fields(session, "title", "model", "folder", "branch", "purpose", "ending"),
        "started": iso(session.started),
        "ended": iso(session.ended),
        "messages": session.message_count,
        "tokens": {name: getattr(session, f"{name}_tokens") for name in ("input", "output", "cached")},
        **fields(session, "cost_dollars", "path"),
    }


def project_of_session(folder: str, project: str = "") -> str:
    """The name of the repository's folder that a session worked in; where that is not here, of its project."""
    return short_name(folder_of_project(folder) or project or name_of_project(folder)) if folder else ""


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
            words = filter(None, (part.kind, part.media_type, f"{part.size_bytes:,} bytes", part.name))
            yield from _styled(f"[{' '.join(words)}]", full, "dim")
        elif isinstance(part, Text):
            yield from _styled(part.text, full or said_here, "")
        elif full:
            yield from _styled(part.text, full, "dim italic")


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
    shown = all_lines if full else [cut(line, LINE_CHARACTERS) for line in all_lines[:RESULT_LINES]]
    if len(all_lines) > len(shown):
        shown.append(f"… {many(len(all_lines) - len(shown), 'more line')}")
    for line in shown:
        yield f"[{style}]{margin}{plain(line)}[/]" if style else f"{margin}{plain(line)}"


def stretch_words(trouble: Trouble) -> str:
    """A stretch: where it is, and why it bought nothing."""
    return f"#{trouble.first}–#{trouble.last} {plain(sort_words(trouble, label_of(trouble.kind)))}"


def stretch_costs(trouble: Trouble) -> str:
    """What a stretch cost."""
    calls = f"{trouble.calls} call{'' if trouble.calls == 1 else 's'}"
    paid = [money(trouble.dollars)] if trouble.dollars >= 0.005 else []
    return ", ".join((duration(trouble.seconds), calls, *paid))


def overview_record(found: TroubleOverview) -> dict[str, Any]:
    """The whole picture for programs."""
    return {
        "sessions": found.total.sessions,
        "agent_seconds": found.total.agent_seconds,
        "dollars": found.dollars,
        "lost": found.total.lost,
        "interventions": found.total.interventions,
        "guessed_interventions": found.total.guessed,
        "untimed_sessions": found.untimed,
        "kinds": found.kinds,
    }


def trend_record(found: TroubleTrend) -> dict[str, Any]:
    """Whether it gets better, for programs."""
    return {"answer": found.answer, **found._asdict()}
