"""A table of outcomes, as anyone keeps one, read into one difference per case."""

import csv
import math
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import NamedTuple

from whet.errors import WhetError
from whet.evidence.verdicts import fixed_order

NAMES: Mapping[str, tuple[str, ...]] = {
    "case": ("case", "case_id", "task", "task_id", "instance", "instance_id", "example", "example_id", "question",
             "question_id", "problem", "problem_id", "item", "item_id", "test", "test_id", "id"),
    "seed": ("seed", "run", "run_id", "repeat", "repetition", "replicate", "attempt", "epoch", "trial", "sample",
             "sample_id", "rep"),
    "arm": ("arm", "variant", "condition", "treatment", "group", "system", "agent", "method", "config", "prompt",
            "model", "version"),
    "outcome": ("passed", "score", "pass", "success", "succeeded", "correct", "resolved", "reward", "outcome",
                "result", "accuracy", "value"),
}  # fmt: skip
"""The headings under which each column is known, the likeliest first."""

BASE_NAMES = ("base", "baseline", "control", "before", "old", "without", "cold", "current", "reference", "a", "0")
CANDIDATE_NAMES = ("candidate", "treatment", "treated", "after", "new", "with", "patched", "b", "1")
WORDS: Mapping[str, float] = {
    **dict.fromkeys(("true", "yes", "y", "t", "pass", "passed", "success", "ok", "correct", "resolved"), 1.0),
    **dict.fromkeys(("false", "no", "n", "f", "fail", "failed", "failure", "error", "incorrect", "unresolved"), 0.0),
}
DELIMITERS = (",", "\t", ";", "|")
ABSENT = frozenset({"", "na", "n/a", "nan", "null", "none", "-"})
TIES = 12  # decimals: means of the same outcomes in another order are the same difference


class Columns(NamedTuple):
    """Where the columns stand; a table without seeds has one attempt per case and arm."""

    case: int
    seed: int | None
    arm: int
    outcome: int


class ScoreRange(NamedTuple):
    """The lowest and the highest possible score."""

    low: float = 0.0
    high: float = 1.0


class OutcomeTable(NamedTuple):
    """The outcomes of every arm by case and seed, scaled to [0, 1]; arms in the order of the table."""

    arms: dict[str, dict[tuple[str, str], float]]
    absent: int  # rows without an outcome


class Comparison(NamedTuple):
    """Two arms on the same cases: a difference per case, in the fixed order, and what was left out."""

    base: str
    candidate: str
    differences: tuple[float, ...]
    base_rates: tuple[float, ...]  # per case, as the differences
    candidate_rates: tuple[float, ...]
    attempts: int
    unpaired: int  # attempts of one arm without their like in the other
    left_out_cases: int
    by_seed: bool  # the arms share no seed when false, and each case's attempts were averaged on either side


