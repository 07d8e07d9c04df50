"""Signals that lie in what the agent claims: success that the record denies, actions that no call made."""

from collections.abc import Iterable, Iterator

import re2

from whet.failures.phrases import AGENT_PHRASES
from whet.failures.sayings import WORD_LENGTH, closing_words, quoted
from whet.failures.signals import Kind, Signal
from whet.failures.view import JudgedCall, Saying, SessionView
from whet.failures.wordings import AGENT_WORDINGS, MADE_FOR_USE, NOT_ADMITTED, Phrase
from whet.sessions.call_effects import Effect, effect_of
from whet.sessions.transcripts import Role, ToolCall
from whet.text.words import plain_name

LAST_STEPS = 2  # of each kind, that tell how things stood
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
_INVENTED = re2.compile("|".join(AGENT_WORDINGS[Phrase.INVENTED]))
_NOT_ADMITTED = re2.compile(NOT_ADMITTED)
_MADE_FOR_USE = re2.compile(MADE_FOR_USE)
_SENTENCE = re2.compile(r"(?:[^.!?;\n]|\.\w)+[.!?;\n]*")


class _Abilities:
    """What some tools can do, each looked at once."""

    def __init__(self, tools: Iterable[str] = ()) -> None:
        self._tools: set[str] = set()
        self.begun: set[tuple[str, ...]] = set()  # beginnings that a word of one's name has
        self.are_open = False  # whether one of them may do anything
        for tool in tools:
            self.add(tool)

    def add(self, tool: str) -> None:
        if tool not in self._tools:
            self._tools.add(tool)
            self.are_open = self.are_open or _is_open(tool)
            self.begun.update(beginnings for _, beginnings in ACTIONS if _begins(tool, beginnings))


class _Past:
    """What had been done before a message; asked for with rising messages, so that each step is looked at once."""

    def __init__(self, evidence: SessionView) -> None:
        self.steps = evidence.steps
        self._order = sorted(range(len(self.steps)), key=lambda place: self.steps[place].message)
        self._done = 0
        # Places by the order of the calls, not of their answers.
        self.checks: tuple[int, ...] = ()
        self.changes: tuple[int, ...] = ()
        self.acted = -1  # the last that worked and may have done anything
        self.worked = _Abilities()

    def until(self, message: int) -> "_Past":
        while self._done < len(self._order) and self.steps[self._order[self._done]].message < message:
            self._take(self._order[self._done])
            self._done += 1
        return self

    def _take(self, place: int) -> None:
        step = self.steps[place]
        if step.effect is Effect.CHECKS:
            self.checks = tuple(sorted((*self.checks, place))[-LAST_STEPS:])
        if step.effect is Effect.CHANGES:
            self.changes = tuple(sorted((*self.changes, place))[-LAST_STEPS:])
        if step.worked:
            self.worked.add(step.tool)
            self.acted = max(self.acted, place) if step.effect in ACTING else self.acted

    def failed(self, places: tuple[int, ...]) -> bool:
        return all(self.steps[place].failed for place in places)


def false_claims(evidence: SessionView) -> Iterator[Signal]:
    """The agent says that it is done, or that checks pass, and the last thing that it did says otherwise."""
    claims = [saying for saying in closing_words(evidence) if saying.has(Phrase.VERIFIED, Phrase.CLAIM)]
    if not claims:
        return
    past = _Past(evidence)
    for saying in claims:
        if (denied := _denying_step(saying, past)) is not None:
            phrase = Phrase.VERIFIED if saying.has(Phrase.VERIFIED) else Phrase.CLAIM
            yield quoted(Kind.HALLUCINATION, saying, phrase, confidence=0.8, step=denied)


def _denying_step(saying: Saying, past: _Past) -> JudgedCall | None:
    """The failed step that a claim passes over in silence."""
    if saying.has(Phrase.INABILITY, Phrase.SURRENDER, Phrase.APOLOGY):
        return None
    if saying.has(Phrase.VERIFIED):
        checks = past.until(saying.message).checks[-1:]
        return past.steps[checks[-1]] if checks and past.failed(checks) else None
    if saying.has(Phrase.CLAIM):
        return _failed_change(past.until(saying.message)) or _failed_checks(saying, past)
    return None


