"""Retry loops and lessons on the labelled sessions, beside the rival's phrases: the second part of bench/detect.py."""

import json
import statistics
from collections.abc import Sequence
from typing import Any

import rival_detector
from labelled import HEALTHY, LABELLED, Case
from whet.failures.analysis import analyse
from whet.failures.kinds import ChangeKind
from whet.failures.lessons import distill
from whet.failures.signals import Kind
from whet.shipped.data import failure_weights


def tell(measure_name: str, rival: str, cheap: str, ours: str, aim: str) -> None:
    print(f"{measure_name:<58}{rival:>14}{cheap:>14}{ours:>16}{aim:>12}", flush=True)


def loops_by_flags(raw: dict[str, Any]) -> bool:
    """The definition, from the source's own flags: the same call failed three times on end with the same answer."""
    calls: dict[str, list[str]] = {}
    failures: dict[str, int] = {}
    longest = 0
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
            if not message.get("is_error"):
                failures.clear()
            else:
                key += " " + " ".join(str(message.get("content")).split())
                failures[key] = failures.get(key, 0) + 1
                longest = max(longest, failures[key])
    return longest >= 3


def precision_recall(said: Sequence[bool], true: Sequence[bool]) -> tuple[float, float]:
    hits = sum(a and b for a, b in zip(said, true, strict=True))
    return hits / max(1, sum(said)), hits / max(1, sum(true))


def report_signals(loaded: dict[str, list[Case]]) -> None:
    weights = failure_weights()
    every = [case for name in (*LABELLED, *HEALTHY) for case in loaded[name]]
    truth = [loops_by_flags(case.raw) for case in every]
    analyses = [analyse(case.transcript, weights) for case in every]
    text_only = [analyse(case.transcript, weights, ignore_flags=True) for case in every]
    rival_hits = [rival_detector.detect(case.raw["messages"]) for case in every]
    found = precision_recall([any(s.kind == Kind.RETRY_LOOP for s in a.signals) for a in analyses], truth)
    unflagged = precision_recall([any(s.kind == Kind.RETRY_LOOP for s in a.signals) for a in text_only], truth)
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
