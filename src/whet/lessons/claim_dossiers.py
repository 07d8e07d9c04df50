"""What a sceptic sees of a claim: its words, what code counted, the messages around two quotes, and sampled hits."""

from collections.abc import Iterator, Mapping

from whet.lessons.claim_calls import PatternHit
from whet.lessons.claim_checks import ClaimReport
from whet.lessons.claim_quotes import CheckedQuote
from whet.lessons.claims import Claim
from whet.sessions.transcripts import Message, ToolCall, ToolResult, Transcript
from whet.text.words import cut
from whet.values import Value

QUOTES_SHOWN = 2
MESSAGES_AROUND = 15  # of each quote: five before it, the rest after it
BEFORE = 5
MESSAGE_LETTERS = 600


class RawMessage(Value, frozen=True):
    """A message as it stands in its session, shortened: whose it is, its words, its calls and what they answered."""

    session: str
    message: int
    role: str
    text: str
    is_quoted: bool = False


class ClaimDossier(Value, frozen=True):
    """A claim as a sceptic sees it. All of it is data."""

    claim: Claim
    sessions: int
    failed: int = 0
    seen: int = 0
    worked: int = 0
    tried: int = 0
    missing: tuple[str, ...] = ()
    told: str = ""  # the line of a file that says it already
    trust: str = ""
    messages: tuple[RawMessage, ...] = ()
    hits: tuple[PatternHit, ...] = ()


def dossier_of(report: ClaimReport, transcripts: Mapping[str, Transcript]) -> ClaimDossier:
    """What a sceptic sees of a claim that held; `transcripts` are of the sessions that `quotes_shown` names."""
    counts, told = report.counts, report.told
    return ClaimDossier(
        report.standing.claim,
        len(report.sessions),
        failed=counts.failed if counts else 0,
        seen=counts.seen if counts else 0,
        worked=counts.worked if counts else 0,
        tried=counts.tried if counts else 0,
        missing=report.missing,
        told=f"{told.path}: {told.line}" if told else "",
        trust=report.trust.label,
        messages=tuple(
            message
            for quote in quotes_shown(report)
            if (transcript := transcripts.get(quote.quote.session)) is not None
            for message in _around(quote, transcript)
        ),
        hits=counts.hits if counts else (),
    )


def quotes_shown(report: ClaimReport) -> tuple[CheckedQuote, ...]:
    """The quotes whose surroundings a sceptic sees: of two sessions, where there are two."""
    by_session: dict[str, CheckedQuote] = {}
    for each in report.quotes:
        by_session.setdefault(each.quote.session, each)
    first = tuple(by_session.values())
    return (*first, *(each for each in report.quotes if each not in first))[:QUOTES_SHOWN]


def _around(quote: CheckedQuote, transcript: Transcript) -> Iterator[RawMessage]:
    place = quote.quote.message
    first = max(0, place - BEFORE)
    for index, message in enumerate(transcript.messages[first : first + MESSAGES_AROUND], start=first):
        yield RawMessage(
            quote.quote.session, index, message.role.value, cut(_shown(message), MESSAGE_LETTERS), index == place
        )


def _shown(message: Message) -> str:
    lines = [message.text] if message.text else []
    for part in message.parts:
        if isinstance(part, ToolCall):
            lines.append(f"call {part.name}: {part.arguments}")
        elif isinstance(part, ToolResult):
            lines.append(f"answer: {part.text}")
    return "\n".join(lines)
