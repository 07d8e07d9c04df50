"""How much error the next trial may risk, so that few of all accepted changes are false ones."""

import math
from collections.abc import Sequence

from whet.verdicts import ALPHA, Ruling

SHARE = 0.1
"""Of all accepted changes, the share that may be false on average."""

DELAY = 10
_SUM = math.pi**2 / 6 - sum(1 / trial**2 for trial in range(1, DELAY + 1))


def part(place: int) -> float:
    """The part of the budget at this place (from 1); all of them, for ever, make 1.

    The delay spreads the budget: of hundreds of trials the later ones still have a chance, and the first ones lose
    little (docs/decisions/0010).
    """
    return 1 / ((place + DELAY) ** 2 * _SUM)


def alpha_for(past: Sequence[Ruling], *, share: float = SHARE, most: float = ALPHA) -> float:
    """The error rate at which the next trial is to be judged, given the rulings of all trials before it.

    This is e-LOND, closed: whichever trials were truly useless, the evidence of those among them, weighted by the parts
    in their order, is at least the share of them among the accepted, divided by `share`. So the mean false share is
    within `share` however the trials depend on each other. An accepted trial uses up no part and earns the later
    ones more. The rate is never more than `most`, that of one trial alone.
    """
    accepted, others = 0, 0
    least = [0.0]  # by count: the least weighted evidence that so many of the accepted trials hold
    for ruling in past:
        if ruling is Ruling.ACCEPT:
            evidence = 1 / _level(least, accepted, others, share=share, most=most)
            taken = [known + part(others + count) * evidence for count, known in enumerate(least, start=1)]
            least = [0.0, *(min(pair) for pair in zip([*least[1:], math.inf], taken, strict=True))]
            accepted += 1
        else:
            others += 1
    return _level(least, accepted, others, share=share, most=most)


def _level(least: Sequence[float], accepted: int, others: int, *, share: float, most: float) -> float:
    """The rate at which no choice of useless trials among the accepted ones breaks the promise."""
    owed = 1 / (share * (accepted + 1))
    rates = (
        part(others + count + 1) / ((count + 1) * owed - held)
        for count, held in enumerate(least)
        if held < (count + 1) * owed
    )
    return min(most, *rates)
