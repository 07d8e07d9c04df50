"""Condensed sessions as text for a reader, and the text in which a quote of theirs is looked up."""

from collections.abc import Iterator
from datetime import UTC, datetime

from whet.lessons.condensed import CondensedSession, EventKind, SessionEvent, in_project
from whet.lessons.failed_calls import whole_call
from whet.lessons.telling_lines import without_colours
from whet.outcomes.view import SessionView

TIMES = "×"
NOTHING = "FOUND NOTHING"
HEADS = {kind: kind.value.upper() for kind in EventKind} | {
    EventKind.FAILED: "✗",
    EventKind.CLAIMED: "DONE?",
    EventKind.UNSURE: "PERSON?",
    EventKind.COUNTED: "FAILED",
}


def shown(session: CondensedSession) -> str:
    """A session as a reader gets it: a heading, then a line for each event with the number of its message."""
    started = "" if session.started is None else f"{datetime.fromtimestamp(session.started, UTC):%Y-%m-%d %H:%M}"
    heading = " ".join(part for part in ("##", session.session, started, session.agent) if part)
    more = (f"({session.left_out} more events)",) if session.left_out else ()
    return "\n".join((heading, *_lines(session.events), *more))


def _lines(events: tuple[SessionEvent, ...]) -> Iterator[str]:
    held = ""
    refused = -1
    for event in events:
        line = _event(event)
        if event.message == refused and event.kind in (EventKind.PERSON, EventKind.TEAM):
            held += f" — {line}"
            refused = -1
            continue
        if held:
            yield held
        held = f"[{event.message}] {line}"
        refused = event.message if event.kind is EventKind.REFUSED else -1
    if held:
        yield held


def _event(event: SessionEvent) -> str:
    head = f"{HEADS[event.kind]}{f' {TIMES}{event.times}' if event.times > 1 else ''}"
    match event.kind:
        case EventKind.PERSON | EventKind.UNSURE:
            return f"{head}{_cost(event)}: {event.text}"
        case EventKind.TEAM | EventKind.AGENT:
            return f"{head}: {event.text}"
        case EventKind.INTERRUPTED:
            return f"{head} after {event.text}"
        case EventKind.REFUSED | EventKind.CLAIMED:
            return f"{head} {event.text}"
        case EventKind.COUNTED:
            return (
                f"{event.text} {head}: {event.error}"
                if event.error
                else f"{NOTHING}{head[len('FAILED') :]} {event.text}"
            )
    name = f"{event.subject}: " if event.kind is EventKind.RED and event.subject not in event.error else ""
    return f"{head} {event.text} → {name}{event.error}{_worked(event)}"


def _cost(event: SessionEvent) -> str:
    minutes = f", {event.minutes:.0f} min" if event.minutes >= 1 else ""
    return f" ({event.calls} calls{minutes})" if event.calls else ""


def _worked(event: SessionEvent) -> str:
    if event.worked:
        return f"  ✓ [{event.worked_at}] {'again after ' if event.again else ''}{event.worked}"
    return "  ✓ again" if event.again else ""


def quotable(view: SessionView, message: int) -> str:
    """All that may be quoted of a message, as it is shown: its words, its calls, its answers and what they answer.

    White space is folded and paths begin at the project's folder, on both sides of a comparison.
    """
    folder = view.transcript.folder
    spoken = view.transcript.messages[message]
    said = [spoken.text, *(without_colours(result.text) for result in spoken.results)]
    said += [whole_call(step) for step in view.steps if message in (step.exchange.asked, step.exchange.answered)]
    said += [call.arguments for call in spoken.calls]
    return "\n".join(in_project(text, folder) for text in said)
