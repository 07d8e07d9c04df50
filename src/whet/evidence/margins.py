"""Evidence that a change is no worse by more than a margin: bets against a mean of minus the margin, as for any mean.

What is left out cannot be expected to help, so the question is another one than for what is added: does it cost less
than the margin? If it costs the margin or more, the capital reaches 1/alpha at any look with a chance of at most alpha.
"""

import bisect
import math
from collections.abc import Sequence
from typing import NamedTuple

from whet.evidence.betting import aimed, constant

HIGHEST = 1e300


class MarginEvidence(NamedTuple):
    """The evidence after each case, and after how many it was enough; None where it is not."""

    way: tuple[float, ...]
    crossed: int | None

    @property
    def evidence(self) -> float:
        return self.way[-1] if self.way else 1.0


def no_worse(
    differences: Sequence[float], *, margin: float, alpha: float, planned: int | None = None, capital: float = 1.0
) -> MarginEvidence:
    """The evidence that the mean is above minus the margin; once it is enough, it stays as it was then."""
    if not 0 < margin < 1:
        raise ValueError("the margin is a share between 0 and 1")
    goal = 1 / (alpha * capital)
    if planned is None:
        walked = constant(differences, mean=-margin)
    else:
        walked = aimed(differences[:planned], planned=planned, goal=goal, mean=-margin)
    way: list[float] = []
    for won in walked:
        way.append(min(capital * won, HIGHEST))
        if won >= goal:
            return MarginEvidence((*way[:-1], max(way[-1], 1 / alpha)), len(way))
    return MarginEvidence(tuple(way), None)


def cases_to_show(margin: float, alpha: float, *, capital: float = 1.0) -> int:
    """How many cases are needed at least, if none of them ends otherwise without what is left out."""
    least = max(1, math.ceil(math.log(1 / (alpha * capital)) / -math.log1p(-margin) - 1e-9))

    def is_enough(cases: int) -> bool:
        same = [0.0] * cases
        return no_worse(same, margin=margin, alpha=alpha, planned=cases, capital=capital).crossed is not None

    return bisect.bisect_left(range(2 * least), True, lo=least, key=is_enough)
