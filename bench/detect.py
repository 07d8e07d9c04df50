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
from loops import report_signals, tell
from whet.evidence.classical import wilson
from whet.failures.detectors import detect
from whet.failures.score import LONGER, REASON_WEIGHT, SAID, SIGNS, WHOLE, Weights, measure
from whet.failures.signals import SHOWN
from whet.failures.success_signs import is_backed
from whet.failures.summaries import MAY_HAVE_FAILED
from whet.failures.usual import beyond, circle_of, size_of, usual_by_circle
from whet.failures.view import gather
from whet.shipped.data import failure_weights

PRIOR = 0.8  # what a sign weighs before any session is seen: bad signs are bad everywhere
RIDGE = 0.003
BINS = 10
ROUNDS = 400
OWN = frozenset(sign.name for sign in SIGNS)
NAMES = (*(sign.name for sign in SIGNS), WHOLE, SAID)
WEIGHTS_FILE = Path(__file__).parent.parent / "src" / "whet" / "shipped" / "data" / "failure_score.json"


class Row(NamedTuple):
    """One session, measured."""

    source: str
    failed: bool
    signs: dict[str, float]
    rivals: dict[str, float]  # single features, and the rival's detector
    speaks: bool  # a signal that is shown, or a sign of success

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

    def tells(self, row: Row) -> bool:
        """Whether the record holds a bad sign or a sign of success, as `cannot_tell` asks."""
        return row.speaks or self._has_reason(row) or max(row.signs[WHOLE], row.signs[SAID]) >= LONGER

    def alarms(self, row: Row) -> bool:
        """Whether the session is said to have failed, perhaps, as `has_failed` says it."""
        return chance(self.logit(row)) >= MAY_HAVE_FAILED and self._has_reason(row)

    def _has_reason(self, row: Row) -> bool:
        weighed = zip(NAMES, self.model.weights, row.vector, strict=True)
        return any(self.slope * weight * value >= REASON_WEIGHT for name, weight, value in weighed if name in OWN)


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
        shown = any(signal.confidence >= SHOWN for signal in detect(evidence))
        speaks = shown or is_backed(evidence)
        rows.append(Row(name, bool(case.failed), signs, rivals, speaks))
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
    print(
        "| source left out | can tell | failed, of those | AUC | calibration error | failed, of the rest"
        " | may have failed | did (95 %) |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for one in found:
        print(
            f"| {one.source} | {one.covered:.0%} | {one.failed_told:.0%} | {one.area_told:.2f} | {one.error_told:.2f}"
            f" | {one.failed_rest:.0%} | {len(one.alarmed)} | {_share_of(one.alarmed)} |"
        )
    covered, told = [one.covered for one in found], [one.area_told for one in found]
    print(f"mean coverage {statistics.mean(covered):.0%}, AUC on it {statistics.mean(told):.3f}")
    line = straightened(rows)
    above = statistics.mean(chance(line.logit(row)) > 0.5 for row in healthy)
    alarmed = statistics.mean(line.alarms(row) for row in healthy)
    print(
        f"ordinary coding sessions above .5: {above:.0%} of {len(healthy)} (aim 15 %), may have failed: {alarmed:.0%}"
    )


def _share_of(alarmed: Sequence[bool]) -> str:
    low, high = wilson(sum(alarmed), len(alarmed))
    return f"{sum(alarmed) / max(1, len(alarmed)):.2f} ({low:.2f}–{high:.2f})"


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
    covered: float
    failed_told: float
    area_told: float
    error_told: float
    failed_rest: float
    alarmed: tuple[bool, ...]  # of those that may have failed by what Whet says: whether they did


def measure_source(source: str, rows: Sequence[Row]) -> LeftOut:
    line = straightened([row for row in rows if row.source != source])
    part = [row for row in rows if row.source == source]
    failed = [row.failed for row in part]
    logits = [line.logit(row) for row in part]
    told = [row for row in part if line.tells(row)]
    chances = [chance(line.logit(row)) for row in told]
    rest = [row.failed for row in part if not line.tells(row)]
    return LeftOut(
        source,
        len(part),
        statistics.mean(failed),
        tuple(auc([row.rivals[name] for row in part], failed) for name in part[0].rivals),
        auc(logits, failed),
        *interval(logits, failed),
        calibration_error([chance(each) for each in logits], failed),
        len(told) / len(part),
        statistics.mean(row.failed for row in told),
        auc(chances, [row.failed for row in told]),
        calibration_error(chances, [row.failed for row in told]),
        statistics.mean(rest) if rest else 0.0,
        tuple(row.failed for row in part if line.alarms(row)),
    )


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
    report_signals(loaded)
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