def _failed_change(past: _Past) -> JudgedCall | None:
    """The last change, where it and the one before failed and nothing else was done after them."""
    if not past.changes or not past.failed(past.changes) or past.acted >= past.changes[0]:
        return None
    return past.steps[past.changes[-1]]


def _failed_checks(saying: Saying, past: _Past) -> JudgedCall | None:
    """The last check, where it failed time and again and the claim has no word of trouble."""
    red = len(past.checks) == LAST_STEPS and past.failed(past.checks)
    return past.steps[past.checks[-1]] if red and not _BAD_NEWS.search(saying.words.lower()) else None


def unmade_actions(evidence: SessionView) -> Iterator[Signal]:
    """The agent says that it has done what only one of its tools can do, and no call of such a tool worked."""
    claims = [saying for saying in closing_words(evidence) if saying.has(Phrase.CLAIM)]
    if not claims:
        return
    past, able = _Past(evidence), _Abilities((*(step.tool for step in evidence.steps), *evidence.transcript.tools))
    for saying in claims:
        found = _ACTED.search(saying.words.replace("’", "'").lower())
        if found is None:
            continue
        beginnings = _TOOLS_FOR[found.group(1)]
        done = past.until(saying.message).worked
        made = done.are_open or beginnings in done.begun
        if not made and not _denying_step(saying, past) and beginnings in able.begun:
            yield quoted(Kind.HALLUCINATION, saying, Phrase.CLAIM, confidence=0.7)


def _begins(tool: str, beginnings: tuple[str, ...]) -> bool:
    return any(word.startswith(beginnings) for word in plain_name(tool).split("_"))


def _is_open(tool: str) -> bool:
    """Whether a tool may do anything, as a shell may."""
    return effect_of(ToolCall("", tool)) not in (Effect.READS, Effect.CHANGES, Effect.THINKS)


def unbacked_claims(evidence: SessionView) -> Iterator[Signal]:
    """The agent says that checks pass and never ran one."""
    checks = {Effect.CHECKS, Effect.RUNS}
    first = min((step.message for step in evidence.steps if step.effect in checks), default=None)
    for saying in closing_words(evidence):
        ran = first is not None and first < saying.message
        if saying.has(Phrase.VERIFIED) and evidence.steps and not ran:
            yield quoted(Kind.HALLUCINATION, saying, Phrase.VERIFIED, confidence=0.6)


def denials(evidence: SessionView) -> Iterator[Signal]:
    """The agent says that it lacks a capability that the record shows it has."""
    denying = [saying for saying in evidence.by_agent if saying.has(Phrase.DENIAL)]
    if denying:
        names = {step.tool for step in evidence.steps if step.worked} | set(evidence.transcript.tools)
        words = {word for name in names for word in plain_name(name).split("_") if len(word) >= WORD_LENGTH}
        for saying in denying:
            quote = AGENT_PHRASES.quote(saying.words, Phrase.DENIAL)
            if words & {word.strip(".,!?()'").lower() for word in quote.split()}:
                yield quoted(Kind.HALLUCINATION, saying, Phrase.DENIAL, confidence=0.4)


def admissions(evidence: SessionView) -> Iterator[Signal]:
    """The agent admits, in its own words, that it made up something it had said before."""
    first = next((i for i, m in enumerate(evidence.transcript.messages) if m.role is Role.AGENT), None)
    for saying in evidence.by_agent:
        if first is not None and saying.message > first and saying.has(Phrase.INVENTED) and _admits(saying.words):
            yield quoted(Kind.HALLUCINATION, saying, Phrase.INVENTED, confidence=0.9)


def _admits(words: str) -> bool:
    return any(
        not _NOT_ADMITTED.search(sentence[: found.start()]) and not _MADE_FOR_USE.search(sentence[found.start() :])
        for sentence in _SENTENCE.findall(words.replace("’", "'").lower())
        for found in _INVENTED.finditer(sentence)
    )
