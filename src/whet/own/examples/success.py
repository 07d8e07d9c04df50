"""Warrants: what speaks for it that a session went well, where only its record can tell.

A verdict of its own comes first, then the word of whoever makes the template, then a check that the session ran after
its last change, then another session that was asked for the same and came to the same result, and last a short record
in which nothing failed. Thanks, a claim of success and a look at what was changed are no grounds: on labelled sessions
they say nothing.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from whet.sessions.lineage import is_persons
from whet.sessions.transcripts import Ending, Role, Transcript
from whet.text.likeness import sense
from whet.trouble.course import SessionCourse
from whet.trouble.outcomes.view import SessionView
from whet.trouble.people import course_of
from whet.trouble.red_checks import ends_failed, verification

# Among labelled sessions without a verdict, most of the longer ones failed, whatever their record shows.
MOST_STEPS = 6
REQUEST_WORDS = 3  # with fewer telling words, two equal requests need not mean the same
REQUEST_CHARACTERS = 500  # as far as those words are looked for
KEY_BYTES = 8
CUT_OFF = frozenset({Ending.FAILED, Ending.BUDGET, Ending.REFUSED, Ending.EMPTY, Ending.CUT})


class SuccessReason(IntEnum):
    """Why a session counts as a success, the strongest first."""

    CHECKED = 0
    VOUCHED = 1
    VERIFIED = 2
    AGREED = 3
    CLEAN = 4


class Warrant(NamedTuple):
    """On which ground a session counts as a success, the lower the stronger, and how many bad signs it has.

    A bad sign is a failed call, somebody who stepped in, or an end without an answer.
    """

    ground: SuccessReason
    signs: int = 0

    @property
    def reason(self) -> str:
        """The ground in words, as a person reads it beside an example."""
        match self.ground:
            case SuccessReason.CHECKED:
                return "the session's own check passed"
            case SuccessReason.VOUCHED:
                return "the author of the template confirmed that the session went well"
            case SuccessReason.VERIFIED:
                return "checks passed after the session's last change"
            case SuccessReason.AGREED:
                return "another session with this request got the same result"
            case SuccessReason.CLEAN:
                return "the session was short, and nothing failed in it"


class Vote(NamedTuple):
    """What a session was asked for and came to, as hashes; empty where it cannot be told."""

    request: bytes = b""
    result: bytes = b""


class SuccessFinding(NamedTuple):
    """The warrant of a session, or why it has none; and what it came to, for the sake of other sessions."""

    warrant: Warrant | None
    refusal: str = ""
    vote: Vote = Vote()


def find(evidence: SessionView, *, vouched: bool = False) -> SuccessFinding:
    """What one session shows by itself. A ground of CLEAN is not the last word: the other sessions have a say.

    With `vouched` whoever makes the template says that it went well, which only a failed check of its own outranks.
    """
    transcript = evidence.transcript
    verdicts = {check.name: check.passed for check in transcript.checks if check.passed is not None}
    if not all(verdicts.values()):
        return SuccessFinding(None, "its own check failed")
    vote = Vote(_request(transcript), _result(evidence))
    if verdicts or vouched:
        return SuccessFinding(Warrant(SuccessReason.CHECKED if verdicts else SuccessReason.VOUCHED), vote=vote)
    if transcript.ending in CUT_OFF:
        return SuccessFinding(None, "cut off")
    course = course_of(evidence)
    verified = verification(course)
    if verified is False:
        return SuccessFinding(None, "a check failed and was not fixed")
    if verified:
        return SuccessFinding(Warrant(SuccessReason.VERIFIED), vote=vote)
    if ends_failed(course):
        return SuccessFinding(None, "its last call failed", vote)
    if len(evidence.steps) > MOST_STEPS:
        return SuccessFinding(None, "long, and no check passed at its end", vote)
    return SuccessFinding(Warrant(SuccessReason.CLEAN, _signs(course)), vote=vote)


def _signs(course: SessionCourse) -> int:
    """How many bad signs the record of a session has."""
    view = course.view
    last = view.sayings[-1] if view.sayings else None
    is_answered = (
        last is not None and last.role is Role.AGENT and last.is_closing and not course.is_answer(last.message)
    )
    return len(view.failures) + len(course.events) + (not is_answered)


class Votes:
    """What sessions with the same request came to: where two agree, it is seldom by chance."""

    def __init__(self, votes: Iterable[Vote]) -> None:
        self._of: dict[bytes, Counter[bytes]] = {}
        for vote in votes:
            if vote.request and vote.result:
                self._of.setdefault(vote.request, Counter())[vote.result] += 1

    def weigh(self, finding: SuccessFinding) -> SuccessFinding:
        """The finding about one of the sessions that voted, in the light of the others."""
        warrant, vote = finding.warrant, finding.vote
        if warrant is None or warrant.ground is not SuccessReason.CLEAN:
            return finding
        votes = self._of.get(vote.request, Counter())
        same = max(0, votes[vote.result] - 1)
        if same and 2 * same >= votes.total() - 1:
            return finding._replace(warrant=warrant._replace(ground=SuccessReason.AGREED))
        if not same and max((count for result, count in votes.items() if result != vote.result), default=0) > 1:
            return SuccessFinding(None, "other sessions with the same request got another result")
        return finding if not warrant.signs else SuccessFinding(None, "nothing shows that it went well")


def _request(transcript: Transcript) -> bytes:
    """A hash of what the person asked for first; nothing where that may mean anything."""
    said = (message.text for message in transcript.messages if message.role is Role.USER and is_persons(message))
    text = next((text for text in said if text.strip()), "")
    told = len(sense(text[:REQUEST_CHARACTERS]).words) >= REQUEST_WORDS
    return _hash(" ".join(text.split())) if told else b""


def _result(evidence: SessionView) -> bytes:
    """A hash of the last answer that a call brought."""
    last = next((step for step in reversed(evidence.steps) if step.worked), None)
    return _hash(f"{last.tool}\n{last.text}") if last is not None else b""


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()
