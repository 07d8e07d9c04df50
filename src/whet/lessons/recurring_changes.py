"""Changes that recur over the sessions of a project: what fails, what then works, and more often than by chance."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from whet.lessons.call_pairs import ALIKE
from whet.lessons.call_templates import Words, common_form, fits
from whet.lessons.change_doubts import is_borne_out
from whet.lessons.change_features import (
    Feature,
    ProjectCalls,
    RecurringChange,
    Remedy,
    SeenChange,
    features_of,
    heads_of,
    is_before,
    is_new,
    is_repaired,
    is_unlike,
    replaced_by,
)
from whet.lessons.changed_calls import CallTrouble, ChangedCall, HowChanged, SessionChanges
from whet.lessons.simple_calls import SimpleCall

FEWEST = 2  # sessions
FEWEST_WEAK = 3  # where nothing but its recurrence speaks for it
ENOUGH_BITS = 4.5  # beyond those that it takes to stand out among all that might have recurred
ALIKE_BITS = 6.0  # what it is worth that two calls share their rare words
SAME_ERROR_BITS = 2.0
NEWS_BITS = 1.0  # for each session in which it is done after the failure and not before: chance would do either
EDITED_BITS = 1.0  # what each session loses in which an edit came before it
SPECIFIC = 0.8  # of the sessions of a change, that show a more specific one
MOST = 30


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
    return _templates(change.remedy, change.seen[:count], change.bits, change.parts[1])


def _rank(candidate: _Candidate) -> tuple[float, ...]:
    gap = sum(each.way.gap for each in candidate.seen) / len(candidate.seen)
    specific = sum(map(len, candidate.feature[1])) + sum(map(len, candidate.head))
    return (-len(candidate.seen), -round(candidate.bits / 4), gap, -specific)


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
    return FEWEST if 2 * sum(_is_likely(each) for each in seen) > len(seen) else FEWEST_WEAK


def _is_likely(sighting: SeenChange) -> bool:
    way, trigger = sighting.way, sighting.changed.trigger
    if trigger is not CallTrouble.FAILED:
        return trigger is CallTrouble.REFUSED
    return way.leads or way.how is not HowChanged.CALL or way.likeness >= ALIKE


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
    best: dict[str, SeenChange] = {}
    for each in sightings:
        known = best.get(each.session)
        if known is None or _distance(each) < _distance(known):
            best[each.session] = each
    return tuple(best.values())


def _distance(sighting: SeenChange) -> tuple[bool, float, bool]:
    way = sighting.way
    return is_unlike(sighting.changed, way), way.gap - 4 * way.likeness, way.is_edited


def _bits(project: ProjectCalls, feature: Feature, seen: Sequence[SeenChange], failed_in: int) -> float:
    """How surprising it is that the way out was this one so often, were it a matter of chance."""
    gap = sum(each.way.gap for each in seen) / len(seen)
    chance = min(0.999, (1 + gap) * project.rate(feature, seen))
    bits = -_log2_tail(len(seen), max(failed_in, len(seen)), chance)
    if 2 * sum(each.way.likeness >= ALIKE for each in seen) > len(seen):
        bits += ALIKE_BITS
    if feature[0] not in (Remedy.PLACE, Remedy.SETTING):
        bits += NEWS_BITS * sum(is_new(each, feature) for each in seen)
        bits -= EDITED_BITS * sum(each.way.is_edited and each.changed.trigger is CallTrouble.FAILED for each in seen)
    return bits + (SAME_ERROR_BITS if project.is_same_trouble(seen) else -SAME_ERROR_BITS)


def _log2_tail(hits: int, trials: int, chance: float) -> float:
    """The logarithm of the probability of so many hits or more among the trials."""
    total = sum(
        math.comb(trials, each) * chance**each * (1 - chance) ** (trials - each) for each in range(hits, trials + 1)
    )
    return math.log2(total) if total > 0 else -1000.0


def _change(project: ProjectCalls, candidate: _Candidate) -> RecurringChange | None:
    """The candidate as templates, if the forms that it says fail do not mostly work by themselves."""
    seen, (remedy, words) = candidate.seen, candidate.feature
    if remedy in (Remedy.FORM, Remedy.PART) and is_before(seen):
        remedy = Remedy.STEP
    if remedy is Remedy.FORM and is_repaired(project, seen, candidate.feature):
        remedy = Remedy.STEP
    change = _templates(remedy, seen, candidate.bits, words[0])
    return change if is_borne_out(project, change) else None


def _templates(remedy: Remedy, seen: tuple[SeenChange, ...], bits: float, part: str) -> RecurringChange:
    refused = sum(each.changed.trigger is CallTrouble.REFUSED for each in seen)
    trigger = CallTrouble.REFUSED if 2 * refused > len(seen) else CallTrouble.FAILED
    by_program: dict[str, list[SimpleCall]] = defaultdict(list)
    for each in seen:
        by_program[each.changed.call.words[0]].append(each.changed.call)
    fails = tuple(_common(calls) for calls in sorted(by_program.values(), key=len, reverse=True))
    works = _common([each.way.call for each in seen])
    parts = ("", part) if remedy in (Remedy.PLACE, Remedy.SETTING) else ("", "")
    if remedy is Remedy.PART:
        gone = frozenset.intersection(*(replaced_by(each) for each in seen))
        parts = max(gone, key=lambda each: (len(each), each), default=""), part
    return RecurringChange(trigger, remedy, fails, works, seen, bits, parts)


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
