"""The person's words: what they direct after the agent has begun, refuse, or stop it for."""

from collections.abc import Iterator

import re2
from msgspec.structs import replace

from whet.failures.purposes import ASIDES, is_shell
from whet.failures.view import JudgedCall, SessionView
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.lessons.standing_orders import is_standing
from whet.outcomes.deciding import Outcome
from whet.outcomes.refusal_forms import refusal_words
from whet.sessions.arguments import command_of
from whet.sessions.lineage import is_persons_refusal, is_typed, is_vouched
from whet.sessions.shell_lines import split
from whet.sessions.transcripts import Message, Origin, Role
from whet.sessions.trust import Trust
from whet.text.key_words import key_words

SENTENCE_WORDS = 45
MESSAGE_LETTERS = 4_000
RETYPED = 0.8
LEAST = 0.4
KEPT_SHARE = 0.4
SENTENCES_KEPT = 4
LONG = 24  # words: a longer sentence explains more than it directs
LONG_SHARE = 0.6
TYPED_LETTERS, TYPED_LINES = 1_000, 12  # what is longer holds what somebody else wrote
PASTED_SHARE = 0.7
REFUSAL = 3.0  # what the reason of a refusal adds
INTERRUPT = 1.5  # what an order after an interrupt adds
FIRST_SHARE = 0.4  # the first request says what to do today
STANDING = 3.0  # what holds beyond the moment
_SENTENCE = re2.compile(r"(?:[.!?;]+[\s)]+|\n+|, (?:but|and then|also) |\s+- )")
_INSERTED = re2.compile(r"(?s)<([a-z][\w-]*)>.*?</[a-z][\w-]*>|```.*?```|https?://\S+|\[image[^\]]*\]")
# What makes a sentence a direction, and how much it weighs: one that stands, one against something, one for something.
CUES: tuple[tuple[float, str], ...] = (
    (
        3.0,
        r"(?i)\b(?:always|never|from now on|every time|in (?:the )?future\b.{0,40}(?:use|do|run)|remember (?:to|that)|"
        r"(?:make sure|ensure) (?:to|you|we|that|it)|whenever|dont forget|don't forget)\b",
    ),
    (3.0, r"(?i)\b(?:we (?:always|never|don't|only|prefer)|i (?:prefer|always|never|only want)|must(?:n't)?)\b"),
    (
        2.4,
        r"(?i)\b(?:don't|dont|do not|no need|stop \w+ing|shouldn't|should not|not allowed|avoid|instead(?: of)?|"
        r"rather than|won't work|better not|not the|has already)\b",
    ),
    (
        2.4,
        r"(?i)\bwhy (?:are|aren't|arent|did|didn't|do|don't|is|isn't|not)\b.{0,60}\b(?:you|we|this|it)\b|"
        r"\b(?:can't|cant|shouldn't|couldn't) (?:we|you|this|the|it|that)\b",
    ),
    (1.6, r"(?i)\b(?:needs? to|have to|has to|supposed to|should (?:be|use|go|have|branch|also|run))\b"),
    (1.4, r"(?i)\b(?:use|using) (?:the |a |an |our |my |this )?\w+|\bvia\b|\bwith the\b|\bbefore (?:you|we)\b"),
    (
        1.1,
        r"(?i)^(?:ok(?:ay)?,? |yes,? |no,? |now |then |and |also |please |yeah,? )*(?:(?:can|could) (?:you|we) "
        r"(?:also |please )?)?(?:add|use|run|put|commit|push|branch|create|delegate|review|update|check|pull|go|get|"
        r"switch|rebase|squash|amend|fixup|force|log|write|remove|move|keep|fold|open|close|reply|verify|test|validate|analy[sz]e|"
        r"investigate|implement|address|evaluate|lets|let's|back)\b",
    ),
)
_MUSING = re2.compile(
    r"(?i)\b(?:i (?:think|feel|guess|wonder|agree|thought|was|don'?t need)|maybe|it seems|looks like|perhaps|"
    r"my (?:assumption|thinking))\b"
)
_CUES = tuple((weight, re2.compile(pattern)) for weight, pattern in CUES)
_NAME = re2.compile(r"`|--\w|\w/\w|\w\.\w|\w_\w|\w:\w|[a-z]-[a-z]|\b[A-Z]{2,}\b|[a-z][A-Z]")
_PASTED = re2.compile(r"^[^\w`'\"(*@/.-]|[{};]\s*$|^\w+@\S+ .*[%$#] ")  # what a program printed
_ASSENT = re2.compile(
    r"(?i)^\W*(?:yes|yep|yeah|ok|okay|sure|go ahead|continue|proceed|do it|thanks?|great|good|perfect|\d+|[a-z])\W*$"
)
_QUESTION = re2.compile(
    r"(?i)^(?:ok,? |so |and |but )*(?:what|how|where|when|who|which|is|are|was|were|does|do you|did|has|have)\b.*\?$"
)


