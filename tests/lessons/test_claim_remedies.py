"""Which claims ask for the same: what is named and wanted counts, and not the likeness of the words alone."""

import pytest

from whet.lessons.claim_remedies import is_same_remedy, merged, without_refused
from whet.lessons.claims import (
    CheckPlace,
    Claim,
    ClaimCheck,
    ClaimOperation,
    FoldedClaims,
    Quote,
    ReadBy,
    StandingClaim,
)


def claim(rule: str, *sessions: str, id: str = "", check: ClaimCheck | None = None) -> Claim:
    quotes = tuple(Quote(each, 1, "words that were said") for each in sessions)
    return Claim(ClaimOperation.NEW, id or rule, rule, quotes=quotes, check=check)


def standing(*claims: Claim) -> FoldedClaims:
    return FoldedClaims(tuple(StandingClaim(each, n, float(n), ReadBy("opus")) for n, each in enumerate(claims)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Run the tests with `./dev test`.", "Run the tests with `./dev test`, not with `pytest`."),
        ("Use `pnpm`, not `npm`, to install packages.", "Install packages with `pnpm`, not `npm`."),
        ("Never commit without being asked to.", "Never commit without being asked."),
    ],
)
def test_the_same_remedy_in_other_words_is_one(one: str, other: str) -> None:
    assert is_same_remedy(claim(one, "s1"), claim(other, "s1"))
    assert is_same_remedy(claim(other, "s1"), claim(one, "s1"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("For dates use the standard library.", "For dates use our helper."),
        ("For dates use `datetime`.", "For dates use `shop.dates`."),
        ("Use `pnpm`, not `npm`, here.", "Use `npm`, not `pnpm`, here."),
        ("Always commit when the work is done.", "Never commit when the work is done."),
        ("Edit `gen/api.py` by hand.", "Never edit `gen/api.py` by hand."),
        ("Run `make test` before a commit.", "Run `make lint` before a commit."),
        ("Start the server on port 3000.", "Start the server in `web/`."),
    ],
)
def test_another_remedy_or_the_contrary_is_another_claim(one: str, other: str) -> None:
    assert not is_same_remedy(claim(one, "s1"), claim(other, "s1"))
    assert not is_same_remedy(claim(other, "s1"), claim(one, "s1"))


def test_claims_are_merged_into_the_one_that_most_sessions_show() -> None:
    check = ClaimCheck(CheckPlace.COMMAND, "npm install", "pnpm")
    rare = claim("Use `pnpm`, not `npm`, to install packages.", "s1", check=check)
    frequent = claim("Install packages with `pnpm`, not `npm`.", "s1", "s2", "s3")
    other = claim("Use tabs.", "s4")
    found = merged(standing(rare, frequent, other))
    assert [each.claim.rule for each in found.claims] == [frequent.rule, other.rule]
    assert (found.claims[0].claim.check, found.claims[0].at) == (check, 1.0)
    assert [(each.claim.rule, each.why) for each in found.dropped] == [
        (rare.rule, f"it says the same as: {frequent.rule}")
    ]


def test_what_a_person_refused_is_not_claimed_again_in_other_words() -> None:
    refused = "Use `pnpm`, not `npm`, to install packages."
    again, contrary = claim("Install packages with `pnpm`, not `npm`."), claim("Install packages with `npm`.")
    found = without_refused(standing(claim(refused), again, contrary), [refused])
    assert [each.claim.rule for each in found.claims] == [refused, contrary.rule]
    assert [each.why for each in found.dropped] == [f"a person refused it: {refused}"]
