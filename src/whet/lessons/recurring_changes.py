"""Changes that recur over the sessions of a project: what fails, what then works, and more often than by chance."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from whet.lessons.change_features import (
    VARIES,
    Feature,
    ProjectCalls,
    RecurringChange,
    Remedy,
    SeenChange,
    Words,
    common_form,
    features_of,
    fits,
    heads_of,
    is_again,
    is_unlike,
    mostly,
    replaced_by,
)
from whet.lessons.changed_calls import ALIKE, ChangedCall, SessionChanges
from whet.lessons.simple_calls import SimpleCall, parts_of

FEWEST = 2  # sessions
FEWEST_WEAK = 3  # where nothing but its recurrence speaks for it
ENOUGH_BITS = 4.5  # beyond those that it takes to stand out among all that might have recurred
ALIKE_BITS = 6.0  # what it is worth that two calls share their rare words
SPECIFIC = 0.8  # of the sessions of a change, that show a more specific one
MOST = 30
FAILS = 0.5  # of the calls in a form, before it is said to fail
FEWEST_LETTERS = 4  # of a word that is mistyped
_DIGITS = re.compile(r"\d+")


class _Candidate(NamedTuple):
    head: Words  # empty: of any program
    feature: Feature
    seen: tuple[SeenChange, ...]
    bits: float
    failed_in: int  # sessions, with this head


def recurring_changes(sessions: Mapping[str, SessionChanges]) -> tuple[RecurringChange, ...]:
    """The changes that recur, the surest first. Copies of a session have to be left out by who calls."""
    project = ProjectCalls(sessions)
    every = [(session, changed) for session, changes in sessions.items() for changed in changes.changed]
    found: list[RecurringChange] = []
    explained: set[tuple[str, int]] = set()
    candidates, enough = _candidates(project, every)
    for general in sorted(candidates, key=_rank):
        for candidate in dict.fromkeys((_most_specific(general, candidates), general)):
            left = tuple(each for each in candidate.seen if (each.session, each.changed.message) not in explained)
            if len(left) < _fewest(left) or _bits(project, candidate.feature, left, candidate.failed_in) < enough:
                continue
            change = _change(project, candidate._replace(seen=left))
            if change is not None:
                found.append(change)
                explained |= {(session, one.message) for session, one in every if _is_explained(change, candidate, one)}
                break
    return tuple(found[:MOST])


def again(change: RecurringChange, count: int) -> RecurringChange:
    """The change as the first of the sessions that show it would have it."""
    return _templates(change.remedy, change.seen[:count], change.parts[1])


def _rank(candidate: _Candidate) -> tuple[float, ...]:
    gap = sum(each.way.gap for each in candidate.seen) / len(candidate.seen)
    specific = sum(map(len, candidate.feature[1])) + sum(map(len, candidate.head))
    # The error itself may name the program that worked instead.
    others = (each for each in candidate.seen if not is_again(each.changed, each.way))
    named = sum(each.way.call.words[0] in each.changed.error.split() for each in others) / len(candidate.seen)
    return (-len(candidate.seen), -round(named), -round(candidate.bits / 4), gap, -specific)


def _most_specific(candidate: _Candidate, among: Iterable[_Candidate]) -> _Candidate:
    """The candidate that says most of those within this one that nearly as many sessions show."""
    remedy, words = candidate.feature
    within = (
        each
        for each in among
        if each.head[: len(candidate.head)] == candidate.head
        and each.feature[0] is remedy
        and (each.feature[1][: len(words)] == words if remedy is Remedy.FORM else each.feature[1] == words)
        and len(each.seen) >= SPECIFIC * len(candidate.seen)
    )
    return max(within, key=lambda each: (len(each.head) + len(each.feature[1]), each.bits))


def _fewest(seen: Sequence[SeenChange]) -> int:
    is_likely = mostly(changed.is_refused or way.leads or way.likeness >= ALIKE for _, changed, way in seen)
    return FEWEST if is_likely else FEWEST_WEAK


def _candidates(project: ProjectCalls, every: Sequence[tuple[str, ChangedCall]]) -> tuple[list[_Candidate], float]:
    """What recurs more often than by chance, and the bits that this takes: the more there is to find, the more."""
    seen: dict[tuple[Words, Feature], list[SeenChange]] = defaultdict(list)
    failed_in: dict[Words, set[str]] = defaultdict(set)
    for session, changed in every:
        heads = ((), *heads_of(changed.call.words))
        for head in heads:
            failed_in[head].add(session)
        for way in changed.ways:
            sighting = SeenChange(session, changed, way)
            for feature in features_of(changed, way):
                for head in heads:
                    seen[head, feature].append(sighting)
    enough = ENOUGH_BITS + math.log2(1 + len(seen))
    found: list[_Candidate] = []
    for (head, feature), sightings in seen.items():
        nearest = _nearest(sightings)
        if len(nearest) >= _fewest(nearest):
            bits = _bits(project, feature, nearest, len(failed_in[head]))
            if bits >= enough:
                found.append(_Candidate(head, feature, nearest, bits, len(failed_in[head])))
    return found, enough


def _nearest(sightings: Iterable[SeenChange]) -> tuple[SeenChange, ...]:
    """Of each session the sighting whose way out is of the same kind, came soonest and is most like what failed."""

    def distance(sighting: SeenChange) -> tuple[bool, float]:
        return is_unlike(sighting.changed, sighting.way), sighting.way.gap - 4 * sighting.way.likeness

    by_session: dict[str, list[SeenChange]] = defaultdict(list)
    for each in sightings:
        by_session[each.session].append(each)
    return tuple(min(group, key=distance) for group in by_session.values())


def _bits(project: ProjectCalls, feature: Feature, seen: Sequence[SeenChange], failed_in: int) -> float:
    """How surprising it is that the way out was this one so often, were it a matter of chance."""
    gap = sum(each.way.gap for each in seen) / len(seen)
    chance = min(0.999, (1 + gap) * project.rate(feature, seen))
    bits = -log2_tail(len(seen), max(failed_in, len(seen)), chance)
    return bits + (ALIKE_BITS if mostly(each.way.likeness >= ALIKE for each in seen) else 0.0)


def log2_tail(hits: int, trials: int, chance: float) -> float:
    """The logarithm of the probability of so many hits or more among the trials."""
    total = sum(
        math.comb(trials, each) * chance**each * (1 - chance) ** (trials - each) for each in range(hits, trials + 1)
    )
    return math.log2(total) if total > 0 else -1000.0


def _change(project: ProjectCalls, candidate: _Candidate) -> RecurringChange | None:
    """The candidate as templates, if the forms that it says fail do not mostly work by themselves."""
    seen, (remedy, words) = candidate.seen, candidate.feature
    if remedy in (Remedy.FORM, Remedy.PART) and mostly(each.way.leads for each in seen):
        remedy = Remedy.STEP
    change = _templates(remedy, seen, words[0])
    return change if holds_together(change) and mostly_fails(project, change) else None


def _templates(remedy: Remedy, seen: tuple[SeenChange, ...], part: str) -> RecurringChange:
    is_refused = mostly(each.changed.is_refused for each in seen)
    by_program: dict[str, list[SimpleCall]] = defaultdict(list)
    for each in seen:
        by_program[each.changed.call.words[0]].append(each.changed.call)
    fails = tuple(_common(calls) for calls in sorted(by_program.values(), key=len, reverse=True))
    works = _common([each.way.call for each in seen])
    parts = ("", part) if remedy in (Remedy.PLACE, Remedy.SETTING) else ("", "")
    if remedy is Remedy.PART:
        gone = frozenset.intersection(*(replaced_by(each) for each in seen))
        parts = max(gone, key=lambda each: (len(each), each), default=""), part
    return RecurringChange(remedy, fails, works, seen, is_refused, parts)


def _common(calls: Sequence[SimpleCall]) -> SimpleCall:
    words = common_form(call.words for call in calls)
    folders = {call.folder for call in calls}
    settings = set.intersection(*(set(call.settings) for call in calls))
    return SimpleCall(words, folders.pop() if len(folders) == 1 else "", tuple(sorted(settings)))


def _is_explained(change: RecurringChange, candidate: _Candidate, changed: ChangedCall) -> bool:
    """Whether a failure is one of those that a change is about."""
    if any(fits(form.words, changed.call.words) for form in change.fails):
        return True
    return any(candidate.feature in set(features_of(changed, way)) for way in changed.ways)


def holds_together(change: RecurringChange) -> bool:
    """Whether it is one thing that was seen: what works can be named, and what fails is of one kind."""
    works, seen, remedy = change.works, change.seen, change.remedy
    if remedy in (Remedy.FORM, Remedy.STEP) and (works in change.fails or is_vague(works)):
        return False
    is_one_program = len(change.fails) == 1
    if change.is_refused:
        return True
    if remedy is Remedy.PART:
        is_other = any(is_unlike(each.changed, each.way) for each in seen)
        return is_other or bool(change.parts[0]) or (is_one_program and not mostly(map(_is_slip, seen)))
    if is_one_program:
        return True
    if remedy is Remedy.FORM:
        # Of several programs it is one thing if each is replaced by a call like it.
        return all(each.way.likeness >= ALIKE for each in seen)
    return remedy is Remedy.SETTING or not is_vague(works)


def is_vague(template: SimpleCall) -> bool:
    """Whether a template names little more than a program."""
    words = template.words
    return words[0] == VARIES or (VARIES in words and all(map(_is_open, words[1:])))


def is_one_letter_off(one: str, other: str) -> bool:
    """Whether two words are one but for a letter more, less or exchanged, or two in the other order."""
    shorter = min(len(one), len(other))
    if shorter < FEWEST_LETTERS or _DIGITS.sub("", one) == _DIGITS.sub("", other):  # another number is no slip
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= 1 - 1 / shorter


def _is_open(word: str) -> bool:
    """Whether a word of a template says nothing: it varies, or is an option."""
    return word.startswith("-") or VARIES in word or not any(map(str.isalnum, word))


def _is_slip(sighting: SeenChange) -> bool:
    """Whether a word was only mistyped: it and the right one differ in a letter, or in the order of two."""
    wrong = replaced_by(sighting)
    right = parts_of(sighting.way.call.words) - parts_of(sighting.changed.call.words)
    return any(is_one_letter_off(one, other) for one in wrong for other in right)


def mostly_fails(project: ProjectCalls, change: RecurringChange) -> bool:
    """Whether calls in the form that is said to fail do so.

    Where a shell stays in its folder, a call says nothing of where it worked; a refusal is a person's.
    """
    if change.is_refused or change.remedy is Remedy.PLACE:
        return True
    if change.remedy is Remedy.STEP and _is_routine(project, change):
        return False
    worked = failed = 0
    done = {session for session, _ in project.fitting(change.works.words)} if change.remedy is Remedy.STEP else set()
    known = {each.changed.call.words for each in change.seen}
    telling = [form.words for form in change.fails if sum(not _is_open(word) for word in form.words) > 1]
    for session, each in (made for form in change.fails for made in project.by_program[form.words[0]]):
        is_meant = each.call.words in known or any(fits(form, each.call.words) for form in telling)
        if is_meant:
            failed += each.failed
            worked += 0 if session in done else each.worked
    return failed >= FAILS * (worked + failed)


def _is_routine(project: ProjectCalls, change: RecurringChange) -> bool:
    """Whether a step is done in more sessions that have nothing to do with what it is to help.

    What is to help calls of different programs must not be a habit at all.
    """
    programs = {form.words[0] for form in change.fails}
    done = {session for session, each in project.fitting(change.works.words) if each.worked}
    elsewhere = len(done - {session for program in programs for session, _ in project.by_program[program]})
    return elsewhere > (change.sessions if len(programs) == 1 else 0)
