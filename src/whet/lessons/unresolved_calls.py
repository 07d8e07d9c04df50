"""Calls that work in no session: what worked in their place in another one, and those for which nothing is known."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from whet.lessons.call_templates import Words
from whet.lessons.change_features import ProjectCalls, SeenChange, heads_of
from whet.lessons.changed_calls import (
    ALIKE,
    AnotherWay,
    CallTrouble,
    CallWords,
    ChangedCall,
    HowChanged,
    SessionChanges,
    telling_words,
)
from whet.lessons.simple_calls import SimpleCall, is_step

FEWEST = 3  # sessions in which a call failed, before it is said to work nowhere
MOST_BORROWED = 3  # ways out of other sessions
MOST_SHARING = 200  # calls that share a word, before it tells nothing
NOTHING = AnotherWay(HowChanged.CALL, SimpleCall(()))


def with_borrowed(sessions: Mapping[str, SessionChanges]) -> dict[str, SessionChanges]:
    """The sessions, where a call that never worked gets as ways out what worked for the same purpose in others."""
    working = dict.fromkeys(each.call for changes in sessions.values() for each in changes.made if each.worked)
    alive = {head for call in working for head in heads_of(call.words)}
    every = [each for changes in sessions.values() for each in changes.changed]
    if not any(_is_open(each) and _is_dead(each, alive) for each in every):
        return dict(sessions)
    words = CallWords(each.call for changes in sessions.values() for each in changes.made)
    pool = _Pool(words, filter(is_step, working))

    def borrowed(changed: ChangedCall, beside: frozenset[str]) -> ChangedCall:
        if not _is_open(changed) or not _is_dead(changed, alive):
            return changed
        return replace(changed, ways=tuple(pool.ways(changed.call, beside)))

    found: dict[str, SessionChanges] = {}
    for session, changes in sessions.items():
        failed: dict[int, set[str]] = defaultdict(set)  # the programs of each line that failed
        for each in changes.changed:
            failed[each.message].add(each.call.words[0])
        lent = (borrowed(each, frozenset(failed[each.message])) for each in changes.changed)
        found[session] = replace(changes, changed=tuple(lent))
    return found


def never_worked(project: ProjectCalls, every: Iterable[tuple[str, ChangedCall]]) -> Iterator[tuple[SeenChange, ...]]:
    """Calls that failed alike in several sessions and worked in none, each kind with one failure of each session."""
    alive = {head for _, each in project.made if each.worked for head in heads_of(each.call.words)}
    by_head: dict[Words, dict[str, SeenChange]] = defaultdict(dict)
    for session, changed in every:
        if changed.trigger is CallTrouble.FAILED and _is_dead(changed, alive):
            *_, head = heads_of(changed.call.words)
            by_head[head].setdefault(session, SeenChange(session, changed, NOTHING))
    for seen in map(tuple, map(dict.values, by_head.values())):
        if len(seen) >= FEWEST and project.is_same_trouble(seen):
            yield seen


def _is_open(changed: ChangedCall) -> bool:
    """Whether its session shows no way out of a failure."""
    return changed.trigger is CallTrouble.FAILED and not changed.ways


def _is_dead(changed: ChangedCall, alive: set[Words]) -> bool:
    """Whether no call with the same first words works in the project."""
    heads = list(heads_of(changed.call.words))
    return bool(heads) and heads[-1] not in alive


class _Pool:
    """Calls that worked, found by the words that they share with another one."""

    def __init__(self, words: CallWords, calls: Iterable[SimpleCall]) -> None:
        self.words = words
        self.by_word: dict[str, list[SimpleCall]] = defaultdict(list)
        for call in calls:
            for word in telling_words(call.words):
                self.by_word[word].append(call)

    def ways(self, failed: SimpleCall, beside: frozenset[str]) -> Iterator[AnotherWay]:
        """What worked for the same purpose, by none of the programs that failed in the same line."""
        shared = {
            call
            for word in telling_words(failed.words)
            if len(self.by_word[word]) <= MOST_SHARING
            for call in self.by_word[word]
        }
        ranked = sorted(
            ((self.words.likeness(failed, call), call.words, call) for call in shared if call.words[0] not in beside),
            reverse=True,
        )
        for place, (likeness, _, call) in enumerate(ranked[:MOST_BORROWED]):
            if likeness >= ALIKE:
                yield AnotherWay(HowChanged.CALL, call, round(likeness, 2), place)
