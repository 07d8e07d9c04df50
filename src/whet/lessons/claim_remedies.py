"""Claims that ask for the same remedy are one; and a claim that a person refused is not made again in other words."""

from collections.abc import Iterable
from functools import lru_cache

from msgspec.structs import replace

from whet.lessons.claim_folding import MOST_QUOTES, FoldedClaims, StandingClaim
from whet.lessons.claims import Claim, DroppedClaim
from whet.lessons.stances import Stance, stance_of
from whet.text.likeness import SAME, Sense, sense, similarity
from whet.values import Value

ALIKE = 0.5  # of the words of two rules that name the same things, and rest on the same messages or patterns

MOST_STANDING = 400  # claims of a project that are compared with each other
TOO_MANY = f"{MOST_STANDING} claims of the project are seen in as many sessions or more"


class _Remedy(Value, frozen=True):
    """What a rule asks for: what it names and is for or against, and its words."""

    wanted: frozenset[str]
    unwanted: frozenset[str]
    words: frozenset[str]
    forbids: bool


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
    ranked = sorted(folded.claims, key=lambda each: (-_sessions(each), each.number))
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
    stance: Stance = stance_of(rule)
    meant: Sense = sense(rule)
    return _Remedy(stance.wanted, stance.unwanted, meant.words, meant.forbids)


def _is_same(one: _Remedy, other: _Remedy, least: float) -> bool:
    likeness = similarity(one.words, other.words)
    if one.wanted & other.unwanted or one.unwanted & other.wanted:
        return False
    if (one.wanted or one.unwanted) and (other.wanted or other.unwanted):
        # What is against nothing may leave out what the other one is against.
        is_against_same = one.unwanted == other.unwanted or (one.wanted and not (one.unwanted and other.unwanted))
        return one.wanted == other.wanted and bool(is_against_same) and likeness >= least
    return one.forbids == other.forbids and likeness >= least


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


def _sessions(each: StandingClaim) -> int:
    return len({quote.session for quote in each.claim.quotes})
