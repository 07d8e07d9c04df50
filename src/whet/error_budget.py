"""How much error the next trial may risk, so that few of all accepted changes are false ones."""

import math
from collections.abc import Sequence

from whet.verdicts import ALPHA, Ruling

SHARE = 0.1
"""Of all accepted changes, the share that may be false on average."""

DELAY = 10
_SUM = math.pi**2 / 6 - sum(1 / trial**2 for trial in range(1, DELAY + 1))


def part(trial: int) -> float:
    """The part of the budget that the trial of this number (from 1) may spend; all parts of all time make 1.

    The delay spreads the budget: of hundreds of trials the later ones still have a chance, and the first ones lose
    little (docs/decisions/0010).
    """
    return 1 / ((trial + DELAY) ** 2 * _SUM)


def alpha_for(past: Sequence[Ruling], *, share: float = SHARE, most: float = ALPHA) -> float:
    """The error rate at which the next trial is to be judged, given the rulings of all trials before it (e-LOND).

    Every accepted trial makes the later parts larger, because the share that may be false is of all that are accepted.
    It is never more than `most`, the error rate of one trial alone.
    """
    accepted = sum(ruling is Ruling.ACCEPT for ruling in past)
    return min(most, share * part(len(past) + 1) * (accepted + 1))
