"""How much error the next trial may risk, so that few of all accepted changes are false ones."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from whet.evidence.verdicts import ALPHA

SHARE = 0.1
"""Of all accepted changes, the share that may be false on average."""

DELAY = 10
_SUM = math.pi**2 / 6 - sum(1 / trial**2 for trial in range(1, DELAY + 1))

FIRST = 0.25
"""The share of the budget that is for the first few trials alone: half of it for the first, then half of the rest."""


class Past(NamedTuple):
    """A trial that was judged, and the evidence that it was accepted with.

    One that gave up what it had won, and lost little, leaves so much of its part to the next (docs/decisions/0095).
    """

    accepted: bool
    evidence: float = 0.0
    left: float = 0.0


def part(place: int) -> float:
    """The part of the budget at this place (from 1); all of them, for ever, make 1.

    The delay spreads the budget: of hundreds of trials the later ones still have a chance. Most people make few, so
    the first ones have something of their own (docs/decisions/0010).
    """
    return FIRST * 0.5**place + (1 - FIRST) / ((place + DELAY) ** 2 * _SUM)


def used_up(past: Sequence[Past]) -> float:
    """The share of the budget that trials have used up. An accepted one used no part."""
    place, rest, used = 1, 1.0, 0.0
    for trial in past:
        if not trial.accepted:
            used += part(place) * rest * (1 - trial.left)
            place, rest = (place, rest * trial.left) if trial.left else (place + 1, 1.0)
    return used


def alpha_for(past: Sequence[Past], *, share: float = SHARE, most: float = ALPHA) -> float:
    """The error rate at which the next trial is to be judged, given all trials before it in their order.

    This is e-LOND, closed: whichever trials were truly useless, the evidence of those among them, weighted by the parts
    in their order, is at least the share of them among the accepted, divided by `share`. So the mean false share is
    within `share` however the trials depend on each other. An accepted trial uses up no part and earns the later
    ones more. The rate is never more than `most`, that of one trial alone.
    """
    accepted, others, rest = 0, 0, 1.0  # rest: what is left of the part at the next place
    least = [0.0]  # by count: the least weighted evidence that so many of the accepted trials hold
    for trial in past:
        if not trial.accepted:
            others, rest = (others, rest * trial.left) if trial.left else (others + 1, 1.0)
            continue
        # Only the next place has lost something; to count that for all places is on the safe side.
        taken = [known + rest * part(others + count) * trial.evidence for count, known in enumerate(least, start=1)]
        least = [0.0, *(min(pair) for pair in zip([*least[1:], math.inf], taken, strict=True))]
        accepted += 1
    owed = 1 / (share * (accepted + 1))
    rates = (
        rest * part(others + count + 1) / ((count + 1) * owed - held)
        for count, held in enumerate(least)
        if held < (count + 1) * owed
    )
    # The rate at which no choice of useless trials among the accepted ones breaks the promise.
    return min(most, *rates)
