"""whet judge: whether one arm of an experiment is really better than another."""

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, pstdev

import click

from whet.cli.options import json_command
from whet.cli.output import fields, give, plain
from whet.evidence.betting import mcnemar
from whet.evidence.intervals import bootstrap, wilson
from whet.evidence.outcome_table import Comparison, OutcomeTable, compare, range_of, read_table, rows_of
from whet.evidence.power import POWER, cases_needed, minimum_effect
from whet.evidence.verdicts import ALPHA, Ruling, Verdict, judge, judge_once, record_of
from whet.store.folders import read_given
from whet.text.words import many

EXIT_CODES = {Ruling.ACCEPT: 0, Ruling.UNDECIDED: 3, Ruling.REJECT: 4}
COLOURS = {Ruling.ACCEPT: "green", Ruling.UNDECIDED: "yellow", Ruling.REJECT: "red"}
BOOTSTRAP_SEED = 1
ONE_LOOK = "[dim]One look at all cases. If you looked before, or will add cases and look again: --growing.[/]"
BOOTSTRAP_CASES = 20_000


@json_command("judge", epilog="Example: whet judge outcomes.csv --base old --candidate new")
@click.argument("file", metavar="FILE")
@click.option("--base", help="Arm to compare with. Default: recognised by its name.")
@click.option("--candidate", help="Arm that should be better.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    default=ALPHA,
    show_default=True,
    help="Maximum rate of false accepts, and of false rejects.",
)
@click.option("--bounds", type=(float, float), metavar="LOW HIGH", help="The lowest and highest possible score.")
@click.option("--growing", is_flag=True, help="Cases are still being added: valid at any number of looks.")
@click.option("--details", is_flag=True, help="Add Wilson intervals, McNemar's exact test and a bootstrap over cases.")
@click.option("--exit-code", is_flag=True, help="Report the verdict in the exit code.")
def command(
    file: str,
    base: str | None,
    candidate: str | None,
    alpha: float,
    bounds: tuple[float, float] | None,
    growing: bool,
    details: bool,
    exit_code: bool,
) -> int:
    """Judge an experiment: is the candidate arm better than the base on the same cases? FILE is a table with the
    columns case, seed, arm and passed (or score), in any order, with commas, tabs or semicolons; - reads standard
    input. Attempts are paired by case and seed, and the case is the unit. Accepts when the evidence that the
    candidate helps reaches 1/alpha, rejects when the evidence of harm does. The false-accept rate is at most alpha
    for one look at cases whose number was chosen in advance; with --growing it holds however often you look while
    cases are added, at the price of power. Exit code 0 for any verdict; with --exit-code 0 accept, 3 undecided, 4
    reject.
    """
    path = Path("/dev/stdin" if file == "-" else os.path.expanduser(file))
    raw = read_given(path, advice="Name a table, or - to pipe it.")
    table = read_table(rows_of(raw), bounds=range_of(bounds))
    comparison = compare(table, base=base, candidate=candidate)
    differences = comparison.differences
    verdict = (judge if growing else judge_once)(differences, alpha=alpha, attempts=comparison.attempts)
    more = _details(comparison) if details else {}
    lines = (*_lines(verdict, comparison, table), *(() if growing else (ONE_LOOK,)), *_detail_lines(more))
    record = {**_record(verdict, comparison, table, growing=growing), **more}
    return give(record, lines, code=EXIT_CODES[verdict.ruling] if exit_code else 0)


def _record(verdict: Verdict, comparison: Comparison, table: OutcomeTable, *, growing: bool) -> dict[str, object]:
    spread = pstdev(comparison.differences)
    return {
        **record_of(verdict),
        "confidence": 1 - 2 * verdict.alpha,
        "growing": growing,
        **fields(comparison, "base", "candidate"),
        "base_rate": fmean(comparison.base_rates),
        "candidate_rate": fmean(comparison.candidate_rates),
        "paired_by": "seed" if comparison.by_seed else "case",
        "left_out": {
            "unpaired_attempts": comparison.unpaired,
            "cases": comparison.left_out_cases,
            "rows_without_outcome": table.absent,
        },
        "cases_needed": cases_needed(abs(verdict.effect), spread=spread, alpha=verdict.alpha),
        "minimum_effect": minimum_effect(spread=spread, cases=verdict.cases, alpha=verdict.alpha),
    }


