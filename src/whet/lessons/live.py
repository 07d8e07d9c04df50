"""What is known of a lesson that is told to a share of the sessions: how they went, beside those that were not told."""

from enum import StrEnum

from whet.evidence.intervals import Interval
from whet.values import Value

STOPS = 20.0
"""Evidence of harm from which on a guard stops a promotion."""


class CanaryMove(StrEnum):
    """What the outcomes so far ask for."""

    PROMOTE = "promote"
    REVERT = "revert"
    WAIT = "wait"


class LiveComparison(Value, frozen=True):
    """The sessions that were told against the others. A positive effect is less loss, and speaks for the rule."""

    decision: CanaryMove
    told: int
    untold: int
    loss_told: float | None
    loss_untold: float | None
    effect: float
    interval: Interval  # each bound holds with 1 - alpha, at every look
    evidence_help: float  # promoted from 1 / alpha on
    evidence_harm: float  # reverted from 1 / alpha on
    alpha: float
    decided_at: int | None = None  # after so many observations


class LiveGuard(Value, frozen=True):
    """How one guard stands: its mean with the rule and without it, and the evidence that the rule makes it worse."""

    name: str
    told: float | None
    untold: float | None
    evidence_harm: float
    reverts: bool = False

    @property
    def stops(self) -> bool:
        return self.reverts or self.evidence_harm >= STOPS


class LiveCounts(Value, frozen=True):
    """The evidence so far on a lesson that is live, and what was done about it: the number of the entry, and why."""

    since: float
    share: float
    sessions: int
    comparison: LiveComparison
    decided: int = 0
    why: str = ""
    endpoint: str = ""  # the detector whose failures are counted; empty where the time that is lost counts
    guards: tuple[LiveGuard, ...] = ()
    held_by: str = ""
    next_look: int | None = None  # after so many sessions in the rule's situation
    together: "Bundle | None" = None


class Bundle(Value, frozen=True):
    """The lessons that are drawn for as one: the number of the first, how many, and what is known of all together."""

    number: int
    lessons: int
    counts: LiveCounts

    @property
    def words(self) -> str:
        """How sessions went with all of them and without."""
        found = self.counts.comparison
        told, untold = 100 * (found.loss_told or 0.0), 100 * (found.loss_untold or 0.0)
        return (
            f"{self.lessons} lessons told together (bundle {self.number}): of the sessions in a situation of theirs"
            f" {told:.0f} % of {found.told} failed in one with them, {untold:.0f} % of {found.untold} without"
        )
