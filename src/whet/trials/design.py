"""Trials: the same cases with and without a patch, in a fixed order, until the evidence is enough."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec.structs import replace

from whet.errors import WhetError
from whet.evidence import power
from whet.evidence.betting import cases_to_prove
from whet.evidence.verdicts import ALPHA, Capital, Verdict, cases_to_show, fixed_order
from whet.ledger.patches import Form
from whet.own.runs.run import Spent
from whet.text import words
from whet.trials.attempts import Arm, ArmTally, AttemptConditions, AttemptPlace, OrderTerms
from whet.values import Value

WAVE_ATTEMPTS = 12  # given out at once, so that several workers have something to do
AGENT_WAVE_ATTEMPTS = 6  # of another agent, whose attempts cost more: the allowance is looked at more often
USUAL_PASS_RATE = 0.5
LEAST_LEFT, ROUNDING = 0.9, 1e-9
"""The capital from which on an undecided trial that won nothing gives its place back, and what rounding may add."""


class Allowance(Value, frozen=True):
    """What a trial may spend in all; None sets no limit. Seconds are those of the attempts, added up."""

    dollars: float | None = None
    tokens: int | None = None
    seconds: float | None = None


class Price(Value, frozen=True):
    """What a change costs each session: prompt tokens after the changed place, read anew once, and tokens it adds."""

    invalidated: int = 0
    added: int = 0


class TrialDesign(Value, frozen=True):
    """How the question is put: how often each case is tried, against what, at which error rate, and for how much."""

    seeds: int = 1
    alpha: float = ALPHA
    placebo: bool | None = None  # None, before it is planned: where it fits the allowance
    allowance: Allowance = Allowance()
    margin: float = 0.0  # for what is left out: by how much less may pass without it

    @property
    def arms(self) -> tuple[Arm, ...]:
        return (Arm.BASE, Arm.CANDIDATE, *((Arm.PLACEBO,) if self.placebo else ()))


class TriedChange(Value, frozen=True):
    """What the question is about: a change, and what each arm is told of it."""

    key: str = ""  # the same for all trials of it: words, model or agent, and kind of cases
    form: Form = Form.RULE
    name: str = ""
    patches: Mapping[Arm, str] = {}  # the key of each arm's patch
    price: Price = Price()
    about: int = 0  # the entry that waits for a decision on it


class TrialCases(Value, frozen=True):
    """The cases by name, in the order in which they are tried, and those that were left out."""

    tried: tuple[str, ...]
    guards: tuple[str, ...] = ()  # standing cases, spread among the others
    materials: Mapping[str, str] = {}  # the key of each case, by its name
    contents: Mapping[str, str] = {}  # by the name of each case, what makes it the same case under another name
    screened: tuple[str, ...] = ()  # cases that always passed beforehand: left out, or among the guards
    left_out: int = 0  # cases from sessions that the change was written from


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


class Trial(Value, frozen=True):
    """A trial before its first outcome: everything that is fixed."""

    id: str
    cases: TrialCases
    design: TrialDesign
    change: TriedChange = TriedChange()
    conditions: AttemptConditions = AttemptConditions()
    terms: OrderTerms = OrderTerms()
    before: PastEvidence = PastEvidence()  # what earlier trials of the same change have won
    of_one: Spent = Spent()  # about what one attempt costs


class TrialStop(StrEnum):
    """Why a trial ended."""

    EVIDENCE = "evidence"  # enough for a ruling
    CASES = "cases"  # all were run
    BUDGET = "budget"  # the allowance is spent
    INVALID = "invalid"  # most attempts tell nothing
    CHANGED = "changed"  # the agent is not the one that it began with
    OPEN = "open"  # it goes on


FAULTS = frozenset({TrialStop.INVALID, TrialStop.CHANGED})  # it could not go on, whatever its evidence


class TrialResult(Value, frozen=True):
    """What a trial says. The gate is `verdict`, candidate against base, and `lesson` where there is a placebo."""

    verdict: Verdict
    stop: TrialStop
    lesson: Verdict | None = None  # candidate against placebo: what the content is worth
    way: tuple[float, ...] = ()  # the evidence of help after each case, which ends at the verdict's
    form: Verdict | None = None  # placebo against base: what any text or example of that form is worth
    guard: Verdict | None = None  # candidate against base on the standing cases
    held_back: str = ""  # why the evidence decides nothing
    always: tuple[str, ...] = ()  # cases that passed in every attempt of both arms: they tell nothing
    never: tuple[str, ...] = ()
    tallies: tuple[ArmTally, ...] = ()
    spent: Spent = Spent()
    reused: int = 0
    invalid: int = 0
    invalid_why: str = ""  # what was said of most of them


class TrialProgress(Value, frozen=True):
    """How far a trial is, and what the ledger holds of it."""

    trial: str
    result: TrialResult
    attempts: int
    planned: int
    price: Price = Price()
    entry: int = 0  # of the ledger, once it is there
    change: str = ""  # the key of what was tried
    after: PastEvidence = PastEvidence()  # what it leaves to the next trial of the same change
    left_out: int = 0  # cases from sessions that the change was written from
    what: str = ""  # is tried: its form and name

    @property
    def evidence(self) -> float:
        """The evidence that an acceptance rests on: of all comparisons that gate it, the least."""
        lesson = self.result.lesson
        found = self.result.verdict.evidence_help
        return min(found, lesson.evidence_help) if lesson else found


def cases_in_order(cases: Iterable[str], guards: Iterable[str]) -> TrialCases:
    """Each case once, in an order that nobody chose; a standing case is tried as nothing else."""
    standing = frozenset(guards)
    return TrialCases(tuple(fixed_order(set(cases) - standing)), tuple(fixed_order(standing)))


def waves(trial: Trial) -> Iterator[tuple[AttemptPlace, ...]]:
    """The attempts in the order in which they are made, a few whole cases at a time, standing cases in between.

    From wave to wave the arms take turns at being first, so that a slow hour favours none; within a wave each arm's
    attempts follow one another, so that a cache of its prompt is of use.
    """
    arms, seeds = trial.design.arms, trial.design.seeds
    most = AGENT_WAVE_ATTEMPTS if trial.conditions.agent else WAVE_ATTEMPTS
    each = max(1, most // (len(arms) * seeds))
    order = _mixed(trial.cases.tried, trial.cases.guards)
    for number, start in enumerate(range(0, len(order), each)):
        first = number % len(arms)
        yield tuple(
            AttemptPlace(case, arm, seed)
            for arm in (*arms[first:], *arms[:first])
            for case in order[start : start + each]
            for seed in range(1, seeds + 1)
        )


def _mixed(cases: Sequence[str], guards: Sequence[str]) -> tuple[str, ...]:
    """Both in their own order, the guards spread evenly among the others."""
    ranked = [((number + 0.5) / len(cases), 0, case) for number, case in enumerate(cases)]
    ranked += [((number + 0.5) / len(guards), 1, case) for number, case in enumerate(guards)]
    return tuple(case for _, _, case in sorted(ranked, key=lambda one: one[:2]))


def is_affordable(trial: Trial) -> bool:
    """Whether all attempts fit the allowance, if each costs what one is thought to."""
    of_one = trial.of_one
    attempts = (len(trial.cases.tried) + len(trial.cases.guards)) * trial.design.seeds * len(trial.design.arms)
    whole = Spent(
        input=of_one.input * attempts,
        output=of_one.output * attempts,
        seconds=of_one.seconds * attempts,
        dollars=None if of_one.dollars is None else of_one.dollars * attempts,
    )
    return not is_spent(trial.design.allowance, whole)


def plan(trial: Trial) -> power.TrialPlan:
    """What a trial can find, and about what it will cost."""
    seeds, arms = trial.design.seeds, len(trial.design.arms)
    spread = power.deviation(USUAL_PASS_RATE, seeds)
    cost = trial.of_one.dollars or 0.0
    found = power.plan(len(trial.cases.tried), seeds, alpha=trial.design.alpha, spread=spread, cost_of_attempt=cost)
    share = arms / 2
    return replace(
        found,
        attempts_most=int(found.attempts_most * share) + len(trial.cases.guards) * seeds * arms,
        attempts_expected=found.attempts_expected * share,
        cost_most=found.cost_most * share,
        cost_expected=found.cost_expected * share,
    )


def cache_price(base: str, candidate: str, *, inserted: Iterable[str] = ()) -> Price:
    """What changing one prompt into the other costs a session that had the first in its cache.

    `inserted` are messages that come between the prompt and the conversation.
    """
    shared = next(
        (place for place, (old, new) in enumerate(zip(base, candidate, strict=False)) if old != new),
        min(len(base), len(candidate)),
    )
    grown = words.estimate(candidate) - words.estimate(base)
    return Price(
        invalidated=words.estimate(base[shared:]) if base != candidate else 0,
        added=grown + sum(words.estimate(text) for text in inserted),
    )


def is_spent(allowance: Allowance, spent: Spent) -> bool:
    """Whether the allowance is used up."""
    limits = (
        (spent.dollars or 0.0, allowance.dollars),
        (spent.input + spent.output, allowance.tokens),
        (spent.seconds, allowance.seconds),
    )
    return any(limit is not None and value >= limit for value, limit in limits)


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
