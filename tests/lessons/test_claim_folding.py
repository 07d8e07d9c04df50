"""The fold of a log of claims: any log folds, and what it comes to depends on nothing that counts for nothing."""

import random

import pytest
from msgspec.structs import replace

from whet.lessons.claims import (
    MOST_CLAIMS,
    MOST_LETTERS,
    MOST_QUOTES,
    NO_ID,
    NO_RULE,
    NOT_THEIRS,
    TAKEN,
    TOO_LONG,
    UNKNOWN,
    CheckPlace,
    Claim,
    ClaimAuthor,
    ClaimCheck,
    ClaimOperation,
    DroppedClaim,
    FoldedClaims,
    LoggedClaim,
    Quote,
    ReadBy,
    bounded,
    fold_claims,
)

READER, SCEPTIC = ReadBy("opus"), ReadBy("opus", ClaimAuthor.SCEPTIC)
FIRST = Claim(ClaimOperation.NEW, "c1", "Use bun.", quotes=(Quote("s1", 1, "use bun"),))


def log(*claims: Claim, reader: ReadBy = READER) -> list[LoggedClaim]:
    return [LoggedClaim(number, "shop", float(number), reader, claim) for number, claim in enumerate(claims, start=1)]


def about(operation: ClaimOperation, *quotes: Quote, id: str = "c1", rule: str = "", why: str = "") -> Claim:
    return Claim(operation, id, rule, quotes=quotes, why=why)


def reasons(folded: FoldedClaims) -> list[str]:
    return [each.why for each in folded.dropped]


def any_log(seed: int) -> list[LoggedClaim]:
    """A log as a careless reader may leave it."""
    chance = random.Random(seed)
    made: list[LoggedClaim] = []
    for number in range(1, 40):
        claim = Claim(
            chance.choice(list(ClaimOperation)),
            chance.choice(["", "a", "b", "c", "zzz"]),
            chance.choice(["", "Use bun.", "Use npm.", "x" * (MOST_LETTERS + 1)]),
            check=chance.choice([None, ClaimCheck(CheckPlace.COMMAND, "npm", "bun")]),
            quotes=tuple(Quote(f"s{chance.randrange(4)}", chance.randrange(3), "words") for _ in range(3)),
        )
        made.append(LoggedClaim(number, "shop", float(number), chance.choice([READER, SCEPTIC]), claim))
    return made


@pytest.mark.parametrize("seed", range(60))
def test_every_entry_of_any_log_stands_changes_a_claim_or_is_dropped_with_a_reason(seed: int) -> None:
    entries = any_log(seed)
    folded = fold_claims(entries)
    assert all(each.why for each in folded.dropped)
    assert len({each.claim.id for each in folded.claims}) == len(folded.claims)
    for each in folded.claims:
        assert each.claim.rule
        assert len(each.claim.quotes) == len(set(each.claim.quotes))
    assert fold_claims(entries) == folded


@pytest.mark.parametrize("seed", range(60))
def test_what_is_dropped_changes_nothing_else(seed: int) -> None:
    entries = any_log(seed)
    faults: list[LoggedClaim] = []
    for place, entry in enumerate(entries):
        before, after = fold_claims(entries[:place]), fold_claims(entries[: place + 1])
        if entry.claim.operation is not ClaimOperation.RETIRE and len(after.dropped) > len(before.dropped):
            faults.append(entry)
            assert after.claims == before.claims
    assert fold_claims([each for each in entries if each not in faults]).claims == fold_claims(entries).claims


@pytest.mark.parametrize("seed", range(20))
def test_whatever_follows_a_retired_claim_stays_retired(seed: int) -> None:
    entries = [*log(FIRST, about(ClaimOperation.RETIRE, why="the file was fixed"))]
    later = [replace(each, claim=replace(each.claim, id="c1")) for each in any_log(seed)]
    folded = fold_claims([*entries, *later])
    assert folded.claims == ()
    assert reasons(folded)[0] == "it no longer holds: the file was fixed"


def test_quotes_are_added_once_and_better_words_take_the_place_of_the_first() -> None:
    more, against = Quote("s2", 4, "bun, please"), Quote("s3", 1, "npm is fine")
    check = ClaimCheck(CheckPlace.COMMAND, "npm", "bun")
    sharper = replace(about(ClaimOperation.SHARPEN, more, rule="Use bun, not npm."), check=check)
    contrary = about(ClaimOperation.CONTRADICT, against, why="said since")
    [found] = fold_claims(log(FIRST, about(ClaimOperation.SUPPORT, more), FIRST, sharper, contrary)).claims
    assert found.claim.rule == "Use bun, not npm."
    assert found.claim.quotes == (*FIRST.quotes, more)
    assert (found.against, found.objection, found.at, found.number) == ((against,), "said since", 4.0, 1)


def test_a_sceptic_lets_a_claim_stand_until_its_words_change() -> None:
    kept = [*log(FIRST), LoggedClaim(2, "shop", 2.0, SCEPTIC, about(ClaimOperation.KEEP))]
    assert fold_claims(kept).claims[0].is_doubted
    supported = [*kept, LoggedClaim(3, "shop", 3.0, READER, about(ClaimOperation.SUPPORT))]
    assert fold_claims(supported).claims[0].is_doubted
    sharper = about(ClaimOperation.SHARPEN, rule="Use bun 2.")
    assert not fold_claims([*kept, LoggedClaim(3, "shop", 3.0, READER, sharper)]).claims[0].is_doubted
    assert fold_claims([*kept, LoggedClaim(3, "shop", 3.0, SCEPTIC, sharper)]).claims[0].is_doubted
    dropped = LoggedClaim(3, "shop", 3.0, SCEPTIC, about(ClaimOperation.RETIRE, why="one task only"))
    assert reasons(fold_claims([*kept, dropped])) == ["a sceptic dropped it: one task only"]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (about(ClaimOperation.SUPPORT, id="c9"), UNKNOWN),
        (about(ClaimOperation.NEW, id="", rule="Use x."), NO_ID),
        (about(ClaimOperation.NEW, id="c2"), NO_RULE),
        (about(ClaimOperation.NEW, rule="Use npm."), TAKEN),
        (about(ClaimOperation.SHARPEN, rule="x" * 301), TOO_LONG),
        (about(ClaimOperation.KEEP), NOT_THEIRS),
    ],
)
def test_a_wrong_entry_is_dropped_and_changes_nothing(wrong: Claim, why: str) -> None:
    folded = fold_claims(log(FIRST, wrong))
    assert folded.claims == fold_claims(log(FIRST)).claims
    assert reasons(folded) == [why]


def test_of_an_answer_without_measure_a_log_takes_as_much_as_it_can_hold() -> None:
    huge = Claim(
        ClaimOperation.NEW,
        "c" * 9_000,
        "r" * 90_000,
        quotes=tuple(Quote("s", number, "w" * 90_000) for number in range(900)),
        check=ClaimCheck(CheckPlace.COMMAND, "(a+)+" * 9_000),
    )
    kept = bounded([huge] * (MOST_CLAIMS + 7))
    assert len(kept) == MOST_CLAIMS + 1
    last = kept[-1]
    assert isinstance(last, DroppedClaim)
    assert last.why == "7 more claims than a pass may make"
    first = kept[0]
    assert isinstance(first, Claim)
    assert len(first.quotes) == MOST_QUOTES
    assert first.check is None
    assert len(str(first)) < 100_000
    assert bounded([FIRST]) == (FIRST,)