def rows_of(raw: bytes) -> Iterator[tuple[int, Sequence[str]]]:
    """The rows of a CSV file, numbered by their lines, whatever its delimiter; UTF-8 or UTF-16."""
    text = raw.decode("utf-16" if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig", "replace")
    heading = text[: text.find("\n")] if "\n" in text else text
    delimiter = max(DELIMITERS, key=heading.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise WhetError(f"Line {reader.line_num} cannot be read: {error}.", advice="Give a table as CSV.") from None


def range_of(bounds: tuple[float, float] | None) -> ScoreRange | None:
    """The bounds that a person gave, as a range; raises WhetError for what is none."""
    if bounds is None:
        return None
    if not bounds[0] < bounds[1] or any(math.isinf(bound) for bound in bounds):
        raise WhetError("The bounds must be a lower and a higher number.", advice="For example 0 and 100.")
    return ScoreRange(*bounds)


def read_table(rows: Iterable[tuple[int, Sequence[str]]], *, bounds: ScoreRange | None = None) -> OutcomeTable:
    """Numbered rows, the heading first, as a table. A row that contradicts another or makes no sense is an error."""
    numbered = iter(rows)
    _, heading = next(numbered, (1, ()))
    columns = find_columns(heading)
    limits = bounds or ScoreRange()
    arms: dict[str, dict[tuple[str, str], float]] = {}
    lines: dict[tuple[str, str, str], int] = {}
    absent = 0
    for line, row in numbered:
        if not any(row):
            continue
        key, text = _cells(row, columns, line)
        if (first := lines.setdefault(key, line)) != line:
            raise _duplicate(key, first, line, columns)
        if text.lower() in ABSENT:
            absent += 1
            continue
        arms.setdefault(key[0], {})[key[1:]] = _scaled(text, limits, line, named=bounds is not None)
    return OutcomeTable(arms, absent)


def find_columns(heading: Sequence[str]) -> Columns:
    """The place of each column by its heading."""
    known = {_plain(name): place for place, name in reversed(list(enumerate(heading)))}
    found = {wanted: next((known[name] for name in names if name in known), None) for wanted, names in NAMES.items()}
    case, arm, outcome = found["case"], found["arm"], found["outcome"]
    if case is None or arm is None or outcome is None:
        missing = [wanted for wanted in ("case", "arm", "outcome") if found[wanted] is None]
        raise WhetError(
            f"The table has no column for: {', '.join(missing)}. Its headings are: {', '.join(heading) or 'none'}.",
            advice="Name the columns case, seed, arm and passed (or score) in the first line; seed may be missing.",
        )
    return Columns(case, found["seed"], arm, outcome)


def compare(table: OutcomeTable, *, base: str | None = None, candidate: str | None = None) -> Comparison:
    """The candidate against the base, on the attempts that both have; without any it is a WhetError."""
    base, candidate = choose_arms(list(table.arms), base, candidate)
    before, after = table.arms[base], table.arms[candidate]
    shared = before.keys() & after.keys()
    both = {case for case, _ in before} & {case for case, _ in after}
    by_seed = bool(shared)
    kept = shared if by_seed else {key for key in before.keys() | after.keys() if key[0] in both}
    if not kept:
        raise WhetError(
            f"No case was run in both arms, {base} and {candidate}.",
            advice="Run the same cases, under the same names, in both arms.",
        )
    base_rates, candidate_rates = _rates(before, kept), _rates(after, kept)
    every = {case for case, _ in before} | {case for case, _ in after}
    order = fixed_order(base_rates)
    attempts = sum(key in kept for key in before) + sum(key in kept for key in after)
    return Comparison(
        base=base,
        candidate=candidate,
        differences=tuple(round(candidate_rates[case] - base_rates[case], TIES) for case in order),
        base_rates=tuple(base_rates[case] for case in order),
        candidate_rates=tuple(candidate_rates[case] for case in order),
        attempts=attempts,
        unpaired=len(before) + len(after) - attempts,
        left_out_cases=len(every) - len(order),
        by_seed=by_seed,
    )


def _rates(outcomes: Mapping[tuple[str, str], float], kept: Collection[tuple[str, str]]) -> dict[str, float]:
    """The mean outcome of each case over the attempts that are kept."""
    gathered: dict[str, list[float]] = {}
    for key, value in outcomes.items():
        if key in kept:
            gathered.setdefault(key[0], []).append(value)
    return {case: math.fsum(values) / len(values) for case, values in gathered.items()}


def choose_arms(arms: Sequence[str], base: str | None, candidate: str | None) -> tuple[str, str]:
    """Which arm is the base and which the candidate; told, or known by their names and because there are but two."""
    for named in (base, candidate):
        if named is not None and named not in arms:
            raise WhetError(f"There is no arm {named}.", advice=f"The arms are: {_listed(arms)}.")
    if base is not None and base == candidate:
        raise WhetError("The base and the candidate are the same arm.", advice="Name two arms.")
    if len(arms) < 2:
        raise WhetError("A comparison needs two arms.", advice=f"The arms in the table are: {_listed(arms) or 'none'}.")
    base = base or _only([arm for arm in arms if arm != candidate], BASE_NAMES)
    candidate = candidate or _only([arm for arm in arms if arm != base], CANDIDATE_NAMES if len(arms) == 2 else ())
    base = base or _only([arm for arm in arms if arm != candidate], ())
    if base is None or candidate is None:
        raise WhetError(f"There are {len(arms)} arms: {_listed(arms)}.", advice="Choose two: --base and --candidate.")
    return base, candidate


def _only(arms: Sequence[str], names: Collection[str]) -> str | None:
    """The only arm that there is, or the only one with one of these names."""
    named = [arm for arm in arms if _plain(arm) in names] if len(arms) > 1 else arms
    return named[0] if len(named) == 1 else None


def _cells(row: Sequence[str], columns: Columns, line: int) -> tuple[tuple[str, str, str], str]:
    try:
        case, arm, outcome = row[columns.case].strip(), row[columns.arm].strip(), row[columns.outcome].strip()
        seed = "" if columns.seed is None else row[columns.seed].strip()
    except IndexError:
        raise WhetError(f"Line {line} has {len(row)} columns, fewer than its heading.", advice="Mend it.") from None
    if not case or not arm:
        raise WhetError(
            f"Line {line} names no {'arm' if case else 'case'}.", advice="Every row needs a case and an arm."
        )
    return (arm, case, seed), outcome


def _scaled(text: str, bounds: ScoreRange, line: int, *, named: bool) -> float:
    value = WORDS.get(text.lower())
    if value is not None:
        return value
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise WhetError(f"Line {line}: {text} is not an outcome.", advice="Give 0 or 1, true or false, or a score.")
    if not bounds.low <= number <= bounds.high:
        advice = "Widen the bounds." if named else "Name the lowest and the highest possible score: --bounds 0 100."
        raise WhetError(f"Line {line}: {text} is not between {bounds.low:g} and {bounds.high:g}.", advice=advice)
    return (number - bounds.low) / (bounds.high - bounds.low)


def _duplicate(key: tuple[str, str, str], first: int, line: int, columns: Columns) -> WhetError:
    arm, case, seed = key
    what = f"case {case}, arm {arm}" + (f", seed {seed}" if columns.seed is not None else "")
    advice = (
        "Each case, seed and arm may stand in one row only."
        if columns.seed is not None
        else "Add a seed column that tells the attempts apart."
    )
    return WhetError(f"Line {line} repeats line {first}: {what}.", advice=advice)


def _plain(name: str) -> str:
    return name.strip().lstrip("﻿").lower().replace(" ", "_").replace("-", "_")


def _listed(arms: Sequence[str]) -> str:
    return ", ".join(arms[:12]) + (" …" if len(arms) > 12 else "")
