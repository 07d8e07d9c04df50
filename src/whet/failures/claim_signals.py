"""Signals that lie in what the agent claims: success that the record denies, actions that no call made."""

from collections.abc import Iterator

import re2

from whet.failures.phrases import AGENT_PHRASES
from whet.failures.sayings import WORD_LENGTH, closing_words, quoted
from whet.failures.signals import Kind, Signal
from whet.failures.view import JudgedCall, Saying, SessionView
from whet.failures.wordings import Phrase
from whet.sessions.call_effects import Effect, effect_of
from whet.sessions.tool_families import plain_name
from whet.sessions.transcripts import ToolCall

RED_CHECKS = 2
ACTING = frozenset({Effect.CHANGES, Effect.RUNS})
# What claims say was done, and how the tools begin that do it: any of a line may have done what another verb says.
ACTIONS = (
    (("changed", "updated", "modified"), ("chang", "updat", "modif", "edit", "set", "adjust")),
    (("deleted", "removed", "cancelled", "canceled"), ("delet", "remov", "cancel")),
    (("created", "added", "scheduled", "booked"), ("creat", "add", "schedul", "book", "reserv", "insert", "make")),
    (("sent", "shared", "posted", "transferred", "paid"), ("send", "shar", "post", "transfer", "pay", "forward")),
    (("refunded", "returned", "exchanged"), ("refund", "return", "exchang")),
)
_TOOLS_FOR = {verb: beginnings for verbs, beginnings in ACTIONS for verb in verbs}
_ACTED = re2.compile(
    rf"\bi(?:'ve| have)(?: also| now| successfully| just| already)* ({'|'.join(_TOOLS_FOR)}) "
    r"(?:the|your|an?|it|this|that|all)\b"
)
_BAD_NEWS = re2.compile(
    r"\b(?:fail|error|broken|not |couldn't|unable|issue|problem|warning|except|however|note that|but )"
)


def false_claims(evidence: SessionView) -> Iterator[Signal]:
    """The agent says that it is done, or that checks pass, and the last thing that it did says otherwise."""
    for saying in closing_words(evidence):
        if (denied := _denying_step(saying, _before(saying, evidence))) is not None:
            phrase = Phrase.VERIFIED if saying.has(Phrase.VERIFIED) else Phrase.CLAIM
            yield quoted(Kind.HALLUCINATION, saying, phrase, confidence=0.8, step=denied)


def _before(saying: Saying, evidence: SessionView) -> list[JudgedCall]:
    return [step for step in evidence.steps if step.message < saying.message]


def _denying_step(saying: Saying, before: list[JudgedCall]) -> JudgedCall | None:
    """The failed step that a claim passes over in silence."""
    if saying.has(Phrase.INABILITY, Phrase.SURRENDER, Phrase.APOLOGY) or not before:
        return None
    checks = [step for step in before if step.effect is Effect.CHECKS]
    if saying.has(Phrase.VERIFIED):
        return checks[-1] if checks and checks[-1].failed else None
    if saying.has(Phrase.CLAIM):
        return _failed_change(before) or _failed_checks(saying, checks)
    return None


def _failed_change(before: list[JudgedCall]) -> JudgedCall | None:
    """The last change, where it and the one before failed and nothing else was done after them."""
    changes = [step for step in before if step.effect is Effect.CHANGES]
    if not changes or not all(step.failed for step in changes[-2:]):
        return None
    after = before[before.index(changes[-2:][0]) :]
    return None if any(step.worked and step.effect in ACTING for step in after) else changes[-1]


def _failed_checks(saying: Saying, checks: list[JudgedCall]) -> JudgedCall | None:
    """The last check, where it failed time and again and the claim has no word of trouble."""
    red = len(checks) >= RED_CHECKS and all(step.failed for step in checks[-RED_CHECKS:])
    return checks[-1] if red and not _BAD_NEWS.search(saying.words.lower()) else None


def unmade_actions(evidence: SessionView) -> Iterator[Signal]:
    """The agent says that it has done what only one of its tools can do, and no call of such a tool worked."""
    for saying in closing_words(evidence):
        found = _ACTED.search(saying.words.replace("’", "'").lower()) if saying.has(Phrase.CLAIM) else None
        if found is None:
            continue
        beginnings = _TOOLS_FOR[found.group(1)]
        able = {step.tool for step in evidence.steps} | set(evidence.transcript.tools)
        before = _before(saying, evidence)
        worked = {step.tool for step in before if step.worked}
        made = any(_begins(tool, beginnings) or _is_open(tool) for tool in worked)
        if not made and not _denying_step(saying, before) and any(_begins(tool, beginnings) for tool in able):
            yield quoted(Kind.HALLUCINATION, saying, Phrase.CLAIM, confidence=0.7)


def _begins(tool: str, beginnings: tuple[str, ...]) -> bool:
    return any(word.startswith(beginnings) for word in plain_name(tool).split("_"))


def _is_open(tool: str) -> bool:
    """Whether a tool may do anything, as a shell may."""
    return effect_of(ToolCall("", tool)) not in (Effect.READS, Effect.CHANGES, Effect.THINKS)


def unbacked_claims(evidence: SessionView) -> Iterator[Signal]:
    """The agent says that checks pass and never ran one."""
    checks = {Effect.CHECKS, Effect.RUNS}
    for saying in closing_words(evidence):
        ran = any(step.effect in checks and step.message < saying.message for step in evidence.steps)
        if saying.has(Phrase.VERIFIED) and evidence.steps and not ran:
            yield quoted(Kind.HALLUCINATION, saying, Phrase.VERIFIED, confidence=0.6)


def denials(evidence: SessionView) -> Iterator[Signal]:
    """The agent says that it lacks a capability that the record shows it has."""
    names = {step.tool for step in evidence.steps if step.worked} | set(evidence.transcript.tools)
    words = {word for name in names for word in plain_name(name).split("_") if len(word) >= WORD_LENGTH}
    for saying in evidence.by_agent:
        if saying.has(Phrase.DENIAL):
            quote = AGENT_PHRASES.quote(saying.words, Phrase.DENIAL)
            if words & {word.strip(".,!?()'").lower() for word in quote.split()}:
                yield quoted(Kind.HALLUCINATION, saying, Phrase.DENIAL, confidence=0.4)


def admissions(evidence: SessionView) -> Iterator[Signal]:
    """The agent admits that it made something up."""
    for saying in evidence.by_agent:
        if saying.has(Phrase.INVENTED):
            yield quoted(Kind.HALLUCINATION, saying, Phrase.INVENTED, confidence=0.9)
