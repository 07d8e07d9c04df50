"""What a claim rests on: whether its quotes are in the messages that they name, and how often its patterns came up."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import re2
from msgspec.structs import replace

from whet.lessons.changed_calls import CallCourse
from whet.lessons.claims import CheckPlace, ClaimCheck, Quote
from whet.lessons.condensed import in_project, without_colours
from whet.lessons.condensing import WIDEST
from whet.lessons.failed_calls import FailedCalls, whole_call
from whet.lessons.finding import SessionOpening, opening_of
from whet.lessons.rungs import CallCounts
from whet.sessions.lineage import is_typed, is_vouched, own_calls, pieces_of
from whet.sessions.tool_families import command_of
from whet.sessions.transcripts import Disposition, Exchange, Message, Origin, Role, ToolCall, Transcript, pair
from whet.sessions.trust import Trust, lowest, trust_of_tool
from whet.text.likeness import stem
from whet.text.words import COMMON, folded, own_words
from whet.trouble.course import CourseStep
from whet.trouble.outcomes.deciding import Decision, Outcome, refusal_words
from whet.trouble.outcomes.fingerprints import error_line
from whet.trouble.outcomes.purposes import is_shell, path_of
from whet.trouble.outcomes.view import JudgedCall, SessionView
from whet.trouble.people import course_of
from whet.values import Value

MOST_CALLS = 2_000  # of a session
COMMAND_LETTERS = 600
ERROR_LETTERS = 800
PATTERN_LETTERS = 500
PATTERN_MEMORY = 1 << 20
WHOLE_TEXT = ("\\A", "\\z", "\\Q", "(?-", "(?^")  # what may mean something else in a text of many calls
MOST_HITS = 10  # that are sampled
NO_PATTERN = "the check has no pattern"
TOO_LONG = "the pattern is too long"
NOT_REGULAR = "the pattern is no regular expression that runs in linear time"
FITS_NOTHING = "the pattern fits the empty text, and so every call"
FEWEST_LETTERS = 6
TYPED_LETTERS, TYPED_LINES = 1_000, 12  # what is longer holds what somebody else wrote
# How a condensed session writes what it left out, the next line of an error, and what a call answered.
GAP, LINES, ANSWER = "…", " | ", " → "
NOT_ASKED = Decision(Outcome.UNKNOWN, "")
_WORD = re.compile(r"\w{3,}")

OTHER_PROJECT = "its session is of another project"
NO_MESSAGE = "the session has no such message"
NOT_SAID = "the message does not say it"
TOO_SHORT = "it is too short to tell anything"
NO_EVIDENCE = "the message is a summary or was put there by a program"


class SeenCall(NamedTuple):
    """One call: at which message it was made, its command and path, and how it ended; of a failed one the error."""

    message: int
    command: str
    path: str
    outcome: Outcome
    error: str


class SessionCalls(Value, frozen=True):
    """The calls of a session that are its own, and how it begins."""

    calls: tuple[SeenCall, ...] = ()
    opening: SessionOpening | None = None


class PatternHit(Value, frozen=True):
    """A call that a pattern fits."""

    session: str
    message: int
    call: str
    outcome: Outcome
    error: str = ""


class PatternCounts(Value, frozen=True):
    """How often the forms came up, failed and worked, where, and what is wrong with the patterns.

    `sessions` are the ones in which it failed, copies joined.
    """

    calls: CallCounts = CallCounts()
    sessions: tuple[str, ...] = ()
    hits: tuple[PatternHit, ...] = ()
    faults: tuple[str, ...] = ()


SessionHits = tuple[list[SeenCall], list[SeenCall]]
"""The calls of one session in the form that a check says fails, and in the recommended one."""


def calls_of(view: SessionView) -> SessionCalls:
    """What is kept of a session, so that patterns are counted over a thousand of them in seconds."""
    failed = FailedCalls(course_of(view), CallCourse(view), WIDEST)
    kept = [_seen(move, failed) for move in failed.course.moves[:MOST_CALLS]]
    return SessionCalls(
        tuple(each for each in kept if each.command or each.path or each.error), opening_of(view.transcript)
    )


def _seen(move: CourseStep, failed: FailedCalls) -> SeenCall:
    step = move.step
    command = command_of(step.exchange.call) if is_shell(step) else ""
    outcome = step.decision.outcome
    error = _error(step.text) if outcome is Outcome.FAILED else ""
    if len(step.text) > len(error) > 0:  # what a reader is shown of it can be found
        error = f"{error}\n{failed.error_of(move)}"
    return SeenCall(step.exchange.asked, command[:COMMAND_LETTERS], path_of(step)[:COMMAND_LETTERS], outcome, error)


def _error(text: str) -> str:
    """The line that says why, and the ends of a long text around it."""
    if len(text) <= ERROR_LETTERS:
        return text
    part = ERROR_LETTERS // 3
    return f"{text[:part]}\n{error_line(text)[:part]}\n{text[-part:]}"


def pattern_fault(pattern: str) -> str:
    """Why a pattern of a reader is not run; empty where it is."""
    if not pattern.strip():
        return NO_PATTERN
    if len(pattern) > PATTERN_LETTERS:
        return TOO_LONG
    found = _compiled(pattern)
    if found is None:
        return NOT_REGULAR
    return FITS_NOTHING if found.search("") else ""


class Patterns:
    """The patterns of a check, ready to be run over many sessions."""

    def __init__(self, check: ClaimCheck) -> None:
        self.on = check.on
        self.faults = tuple(_faults(check))
        fails, works = (None if pattern_fault(each) else _compiled(each) for each in (check.fails, check.works))
        self._fails, self._works = fails, works
        self._anywhere = _anywhere([each for each in (check.fails, check.works) if not pattern_fault(each)])

    def hits(self, calls: Sequence[SeenCall]) -> SessionHits:
        """A call that both patterns fit is in the recommended form: that pattern says more."""
        if self._anywhere is not None:
            whole = "\n".join(part for call in calls for part in (call.command, call.path, call.error) if part)
            if not self._anywhere.search(whole):
                return [], []
        fails: list[SeenCall] = []
        works: list[SeenCall] = []
        for call in calls:
            if call.outcome is Outcome.CANCELLED:
                continue
            if self._works is not None and self._fits(self._works, call, is_remedy=True):
                works.append(call)
            elif self._fails is not None and self._fits(self._fails, call, is_remedy=False):
                fails.append(call)
        return fails, works

    def _fits(self, pattern: Any, call: SeenCall, *, is_remedy: bool) -> bool:
        if self.on is CheckPlace.ERROR and not is_remedy:
            return bool(call.error and pattern.search(call.error))
        place = call.path if self.on is CheckPlace.PATH else call.command
        # What ends an error is a command, or a call with a path.
        text = place or (call.path if self.on is CheckPlace.ERROR else "")
        return bool(text and pattern.search(text))


def count_check(
    check: ClaimCheck, sessions: Mapping[str, Sequence[SeenCall]], copies: Mapping[str, str]
) -> PatternCounts:
    """What the patterns of a check fit in the sessions of a project. `copies` names the original of each copy."""
    patterns = Patterns(check)
    found = {id: hits for id, calls in sessions.items() if any(hits := patterns.hits(calls))}
    fails = [(id, call) for id, (fitting, _) in found.items() for call in fitting]
    works = [call for _, fitting in found.values() for call in fitting]
    failed = [(id, call) for id, call in fails if has_failed(call)]
    return PatternCounts(
        CallCounts(len(fails), len(failed), len(works), sum(call.outcome is Outcome.OK for call in works)),
        tuple(dict.fromkeys(copies.get(id, id) for id, _ in failed)),
        _sampled(found),
        patterns.faults,
    )


def has_failed(call: SeenCall) -> bool:
    """Whether a call failed, or was refused by a person."""
    return call.outcome in (Outcome.FAILED, Outcome.REJECTED)


def _faults(check: ClaimCheck) -> Iterator[str]:
    if fault := pattern_fault(check.fails):
        yield f"what fails: {fault}"
    if check.works and (fault := pattern_fault(check.works)):
        yield f"what works: {fault}"


def _sampled(found: Mapping[str, SessionHits]) -> tuple[PatternHit, ...]:
    """Hits from all over the sessions, as many as fit, rather than all from the first."""
    every = [(id, call) for id, hits in found.items() for call in chain(*hits)]
    step = max(1, len(every) / MOST_HITS)
    picked = [every[int(place * step)] for place in range(min(MOST_HITS, len(every)))]
    return tuple(
        PatternHit(id, call.message, call.command or call.path, call.outcome, call.error[:COMMAND_LETTERS])
        for id, call in picked
    )


def _anywhere(patterns: list[str]) -> Any:
    """A pattern that fits a text of many calls wherever one of these fits one of them; None where none can be made.

    Most sessions have no hit: one look at all of their calls is many times as fast as one at each.
    """
    if not patterns or any(sign in each for each in patterns for sign in WHOLE_TEXT):
        return None
    return _compiled("(?m)" + "|".join(f"(?:{each})" for each in patterns))


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = PATTERN_MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


class CheckedQuote(Value, frozen=True):
    """A quote, and of one that is exact whose words it is and when they were said; of another one why it is not."""

    quote: Quote
    trust: Trust = Trust.EXTERNAL
    at: float | None = None
    is_said: bool = False  # by the person, or by whoever speaks in their place
    why: str = ""

    @property
    def is_exact(self) -> bool:
        return not self.why


class _Passage(NamedTuple):
    """A text in or behind a message, and how far it is believed."""

    text: str
    trust: Trust
    is_said: bool = False


def check_quotes(quotes: tuple[Quote, ...], transcript: Transcript) -> tuple[CheckedQuote, ...]:
    """The quotes from one session, each looked up in the message that it names."""
    exchanges: dict[int, list[Exchange]] = {}
    for each in pair(transcript.messages).exchanges:
        for place in {each.asked, each.asked if each.answered is None else each.answered}:
            exchanges.setdefault(place, []).append(each)
    return tuple(_checked(quote, transcript, exchanges.get(quote.message, [])) for quote in quotes)


def is_part(words: str, text: str) -> bool:
    """Whether words stand in a text, white space aside; where some were left out, what is around the gap in order."""
    plain = folded(text)
    return (
        folded(words) in plain
        or _stand_in_order(words.replace("...", GAP).split(GAP), plain)
        or (LINES in words and _stand_in_order(words.replace(LINES, GAP).split(GAP), plain))
    )


def _stand_in_order(parts: list[str], plain: str) -> bool:
    place = 0
    for part in parts:
        wanted = folded(part)
        found = plain.find(wanted, place)
        if found < 0:
            return False
        place = found + len(wanted)
    return True


def unquoted_words(rule: str, quotes: Iterable[str]) -> tuple[str, ...]:
    """The words of a rule that stand in none of its quotes, those aside that say nothing by themselves.

    Whoever wrote the rule has them from somewhere else in what they read, which may be anybody's.
    """
    said = frozenset(stem(word) for quote in quotes for word in _WORD.findall(quote.casefold()))
    own = dict.fromkeys(_WORD.findall(rule.casefold()))
    return tuple(word for word in own if word not in COMMON and not word.isdigit() and stem(word) not in said)


def _checked(quote: Quote, transcript: Transcript, exchanges: list[Exchange]) -> CheckedQuote:
    if not 0 <= quote.message < len(transcript.messages):
        return CheckedQuote(quote, why=NO_MESSAGE)
    message = transcript.messages[quote.message]
    if message.origin in (Origin.SUMMARY, Origin.INSERTED) or message.role is Role.SYSTEM:
        return CheckedQuote(quote, why=NO_EVIDENCE)
    if len(folded(quote.words.replace(GAP, " "))) < FEWEST_LETTERS and folded(quote.words) != folded(message.text):
        return CheckedQuote(quote, why=TOO_SHORT)
    folder = transcript.folder
    # A reader sees paths from the project's folder on, and a call with its answer behind an arrow.
    passages = [
        passage._replace(text=in_project(without_colours(passage.text), folder))
        for passage in _passages(message, transcript, exchanges)
    ]
    for parts in ([quote.words], quote.words.split(ANSWER)):
        said = [words for part in parts if (words := in_project(part, folder)).strip()]
        found = [next((each for each in passages if is_part(words, each.text)), None) for words in said]
        held = [each for each in found if each is not None]
        if len(held) == len(parts):
            trust = lowest(each.trust for each in held)
            own = trust if trust is not Trust.AGENT or _is_agents_own(quote, transcript) else Trust.TOOL
            return CheckedQuote(quote, own, message.at, all(each.is_said for each in held))
    return CheckedQuote(quote, why=NOT_SAID)


def _passages(message: Message, transcript: Transcript, exchanges: list[Exchange]) -> Iterator[_Passage]:
    """Where a quote may stand: the message's text, its calls, the answers to them; the most trusted first."""
    if message.role is Role.USER:
        yield from _of_person(message)
    else:
        yield _Passage(message.text, min(message.trust, Trust.AGENT))
    for exchange in exchanges:
        asked = min(transcript.messages[exchange.asked].trust, Trust.AGENT)
        yield _Passage(exchange.call.arguments, asked)
        yield _Passage("\n".join(pieces_of(exchange.call)), asked)
        yield _Passage(whole_call(JudgedCall(exchange, NOT_ASKED)), asked)
        if (result := exchange.result) is not None and exchange.answered is not None:
            answered = transcript.messages[exchange.answered].trust
            if result.disposition is Disposition.REJECTED:
                yield _Passage(
                    refusal_words(result.text), Trust.USER if answered > Trust.EXTERNAL else answered, is_said=True
                )
            yield _Passage(result.text, min(answered, trust_of_tool(exchange.call.name)))


def _of_person(message: Message) -> Iterator[_Passage]:
    """Words in the person's place are the person's where the record vouches for it and they were not pasted."""
    is_short = len(message.text) <= TYPED_LETTERS and message.text.count("\n") <= TYPED_LINES
    if is_vouched(message) and is_short:
        yield _Passage(own_words(message.text), Trust.USER, is_said=True)
    # Words that no record vouches for may be anybody's, and what was pasted is somebody else's.
    is_anybodys = is_typed(message) and not is_vouched(message)
    trust = min(message.trust, Trust.TOOL if is_anybodys else Trust.EXTERNAL)
    yield _Passage(message.text, trust, is_said=is_anybodys and is_short)


def _is_agents_own(quote: Quote, transcript: Transcript) -> bool:
    """Whether nothing in an agent's words was taken from what a tool or a stranger wrote before."""
    said = ToolCall("quote", "quote", json.dumps({"words": quote.words}))
    before = transcript.messages[: quote.message]
    asked = Message(Role.AGENT, (said,), Trust.AGENT)
    return (len(before), said.id) in own_calls(replace(transcript, messages=(*before, asked)))
