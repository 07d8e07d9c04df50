"""The calls of a session in order, and what changed between one that failed or was refused and the one that worked."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from whet.lessons.simple_calls import CallInParts, SimpleCall, in_parts, is_idle, is_step, is_tool, parts_of
from whet.sessions.lineage import is_ordered, is_typed
from whet.sessions.transcripts import Disposition
from whet.sessions.trust import Trust, lowest
from whet.trouble.outcomes.deciding import Outcome, refusal_words
from whet.trouble.outcomes.envelopes import NOTHING_FOUND, printed_exit_code
from whet.trouble.outcomes.fingerprints import error_line
from whet.trouble.outcomes.purposes import is_shell
from whet.trouble.outcomes.view import JudgedCall, SessionView
from whet.values import Value

REACH = 30  # calls after one that went wrong in which the one that worked is looked for
LIKE = 0.33  # of one program
ALIKE = 0.25  # of the weight of the words of two calls for the same purpose
SAME = 0.5  # of calls of any program
RARE = 6  # calls of the session that have a word which is rare
FEWEST_LETTERS = 3
MOST_CHANGED, MOST_MADE, MOST_WAYS = 120, 400, 8
ERROR_LETTERS, SAID_LETTERS = 200, 240
STEM = 5  # letters that words in different forms share
NOT_THERE = 127  # the exit code of a shell that does not find the program
WORD = re.compile(r"[^\W_]+")
_FOLDERS = re.compile(r"^\S*[/\\]")


class CallStep(NamedTuple):
    """One call of a session, at its place among them."""

    number: int
    step: JudgedCall
    call: CallInParts

    @property
    def asked(self) -> int:
        return self.step.exchange.asked


class LaterPart(NamedTuple):
    """A part of a later call: how much it is like the one that went wrong, and whether a file was edited between."""

    step: CallStep
    part: SimpleCall
    likeness: float
    is_edited: bool
    is_other: bool  # another call that may stand in its place


class LaterCalls(NamedTuple):
    """The parts of the calls that came after one that went wrong, up to the one that did what it was to do."""

    parts: tuple[LaterPart, ...]
    is_resolved: bool


class CallWords:
    """How rare the words of calls are, and so how much two of them have in common."""

    def __init__(self, calls: Iterable[SimpleCall]) -> None:
        every = set(calls)
        self.count = len(every)
        self.common = Counter(word for call in every for word in telling_words(call.words))

    def likeness(self, one: SimpleCall, other: SimpleCall) -> float:
        """How much of the weight of their words two calls share, or of their arguments; rare words weigh more."""
        return max(self._shared(one.words, other.words), self._shared(one.words[1:], other.words[1:]))

    def _shared(self, one: tuple[str, ...], other: tuple[str, ...]) -> float:
        mine, theirs = telling_words(one), telling_words(other)
        weights = {word: math.log((2 + self.count) / self.common[word]) for word in mine | theirs if self.common[word]}
        both, either = (sum(weights.get(word, 0.0) for word in words) for words in (mine & theirs, mine | theirs))
        return both / either if either else 0.0


class CallCourse:
    """The calls of a session in order, the person's turns among them, and how rare the words of calls are."""

    def __init__(self, view: SessionView) -> None:
        folder = view.transcript.folder
        self.view = view
        self.steps = [CallStep(number, step, in_parts(step, folder)) for number, step in enumerate(view.steps)]
        messages = view.transcript.messages
        self.turns = [index for index, message in enumerate(messages) if is_ordered(message) and message.text.strip()]
        self.words = CallWords(part for each in self.steps for part in each.call.parts)
        self.known: dict[str, int] = {}  # each word, and where a call with it first worked
        for each in self.steps:
            for word in _all_words(each.call.parts) if each.step.worked else ():
                self.known.setdefault(word, each.number)

    def after(self, index: int) -> tuple[list[CallStep], list[CallStep]]:
        """The calls after one within the same request, and those of the next."""
        asked = self.steps[index].asked
        turns = [turn for turn in self.turns if turn > asked]
        later = self.steps[index + 1 : index + 1 + REACH]
        within = [each for each in later if not turns or each.asked < turns[0]]
        further = later[len(within) :]
        return within, [each for each in further if len(turns) < 2 or each.asked < turns[1]]

    def followed(
        self, part: SimpleCall, call: CallInParts, later: Iterable[CallStep], least: float = 0.0
    ) -> LaterCalls:
        """What came after a part of a call that went wrong, up to the call that did what it was to do."""
        found: list[LaterPart] = []
        is_edited = False
        for other in later:
            worked = other.step.worked
            for each in other.call.parts if worked or other.step.decision.outcome is Outcome.UNKNOWN else ():
                likeness = self.words.likeness(part, each)
                is_other = _may_replace(each, other.call, part, call)
                found.append(LaterPart(other, each, likeness, is_edited, is_other))
                if worked and (
                    each.words == part.words or (is_other and likeness >= least and is_like(part, each, likeness))
                ):
                    return LaterCalls(tuple(found), True)
            is_edited = is_edited or (other.call.edits and worked)
        return LaterCalls(tuple(found), False)

    def resolution(self, index: int) -> LaterPart | None:
        """The first call that worked in place of one that failed.

        Lines are compared as a whole: of each step of a long one some other line has something.
        """
        failed = _whole(self.steps[index])
        later = [_whole(each) for some in self.after(index) for each in some if each.asked > failed.asked]
        [part] = failed.call.parts
        followed = self.followed(part, failed.call, later, least=ALIKE)
        same = (each for each in followed.parts if self._is_same(part, each))
        return next(same, followed.parts[-1] if followed.is_resolved else None)

    def _is_same(self, part: SimpleCall, later: LaterPart) -> bool:
        """Whether a call worked with the same rare words, be it of another program."""
        if not later.is_other or not later.step.step.worked or later.likeness < SAME:
            return False
        shared = telling_words(part.words) & telling_words(later.part.words)
        return any(self.words.common[word] <= RARE for word in shared)

    def news(self, call: SimpleCall, index: int) -> tuple[str, ...]:
        """The words of a call that none had which worked before a place."""
        return tuple(sorted(word for word in _all_words((call,)) if self.known.get(word, index) >= index))

    def words_after(self, message: int) -> str:
        """What the person said next, where nothing else came before it."""
        messages = self.view.transcript.messages
        turn = next((turn for turn in self.turns if turn >= message), None)
        return messages[turn].text if turn is not None and is_typed(messages[turn]) else ""


