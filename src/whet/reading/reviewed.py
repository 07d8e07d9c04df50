"""What a review of one conversation is shown of another agent's session, and the claims in what it answers."""

import time
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from whet.lessons.claim_quotes import CheckedQuote, check_quotes
from whet.lessons.claims import ClaimAuthor, ClaimOperation, Quote, ReadBy, bounded
from whet.lessons.condensed import EventKind
from whet.lessons.condensing import condense, shown
from whet.reading.answers import FOUND_BY_WORDS, Shown, read_answer, with_exact_quotes
from whet.sessions.lineage import is_typed
from whet.sessions.transcripts import Transcript
from whet.store.claims import keep_pass
from whet.store.database import Database
from whet.telling.targets.known_projects import KnownProjects
from whet.text.quoting import shortened, visible
from whet.text.words import estimate
from whet.trouble.outcomes.view import gather

LEAST_TOKENS = 60  # of each message of the person, however many there are
MARK_OF_SESSION = "this"


def retold(transcript: Transcript, limit_tokens: int) -> str:
    """A session in short, with all that the person typed: what has no room is shortened there, and events go first."""
    said = [(place, message) for place, message in enumerate(transcript.messages) if is_typed(message)]
    each = max(limit_tokens // max(len(said), 1), LEAST_TOKENS)
    lines = {place: f"[{place}] PERSON: {shortened(visible(message.text), each).text}" for place, message in said}
    left = limit_tokens - sum(map(estimate, lines.values()))
    made = condense(gather(transcript))
    others = tuple(event for event in made.events if event.kind is not EventKind.PERSON)
    events: list[tuple[int, str]] = []
    for event in others:
        line = shown(replace(made, events=(event,), left_out=0)).partition("\n")[2]
        left -= estimate(line)
        if left < 0:
            break
        events.append((event.message, line))
    both = sorted([*lines.items(), *events], key=lambda pair: pair[0])
    return "\n".join(line for _, line in both)


def keep_claims(database: Database, transcript: Transcript, text: str, *, reader: str) -> int:
    """Keep what a review claims of its session besides notes and skills; gives how many claims hold their quotes.

    They wait like any other claim: code checks them, and a person decides.
    """
    project = KnownProjects(database).identity(transcript.folder)
    if not project or "{" not in text:
        return 0
    answer = read_answer(text, Shown(project, {MARK_OF_SESSION: transcript.id}, frozenset(), ONLY_NEW))
    placed = [replace(claim, quotes=tuple(_placed(claim.quotes, transcript))) for claim in answer.claims]
    checked = {quote: CheckedQuote(quote) for claim in placed for quote in claim.quotes}
    kept = with_exact_quotes(answer._replace(claims=tuple(each for each in placed if each.quotes)), checked)
    if kept.claims:
        by = ReadBy(reader, ClaimAuthor.REVIEW)
        keep_pass(database, project, (), bounded(kept.claims), reader=by, now=time.time())
    return len(kept.claims)


ONLY_NEW = {ClaimOperation.NEW.value: ClaimOperation.NEW}


def _placed(quotes: Sequence[Quote], transcript: Transcript) -> Iterator[Quote]:
    """Each quote with the message that says it: of several the one that is believed most, for it said it first."""
    for quote in quotes:
        everywhere = tuple(replace(quote, message=place) for place in range(len(transcript.messages)))
        asked = everywhere if quote.message == FOUND_BY_WORDS else (quote,)
        found = [each for each in check_quotes(asked, transcript) if each.is_exact]
        if found:
            yield max(found, key=lambda each: (each.trust, -each.quote.message)).quote
