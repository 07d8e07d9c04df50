"""What changed in one session between a call that failed or was refused, and the call that then worked."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from msgspec.structs import replace

from whet.lessons.simple_calls import CallInParts, SimpleCall, in_parts, is_step, is_tool, parts_of
from whet.outcomes.deciding import Outcome
from whet.outcomes.envelopes import NOTHING_FOUND
from whet.outcomes.fingerprints import error_line
from whet.outcomes.purposes import path_of
from whet.outcomes.refusal_forms import refusal_words
from whet.outcomes.view import JudgedCall, SessionView
from whet.sessions.lineage import is_ordered, is_typed
from whet.sessions.transcripts import Disposition
from whet.sessions.trust import Trust, lowest
from whet.values import Value

REACH = 30  # calls after a failure in which its resolution is looked for
MOST_CHANGED = 120
MOST_MADE = 400
MOST_WAYS = 8
ERROR_LETTERS = 200
TEXT_READ = 4_000
LITTLE = 80  # letters
SOON = 3  # calls
LINES_END, LINES_BEGINNING = 4, 3
SAID_LETTERS = 240
LIKE = 0.5  # of one program
ALIKE = 0.25  # of the weight of the words of two calls for the same purpose
SAME_WORDS = 0.5  # of what two calls are said to be for
FEWEST_WORDS = 3
FEWEST_LETTERS = 3
HEAD_WORDS = 3
STEM = 5  # letters that words in different forms share
_WORD = re.compile(r"[^\W_]+")
_PLAIN = re.compile(r"[^\W\d][\w:.-]*")


class CallTrouble(StrEnum):
    """What was wrong with a call."""

    FAILED = "failed"
    REFUSED = "refused"  # by the person
    EMPTY = "empty"  # it said next to nothing, and one like it said more


class HowChanged(StrEnum):
    """What was different when it worked."""

    CALL = "call"  # another call came, in its place or before it
    PLACE = "place"  # the same call in another folder
    SETTING = "setting"  # the same call with variables set for it


class AnotherWay(Value, frozen=True):
    """One thing that was different when it worked.

    `gap` counts the calls that were nearer. It leads where a call like the failed one worked after it: then it is a
    step, and no other form. What came after an edit may owe its success to that. `news` are the words that no call had
    which worked before the failure: what is known by then was not what was missing.
    """

    how: HowChanged
    call: SimpleCall
    likeness: float = 0.0
    gap: int = 0
    leads: bool = False
    is_edited: bool = False
    news: tuple[str, ...] = ()


class ChangedCall(Value, frozen=True):
    """A call that failed or was refused, and what may have been the remedy."""

    trigger: CallTrouble
    message: int
    call: SimpleCall
    errors: tuple[str, ...] = ()  # the lines that may say why, the likeliest first
    said: str = ""  # by the person who refused it
    ways: tuple[AnotherWay, ...] = ()
    at: float | None = None
    trust: Trust = Trust.TOOL


class MadeCall(Value, frozen=True):
    """A call of a session, and how often it worked and failed there."""

    call: SimpleCall
    worked: int = 0
    failed: int = 0


class SessionChanges(Value, frozen=True):
    """What one session shows: the calls that went wrong with what changed, and every call that was made."""

    changed: tuple[ChangedCall, ...] = ()
    made: tuple[MadeCall, ...] = ()


class _Step(NamedTuple):
    step: JudgedCall
    call: CallInParts


class CallWords:
    """How rare the words of calls are, and so how much two of them have in common."""

    def __init__(self, calls: Iterable[SimpleCall]) -> None:
        every = set(calls)
        self.count = len(every)
        self.common = Counter(word for call in every for word in telling_words(call.words))

    def likeness(self, one: SimpleCall, other: SimpleCall) -> float:
        """How much of the weight of their words two calls share, or of their arguments; rare words weigh more."""
        return max(self._shared(one.words, other.words), self._shared(one.words[1:], other.words[1:]))

    def _shared(self, one: Sequence[str], other: Sequence[str]) -> float:
        mine, theirs = telling_words(one), telling_words(other)
        weights = {word: math.log((2 + self.count) / self.common[word]) for word in mine | theirs if self.common[word]}
        both, either = (sum(weights.get(word, 0.0) for word in words) for words in (mine & theirs, mine | theirs))
        return both / either if either else 0.0


class _Course:
    """The calls of a session in order, the person's turns among them, and how rare the words of calls are."""

    def __init__(self, view: SessionView) -> None:
        folder = view.transcript.folder
        self.view = view
        self.steps = [_Step(step, in_parts(step, folder)) for step in view.steps]
        messages = view.transcript.messages
        self.turns = [index for index, message in enumerate(messages) if is_ordered(message) and message.text.strip()]
        self.words = CallWords(part for each in self.steps for part in each.call.parts)
        self.known: dict[str, int] = {}  # each word, and where a call with it first worked
        for index, each in enumerate(self.steps):
            for word in _all_words(each.call.parts) if each.step.worked else ():
                self.known.setdefault(word, index)

    def after(self, index: int) -> tuple[list[_Step], list[_Step]]:
        """The calls after one within the same request, and those of the next."""
        asked = self.steps[index].step.exchange.asked
        turns = [turn for turn in self.turns if turn > asked]
        later = self.steps[index + 1 : index + 1 + REACH]
        within = [each for each in later if not turns or each.step.exchange.asked < turns[0]]
        further = later[len(within) :]
        return within, [each for each in further if len(turns) < 2 or each.step.exchange.asked < turns[1]]

    def news(self, call: SimpleCall, index: int) -> tuple[str, ...]:
        """The words of a call that none had which worked before a place."""
        return tuple(sorted(word for word in _all_words((call,)) if self.known.get(word, index) >= index))

    def words_after(self, message: int) -> str:
        """What the person said next, where nothing else came before it."""
        messages = self.view.transcript.messages
        turn = next((turn for turn in self.turns if turn >= message), None)
        return messages[turn].text if turn is not None and is_typed(messages[turn]) else ""


