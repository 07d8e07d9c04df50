"""Evidence that continues: what the trials of one change leave to its next trial, and what is said of it."""

from collections.abc import Iterable

from whet.errors import WhetError
from whet.evidence.final_look import cases_to_prove
from whet.evidence.margins import cases_to_show
from whet.evidence.verdicts import Capital, Verdict
from whet.values import Value

LEAST_LEFT, ROUNDING = 0.9, 1e-9
"""The capital from which on an undecided trial that won nothing gives its place back, and what rounding may add."""


class PastEvidence(Value, frozen=True):
    """What earlier trials of the same change have won, and on which cases. The evidence that is needed stays theirs."""

    trials: int = 0
    alpha: float = 0.0
    against_base: Capital = Capital()
    against_placebo: Capital = Capital()
    helped: int = 0
    harmed: int = 0
    cases: int = 0
    tried: tuple[str, ...] = ()  # the keys of those cases

    @property
    def least(self) -> float:
        """The capital for help that has the longest way to go."""
        return min(self.against_base.help, self.against_placebo.help)

    @property
    def given_back(self) -> float:
        """How much of its part of the error budget a trial gives back that won nothing and lost little; else 0.

        It begins anew with its next cases, at a place of its own then.
        """
        won = max(self.against_base.help, self.against_placebo.help) > 1.0 + ROUNDING
        return min(self.least, 1.0) if self.trials and not won and self.least >= LEAST_LEFT else 0.0


class TooFewCases(WhetError):
    """A trial that could prove nothing, however it came out."""


def carry(before: PastEvidence, verdict: Verdict, lesson: Verdict | None, tried: Iterable[str]) -> PastEvidence:
    """What is left after another trial, whose verdicts began with what was left before it."""
    return PastEvidence(
        trials=before.trials + 1,
        alpha=verdict.alpha,
        against_base=Capital(verdict.evidence_help, verdict.evidence_harm),
        against_placebo=Capital(lesson.evidence_help, lesson.evidence_harm) if lesson else before.against_placebo,
        helped=before.helped + verdict.helped,
        harmed=before.harmed + verdict.harmed,
        cases=before.cases + verdict.cases,
        tried=(*before.tried, *tried),
    )


def missing_cases(before: PastEvidence, cases: int, *, alpha: float, placebo: bool, margin: float = 0.0) -> int:
    """How many more cases a trial needs before it can prove anything; 0 where it can."""
    capital = before.least if placebo else before.against_base.help
    if margin:
        return max(0, cases_to_show(margin, alpha, capital=capital) - cases)
    return max(0, cases_to_prove(alpha, capital=capital) - cases)


def expect_provable(before: PastEvidence, cases: int, *, alpha: float, placebo: bool, margin: float = 0.0) -> None:
    """Raise TooFewCases where not even the best outcome would be proof, with what is known so far."""
    missing = missing_cases(before, cases, alpha=alpha, placebo=placebo, margin=margin)
    if not missing:
        return
    if margin:
        raise TooFewCases(
            f"{cases} cases cannot show that it is no worse by more than {100 * margin:g} points without it, even if"
            f" all end alike: at least {missing} more are needed.",
            advice="Make more cases, or give a larger --margin.",
        )
    known = f"It helped in {before.helped} of {before.cases} cases, not yet proved; " if before.cases else ""
    new = "new " if before.cases else ""
    raise TooFewCases(
        f"{known}{cases} {new}{'case' if cases == 1 else 'cases'} cannot prove it, even with help in every one."
        f" At least {missing} more {'is' if missing == 1 else 'are'} needed.",
        advice="Make cases from sessions with `whet cases add`, or write one with `whet cases add --new NAME`.",
    )
