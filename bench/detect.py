"""Detection on labelled sessions: fit the failure score, and measure it beside the rival and a cheap reference.

.venv/bin/python bench/detect.py [--write]

Every session is scored by a model that saw no session of its task (five folds by task, dealt four times), or
none of its source.
"""

import argparse
import json
import statistics
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import rival_detector
from detection_speed import speed
from labelled import HEALTHY, LABELLED, Case, cases
from logistic import Model, auc, balanced, fit, mcc
from whet.failures.analysis import analyse
from whet.failures.lessons import ChangeKind, distill
from whet.failures.score import SIGNS, Weights, measure
from whet.failures.signals import Kind
from whet.failures.view import gather
from whet.shipped.data import failure_weights

FOLDS = 5
DEALS = 4
PRIOR = 0.4
RIDGE = 0.003
# How much a falsely alarmed healthy coding session weighs against agreement with the labels.
ALARM_PRICE = 0.2
CHEAP = ("failed_share", "last_failed", "length")
WEIGHTS_FILE = Path(__file__).parent.parent / "src" / "whet" / "shipped" / "data" / "failure_score.json"


class Row(NamedTuple):
    """One labelled session, measured."""

    source: str
    task: str
    failed: bool
    signs: dict[str, float]
    rival: float


class Result(NamedTuple):
    """Agreement with the labels, by source."""

    auc: list[float]
    mcc: list[float]


def vector(row: Row, names: Sequence[str]) -> list[float]:
    return [row.signs[name] for name in names]


def train(rows: Sequence[Row], names: Sequence[str]) -> Model:
    failed = [row.failed for row in rows]
    shares = balanced([row.source for row in rows], failed)
    return fit([vector(row, names) for row in rows], failed, shares, prior=PRIOR, ridge=RIDGE)


def threshold(score: Callable[[Row], float], rows: Sequence[Row], healthy: Sequence[Row]) -> float:
    """The one threshold that agrees best with the labels of all sources and seldom alarms a healthy session."""
    scores = [score(row) for row in rows]
    alarms = [score(row) for row in healthy]
    groups = {name: [i for i, row in enumerate(rows) if row.source == name] for name in {row.source for row in rows}}

    def worth(limit: float) -> float:
        agreement = statistics.mean(
            mcc([scores[i] > limit for i in group], [rows[i].failed for i in group]) for group in groups.values()
        )
        return agreement - ALARM_PRICE * statistics.mean(alarm > limit for alarm in alarms)

    limits = statistics.quantiles(scores, n=100, method="inclusive")
    return max(limits, key=worth)


def by_source(scores: Sequence[float], said: Sequence[bool], rows: Sequence[Row]) -> Result:
    areas, agreements = [], []
    for name in LABELLED:
        group = [i for i, row in enumerate(rows) if row.source == name]
        if group:
            failed = [rows[i].failed for i in group]
            areas.append(auc([scores[i] for i in group], failed))
            agreements.append(mcc([said[i] for i in group], failed))
    return Result(areas, agreements)


def held_out(
    rows: Sequence[Row], healthy: Sequence[Row], part_of: Callable[[Row], object], names: Sequence[str]
) -> Result:
    """Score every part of the rows with a model and a threshold from the other parts."""
    scores, said = [0.0] * len(rows), [False] * len(rows)
    for part in sorted({str(part_of(row)) for row in rows}):
        rest = [row for row in rows if str(part_of(row)) != part]
        model = train(rest, names)

        def score(row: Row, model: Model = model) -> float:
            return model.logit(vector(row, names))

        limit = threshold(score, rest, healthy)
        for i, row in enumerate(rows):
            if str(part_of(row)) == part:
                scores[i], said[i] = score(row), score(row) > limit
    return by_source(scores, said, rows)


def by_task(rows: Sequence[Row], healthy: Sequence[Row], names: Sequence[str]) -> Result:
    """The mean over a few ways to deal the tasks into folds: one way alone is partly luck."""
    results = [held_out(rows, healthy, partial(_fold, deal=deal), names) for deal in range(DEALS)]
    return Result(
        [statistics.mean(areas) for areas in zip(*(result.auc for result in results), strict=True)],
        [statistics.mean(values) for values in zip(*(result.mcc for result in results), strict=True)],
    )


def _fold(row: Row, deal: int) -> int:
    return zlib.crc32(f"{deal}/{row.source}/{row.task}".encode()) % FOLDS


def measured(name: str, loaded: Iterable[Case]) -> list[Row]:
    return [
        Row(
            name,
            case.task,
            bool(case.failed),
            measure(gather(case.transcript)),
            float(sum(rival_detector.detect(case.raw["messages"]).values())),
        )
        for case in loaded
    ]


def shipped(rows: Sequence[Row], healthy: Sequence[Row]) -> Weights:
    """The model of all rows, moved so that its threshold is a score of one half."""
    names = [sign.name for sign in SIGNS]
    model = train(rows, names)
    limit = threshold(lambda row: model.logit(vector(row, names)), rows, healthy)
    weights = {name: round(weight, 3) for name, weight in zip(names, model.weights, strict=True)}
    return Weights(intercept=round(model.intercept - limit, 3), weights=weights)


