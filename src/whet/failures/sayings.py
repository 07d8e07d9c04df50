"""What detectors of words share: the end of turns, answers to the agent, and signals made from what was said."""

from collections.abc import Iterator

from whet.failures.environment import Cause
from whet.failures.phrases import AGENT_PHRASES, ANSWER_PHRASES
from whet.failures.signals import Signal
from whet.failures.view import JudgedCall, Saying, SessionView
from whet.failures.wordings import Phrase
from whet.sessions.transcripts import Role

WORD_LENGTH = 4
TOPIC_REACH = 400
TOPIC_WORDS = 12


def closing_words(evidence: SessionView) -> Iterator[Saying]:
    """What the agent said at the end of its turns: without a call, before the person speaks or the record ends."""
    messages = evidence.transcript.messages
    for saying in evidence.by_agent:
        if not saying.is_closing:
            continue
        following = messages[saying.message + 1 : saying.message + 2]
        if not following or following[0].role is Role.USER:
            yield saying


def answers_to_agent(evidence: SessionView) -> tuple[Saying, ...]:
    """What the person said once the agent had done or said anything."""
    first = next((i for i, m in enumerate(evidence.transcript.messages) if m.role is Role.AGENT), None)
    return () if first is None else tuple(saying for saying in evidence.by_user if saying.message > first)


def topic(said: str) -> str:
    """What a person speaks of, so that the same wish in two sessions is seen to be the same."""
    words = {word.strip(".,;:!?()[]'-").lower() for word in said[:TOPIC_REACH].split()}
    return " ".join(sorted(word for word in words if len(word) >= WORD_LENGTH)[:TOPIC_WORDS])


def quoted(kind: str, saying: Saying, phrase: Phrase, *, confidence: float, step: JudgedCall | None = None) -> Signal:
    """A signal that quotes the sentence with the phrase."""
    table = ANSWER_PHRASES if saying.role is Role.USER else AGENT_PHRASES
    return Signal(
        kind=kind,
        message=saying.message,
        call_id=step.exchange.call.id if step is not None else "",
        quote=table.quote(saying.words, phrase),
        cause=Cause.AGENT,
        trust=saying.trust,
        confidence=confidence,
        tool=step.tool if step is not None else "",
        fingerprint=topic(saying.words) if saying.role is Role.USER else phrase.value,
    )
