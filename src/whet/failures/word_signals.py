"""Signals that lie in what was said: false claims, denials, corrections, lost threads, surrender."""

from collections.abc import Iterator

from whet.failures.environment import Cause
from whet.failures.phrases import AGENT_PHRASES, USER_PHRASES, shortened
from whet.failures.signals import Kind, Signal
from whet.failures.view import JudgedCall, Saying, SessionView
from whet.failures.wordings import Phrase
from whet.outcomes.deciding import Outcome
from whet.outcomes.refusal_forms import refusal_words
from whet.sessions.call_effects import Effect
from whet.sessions.tool_families import plain_name
from whet.sessions.transcripts import Origin, Role
from whet.sessions.trust import Trust

WORD_LENGTH = 4
TOPIC_REACH = 400
TOPIC_WORDS = 12
RETYPED = 0.6  # so much of an earlier message, and it is that message again
EARLIER = 6
# Tools whose refusal only says that a plan was not liked or a question not answered.
PLANNING = frozenset({"exit_plan_mode", "ask_user_question", "request_user_input", "update_plan"})


def false_claims(evidence: SessionView) -> Iterator[Signal]:
    """The agent says that it is done, or that checks pass, and the last thing that it did says otherwise."""
    for saying in _closing(evidence):
        before = [step for step in evidence.steps if step.message < saying.message]
        denied = _denying_step(saying, before)
        if denied is not None:
            phrase = Phrase.VERIFIED if saying.has(Phrase.VERIFIED) else Phrase.CLAIM
            yield _said(Kind.HALLUCINATION, saying, phrase, confidence=0.8, step=denied)


def _denying_step(saying: Saying, before: list[JudgedCall]) -> JudgedCall | None:
    """The failed step that a claim passes over in silence."""
    if saying.has(Phrase.INABILITY, Phrase.SURRENDER, Phrase.APOLOGY) or not before:
        return None
    if saying.has(Phrase.VERIFIED):
        checks = [step for step in before if step.effect is Effect.CHECKS]
        return checks[-1] if checks and checks[-1].failed else None
    if saying.has(Phrase.CLAIM):
        changes = [step for step in before if step.effect is Effect.CHANGES]
        return changes[-1] if changes and all(step.failed for step in changes[-2:]) else None
    return None


def unbacked_claims(evidence: SessionView) -> Iterator[Signal]:
    """The agent says that checks pass and never ran one."""
    checks = {Effect.CHECKS, Effect.RUNS}
    for saying in _closing(evidence):
        ran = any(step.effect in checks and step.message < saying.message for step in evidence.steps)
        if saying.has(Phrase.VERIFIED) and evidence.steps and not ran:
            yield _said(Kind.HALLUCINATION, saying, Phrase.VERIFIED, confidence=0.6)


def denials(evidence: SessionView) -> Iterator[Signal]:
    """The agent says that it lacks a capability that the record shows it has."""
    names = {step.tool for step in evidence.steps if step.worked} | set(evidence.transcript.tools)
    words = {word for name in names for word in plain_name(name).split("_") if len(word) >= WORD_LENGTH}
    for saying in evidence.by_agent:
        if saying.has(Phrase.DENIAL):
            quote = AGENT_PHRASES.quote(saying.words, Phrase.DENIAL)
            if words & {word.strip(".,!?()'").lower() for word in quote.split()}:
                yield _said(Kind.HALLUCINATION, saying, Phrase.DENIAL, confidence=0.5)


def admissions(evidence: SessionView) -> Iterator[Signal]:
    """The agent admits that it made something up."""
    for saying in evidence.by_agent:
        if saying.has(Phrase.INVENTED):
            yield _said(Kind.HALLUCINATION, saying, Phrase.INVENTED, confidence=0.9)


def corrections(evidence: SessionView) -> Iterator[Signal]:
    """The person corrects the agent, refuses a call, or stops it to say something else."""
    said: list[str] = [saying.words for saying in evidence.by_user[:1]]
    for saying in _answers_to_agent(evidence):
        is_new = all(_likeness(saying.words, other) < RETYPED for other in said[-EARLIER:])
        said.append(saying.words)
        if saying.has(Phrase.SETTLED) or not is_new:
            continue
        if saying.has(Phrase.CORRECTION):
            yield _said(Kind.USER_CORRECTION, saying, Phrase.CORRECTION, confidence=0.8)
        elif _follows_interrupt(evidence, saying) and saying.has(Phrase.CONTRAST):
            yield _said(Kind.USER_CORRECTION, saying, Phrase.CONTRAST, confidence=0.7)
    for step in evidence.steps:
        if step.decision.outcome is Outcome.REJECTED:
            yield _refused(step)


