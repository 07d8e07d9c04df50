"""Logistic regression in plain Python: non-negative weights, a ridge towards a prior, weighted rows."""

import math
from collections.abc import Sequence
from typing import NamedTuple

SWEEPS = 60
TOLERANCE = 1e-4


class Model(NamedTuple):
    intercept: float
    weights: tuple[float, ...]

    def logit(self, row: Sequence[float]) -> float:
        return self.intercept + sum(weight * value for weight, value in zip(self.weights, row, strict=True))


def fit(
    rows: Sequence[Sequence[float]], failed: Sequence[bool], shares: Sequence[float], *, prior: float, ridge: float
) -> Model:
    """Minimise the weighted loss by Newton steps on one coordinate at a time, clipped at zero."""
    width = len(rows[0])
    columns = [[(i, row[j]) for i, row in enumerate(rows) if row[j]] for j in range(width)]
    weights, intercept = [prior] * width, 0.0
    logits = [prior * sum(row) for row in rows]
    for _ in range(SWEEPS):
        moved = 0.0
        slope = curve = 0.0
        for i, logit in enumerate(logits):
            chance = _sigmoid(logit)
            slope += shares[i] * (chance - failed[i])
            curve += shares[i] * chance * (1 - chance)
        step = -slope / max(curve, 1e-9)
        intercept += step
        logits = [logit + step for logit in logits]
        moved = abs(step)
        for j, column in enumerate(columns):
            slope, curve = 2 * ridge * (weights[j] - prior), 2 * ridge
            for i, value in column:
                chance = _sigmoid(logits[i])
                slope += shares[i] * (chance - failed[i]) * value
                curve += shares[i] * chance * (1 - chance) * value * value
            step = max(0.0, weights[j] - slope / curve) - weights[j]
            weights[j] += step
            moved = max(moved, abs(step))
            for i, value in column:
                logits[i] += step * value
        if moved < TOLERANCE:
            break
    return Model(intercept, tuple(weights))


def straighten(logits: Sequence[float], failed: Sequence[bool], shares: Sequence[float]) -> tuple[float, float]:
    """The slope and the shift that make log odds into chances, by Newton steps on both at once."""
    slope, shift = 1.0, 0.0
    for _ in range(SWEEPS):
        g0 = g1 = h00 = h01 = h11 = 0.0
        for logit, bad, share in zip(logits, failed, shares, strict=True):
            chance = _sigmoid(slope * logit + shift)
            off, curve = share * (chance - bad), share * chance * (1 - chance)
            g0, g1 = g0 + off * logit, g1 + off
            h00, h01, h11 = h00 + curve * logit * logit, h01 + curve * logit, h11 + curve
        size = h00 * h11 - h01 * h01
        move = (h11 * g0 - h01 * g1) / size, (h00 * g1 - h01 * g0) / size
        slope, shift = slope - move[0], shift - move[1]
        if max(map(abs, move)) < TOLERANCE:
            break
    return slope, shift


def balanced(sources: Sequence[str], failed: Sequence[bool]) -> list[float]:
    """Row shares that let every source, and failure and success within it, weigh the same."""
    counts: dict[tuple[str, bool], int] = {}
    for key in zip(sources, failed, strict=True):
        counts[key] = counts.get(key, 0) + 1
    return [1 / (counts[key] * len(counts)) for key in zip(sources, failed, strict=True)]


def auc(scores: Sequence[float], failed: Sequence[bool]) -> float:
    """The chance that a failed session scores above one that did not; ties count half."""
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    ranks = [0.0] * len(scores)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and scores[order[end]] == scores[order[start]]:
            end += 1
        for place in order[start:end]:
            ranks[place] = (start + end + 1) / 2
        start = end
    bad = sum(failed)
    good = len(failed) - bad
    if not bad or not good:
        return 0.5
    return (sum(rank for rank, f in zip(ranks, failed, strict=True) if f) - bad * (bad + 1) / 2) / (bad * good)


def mcc(said: Sequence[bool], failed: Sequence[bool]) -> float:
    """Matthews' correlation of a verdict with the truth."""
    pairs = list(zip(said, failed, strict=True))
    tp, fp = pairs.count((True, True)), pairs.count((True, False))
    fn, tn = pairs.count((False, True)), pairs.count((False, False))
    spread = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / spread if spread else 0.0


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