@lru_cache(maxsize=1 << 15)
def telling_words(words: tuple[str, ...]) -> frozenset[str]:
    """The parts of words by which one call is known from another."""
    return frozenset[str]().union(*map(_telling, words))


@lru_cache(maxsize=1 << 16)
def _telling(word: str) -> frozenset[str]:
    return frozenset(part.lower() for part in WORD.findall(word) if len(part) >= FEWEST_LETTERS)


def _all_words(calls: Iterable[SimpleCall]) -> frozenset[str]:
    """The words of calls and of the variables set for them, with what they are made of."""
    return parts_of(tuple(word for call in calls for word in (*call.words, *call.settings)))


def _whole(step: CallStep) -> CallStep:
    """A call as one part, without what only looks where something else is done too.

    Paths stand by their last part: what is looked for may lie in another folder.
    """
    parts = [part for part in step.call.parts if is_step(part)] or step.call.parts
    words: list[str] = []
    for part in parts:
        named = is_tool(part)  # of a tool the values of its arguments
        given = (word.partition("=")[2] if named and place else word for place, word in enumerate(part.words))
        words += (_FOLDERS.sub("", word.rstrip("/.")) or word for word in given)
    return step._replace(call=step.call._replace(parts=(SimpleCall(tuple(words) or (step.step.tool,)),)))


def _may_replace(each: SimpleCall, other: CallInParts, part: SimpleCall, call: CallInParts) -> bool:
    """Whether a part of a later call may be another way to do what one was to do that went wrong."""
    if other.edits or is_idle(each, part):
        return False
    siblings = (one for one in call.parts if one.words[0] != part.words[0])
    if any(is_like(one, each, 0.0) for one in siblings):  # what failed beside it in one line, made again
        return False
    return call.looks_at_files if other.looks_at_files else is_step(each)


def is_like(part: SimpleCall, other: SimpleCall, likeness: float) -> bool:
    """Whether two calls of one program do the same kind of thing."""
    if part.words[0] != other.words[0] or not is_step(other):
        return False
    if is_tool(part) and is_tool(other):
        return True
    is_more = set(part.words) <= set(other.words) or set(other.words) <= set(part.words)
    return likeness >= LIKE or is_more


class AnotherWay(Value, frozen=True):
    """A call that may be why it worked: another one in its place or before it, or the same in other surroundings.

    `gap` counts the calls that were nearer. It leads where a call like the failed one worked after it: then it is a
    step, and no other form. `news` are the words that no call had which worked before the failure: what is known by
    then was not what was missing.
    """

    call: SimpleCall
    likeness: float = 0.0
    gap: int = 0
    leads: bool = False
    news: tuple[str, ...] = ()


class ChangedCall(Value, frozen=True):
    """A call that failed or was refused, and what may have been the remedy."""

    message: int
    call: SimpleCall
    is_refused: bool = False  # by the person
    error: str = ""  # the line that looks like why
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


