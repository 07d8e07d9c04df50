"""Claims that ask for the same remedy are one; and a claim that a person refused is not made again in other words.

One lesson for one thing: what a reader claims and what code found without one, joined in the reader's words.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from whet.ledger.patches import RuleSituation
from whet.lessons.change_features import VARIES
from whet.lessons.claims import MOST_QUOTES, Claim, DroppedClaim, FoldedClaims, StandingClaim
from whet.lessons.record import Lesson, LessonEvidence, LessonSource
from whet.lessons.simple_calls import parts_of
from whet.text.likeness import SAME, Stance, TellingWords, sense, similarity, stance_of

NEAR = 1  # messages between a call and its answer: a quote may be of either
ALIKE = 0.5  # of the words of two rules that name the same things, and rest on the same messages or patterns
MOST_STANDING = 400  # claims of a project that are compared with each other
TOO_MANY = f"{MOST_STANDING} claims of the project are seen in as many sessions or more"


class _Remedy(NamedTuple):
    """What a rule asks for: what it names and is for or against, and its words."""

    stance: Stance
    meant: TellingWords


def is_same_remedy(one: Claim, other: Claim) -> bool:
    """Whether two claims ask for the same: the same things named, for and against, in much the same words.

    Words alone do not make it: who is to use our helper is not told to use the standard library.
    """
    return _is_same(_remedy(one.rule), _remedy(other.rule), ALIKE if _is_shared(one, other) else SAME)


def is_same_rule(one: str, other: str, *, is_shared: bool) -> bool:
    """The same of two rules, which are shared where they rest on the same messages."""
    return _is_same(_remedy(one), _remedy(other), ALIKE if is_shared else SAME)


def merged(folded: FoldedClaims) -> FoldedClaims:
    """Claims with the same remedy as one, in the words of the one that most sessions show; the others say which."""
    kept: list[StandingClaim] = []
    dropped: list[DroppedClaim] = []
    ranked = sorted(folded.claims, key=lambda each: (-each.sessions, each.number))
    dropped += [DroppedClaim(each.claim, TOO_MANY) for each in ranked[MOST_STANDING:]]
    for each in ranked[:MOST_STANDING]:
        place = next((place for place, one in enumerate(kept) if is_same_remedy(one.claim, each.claim)), None)
        if place is None:
            kept.append(each)
        else:
            kept[place] = _joined(kept[place], each)
            dropped.append(DroppedClaim(each.claim, f"it says the same as: {kept[place].claim.rule}"))
    ordered = sorted(kept, key=lambda each: each.number)
    return FoldedClaims(tuple(ordered), (*folded.dropped, *dropped))


def without_refused(folded: FoldedClaims, refused: Iterable[str]) -> FoldedClaims:
    """The claims without those that ask in other words for what a person refused.

    In the same words a claim becomes a lesson, which the ledger knows as refused.
    """
    rules = [(text, _remedy(text)) for text in dict.fromkeys(refused)]
    kept: list[StandingClaim] = []
    dropped: list[DroppedClaim] = []
    for each in folded.claims:
        remedy = _remedy(each.claim.rule)
        said = next((text for text, other in rules if _is_same(remedy, other, ALIKE)), None)
        if said is None or said.split() == each.claim.rule.split():
            kept.append(each)
        else:
            dropped.append(DroppedClaim(each.claim, f"a person refused it: {said}"))
    return FoldedClaims(tuple(kept), (*folded.dropped, *dropped))


@lru_cache(maxsize=1024)
def _remedy(rule: str) -> _Remedy:
    return _Remedy(stance_of(rule), sense(rule))


def _is_same(first: _Remedy, second: _Remedy, least: float) -> bool:
    (one, meant), (other, said) = first, second
    if similarity(meant.words, said.words) < least or one.wanted & other.unwanted or one.unwanted & other.wanted:
        return False
    if not (one.wanted or one.unwanted) or not (other.wanted or other.unwanted):
        return meant.forbids == said.forbids
    # What is against nothing may leave out what the other one is against.
    is_silent = bool(one.wanted) and not (one.unwanted and other.unwanted)
    return one.wanted == other.wanted and (one.unwanted == other.unwanted or is_silent)


def _is_shared(one: Claim, other: Claim) -> bool:
    """Whether two claims rest on a message that both quote, or are found by the same pattern."""
    places = {(quote.session, quote.message) for quote in one.quotes}
    if any((quote.session, quote.message) in places for quote in other.quotes):
        return True
    return one.check is not None and other.check is not None and one.check.fails == other.check.fails


def _joined(one: StandingClaim, other: StandingClaim) -> StandingClaim:
    claim = replace(
        one.claim,
        quotes=tuple(dict.fromkeys((*one.claim.quotes, *other.claim.quotes)))[:MOST_QUOTES],
        check=one.claim.check or other.claim.check,
        told=one.claim.told or other.claim.told,
    )
    return replace(
        one,
        claim=claim,
        number=min(one.number, other.number),
        at=one.at if claim.check == one.claim.check else max(one.at, other.at),
        against=tuple(dict.fromkeys((*one.against, *other.against)))[:MOST_QUOTES],
        misplaced=one.misplaced + other.misplaced,
    )


def joined(lessons: Sequence[Lesson]) -> list[Lesson]:
    """The lessons, where one that a reader claims has taken in those of its project that say the same without one."""
    read: dict[str, list[Lesson]] = {}
    for each in lessons:
        if is_read(each):
            read.setdefault(each.project, []).append(each)
    kept: list[Lesson] = []
    for each in lessons:
        among = read.get(each.project, []) if not is_read(each) else []
        place = next((place for place, one in enumerate(among) if is_same_lesson(one, each)), None)
        if place is not None:
            among[place] = _with(among[place], each)
        elif not is_read(each):
            kept.append(each)
    return [*(each for group in read.values() for each in group), *kept]


def is_read(lesson: Lesson) -> bool:
    """Whether a reader claimed it."""
    return lesson.checks.measures is not None


def is_same_lesson(read: Lesson, found: Lesson) -> bool:
    """Whether a reader's lesson names the remedy that was found, for the same situation or from the same messages."""
    shared = _shared(read, found)
    if found.evidence.source is LessonSource.REQUEST and 2 * shared > len(found.evidence.pieces):
        return True
    if is_same_rule(read.rule, found.rule, is_shared=bool(shared)):
        return True
    fails, works = _parts(found.patch.situation.call), _parts(found.fix)
    named, stance = _parts(read.rule.replace("`", " ")), stance_of(read.rule)
    remedy = works - fails
    is_against = not remedy.isdisjoint(_parts(" ".join(stance.unwanted - stance.wanted)))
    is_situation = bool(shared) or not (fails - works).isdisjoint(named)
    return bool(fails and remedy) and remedy <= named and is_situation and not is_against