def loops_by_flags(raw: dict[str, Any]) -> bool:
    """The definition, from the source's own flags: the same tool and arguments failed three times."""
    calls: dict[str, list[str]] = {}
    failures: dict[str, int] = {}
    for message in raw["messages"]:
        for call in message.get("tool_calls") or []:
            arguments = call["function"]["arguments"]
            try:
                arguments = json.dumps(json.loads(arguments), sort_keys=True)
            except (ValueError, TypeError):
                arguments = " ".join(str(arguments).split())
            calls.setdefault(call["id"], []).append(f"{call['function']['name']} {arguments}")
        if message["role"] == "tool" and calls.get(message.get("tool_call_id")):
            key = calls[message["tool_call_id"]].pop(0)
            failures[key] = failures.get(key, 0) + bool(message.get("is_error"))
    return any(count >= 3 for count in failures.values())


def precision_recall(said: Sequence[bool], true: Sequence[bool]) -> tuple[float, float]:
    hits = sum(a and b for a, b in zip(said, true, strict=True))
    return hits / max(1, sum(said)), hits / max(1, sum(true))


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
        weights = shipped(rows, healthy)
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
        "10×",
    )
    tell("one line of 1 MB, ms", "", "", f"{line:.0f}", "< 50")


def report_failure(rows: list[Row], healthy: list[Row]) -> None:
    names = [sign.name for sign in SIGNS]
    tasks, cheap = by_task(rows, healthy, names), by_task(rows, healthy, CHEAP)
    sources = held_out(rows, healthy, lambda row: row.source, names)
    cheap_sources = held_out(rows, healthy, lambda row: row.source, CHEAP)
    limit = threshold(lambda row: row.rival, rows, healthy)
    rival = by_source([row.rival for row in rows], [row.rival > limit for row in rows], rows)
    tell("measure", "rival", "cheap", "whet", "aim")
    mean = statistics.mean
    tell(
        "session failure, AUC macro, unseen tasks",
        f"{mean(rival.auc):.3f}",
        f"{mean(cheap.auc):.3f}",
        f"{mean(tasks.auc):.3f}",
        ".80",
    )
    for i, name in enumerate(LABELLED):
        tell(f"  {name}", f"{rival.auc[i]:.3f}", f"{cheap.auc[i]:.3f}", f"{tasks.auc[i]:.3f}", "")
    tell(
        "session failure, AUC macro, unseen source",
        "",
        f"{mean(cheap_sources.auc):.3f}",
        f"{mean(sources.auc):.3f}",
        ".70",
    )
    for i, name in enumerate(LABELLED):
        tell(f"  {name}", "", f"{cheap_sources.auc[i]:.3f}", f"{sources.auc[i]:.3f}", "")
    tell(
        "session failure, MCC macro, unseen tasks",
        f"{mean(rival.mcc):.3f}",
        f"{mean(cheap.mcc):.3f}",
        f"{mean(tasks.mcc):.3f}",
        ".40",
    )
    tell(
        "session failure, MCC macro, unseen source",
        "",
        f"{mean(cheap_sources.mcc):.3f}",
        f"{mean(sources.mcc):.3f}",
        "",
    )


def report_signals(loaded: dict[str, list[Case]]) -> None:
    weights = failure_weights()
    every = [case for name in (*LABELLED, *HEALTHY) for case in loaded[name]]
    truth = [loops_by_flags(case.raw) for case in every]
    analyses = [analyse(case.transcript, weights) for case in every]
    text_only = [analyse(case.transcript, weights, ignore_flags=True) for case in every]
    rival_hits = [rival_detector.detect(case.raw["messages"]) for case in every]
    found = precision_recall([any(s.kind is Kind.RETRY_LOOP for s in a.signals) for a in analyses], truth)
    unflagged = precision_recall([any(s.kind is Kind.RETRY_LOOP for s in a.signals) for a in text_only], truth)
    theirs = precision_recall([hits["retry_loop"] > 0 for hits in rival_hits], truth)
    tell(
        f"retry loops, precision/recall ({sum(truth)} sessions)",
        "{:.2f}/{:.2f}".format(*theirs),
        "",
        "{:.2f}/{:.2f}".format(*found),
        ".95/.95",
    )
    tell("  from text alone", "", "", "{:.2f}/{:.2f}".format(*unflagged), "")
    healthy = [(a, hits) for a, hits, case in zip(analyses, rival_hits, every, strict=True) if case.failed is None]
    rules = [lesson for lesson in distill(a for a, _ in healthy) if lesson.change is ChangeKind.RULE]
    theirs_share = statistics.mean(any(count >= 2 for count in hits.values()) for _, hits in healthy)
    tell(
        f"lessons that become rules, per 100 of {len(healthy)} healthy sessions",
        f"{100 * theirs_share:.0f}",
        "",
        f"{100 * len(rules) / len(healthy):.1f}",
        "≤ 2",
    )
    alarmed = statistics.mean(a.failure_score >= 0.5 for a, _ in healthy)
    tell("healthy coding sessions scored ≥ 0.5, share", "", "", f"{alarmed:.2f}", "")


if __name__ == "__main__":
    main()