def changes_of(course: CallCourse) -> SessionChanges:
    """What changed in a session wherever a call went wrong and, in the end, right."""
    changed = [found for index in range(len(course.steps)) for found in _changed(course, index)]
    return SessionChanges(tuple(changed[:MOST_CHANGED]), tuple(_made(course))[:MOST_MADE])


def _made(course: CallCourse) -> Iterator[MadeCall]:
    worked: Counter[SimpleCall] = Counter()
    failed: Counter[SimpleCall] = Counter()
    for _, step, call in course.steps:
        for part in call.parts:
            worked[part] += step.worked
            failed[part] += step.failed
    return (MadeCall(part, worked[part], failed[part]) for part in worked if worked[part] or failed[part])


def _has_failed(step: JudgedCall, call: CallInParts) -> bool:
    """Whether a call failed. What looks into files is told no every day: a guess of the moment."""
    is_miss = call.looks_at_files or step.decision.evidence.endswith(NOTHING_FOUND)
    if step.failed and is_miss and is_shell(step) and (result := step.exchange.result) is not None:
        # A program that the shell does not find is no guess of the moment, whatever it was to look for.
        return (printed_exit_code(result.text) if result.exit_code is None else result.exit_code) == NOT_THERE
    return step.failed and not is_miss


def _changed(course: CallCourse, index: int) -> Iterator[ChangedCall]:
    _, step, call = course.steps[index]
    is_refused = step.decision.outcome is Outcome.REJECTED
    if not is_refused and not _has_failed(step, call):
        return
    within, further = course.after(index)
    if is_refused or not within:
        within, further = [*within, *further], []
    at = course.view.transcript.messages[step.message].at
    # The remedy may have been read meanwhile.
    trust = lowest((step.trust, *(other.trust for _, other, _ in (*within, *further))))
    error = "" if is_refused else error_line(step.text)[:ERROR_LETTERS]
    said, result = "", step.exchange.result
    if is_refused and result and result.disposition is Disposition.REJECTED:  # the record itself vouches for the words
        said = refusal_words(result.text) or course.words_after(step.message)
    for part in call.parts:
        if is_refused or is_step(part) or call.looks_at_files:
            followed = course.followed(part, call, within)
            found = _ways(part, followed)
            found += () if followed.is_resolved else _ways_told(course, index, part, further)
            ways = tuple(replace(way, news=course.news(way.call, index)) for way in found[:MOST_WAYS])
            yield ChangedCall(
                step.message, part, is_refused, error, " ".join(said.split())[:SAID_LETTERS], ways, at, trust
            )


def _ways(part: SimpleCall, followed: LaterCalls) -> list[AnotherWay]:
    """What was different when it worked: every call that may have changed something, until one like it works."""
    before = followed.parts[:-1] if followed.is_resolved else followed.parts
    found = [_way(each, gap) for gap, each in enumerate(each for each in before if each.is_other)]
    if not followed.is_resolved:
        return found[: MOST_WAYS // 2]
    last = followed.parts[-1]
    steps = [replace(way, leads=True) for way in found]
    if last.part.words != part.words:
        return [_way(last, len(found)), *steps][:MOST_WAYS]
    is_elsewhere = (last.part.folder, last.part.settings) != (part.folder, part.settings)
    return [*([AnotherWay(last.part, 1.0)] if is_elsewhere else ()), *steps][-MOST_WAYS:]


def _way(later: LaterPart, gap: int) -> AnotherWay:
    return AnotherWay(later.part, round(later.likeness, 2), gap)


def _ways_told(course: CallCourse, index: int, part: SimpleCall, further: Sequence[CallStep]) -> Iterator[AnotherWay]:
    """What worked in place of a call that was still failing when the person spoke.

    They may have told how; they may as well have asked for something else, so it has to be for the same purpose, or to
    have a word of theirs that no call had before.
    """
    count = 0
    said = _beginnings(WORD.findall(course.words_after(course.steps[index].step.message).lower()))
    for _, step, other in further:
        for each in other.parts if step.worked and not other.looks_at_files and not other.edits else ():
            alike = course.words.likeness(part, each)
            if each.words == part.words and each.settings == part.settings:
                return
            is_told = not said.isdisjoint(_beginnings(telling_words(course.news(each, index))))
            if is_step(each) and (each.words[0] == part.words[0] or alike >= ALIKE or is_told):
                yield AnotherWay(each, round(alike, 2), count)
                count += 1


def _beginnings(words: Iterable[str]) -> frozenset[str]:
    """Words without what inflects them."""
    return frozenset(word[:STEM] for word in words if len(word) >= STEM)
