"""The sceptic: claims that code let stand are read once more, with the messages themselves, and kept or dropped."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from whet.lessons.claim_calls import PatternCounts
from whet.lessons.claims import Claim, ClaimOperation, DroppedClaim
from whet.reading.answers import SCEPTICS, Shown, read_answer
from whet.reading.checking import DoubtedClaim, checked_claims, dossiers
from whet.reading.passes import PassQuestion
from whet.reading.project_files import ClaimedOf, project_claims, refused_rules
from whet.reading.readers import ReaderQuestion
from whet.shipped.guidance import reading as words
from whet.store.database import Database
from whet.store.files import guidance_texts
from whet.store.home import Home
from whet.store.rows import Session
from whet.text.quoting import mark_for, quoted, visible

AT_ONCE = 10


class Doubts(NamedTuple):
    """What a sceptic said: what stands, in the same or better words, what does not, and lines of no use."""

    kept: tuple[Claim, ...] = ()
    refused: tuple[Claim, ...] = ()
    dropped: tuple[DroppedClaim, ...] = ()


def doubtful(home: Home, database: Database, project: str, sessions: Sequence[Session]) -> tuple[DoubtedClaim, ...]:
    """The first claims that held and that no sceptic has looked at since their words became what they are."""
    given = project_claims(database, project, sessions, ClaimedOf(refused=refused_rules(home, database)))
    open_ = [each for each in checked_claims(database, given).reports if not each.standing.is_doubted][:AT_ONCE]
    return dossiers(database, open_, sessions)


def question_of_doubts(home: Home, project: str, doubted: Sequence[DoubtedClaim]) -> PassQuestion:
    """What a sceptic is asked about these claims."""
    own = guidance_texts(home, words.TEXTS.name)
    words.TEXTS.expect_sound(own)
    parts = [visible(_text(each)) for each in doubted]
    mark = mark_for(parts)
    body = "\n\n".join(
        quoted(f"claim {each.report.standing.claim.id}", text, mark=mark)
        for each, text in zip(doubted, parts, strict=True)
    )
    order = words.doubts(body, own, mark=mark, claims=len(parts))
    known = frozenset(each.report.standing.claim.id for each in doubted)
    return PassQuestion(ReaderQuestion(words.sceptic(own), order), Shown(project, {}, known, SCEPTICS))


def doubts_of(text: str, shown: Shown) -> Doubts:
    """What a sceptic answered; of two answers about one claim the first."""
    answer = read_answer(text, shown)
    first = {claim.id: claim for claim in reversed(answer.claims)}
    refused = tuple(each for each in first.values() if each.operation is ClaimOperation.RETIRE)
    kept = tuple(each for each in first.values() if each.operation is not ClaimOperation.RETIRE)
    return Doubts(kept, refused, answer.dropped)


def _text(doubted: DoubtedClaim) -> str:
    """A claim with what was found out about it, a fact a line, then the messages."""
    report = doubted.report
    claim, counts = report.standing.claim, report.counts or PatternCounts()
    lines = [
        f"id: {claim.id}",
        f"rule: {claim.rule}",
        f"situation: {claim.situation}",
        f"source: {claim.source}, carrier: {claim.carrier}, scope: {claim.scope}",
        f"seen in {len(report.sessions)} sessions; the least trusted words that it rests on are of trust"
        f" {report.trust.label}",
    ]
    if claim.check is not None:
        pattern = msgspec.json.encode(claim.check).decode()
        lines.append(f"pattern: {pattern}")
        counted = f"what it calls wrong failed {counts.failed} of {counts.seen} times"
        lines.append(f"{counted}; what it recommends worked {counts.worked} of {counts.tried} times")
    if report.goes_back:
        lines.append(f"to put right: {report.goes_back}")
    if report.missing:
        lines.append(f"nowhere in the repository: {', '.join(report.missing)}")
    if report.told:
        lines.append(f"a file says already: {report.told.path}: {report.told.line}")
    lines += [f"hit: {msgspec.json.encode(hit).decode()}" for hit in counts.hits]
    for message in doubted.messages:
        mark = " <- quoted" if message.is_quoted else ""
        lines.append(f"[{message.session[:8]} {message.message} {message.role}]{mark} {message.text}")
    return "\n".join(lines)
