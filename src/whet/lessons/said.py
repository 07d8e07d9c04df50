"""The person's words: what they direct after the agent has begun, refuse, or stop it for."""

from collections.abc import Iterator

import re2

from whet.failures.view import SessionView
from whet.lessons.pieces import LessonSource, Piece, key_words
from whet.outcomes.deciding import Outcome
from whet.outcomes.refusal_forms import refusal_words
from whet.sessions.lineage import is_said
from whet.sessions.transcripts import Message, Origin, Role

SENTENCE_WORDS = 45
MESSAGE_LETTERS = 4_000
RETYPED = 0.8
_SENTENCE = re2.compile(r"(?:[.!?;]+[\s)]+|\n+|, (?:but|and then|also) |\s+- )")
_INSERTED = re2.compile(r"(?s)<([a-z][\w-]*)>.*?</[a-z][\w-]*>|```.*?```|https?://\S+|\[image[^\]]*\]")
# What makes a sentence a direction, and how much it weighs: one that stands, one against something, one for something.
CUES: tuple[tuple[float, str], ...] = (
    (3.0, r"(?i)\b(?:always|never|from now on|every time|in (?:the )?future|remember (?:to|that)|make sure|whenever)\b"),
    (3.0, r"(?i)\b(?:we (?:always|never|don't|only|use|prefer|want)|i (?:prefer|always|never|only want)|must(?:n't)?)\b"),
    (2.5, r"(?i)\b(?:don't|do not|no need|stop \w+ing|shouldn't|should not|not allowed|avoid|without)\b"),
    (2.5, r"(?i)\b(?:instead(?: of)?|rather than|not the|needs? to|have to|has to|supposed to)\b"),
    (2.5, r"(?i)\bwhy (?:are|aren't|did|didn't|do|don't|is|isn't|not)\b|\b(?:can't|shouldn't|couldn't|won't) (?:we|you|this|the|it|that)\b"),
    (2.0, r"(?i)\bshould\b|\b(?:use|using) (?:the|a|an|our|my|this)?\b|\bvia\b|\bwith the\b|\bbefore (?:you|we)\b|\bafter (?:each|every|that)\b"),
    (1.5, r"(?i)^(?:ok(?:ay)?,? |yes,? |no,? |now |then |and |also |please |yeah,? )*(?:(?:can|could) (?:you|we) (?:also |please )?)?"
          r"(?:add|use|run|put|commit|push|branch|create|delegate|review|update|check|pull|go|get|switch|rebase|squash|log|"
          r"write|remove|move|keep|fold|open|close|reply|verify|test|validate|analy[sz]e|investigate|implement|address|"
          r"evaluate|lets|let's|back)\b"),
)
_CUES = tuple((weight, re2.compile(pattern)) for weight, pattern in CUES)
_ASSENT = re2.compile(r"(?i)^\W*(?:yes|yep|yeah|ok|okay|sure|go ahead|continue|proceed|do it|thanks?|great|good|perfect|\d+|[a-z])\W*$")
_QUESTION = re2.compile(r"(?i)^(?:ok,? |so |and |but )*(?:what|how|where|when|who|which|is|are|was|were|does|do you|did|has|have)\b.*\?$")


def said_pieces(view: SessionView, speaker: str = "") -> Iterator[Piece]:
    """Every direction that the person gave in a session after the agent had begun."""
    session = view.transcript.id
    begun = False
    earlier: list[frozenset[str]] = []
    for index, message in enumerate(view.transcript.messages):
        if message.role is Role.AGENT and message.origin is Origin.TURN:
            begun = True
        if not is_said(message):
            continue
        words = frozenset(message.text.lower().split())
        retyped = any(len(words & other) >= RETYPED * len(words | other) for other in earlier)
        earlier.append(words)
        if retyped:
            continue
        stopped = _follows_interrupt(view.transcript.messages, index)
        for sentence in sentences(message.text):
            weight = direction(sentence) * (1.0 if begun else 0.4) + (1.5 if stopped else 0.0)
            if weight >= 1.0:
                yield Piece(
                    LessonSource.PERSON, session, index, sentence, keys=key_words(sentence), weight=weight, speaker=speaker
                )
    for step in view.steps:
        if step.decision.outcome is Outcome.REJECTED and step.exchange.result is not None:
            for sentence in sentences(refusal_words(step.exchange.result.text)):
                weight = max(2.0, direction(sentence)) + 2.0
                yield Piece(
                    LessonSource.PERSON, session, step.message, sentence, keys=key_words(sentence), weight=weight,
                    speaker=speaker,
                )  # fmt: skip


def sentences(text: str) -> Iterator[str]:
    """The sentences of a message, without what was pasted into it."""
    plain = _INSERTED.sub(" ", text[:MESSAGE_LETTERS])
    for part in _SENTENCE.split(plain):
        words = part.split() if part else []
        if 2 <= len(words) <= SENTENCE_WORDS and not _ASSENT.search(part):
            yield " ".join(words)


def direction(sentence: str) -> float:
    """How much a sentence directs: 0 where it only asks, tells or agrees."""
    weight = max((weight for weight, cue in _CUES if cue.search(sentence)), default=0.0)
    return weight if weight >= 2.5 or not _QUESTION.search(sentence) else 0.0


def _follows_interrupt(messages: tuple[Message, ...], index: int) -> bool:
    return index > 0 and messages[index - 1].origin is Origin.INTERRUPT
