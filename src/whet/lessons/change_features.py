"""By what the ways out of failures are compared: the words of calls, and their surroundings."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache, reduce
from itertools import pairwise, starmap
from typing import Any, NamedTuple

import re2

from whet.lessons.changed_calls import (
    AnotherWay,
    ChangedCall,
    MadeCall,
    SessionChanges,
    is_like,
)
from whet.lessons.simple_calls import CHANGE_FOLDER, SimpleCall, is_setting, parts_of, relative, settings_in

VARIES = "…"
HEAD_WORDS = 3
Words = tuple[str, ...]
_END = "\0"  # of a word, where several are one text
_RUN = re.compile(rf"{VARIES}(?:\W{{0,3}}{VARIES})+")
_PART = re.compile(r"([/=:@,.?&#]|(?<=[a-z…])-(?=[a-z…]))")
_PLAIN = re.compile(r"[^\W\d][\w:.-]*")


def common_form(calls: Iterable[Words]) -> Words:
    """The words that all of the calls share, in order; what stands between them in any of them varies."""
    return reduce(lambda one, other: tuple(_shared(one, other, _common_word)), calls)


def fits(template: Words, words: Words) -> bool:
    """Whether a call has the form of a template."""
    return _pattern(template).fullmatch("".join(f"{word}{_END}" for word in words)) is not None


@lru_cache(maxsize=1 << 12)
def _pattern(template: Words) -> Any:
    within, words = f"[^{_END}]*", f"(?:[^{_END}]*{_END})*"
    parts = (
        words if word == VARIES else f"{within.join(map(re2.escape, word.split(VARIES)))}{_END}" for word in template
    )
    return re2.compile("".join(parts))  # which runs in linear time, whatever varies


def _shared(one: Sequence[str], other: Sequence[str], common: Callable[[str, str], str]) -> Iterator[str]:
    """What two rows share, in order; pairs in between by what they have in common, and marks for what else differs."""
    made = [""]
    for kind, a, b, c, d in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        pairs = zip(one[a:b], other[c:d], strict=False)
        made += one[a:b] if kind == "equal" else starmap(common, pairs) if b - a == d - c else [VARIES]
    return (word for before, word in pairwise(made) if not before == word == VARIES)


def _common_word(one: str, other: str) -> str:
    """A word with a mark for what varies in it: `PART=…` for `PART=cart` and `PART=billing`."""
    mine, theirs = _PART.split(one), _PART.split(other)
    if all(len(part) <= 1 or part == VARIES for part in {*mine} & {*theirs}):
        return VARIES
    return _RUN.sub(VARIES, "".join(_shared(mine, theirs, lambda *_: VARIES)))


class Remedy(StrEnum):
    """What helps against a failure."""

    FORM = "form"  # another call in its place
    PART = "part"  # another word in it
    STEP = "step"  # a call before it
    PLACE = "place"
    SETTING = "setting"


Feature = tuple[Remedy, Words]
MadeIn = tuple[str, MadeCall]  # a session, and a call of it


class SeenChange(NamedTuple):
    """A call that went wrong in a session, and the way out of it there."""

    session: str
    changed: ChangedCall
    way: AnotherWay


class RecurringChange(NamedTuple):
    """What fails or was refused, what works, and where both were seen.

    There is a form of each program that fails. Of a word that is exchanged, `parts` are the wrong and the right one.
    """

    remedy: Remedy
    fails: tuple[SimpleCall, ...]
    works: SimpleCall
    seen: tuple[SeenChange, ...]
    is_refused: bool = False
    parts: tuple[str, str] = ("", "")

    @property
    def sessions(self) -> int:
        return len({each.session for each in self.seen})


class ProjectCalls:
    """The sessions of a project, its calls by their programs and parts, and how often features of them are seen."""

    def __init__(self, sessions: Mapping[str, SessionChanges]) -> None:
        self.sessions = sessions
        self.made = [(session, each) for session, changes in sessions.items() for each in changes.made]
        self.total: Counter[str] = Counter()
        self.by_program: dict[str, list[MadeIn]] = defaultdict(list)
        self.by_part: dict[str, list[MadeIn]] = defaultdict(list)
        self._counts: dict[Feature, Counter[str]] = {}
        self._around: dict[Feature, list[MadeIn]] = defaultdict(list)
        for session, each in self.made:
            self.total[session] += each.worked + each.failed
            self.by_program[each.call.words[0]].append((session, each))
            for part in parts_of((*each.call.words, *each.call.settings)):
                self.by_part[part].append((session, each))
            for feature in _of_surroundings(each.call, SimpleCall(each.call.words)):
                self._around[feature].append((session, each))

    def fitting(self, form: Words) -> Iterator[MadeIn]:
        """The calls that have the form of a template."""
        fixed = [self.by_part.get(word, []) for word in form if VARIES not in word and len(word) > 1]
        among = min(fixed, key=len, default=self.made)
        return ((session, made) for session, made in among if fits(form, made.call.words))

    def rate(self, feature: Feature, seen: Sequence[SeenChange]) -> float:
        """How much of what is done anyway has the feature, apart from the sessions in which it was the way out."""
        if feature not in self._counts:
            self._counts[feature] = Counter()  # in each session
            for session, made in self._having(feature):
                self._counts[feature][session] += made.worked + made.failed
        own = {each.session for each in seen}
        others = sum(count for session, count in self._counts[feature].items() if session not in own)
        everything = self.total.total() - sum(self.total[session] for session in own)
        return (others + 0.5) / max(everything, self.total.total() / 2, 10)

    def _having(self, feature: Feature) -> Iterable[MadeIn]:
        remedy, words = feature
        if remedy is Remedy.FORM:
            return (made for made in self.by_program.get(words[0], ()) if made[1].call.words[: len(words)] == words)
        if remedy is Remedy.PART:
            return (made for made in self.by_part.get(words[0], ()) if words[0] in parts_of(made[1].call.words))
        return self._around.get(feature, ())


def heads_of(words: Words) -> Iterator[Words]:
    """The program of a call, with its first words as long as they are plain: `npm`, `npm run`, `npm run build`."""
    for length in range(1, min(len(words), HEAD_WORDS) + 1):
        if length > 1 and not _PLAIN.fullmatch(words[length - 1]):
            return
        yield words[:length]


def _of_surroundings(call: SimpleCall, failed: SimpleCall) -> Iterator[Feature]:
    """The folder and the variables that a call has and the failed one has not, however they are given."""
    folder, settings = call.folder, call.settings
    if call.words[0] in CHANGE_FOLDER and len(call.words) == 2:
        folder = relative(call.words[1], "")
    if is_setting(call):
        settings = tuple(settings_in(call.words))
    if folder and folder != failed.folder:
        yield Remedy.PLACE, (folder,)
    for setting in set(settings) - set(failed.settings):
        yield Remedy.SETTING, (setting,)
        yield Remedy.SETTING, (f"{setting.partition('=')[0]}=",)


def features_of(changed: ChangedCall, way: AnotherWay) -> Iterator[Feature]:
    """In what a way out may be the same as that of another session."""
    call = way.call
    yield from _of_surroundings(call, changed.call)
    if is_again(changed, way) and changed.call.folder and not call.folder:
        yield Remedy.PLACE, ("",)
    if is_again(changed, way) or call.words[0] in CHANGE_FOLDER or is_setting(call):
        return
    is_other = is_unlike(changed, way)
    for head in heads_of(call.words) if call.words[0] != changed.call.words[0] else ():
        yield Remedy.FORM, head
    for part in parts_of(call.words) - parts_of(changed.call.words) if not is_other else ():
        yield Remedy.PART, (part,)
    for part in set(way.news) - parts_of(changed.call.words) if is_other and not way.leads else ():
        yield Remedy.PART, (part,)


def is_again(changed: ChangedCall, way: AnotherWay) -> bool:
    """Whether the very same command worked, in another folder or with variables set for it."""
    return way.call.words == changed.call.words


def is_unlike(changed: ChangedCall, way: AnotherWay) -> bool:
    """Whether a way out is neither a step nor a call of the same kind as the one that failed."""
    if way.call.words[0] != changed.call.words[0]:
        return True
    return not way.leads and not is_like(changed.call, way.call, way.likeness)


def mostly(claims: Iterable[bool]) -> bool:
    """Whether more than half of it is so."""
    return 2 * sum(known := list(claims)) > len(known)


def replaced_by(sighting: SeenChange) -> frozenset[str]:
    """The words of a failed call that the one which worked has not."""
    return parts_of(sighting.changed.call.words) - parts_of(sighting.way.call.words)
