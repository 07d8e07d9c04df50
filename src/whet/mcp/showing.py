"""One session for an agent that asks: some of its messages, and where its time went."""

from dataclasses import dataclass

from whet.mcp.answers import MESSAGES_SHOWN, shortened
from whet.mcp.troubles import LostTimeAnswer, of_session
from whet.sessions.exports import iso
from whet.sessions.transcripts import Message
from whet.store import sessions
from whet.store.home import Home
from whet.store.listing import find
from whet.store.opening import opened

MESSAGE_LETTERS = 2_000


@dataclass(frozen=True)
class MessageAnswer:
    """One message of a session, shortened."""

    message: int
    role: str
    text: str


@dataclass(frozen=True)
class SessionAnswer:
    """A part of a session, and where the time of all of it went."""

    session: str
    agent: str
    title: str
    folder: str
    started: str | None
    messages: int
    trouble: LostTimeAnswer
    part: list[MessageAnswer]


def show(home: Home, *, session: str, start: int, count: int) -> SessionAnswer:
    """Some messages of a session, by its id or the beginning of it."""
    with opened(home) as database:
        row = find(database, session)
        transcript = sessions.load(database, row)
        lost = of_session(database, row, transcript)
    messages = transcript.messages
    first = max(0, min(start, len(messages)))
    part = messages[first : first + max(1, min(count, 5 * MESSAGES_SHOWN))]
    return SessionAnswer(
        session=row.id,
        agent=row.source,
        title=row.title,
        folder=row.folder,
        started=iso(row.started),
        messages=len(messages),
        trouble=lost,
        part=[
            MessageAnswer(message=place, role=each.role.value, text=shortened(_spoken(each), MESSAGE_LETTERS))
            for place, each in enumerate(part, first)
        ],
    )


def _spoken(message: Message) -> str:
    calls = (f"[call {call.name} {call.arguments}]" for call in message.calls)
    results = (f"[{'failed' if each.error else 'result'}] {each.text}" for each in message.results)
    return "\n".join(part for part in (message.text, *calls, *results) if part)