def changes_of(view: SessionView) -> SessionChanges:
    """What changed in a session wherever a call went wrong and, in the end, right."""
    course = _Course(view)
    changed = [found for index in range(len(course.steps)) for found in _changed(course, index)]
    return SessionChanges(tuple(changed[:MOST_CHANGED]), tuple(_made(course))[:MOST_MADE])


def telling_words(words: Iterable[str]) -> frozenset[str]:
    """The parts of words by which one call is known from another."""
    return _telling_in(tuple(words))


@lru_cache(maxsize=1 << 15)
def _telling_in(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset[str]().union(*map(_telling, words))


@lru_cache(maxsize=1 << 16)
def _telling(word: str) -> frozenset[str]:
    return frozenset(part.lower() for part in _WORD.findall(word) if len(part) >= FEWEST_LETTERS)


def _made(course: _Course) -> Iterator[MadeCall]:
    worked: Counter[SimpleCall] = Counter()
    failed: Counter[SimpleCall] = Counter()
    for index, (step, call) in enumerate(course.steps):
        is_empty = _is_bettered(course, index)
        for part in call.parts:
            worked[part] += step.worked and not is_empty
            failed[part] += step.failed or is_empty
    for part in worked:
        if worked[part] or failed[part]:
            yield MadeCall(part, worked[part], failed[part])


def trigger_of(step: JudgedCall, call: CallInParts) -> CallTrouble | None:
    """What was wrong with a call, if anything. What looks into files is told no every day: a guess of the moment."""
    if step.decision.outcome is Outcome.REJECTED:
        return CallTrouble.REFUSED
    is_miss = call.looks_at_files or step.decision.evidence.endswith(NOTHING_FOUND)
    return CallTrouble.FAILED if step.failed and not is_miss else None


def _changed(course: _Course, index: int) -> Iterator[ChangedCall]:
    step, call = course.steps[index]
    trigger = trigger_of(step, call) or (CallTrouble.EMPTY if _is_bettered(course, index) else None)
    if trigger is None:
        return
    within, further = course.after(index)
    if trigger is CallTrouble.REFUSED or not within:
        within, further = [*within, *further], []
    later = [*within, *further]
    if call.edits and trigger is CallTrouble.FAILED and any(_is_same_file(step, each) for each in later):
        return  # the editing tools ask for the text as it stands; that is no matter of the project
    said = _said(course, step) if trigger is CallTrouble.REFUSED else ""
    errors = () if trigger is CallTrouble.REFUSED else tuple(_lines(step.text))
    at = course.view.transcript.messages[step.message].at
    trust = lowest((step.trust, *(other.trust for other, _ in later)))  # the remedy may have been read meanwhile
    for part in call.parts:
        if trigger is CallTrouble.REFUSED or is_step(part):
            found, is_done = _ways(course, part, call, within)
            found += () if is_done else _ways_told(course, index, part, further)
            ways = tuple(replace(way, news=course.news(way.call, index)) for way in found[:MOST_WAYS])
            told = " ".join(said.split())[:SAID_LETTERS]
            yield ChangedCall(trigger, step.message, part, errors, told, ways, at, trust)


def _is_bettered(course: _Course, index: int) -> bool:
    """Whether a call worked and said next to nothing, and one like it soon said more."""
    step, call = course.steps[index]
    if not step.worked or call.looks_at_files or call.edits or len(call.parts) != 1 or not says_little(step.text):
        return False
    part = call.parts[0]
    for other, later in course.after(index)[0][:SOON]:
        for each in later.parts if other.worked and len(other.text) > len(step.text) else ():
            if each.words != part.words and is_like(part, each, 0.0):
                return is_step(part)
    return False


def says_little(text: str) -> bool:
    """Whether an answer is one short line or none."""
    plain = text[: 2 * LITTLE].strip()
    return len(plain) <= LITTLE and "\n" not in plain


def _lines(text: str) -> Iterator[str]:
    """The line that looks like the error, then the last ones, then the first: one of them recurs if the cause does."""
    every = [" ".join(line.split())[:ERROR_LETTERS] for line in text[-TEXT_READ:].splitlines() if line.strip()]
    first = [" ".join(line.split())[:ERROR_LETTERS] for line in text[:TEXT_READ].splitlines() if line.strip()]
    kept = dict.fromkeys((error_line(text)[:ERROR_LETTERS], *reversed(every[-LINES_END:]), *first[:LINES_BEGINNING]))
    return (line for line in kept if any(map(str.isalpha, line)))


def _is_same_file(step: JudgedCall, other: _Step) -> bool:
    return other.call.edits and other.step.worked and path_of(other.step) == path_of(step)


def _said(course: _Course, step: JudgedCall) -> str:
    """The words with which a call was refused, as far as the record itself vouches for them."""
    result = step.exchange.result
    if result is None or result.disposition is not Disposition.REJECTED:
        return ""
    return refusal_words(result.text) or course.words_after(step.message)


def _all_words(calls: Iterable[SimpleCall]) -> frozenset[str]:
    """The words of calls and of the variables set for them, with what they are made of."""
    return parts_of(word for call in calls for word in (*call.words, *call.settings))


def _ways(
    course: _Course, part: SimpleCall, call: CallInParts, later: Sequence[_Step]
) -> tuple[list[AnotherWay], bool]:
    """What was different when it worked: every call that may have changed something, until one like it works.

    Also whether one did.
    """
    found: list[AnotherWay] = []
    is_edited = False
    for step, other in later:
        is_done = step.worked or step.decision.outcome is Outcome.UNKNOWN
        for each in other.parts if is_done else ():
            if each.words == part.words and step.worked:
                before = [replace(way, leads=True) for way in found]
                return [*_since(part, each, is_edited), *before][-MOST_WAYS:], True
            alike = _likeness(course, part, each, call, other)
            if is_step(each) and not (other.looks_at_files or other.edits or _is_sibling(each, part, call)):
                found.append(AnotherWay(HowChanged.CALL, each, round(alike, 2), len(found), False, is_edited))
                if step.worked and is_like(part, each, alike):
                    *before, last = found
                    return [last, *(replace(way, leads=True) for way in before)][:MOST_WAYS], True
        is_edited = is_edited or (other.edits and step.worked)
    return found[: MOST_WAYS // 2], False


def _ways_told(course: _Course, index: int, part: SimpleCall, further: Sequence[_Step]) -> Iterator[AnotherWay]:
    """What worked in place of a call that was still failing when the person spoke.

    They may have told how; they may as well have asked for something else, so it has to be for the same purpose, or to
    have a word of theirs that no call had before.
    """
    count = 0
    call = course.steps[index].call
    said = _beginnings(_WORD.findall(course.words_after(course.steps[index].step.message).lower()))
    for step, other in further:
        for each in other.parts if step.worked and not other.looks_at_files and not other.edits else ():
            alike = _likeness(course, part, each, call, other)
            if each.words == part.words and each.settings == part.settings:
                return
            is_told = not said.isdisjoint(_beginnings(telling_words(course.news(each, index))))
            if is_step(each) and (each.words[0] == part.words[0] or alike >= ALIKE or is_told):
                yield AnotherWay(HowChanged.CALL, each, round(alike, 2), count)
                count += 1


def _is_sibling(each: SimpleCall, part: SimpleCall, call: CallInParts) -> bool:
    """Whether a call is what failed beside another part of the same line, made again."""
    return any(is_like(other, each, 0.0) for other in call.parts if other.words[0] != part.words[0])


def _beginnings(words: Iterable[str]) -> frozenset[str]:
    """Words without what inflects them."""
    return frozenset(word[:STEM] for word in words if len(word) >= STEM)


def is_like(part: SimpleCall, other: SimpleCall, likeness: float) -> bool:
    """Whether two calls of one program do the same kind of thing."""
    if part.words[0] != other.words[0] or not is_step(other):
        return False
    if is_tool(part) and is_tool(other):
        return True
    mine, theirs = (tuple(takewhile(_PLAIN.fullmatch, call.words[1:HEAD_WORDS])) for call in (part, other))
    is_more = set(part.words) <= set(other.words) or set(other.words) <= set(part.words)
    return likeness >= LIKE or is_more or (bool(mine) and mine == theirs)


def _since(part: SimpleCall, worked: SimpleCall, is_edited: bool) -> Iterator[AnotherWay]:
    """What was different in the very same command when it worked."""
    if worked.folder != part.folder:
        yield AnotherWay(HowChanged.PLACE, worked, 1.0, 0, False, is_edited)
    elif worked.settings != part.settings:
        yield AnotherWay(HowChanged.SETTING, worked, 1.0, 0, False, is_edited)


def _likeness(course: _Course, part: SimpleCall, other: SimpleCall, call: CallInParts, later: CallInParts) -> float:
    """The likeness of two calls, or of what they are said to be for in words that they do not share anyway."""
    own = telling_words(part.words) & telling_words(other.words)
    purpose, theirs = (frozenset(_WORD.findall(text.lower())) for text in (call.purpose, later.purpose))
    is_told = min(len(purpose), len(theirs)) >= FEWEST_WORDS
    shared = len((purpose & theirs) - own) / max(1, len((purpose | theirs) - own)) if is_told else 0.0
    return max(course.words.likeness(part, other), shared if shared >= SAME_WORDS else 0.0)