def _parts(text: str) -> frozenset[str]:
    """What the words of a call or a rule are made of; what varies says nothing."""
    words = tuple(word.strip(".,;:!?()\"'“”") for word in text.split())
    return frozenset(part.lower() for part in parts_of(words) if VARIES not in part)


def _shared(read: Lesson, found: Lesson) -> int:
    """How many pieces of what was found are of messages that the reader quotes."""
    places = {(piece.session, piece.message) for piece in read.evidence.pieces}
    near = {(session, message + step) for session, message in places for step in range(-NEAR, NEAR + 1)}
    return sum((piece.session, piece.message) in near for piece in found.evidence.pieces)


def _with(read: Lesson, found: Lesson) -> Lesson:
    """A reader's lesson with the evidence of another one that says the same, and by what it is found again."""
    evidence = _united(read.evidence, found.evidence)
    patch = read.patch
    origin = replace(patch.origin, counts=replace(patch.origin.counts, sessions=evidence.sessions))
    situation = found.patch.situation if patch.situation == RuleSituation() else patch.situation
    agents = {*read.seen_by.agents, *found.seen_by.agents}
    return replace(
        read,
        fix=read.fix or found.fix,
        patch=replace(patch, origin=origin, situation=situation),
        evidence=evidence,
        seen_by=read.seen_by._replace(agents=tuple(sorted(agents))),
        repeats=(*read.repeats, found.patch),
    )


def _united(one: LessonEvidence, other: LessonEvidence) -> LessonEvidence:
    known = {(piece.session, piece.message) for piece in one.pieces}
    more = (piece for piece in other.pieces if (piece.session, piece.message) not in known)
    both = replace(one, pieces=(*one.pieces, *more))
    sessions = max(len(both.session_ids), one.sessions, other.sessions)
    return replace(both, sessions=sessions, worth=max(one.worth, other.worth, float(sessions)))