def _refused(step: JudgedCall) -> Signal:
    """A call that the person refused, with what they said."""
    result = step.exchange.result
    words = refusal_words(result.text) if result is not None else ""
    silent = 0.3 if plain_name(step.tool) in PLANNING else 0.6
    return Signal(
        kind=Kind.USER_CORRECTION,
        message=step.message,
        call_id=step.exchange.call.id,
        quote=shortened(words or f"refused: {step.tool}"),
        cause=Cause.AGENT,
        trust=Trust.USER,
        confidence=0.85 if words else silent,
        tool=step.tool,
        fingerprint=_topic(words) if words else "refused",
    )


def _likeness(one: str, other: str) -> float:
    first, second = (set(words[:TOPIC_REACH].lower().split()) for words in (one, other))
    return len(first & second) / len(first | second) if first and second else 0.0


def reminders(evidence: SessionView) -> Iterator[Signal]:
    """The person has said it before, or the agent says that it lost the thread."""
    for saying in _answers_to_agent(evidence):
        if saying.has(Phrase.REMINDER):
            yield _said(Kind.CONTEXT_LOSS, saying, Phrase.REMINDER, confidence=0.7)
    for saying in evidence.by_agent:
        if saying.has(Phrase.FORGOT):
            yield _said(Kind.CONTEXT_LOSS, saying, Phrase.FORGOT, confidence=0.6)


def surrenders(evidence: SessionView) -> Iterator[Signal]:
    """The agent ends without a result: it says so, or it falls silent after failures."""
    final = evidence.final
    if final is None:
        return
    stuck = bool(evidence.trailing_failures) or not any(step.worked for step in evidence.steps)
    # Who has done the work may still say what could not be done beside it.
    if stuck and final.has(Phrase.SURRENDER):
        yield _said(Kind.GAVE_UP, final, Phrase.SURRENDER, confidence=0.9)
    elif stuck and evidence.steps and final.has(Phrase.INABILITY):
        yield _said(Kind.GAVE_UP, final, Phrase.INABILITY, confidence=0.7)
    elif not final.words.strip() and evidence.trailing_failures:
        yield _said(Kind.GAVE_UP, final, Phrase.SURRENDER, confidence=0.6)


def _closing(evidence: SessionView) -> Iterator[Saying]:
    """What the agent said at the end of its turns: without a call, before the person speaks or the record ends."""
    messages = evidence.transcript.messages
    for saying in evidence.by_agent:
        if not saying.is_closing:
            continue
        following = messages[saying.message + 1 : saying.message + 2]
        if not following or following[0].role is Role.USER:
            yield saying


def _answers_to_agent(evidence: SessionView) -> tuple[Saying, ...]:
    first = next((i for i, m in enumerate(evidence.transcript.messages) if m.role is Role.AGENT), None)
    return () if first is None else tuple(saying for saying in evidence.by_user if saying.message > first)


def _follows_interrupt(evidence: SessionView, saying: Saying) -> bool:
    before = evidence.transcript.messages[max(0, saying.message - 1)]
    return before.origin is Origin.INTERRUPT and len(saying.words.split()) > 3


def _topic(said: str) -> str:
    """What a person speaks of, so that the same wish in two sessions is seen to be the same."""
    words = {word.strip(".,;:!?()[]'-").lower() for word in said[:TOPIC_REACH].split()}
    return " ".join(sorted(word for word in words if len(word) >= WORD_LENGTH)[:TOPIC_WORDS])


def _said(kind: Kind, saying: Saying, phrase: Phrase, *, confidence: float, step: JudgedCall | None = None) -> Signal:
    table = USER_PHRASES if saying.role is Role.USER else AGENT_PHRASES
    return Signal(
        kind=kind,
        message=saying.message,
        call_id=step.exchange.call.id if step is not None else "",
        quote=table.quote(saying.words, phrase),
        cause=Cause.AGENT,
        trust=Trust.USER if saying.role is Role.USER else Trust.AGENT,
        confidence=confidence,
        tool=step.tool if step is not None else "",
        fingerprint=_topic(saying.words) if saying.role is Role.USER else phrase.value,
    )
