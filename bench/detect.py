"""Detection on labelled sessions: fit the failure score, and measure it beside the rival and single features.

.venv/bin/python bench/detect.py [--write]

Every session is scored by a model that saw no session of its source, with the length of sessions compared within
their own source, as in a person's store. Intervals are 95 %, over sessions drawn again.
"""

import argparse
import json
import math
import random
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import rival_detector
from detection_speed import speed
from labelled import HEALTHY, LABELLED, Case, cases
from logistic import Model, auc, balanced, fit, straighten
from whet.failures.score import SAID, SIGNS, WHOLE, Weights, measure
from whet.failures.usual import beyond, circle_of, size_of, usual_by_circle
from whet.failures.view import gather
from whet.shipped.data import failure_weights

PRIOR = 0.8  # what a sign weighs before any session is seen: bad signs are bad everywhere
RIDGE = 0.003
BINS = 10
ROUNDS = 400
NAMES = (*(sign.name for sign in SIGNS), WHOLE, SAID)
WEIGHTS_FILE = Path(__file__).parent.parent / "src" / "whet" / "shipped" / "data" / "failure_score.json"


class Row(NamedTuple):
    """One session, measured."""

    source: str
    failed: bool
    signs: dict[str, float]
    rivals: dict[str, float]  # single features, and the rival's detector

    @property
    def vector(self) -> list[float]:
        return [self.signs[name] for name in NAMES]


class Line(NamedTuple):
    """The log odds of a row, straightened so that they are chances."""

    model: Model
    slope: float
    shift: float

    def logit(self, row: Row) -> float:
        return self.slope * self.model.logit(row.vector) + self.shift


def measured(name: str, loaded: Sequence[Case]) -> list[Row]:
    circles = [circle_of(case.transcript) for case in loaded]
    sizes = [size_of(case.transcript.messages) for case in loaded]
    usual = usual_by_circle(zip(circles, sizes, strict=True))
    rows = []
    for case, circle, size in zip(loaded, circles, sizes, strict=True):
        evidence = gather(case.transcript)
        more = beyond(size, circle, usual)
        signs = {**measure(evidence), WHOLE: more.whole, SAID: more.said}
        rivals = {
            "calls": float(len(evidence.steps)),
            "characters": float(size.whole),
            "share of failed calls": signs["failed_share"],
            "the rival": float(sum(rival_detector.detect(case.raw["messages"]).values())),
        }
        rows.append(Row(name, bool(case.failed), signs, rivals))
    return rows


def train(rows: Sequence[Row]) -> Model:
    failed = [row.failed for row in rows]
    shares = balanced([row.source for row in rows], failed)
    return fit([row.vector for row in rows], failed, shares, prior=PRIOR, ridge=RIDGE)


def straightened(rows: Sequence[Row]) -> Line:
    """A model of all rows, with its log odds straightened on sources that it had not seen."""
    logits: list[float] = []
    sources = sorted({row.source for row in rows})
    unseen: list[Row] = []
    for source in sources:
        model = train([row for row in rows if row.source != source])
        part = [row for row in rows if row.source == source]
        unseen += part
        logits += [model.logit(row.vector) for row in part]
    counts = {source: sum(row.source == source for row in rows) for source in sources}
    shares = [1 / (len(sources) * counts[row.source]) for row in unseen]
    slope, shift = straighten(logits, [row.failed for row in unseen], shares)
    return Line(train(rows), slope, shift)


def shipped(rows: Sequence[Row]) -> Weights:
    line = straightened(rows)
    weights = {name: round(line.slope * weight, 3) for name, weight in zip(NAMES, line.model.weights, strict=True)}
    return Weights(intercept=round(line.slope * line.model.intercept + line.shift, 3), weights=weights)


def chance(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))


def calibration_error(chances: Sequence[float], failed: Sequence[bool]) -> float:
    """The mean distance between what was said and what happened, over ten equally full bins."""
    order = sorted(range(len(chances)), key=lambda i: chances[i])
    total = 0.0
    for k in range(BINS):
        part = order[k * len(order) // BINS : (k + 1) * len(order) // BINS]
        if part:
            said = statistics.mean(chances[i] for i in part)
            total += len(part) / len(order) * abs(said - statistics.mean(failed[i] for i in part))
    return total


def interval(scores: Sequence[float], failed: Sequence[bool]) -> tuple[float, float]:
    draw = random.Random(7)
    places = range(len(scores))
    found = []
    for _ in range(ROUNDS):
        drawn = draw.choices(places, k=len(scores))
        found.append(auc([scores[i] for i in drawn], [failed[i] for i in drawn]))
    found.sort()
    return found[int(0.025 * ROUNDS)], found[int(0.975 * ROUNDS)]


def report_failure(rows: list[Row], healthy: list[Row]) -> None:
    print(
        "| source left out | n | failed | calls | characters | failed calls | rival | whet (95 %) | calibration error |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    found = [measure_source(source, rows) for source in LABELLED]
    for one in found:
        print(
            f"| {one.source} | {one.size} | {one.failed:.0%} | {' | '.join(f'{each:.2f}' for each in one.rivals)}"
            f" | {one.area:.2f} ({one.low:.2f}–{one.high:.2f}) | {one.error:.2f} |"
        )
    areas, errors = [one.area for one in found], [one.error for one in found]
    print(f"mean AUC {statistics.mean(areas):.3f} (aim .75), calibration error {statistics.mean(errors):.2f} (aim .10)")
    line = straightened(rows)
    above = statistics.mean(chance(line.logit(row)) > 0.5 for row in healthy)
    print(f"ordinary coding sessions above .5: {above:.0%} of {len(healthy)} (aim 15 %)")


class LeftOut(NamedTuple):
    """How a source is scored by a model that saw none of it."""

    source: str
    size: int
    failed: float
    rivals: tuple[float, ...]
    area: float
    low: float
    high: float
    error: float


def measure_source(source: str, rows: Sequence[Row]) -> LeftOut:
    line = straightened([row for row in rows if row.source != source])
    part = [row for row in rows if row.source == source]
    failed = [row.failed for row in part]
    logits = [line.logit(row) for row in part]
    return LeftOut(
        source,
        len(part),
        statistics.mean(failed),
        tuple(auc([row.rivals[name] for row in part], failed) for name in part[0].rivals),
        auc(logits, failed),
        *interval(logits, failed),
        calibration_error([chance(each) for each in logits], failed),
    )


def tell(measure_name: str, rival: str, cheap: str, ours: str, aim: str) -> None:
    print(f"{measure_name:<58}{rival:>14}{cheap:>14}{ours:>16}{aim:>12}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="ship the weights fitted on all labelled sessions")
    options = parser.parse_args()
    loaded = {name: list(cases(name)) for name in (*LABELLED, *HEALTHY)}
    rows = [row for name in LABELLED for row in measured(name, loaded[name])]
    healthy = [row for name in HEALTHY for row in measured(name, loaded[name])]
    if options.write:
        weights = shipped(rows)
        WEIGHTS_FILE.write_text(
            json.dumps({"intercept": weights.intercept, "weights": weights.weights}, indent=2) + "\n"
        )
        failure_weights.cache_clear()
    report_failure(rows, healthy)
    rival, ours, line = speed((*LABELLED, *HEALTHY))
    tell(
        "speed from .jsonl, one core, MB/s (and times the rival)",
        f"{rival:.1f}",
        "",
        f"{ours:.0f} ({ours / rival:.1f}×)",
        "6×",
    )
    tell("one line of 1 MB, ms", "", "", f"{line:.0f}", "< 50")


if __name__ == "__main__":
    main()