def _details(comparison: Comparison) -> dict[str, object]:
    arms = {"base": comparison.base_rates, "candidate": comparison.candidate_rates}
    single = all(rate in (0.0, 1.0) for rates in arms.values() for rate in rates)
    found: dict[str, object] = {}
    if single:
        wins = sum(difference > 0 for difference in comparison.differences)
        losses = sum(difference < 0 for difference in comparison.differences)
        found["wins"], found["losses"], found["mcnemar_p"] = wins, losses, mcnemar(wins, losses)
        found["wilson"] = {name: list(wilson(round(sum(rates)), len(rates))) for name, rates in arms.items()}
    if len(comparison.differences) <= BOOTSTRAP_CASES:
        found["bootstrap"] = list(bootstrap(comparison.differences, seed=BOOTSTRAP_SEED, rounds=1000))
    return found


def _lines(verdict: Verdict, comparison: Comparison, table: OutcomeTable) -> Iterator[str]:
    candidate, base = plain(comparison.candidate), plain(comparison.base)
    sentence = {
        Ruling.ACCEPT: f"{candidate} is better than {base}.",
        Ruling.REJECT: f"{candidate} is worse than {base}.",
        Ruling.UNDECIDED: f"not enough evidence that {candidate} is better or worse than {base}.",
    }[verdict.ruling]
    yield f"[bold {COLOURS[verdict.ruling]}]{verdict.ruling.value.capitalize()}[/]: {sentence}"
    yield (
        f"Effect {_points(verdict.effect)} points ({base} {fmean(comparison.base_rates):.1%}, {candidate} "
        f"{fmean(comparison.candidate_rates):.1%}), between {_points(verdict.interval.low)} and "
        f"{_points(verdict.interval.high)}; error rate of each bound at most {verdict.alpha:.3g}."
    )
    yield (
        f"Evidence of help {_evidence(verdict.evidence_help)}, of harm {_evidence(verdict.evidence_harm)}; "
        f"decided at {1 / verdict.alpha:.3g}. {many(verdict.cases, 'case')}, {many(verdict.attempts, 'attempt')}."
    )
    if verdict.ruling is Ruling.UNDECIDED:  # what it would take
        spread = pstdev(comparison.differences)
        smallest = minimum_effect(spread=spread, cases=verdict.cases, alpha=verdict.alpha)
        needed = cases_needed(abs(verdict.effect), spread=spread, alpha=verdict.alpha)
        power = f"With this many cases: {POWER:.0%} power to detect {_points(smallest)} points."
        yield power if smallest < 1 else "Too few cases to decide anything."
        if needed is not None and verdict.effect:
            then = "would decide. More seeds per case help too."
            yield f"If the effect is as measured, about {many(needed, 'case')} {then}"
    if not comparison.by_seed:
        yield "[dim]The arms share no seeds, so attempts were averaged per case and arm.[/]"
    if comparison.unpaired:
        cases = f", {many(comparison.left_out_cases, 'case')} with them" if comparison.left_out_cases else ""
        yield f"[dim]Left out: {many(comparison.unpaired, 'attempt')} that the other arm lacks{cases}.[/]"
    if table.absent:
        yield f"[dim]Left out: {many(table.absent, 'row')} without an outcome.[/]"


def _detail_lines(details: dict[str, object]) -> Iterator[str]:
    names = {"mcnemar_p": "exact McNemar, two-sided p", "wilson": "Wilson 95 %", "bootstrap": "bootstrap 95 %"}
    for name, value in details.items():
        yield f"  {names.get(name, name)}: {plain(_shown(value))}"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name} {_shown(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return " to ".join(_shown(inner) for inner in value)
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _points(effect: float) -> str:
    return f"{100 * effect:+.1f}" if abs(effect) >= 0.01 or not effect else f"{100 * effect:+.2g}"


def _evidence(evidence: float) -> str:
    return f"{evidence:.1f}" if evidence < 1000 else f"{evidence:.2g}"