def said_pieces(view: SessionView) -> Iterator[LessonPiece]:
    """Every direction that the person gave in a session after the agent had begun."""
    session = view.transcript.id
    begun = False
    earlier: list[frozenset[str]] = []
    for index, message in enumerate(view.transcript.messages):
        if message.role is Role.AGENT and message.origin is Origin.TURN:
            begun = True
        if not is_typed(message) or not message.text.strip():
            continue
        words = frozenset(message.text.lower().split())
        retyped = any(len(words & other) >= RETYPED * len(words | other) for other in earlier)
        earlier.append(words)
        if retyped:
            continue
        stopped = _follows_interrupt(view.transcript.messages, index)
        share, more = 1.0 if begun else FIRST_SHARE, INTERRUPT if stopped else 0.0
        # Words that no record vouches for may be anybody's: what is drafted from them waits for a person.
        most = Trust.USER if is_vouched(message) else Trust.TOOL
        for piece in _of_message(message.text, session, index, share, more):
            yield replace(piece, is_first=not begun, trust=min(piece.trust, most))
    for step in view.steps:
        if step.decision.outcome is Outcome.REJECTED and step.exchange.result is not None:
            why = refusal_words(step.exchange.result.text)
            found = _of_message(why, session, step.message, 1.0, REFUSAL, call=_refused(step))
            is_theirs = is_persons_refusal(step.exchange.result, view.transcript.messages)
            yield from found if is_theirs else (replace(piece, trust=Trust.EXTERNAL) for piece in found)


def _of_message(
    text: str, session: str, index: int, share: float, more: float, *, call: str = ""
) -> Iterator[LessonPiece]:
    """One piece for each message that directs: its directing sentences, as heavy as the heaviest of them.

    What is long was hardly typed: words that a person pasted are not theirs.
    """
    found = [(weight, sentence) for sentence in sentences(text) if (weight := direction(sentence)) > 0]
    if not found:
        return
    is_typed = len(text) <= TYPED_LETTERS and text.count("\n") <= TYPED_LINES
    heaviest = max(weight for weight, _ in found)
    weight = (heaviest * share + more) * (1.0 if is_typed else PASTED_SHARE)
    if weight < LEAST:
        return
    kept = [sentence for weight, sentence in found if weight >= KEPT_SHARE * heaviest][:SENTENCES_KEPT]
    said = ". ".join(kept)
    trust = Trust.USER if is_typed else Trust.EXTERNAL
    yield LessonPiece(
        LessonSource.PERSON, session, index, said, call=call, keys=key_words(said), weight=weight, trust=trust
    )


def _refused(step: JudgedCall) -> str:
    """What a refused command was about to do, in two words; nothing of another tool, whose name says little."""
    stages = split(command_of(step.exchange.call)) if is_shell(step) else ()
    words = next((stage.words for stage in stages if stage.program not in ASIDES), ())
    return " ".join(words[:2])


def sentences(text: str) -> Iterator[str]:
    """The sentences of a message, without what was pasted into it."""
    plain = _INSERTED.sub(" ", text[:MESSAGE_LETTERS])
    for part in _SENTENCE.split(plain):
        words = part.split() if part else []
        if 2 <= len(words) <= SENTENCE_WORDS and not _ASSENT.search(part):
            yield " ".join(words)


def direction(sentence: str) -> float:
    """How much a sentence directs: 0 where it only asks, tells or agrees."""
    if is_standing(sentence):
        return STANDING + (0.3 if _NAME.search(sentence) else 0.0)
    weight = max((weight for weight, cue in _CUES if cue.search(sentence)), default=0.0)
    if _QUESTION.search(sentence) and weight < 2.4:
        return 0.0
    if _PASTED.search(sentence):
        return 0.0
    share = (0.5 if _MUSING.search(sentence) else 1.0) * (LONG_SHARE if len(sentence.split()) > LONG else 1.0)
    return weight * share + (0.3 if weight and _NAME.search(sentence) else 0.0)


def _follows_interrupt(messages: tuple[Message, ...], index: int) -> bool:
    return index > 0 and messages[index - 1].origin is Origin.INTERRUPT
