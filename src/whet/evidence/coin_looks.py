"""A few exact looks at sessions that a coin put on one of two sides, told or untold, by their failures.

If being told changes nothing, each session would have gone as it did on either side: given how all of them went, the
sides are nothing but coins, whatever drifted meanwhile. So the chance that failures lie so unevenly is counted, not
estimated, among all the ways in which the coins could have fallen and no earlier look decided. Each look may use up a
part of the error rate; what it leaves, because counts come in steps, later ones have too (docs/decisions/0034).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

LOOKS = (10, 14, 20, 30, 40, 46, 54, 64, 78, 100, 150, 220, 320)
"""After how many sessions is looked; chosen on simulated sessions."""

SPENT = (0.1, 0.15, 0.15, 0.16, 0.25, 0.8, 0.8, 0.8, 0.8, 0.86, 0.97, 0.98, 1.0)
"""The part of the error rate that may have been used up by then: enough early on that an effect like 95 to 5 % is known
after ten, most of it for one like 35 to 5 %, and a fifth for medium ones, which take long (docs/decisions/0105)."""

Ways = list[list[float]]  # the chance of each number of failures that were told, and of successes that were


class CoinSession(NamedTuple):
    """One session: whether the coin had it told, and how many failures it had."""

    told: bool
    failed: int


class SideLook(NamedTuple):
    """The chance, by coins alone, of sides so uneven, and the chance that decides at this look."""

    chance: float
    allowed: float

    @property
    def is_enough(self) -> bool:
        return self.chance <= self.allowed


class CoinLook(NamedTuple):
    """One look: after how many sessions, and what it says for fewer failures with the rule and for more."""

    at: int
    helped: SideLook
    harmed: SideLook


def coin_looks(
    sessions: Sequence[CoinSession], *, share: float, alpha_help: float, alpha_harm: float
) -> Iterator[CoinLook]:
    """What each look says that was reached, the first first. Whoever acts on one has no use for those after it.

    In either direction all looks together are enough with a chance of at most the error rate, if nothing changes.
    """
    ways: Ways = [[1.0]]
    spent = dict(zip(LOOKS, SPENT, strict=True))
    failed_told = well_told = 0
    left = {1: alpha_help, -1: alpha_harm}
    for number, (told, failed) in enumerate(sessions[: LOOKS[-1]], start=1):
        ways = _toss_failed(ways, share, failed) if failed else _toss_well(ways, share)
        failed_told += failed if told else 0
        well_told += told and not failed
        if number in spent:
            sides: dict[int, SideLook] = {}
            for direction, alpha in ((1, alpha_help), (-1, alpha_harm)):
                allowed = left[direction] - (1 - spent[number]) * alpha
                sides[direction], used = _look(ways, (failed_told, well_told), direction, allowed)
                left[direction] -= used
            yield CoinLook(number, sides[1], sides[-1])


def next_look(sessions: int) -> int | None:
    """After how many sessions is looked next; None when there is no further look."""
    return next((at for at in LOOKS if at > sessions), None)


def _toss_failed(ways: Ways, share: float, failures: int) -> Ways:
    none = [[0.0] * len(ways[0])] * failures
    return [
        [(1 - share) * stays + share * comes for stays, comes in zip(row, before, strict=True)]
        for row, before in zip([*ways, *none], [*none, *ways], strict=True)
    ]


def _toss_well(ways: Ways, share: float) -> Ways:
    return [
        [(1 - share) * stays + share * comes for stays, comes in zip([*row, 0.0], [0.0, *row], strict=True)]
        for row in ways
    ]


def _look(ways: Ways, seen: tuple[int, int], direction: int, allowed: float) -> tuple[SideLook, float]:
    """What is seen in one direction, and how much the look uses up: those ways have decided, and are taken out."""
    failed, well = len(ways) - 1, len(ways[0]) - 1

    # Successes that were told and failures that were not speak for the rule, each by how rare its kind is.
    def score(failed_told: int, well_told: int) -> int:
        return direction * (well_told * failed - failed_told * well)

    by_score: dict[int, float] = {}
    for one, row in enumerate(ways):
        for other, chance in enumerate(row):
            place = score(one, other)
            by_score[place] = by_score.get(place, 0.0) + chance
    at_least, reached, bar = 0.0, 0.0, failed * well + 1
    chances: dict[int, float] = {}
    for place in sorted(by_score, reverse=True):
        at_least += by_score[place]
        chances[place] = at_least
        if at_least <= allowed and place > 0:
            reached, bar = at_least, place
    for one, row in enumerate(ways):
        row[:] = [0.0 if score(one, other) >= bar else chance for other, chance in enumerate(row)]
    seen_score = score(*seen)
    return SideLook(chances[seen_score] if seen_score > 0 else 1.0, max(allowed, 0.0)), reached
