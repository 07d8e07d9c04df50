"""What live sessions say of a template, so that what helped earlier does not shield what harms now.

A gambler against "it is worth its tokens in every session" begins with the first session, and a new one with every
epoch; each bets on to the end. The k-th may be wrong with a chance of alpha / k(k + 1), together with one of alpha at
most: that is the risk of ever retiring a template that is worth its tokens (docs/decisions/0015).
"""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from whet.evidence.betting import log_capitals
from whet.lessons.live import LiveComparison
from whet.trials.canaries import Observation, compare, mirrored, moves_of
from whet.values import Value

ALPHA = 0.05
"""The risk, with one model, of ever retiring a template that is worth its tokens, and that of praising an idle one."""

LEAST_EFFECT = 0.1
"""The share of failed sessions that a template must save to be worth its tokens."""

EPOCH_SESSIONS = 100


class Judgement(StrEnum):
    """What a template does, as far as is known."""

    HELPS = "helps"
    IDLE = "not worth its tokens"
    HARMS = "harms"
    OPEN = "open"


class Epoch(NamedTuple):
    """One gambler: the how many-th it is, and the number of sessions before it began."""

    number: int
    start: int

    @property
    def alpha(self) -> float:
        return ALPHA / (self.number * (self.number + 1))


class JudgedTemplate(Value, frozen=True):
    """What was found, by the sessions since the epoch whose gambler says so."""

    judgement: Judgement
    epoch: int
    comparison: LiveComparison


def epochs(count: int, ends: Sequence[int] = (), *, length: int = EPOCH_SESSIONS) -> tuple[Epoch, ...]:
    """The gamblers that bet on `count` sessions: those since the last end, at which everyone before left the table.

    Whoever comes after an end is numbered on, so that what was risked before stays counted.
    """
    last = max((end for end in ends if end <= count), default=0)
    bounds = sorted({0, count, *(end for end in ends if end < count)})
    starts = [start for begin, end in pairwise(bounds) for start in range(begin, end, length)]
    return tuple(Epoch(number, start) for number, start in enumerate(starts, start=1) if start >= last)


def judge(observations: Sequence[Observation], ends: Sequence[int] = (), *, fresh: int = 0) -> JudgedTemplate:
    """What the sessions since the last end say now, with the numbers behind it."""
    judgement, epoch = rule(observations, ends, fresh=fresh)
    if epoch is None:
        return JudgedTemplate(judgement, 0, compare(()))
    return JudgedTemplate(judgement, epoch.number, compare(observations, alpha=epoch.alpha, since=epoch.start))


def rule(
    observations: Sequence[Observation], ends: Sequence[int] = (), *, fresh: int = 0, length: int = EPOCH_SESSIONS
) -> tuple[Judgement, Epoch | None]:
    """What the sessions since the last end say, and by whose bets; by nobody's where there are none.

    Only gamblers who began with a session from `fresh` on may say that it helps: older praise proves nothing of today.
    """
    playing = epochs(len(observations), ends, length=length)
    if not playing:
        return Judgement.OPEN, None
    against = list(mirrored(observations))
    epoch = _surest(moves_of(against, effect=-LEAST_EFFECT), playing)
    if epoch is not None:
        does_harm = _surest(moves_of(against), (epoch,)) is not None
        return Judgement.HARMS if does_harm else Judgement.IDLE, epoch
    epoch = _surest(moves_of(observations), [each for each in playing if each.start >= fresh])
    return (Judgement.HELPS, epoch) if epoch else (Judgement.OPEN, playing[0])


def _surest(moves: Iterable[float], playing: Sequence[Epoch]) -> Epoch | None:
    """The gambler who has won most beyond what is enough; None where none has enough."""
    won = log_capitals(list(moves), [epoch.start for epoch in playing])
    beyond = [(log + math.log(epoch.alpha), epoch) for log, epoch in zip(won, playing, strict=True)]
    most, epoch = max(beyond, default=(-math.inf, None))
    return epoch if most >= 0 else None
