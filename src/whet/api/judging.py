"""The verdict on anyone's experiment: a list of differences, or a table in a file."""

import os
from collections.abc import Iterable
from pathlib import Path

from whet.errors import WhetError
from whet.evidence import verdicts
from whet.evidence.outcome_table import Comparison, compare, range_of, read_table, rows_of
from whet.evidence.verdicts import ALPHA, Verdict


def judge(
    experiment: Iterable[float] | str | os.PathLike[str],
    *,
    base: str | None = None,
    candidate: str | None = None,
    bounds: tuple[float, float] | None = None,
    alpha: float = ALPHA,
    growing: bool = False,
) -> Verdict:
    """Judge whether the candidate arm of an experiment is better than the base on the same cases.

    `experiment` is one difference per case (candidate minus base, each between -1 and 1), or the path of a table as
    `whet judge` takes it: case, arm, passed or score, and seed if there are several attempts. `base`, `candidate` and
    `bounds` (the lowest and highest possible score) are for a table only.

    The false-accept rate is at most `alpha` (0.05) for a single look at cases whose number was chosen in advance. With
    `growing` it holds however often you ask while cases are added, at the price of power.

    >>> import whet
    >>> verdict = whet.judge([1, 0, 1, 1, 0, 1, -1, 1, 1, 0, 1, 1, 1, 0, 1, 1])
    >>> verdict.ruling.value, verdict.effect
    ('accept', 0.625)
    """
    if not 0 < alpha < 0.5:
        raise WhetError(f"alpha must be between 0 and 0.5, not {alpha:g}.", advice="0.05 is usual.")
    if isinstance(experiment, str | os.PathLike):
        compared = _compared(Path(experiment), base, candidate, bounds)
        differences, attempts = compared.differences, compared.attempts
    elif (base, candidate, bounds) != (None, None, None):
        raise WhetError("base, candidate and bounds are for a table.", advice="Differences are given without them.")
    else:
        differences, attempts = tuple(map(float, experiment)), 0
    wrong = next((each for each in differences if not -1 <= each <= 1), None)
    if wrong is not None:
        raise WhetError(f"A difference must be between -1 and 1, not {wrong:g}.", advice="Scale scores to 0 … 1 first.")
    judged = verdicts.judge if growing else verdicts.judge_once
    return judged(differences, alpha=alpha, attempts=attempts)


def _compared(path: Path, base: str | None, candidate: str | None, bounds: tuple[float, float] | None) -> Comparison:
    try:
        raw = Path(os.path.expanduser(path)).read_bytes()
    except OSError as error:
        raise WhetError(f"{path} cannot be read: {error.strerror}.", advice="Give the path of a CSV file.") from None
    return compare(read_table(rows_of(raw), bounds=range_of(bounds)), base=base, candidate=candidate)
