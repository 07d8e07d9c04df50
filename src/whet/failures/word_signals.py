"""Signals that lie in what was said: corrections, lost threads, surrender."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from whet.failures.environment import Cause
from whet.failures.phrases import ANSWER_PHRASES, shortened
from whet.failures.sayings import TOPIC_REACH, answers_to_agent, quoted, topic
from whet.failures.signals import Kind, Signal
from whet.failures.view import JudgedCall, Saying, SessionView
from whet.failures.wordings import Phrase
from whet.outcomes.deciding import Outcome
from whet.outcomes.refusal_forms import refusal_words
from whet.sessions.transcripts import Origin, Role
from whet.text.words import plain_name

RETYPED = 0.6  # so much of an earlier message, and it is that message again
EARLIER = 6
CONTRAST_WORDS = range(3, 41)  # in more words there is some contrast by chance
OTHERWISE = frozenset({Phrase.CORRECTION, Phrase.NO, Phrase.CONTRAST, Phrase.REMINDER})
# Tools whose refusal only says that a plan was not liked or a question not answered.
PLANNING = frozenset({"exit_plan_mode", "ask_user_question", "request_user_input", "update_plan"})


def corrections(evidence: SessionView) -> Iterator[Signal]:
    """The person corrects the agent, refuses a call, or stops it to say something else."""
    heard: set[int] = set()
    for signal in _objections(evidence):
        heard.add(signal.message)
        yield signal
    users = [saying.message for saying in evidence.by_user]
    agents = [index for index, message in enumerate(evidence.transcript.messages) if message.role is Role.AGENT]
    for step in evidence.steps:
        if step.decision.outcome is not Outcome.REJECTED:
            continue
        spoken = bisect_right(users, step.message)
        going_on = bisect_right(agents, step.message)
        # What the person said on the refusal, before the agent went on.
        is_first = spoken < len(users) and (going_on == len(agents) or users[spoken] < agents[going_on])
        after = evidence.by_user[spoken] if is_first else None
        if after is None or after.message not in heard:  # else the same no is heard twice
            yield _refused(step, after)


def _objections(evidence: SessionView) -> Iterator[Signal]:
    """What the person said that corrects the agent, or says otherwise after stopping it."""
    answers = answers_to_agent(evidence)
    asked = [saying.message for saying in evidence.by_agent]
    for place, saying in enumerate(answers):
        objects = saying.has(Phrase.CORRECTION)
        if not objects and saying.has(Phrase.NO):
            before = bisect_right(asked, saying.message)
            # After a question a no is an answer.
            objects = not (before and evidence.by_agent[before - 1].end.endswith(("?", "？")))
        contrasts = not objects and saying.has(Phrase.CONTRAST) and _follows_interrupt(evidence, saying)
        if not (objects or contrasts) or saying.has(Phrase.SETTLED) or _stopped_themselves(evidence, saying):
            continue
        first = evidence.by_user[:1] if place < EARLIER else ()
        if _is_new(saying, (*first, *answers[max(0, place - EARLIER) : place])[-EARLIER:]):
            yield _corrected(saying, objects=objects)


def _corrected(saying: Saying, *, objects: bool) -> Signal:
    if not objects:
        return quoted(Kind.USER_CORRECTION, saying, Phrase.CONTRAST, confidence=0.7)
    phrase = Phrase.CORRECTION if saying.has(Phrase.CORRECTION) else Phrase.NO
    return quoted(Kind.USER_CORRECTION, saying, phrase, confidence=0.8)


def _is_new(saying: Saying, earlier: Iterable[Saying]) -> bool:
    """Whether a person says what they have not just said: who types their order again corrects nothing."""
    return all(_likeness(saying.words, other.words) < RETYPED for other in earlier)


def _refused(step: JudgedCall, after: Saying | None) -> Signal:
    """A call that the person refused, with what they said."""
    result = step.exchange.result
    words = refusal_words(result.text) if result is not None else ""
    trust = step.trust  # a tool's answer may say that it was refused, and what was said
    # A plan that was not liked, or a slip that the person takes back at once.
    harmless = plain_name(step.tool) in PLANNING or (after is not None and after.has(Phrase.APPROVAL))
    if not words and after is not None and not harmless:
        words, trust = after.words.strip(), after.trust
    return Signal(
        kind=Kind.USER_CORRECTION,
        message=step.message,
        call_id=step.exchange.call.id,
        quote=shortened(words or f"refused: {step.tool}"),
        cause=Cause.AGENT,
        trust=trust,
        confidence=0.4 if _only_asks(words) else 0.85 if words else 0.3 if harmless else 0.6,
        tool=step.tool,
        fingerprint=topic(words) if words else "refused",
    )


def _only_asks(words: str) -> bool:
    """Whether a person who refused a call wants to know something, and says nothing of how it should be."""
    return words.endswith(("?", "？")) and ANSWER_PHRASES.said(words).isdisjoint(OTHERWISE)


def _likeness(one: str, other: str) -> float:
    first, second = (set(words[:TOPIC_REACH].lower().split()) for words in (one, other))
    return len(first & second) / len(first | second) if first and second else 0.0


def reminders(evidence: SessionView) -> Iterator[Signal]:
    """The person has said it before, or the agent says that it lost the thread."""
    for saying in answers_to_agent(evidence):
        if saying.has(Phrase.REMINDER):
            yield quoted(Kind.CONTEXT_LOSS, saying, Phrase.REMINDER, confidence=0.7)
        elif saying.has(Phrase.MENTION):
            yield quoted(Kind.CONTEXT_LOSS, saying, Phrase.MENTION, confidence=0.4)
    for saying in evidence.by_agent:
        if saying.has(Phrase.FORGOT):
            # While it works, an agent often wonders aloud what it remembers.
            yield quoted(Kind.CONTEXT_LOSS, saying, Phrase.FORGOT, confidence=0.6 if saying.is_closing else 0.4)


def surrenders(evidence: SessionView) -> Iterator[Signal]:
    """The agent ends without a result: it says so, or it falls silent after failures."""
    final = evidence.final
    if final is None:
        return
    stuck = bool(evidence.trailing_failures) or not any(step.worked for step in evidence.steps)
    # Who has done the work may still say what could not be done beside it.
    if stuck and final.has(Phrase.SURRENDER):
        yield quoted(Kind.GAVE_UP, final, Phrase.SURRENDER, confidence=0.9)
    elif stuck and evidence.steps and final.has(Phrase.INABILITY):
        yield quoted(Kind.GAVE_UP, final, Phrase.INABILITY, confidence=0.7)
    elif not final.words.strip() and evidence.trailing_failures:
        yield quoted(Kind.GAVE_UP, final, Phrase.SURRENDER, confidence=0.6)


def _follows_interrupt(evidence: SessionView, saying: Saying) -> bool:
    before = evidence.transcript.messages[max(0, saying.message - 1)]
    return before.origin is Origin.INTERRUPT and len(saying.words.split()) in CONTRAST_WORDS


def _stopped_themselves(evidence: SessionView, saying: Saying) -> bool:
    """Whether the person stopped what they had just typed, before the agent said anything to it."""
    stopped, typed = (evidence.transcript.messages[max(0, saying.message - back)] for back in (1, 2))
    return stopped.origin is Origin.INTERRUPT and typed.role is Role.USER and typed.origin is Origin.TURN
