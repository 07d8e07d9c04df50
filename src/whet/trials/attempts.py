"""Attempts: one case in one arm with one seed, what was measured, and what many of them add up to."""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from whet.evidence.intervals import Interval, wilson
from whet.evidence.outcome_table import TIES
from whet.own.runs.run import Sampling, Spent, together
from whet.sessions.call_effects import Effect
from whet.sessions.transcripts import Exchange, Message, Role, pair
from whet.text.words import plain_name
from whet.trials.checks import Mark
from whet.trials.ways_to_test import runs_tests
from whet.trouble.outcomes.deciding import Outcome, decide
from whet.trouble.outcomes.view import JudgedCall
from whet.values import Value

FEW_INVALID = 4  # with fewer of them, or with half of the attempts at most, a trial goes on


class Measures(Value, frozen=True):
    """What is kept of an attempt. A turn is one answer of the model; success is a call that worked."""

    passed: bool
    why: str = ""  # it did not pass
    turns: int = 0
    calls: int = 0
    errors: int = 0  # calls that failed, in all
    early_error_rate: float = 0.0  # share of calls that failed in the first 30 turns
    first_success_turn: int | None = None  # None: no call worked
    first_success_seconds: float | None = None
    tools: int = 0  # different tools that were called
    distinct_calls: int = 0  # different in tool or arguments
    checks: int = 0  # calls that test, build or lint, by a script of the project too
    spent: Spent = Spent()
    ending: str = ""

    @property
    def score(self) -> float:
        return float(self.passed)

    @property
    def tokens(self) -> int:
        return self.spent.input + self.spent.output


class Arm(StrEnum):
    """One side of a trial."""

    BASE = "base"
    CANDIDATE = "candidate"
    PLACEBO = "placebo"  # the same form and length as the candidate, and nothing to learn in it


ARMS = {Arm.BASE: "without", Arm.CANDIDATE: "with it", Arm.PLACEBO: "placebo"}  # for people


class AttemptPlace(NamedTuple):
    """Which attempt is meant: one case in one arm with one seed."""

    case: str
    arm: Arm
    seed: int


class TrialAgent(Value, frozen=True):
    """Another agent that carries attempts out: a trial is about this one in this version with this model."""

    name: str
    version: str = ""
    model: str = ""


class AttemptConditions(Value, frozen=True):
    """What all attempts of a trial have in common and depend on: who makes them, how, and what is told and hidden."""

    model: str = ""  # as in the settings
    sampling: Sampling = Sampling()
    agent: TrialAgent | None = None  # who carries them out; None: Whet's own
    interactive: bool = False  # whether they are conversations, as the change is for
    hidden: tuple[str, ...] = ()  # folders that no tool may see, such as where the cases are
    world: str = ""  # the key of what all are told; empty: as the home says when each begins


class OrderTerms(Value, frozen=True):
    """For whom attempts are made and on whose time; nothing of it changes what an attempt does."""

    home: str = ""  # that ordered them, where several share the database
    watched: bool = False  # somebody waits for them, so that the daily limit does not hold them up
    fresh: bool = False  # nothing is reused that another trial paid for


class AttemptRequest(Value, frozen=True):
    """Which attempt is wanted. Case and patch are the keys of materials of the store; no patch is the base arm."""

    trial: str
    place: AttemptPlace
    case: str
    conditions: AttemptConditions  # without a default: orders of earlier versions, which have none, are refused
    patch: str = ""
    terms: OrderTerms = OrderTerms()


class Attempt(Value, frozen=True):
    """One attempt and what was measured. An `invalid` one says why nothing was: it counts for neither arm."""

    case: str
    arm: Arm
    seed: int
    measures: Measures
    session: str = ""
    reused: bool = False  # made in an earlier trial, and paid there
    invalid: str = ""
    trial: str = ""  # that it was made for
    agent: TrialAgent | None = None  # who carried it out, as its record says; None: Whet's own


class ArmTally(Value, frozen=True):
    """One arm over all its attempts; measures are means over attempts."""

    arm: Arm
    attempts: int
    passed: int
    interval: Interval  # Wilson's, of the share that passed
    early_error_rate: float
    first_success_turn: float | None  # over those attempts in which a call worked
    first_success_seconds: float | None
    no_success: int  # attempts in which no call worked
    errors: float
    tools: float
    distinct_calls: float
    tokens: float
    seconds: float
    invalid: int = 0  # not among the attempts

    @property
    def rate(self) -> float:
        return self.passed / self.attempts if self.attempts else 0.0


def total_spent(attempts: Iterable[Attempt]) -> Spent:
    """What the attempts of this trial cost; those that were reused were paid before."""
    return together(attempt.measures.spent for attempt in attempts if not attempt.reused)


def differences(attempts: Iterable[Attempt], cases: Iterable[str], *, arm: Arm, against: Arm) -> list[float]:
    """One difference a case, in the order of the cases, over the seeds that both arms have; other cases are skipped."""
    scores = {
        (each.case, each.arm, each.seed): each.measures.score for each in attempts if not each.invalid
    }  # fmt: skip
    seeds = {seed for _, _, seed in scores}
    found: list[float] = []
    for case in cases:
        pairs = [
            scores[case, arm, seed] - scores[case, against, seed]
            for seed in sorted(seeds)
            if (case, arm, seed) in scores and (case, against, seed) in scores
        ]
        if pairs:
            found.append(round(fmean(pairs), TIES))
    return found


def change_of_agent(first: TrialAgent | None, attempts: Iterable[Attempt]) -> str:
    """How the agent changed from one attempt to another, if it did. A model is compared as the records name it."""
    seen = dict.fromkeys(each.agent for each in attempts if each.agent and not each.invalid)
    versions = [each.version for each in (first, *seen) if each and each.version]
    models = [each.model for each in seen if each.model]
    for what, found in (("version", versions), ("model", models)):
        for before, after in pairwise(found):
            if before != after and first is not None:
                return f"the {what} of {first.name} changed from {before} to {after}"
    return ""


def why_invalid(attempts: Sequence[Attempt]) -> str:
    """What most attempts were invalid for, where that is too many of them to go on."""
    invalid = [attempt.invalid for attempt in attempts if attempt.invalid]
    if len(invalid) < FEW_INVALID or 2 * len(invalid) <= len(attempts):
        return ""
    return f"{len(invalid)} of {len(attempts)} attempts were invalid: {Counter(invalid).most_common(1)[0][0]}"


class UselessCases(NamedTuple):
    """Cases that tell nothing, because they passed always or never."""

    always: tuple[str, ...]
    never: tuple[str, ...]


def useless(attempts: Sequence[Attempt]) -> UselessCases:
    """The cases that passed always, or never, in base and candidate; the placebo does not count."""
    marks: dict[str, set[tuple[Arm, bool]]] = {}
    for each in attempts:
        if each.arm is not Arm.PLACEBO and not each.invalid:
            marks.setdefault(each.case, set()).add((each.arm, each.measures.passed))
    alike = {
        case: {passed for _, passed in found} for case, found in marks.items() if len({arm for arm, _ in found}) == 2
    }
    return UselessCases(
        tuple(sorted(case for case, found in alike.items() if found == {True})),
        tuple(sorted(case for case, found in alike.items() if found == {False})),
    )


def tally(arm: Arm, attempts: Sequence[Attempt]) -> ArmTally:
    found = [attempt.measures for attempt in attempts if attempt.arm is arm and not attempt.invalid]
    passed = sum(each.passed for each in found)
    turns = [each.first_success_turn for each in found if each.first_success_turn is not None]
    seconds = [each.first_success_seconds for each in found if each.first_success_seconds is not None]
    return ArmTally(
        arm=arm,
        attempts=len(found),
        passed=passed,
        interval=wilson(passed, len(found)),
        early_error_rate=_mean(each.early_error_rate for each in found),
        first_success_turn=fmean(turns) if turns else None,
        first_success_seconds=fmean(seconds) if seconds else None,
        no_success=sum(each.first_success_turn is None for each in found),
        errors=_mean(each.errors for each in found),
        tools=_mean(each.tools for each in found),
        distinct_calls=_mean(each.distinct_calls for each in found),
        tokens=_mean(each.tokens for each in found),
        seconds=_mean(each.spent.seconds for each in found),
        invalid=sum(attempt.arm is arm and bool(attempt.invalid) for attempt in attempts),
    )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else 0.0


EARLY_TURNS = 30


def measure(messages: Sequence[Message], mark: Mark, *, began: float, spent: Spent, ending: str) -> Measures:
    """The measures of what a run added to its conversation; `began` is when it was ordered."""
    exchanges = pair(messages).exchanges
    turns = _turns(messages)
    steps = [JudgedCall(exchange, decide(exchange)) for exchange in exchanges]
    outcomes = [step.decision.outcome for step in steps]
    early = [
        outcome for exchange, outcome in zip(exchanges, outcomes, strict=True) if turns[exchange.asked] <= EARLY_TURNS
    ]
    first = next((each for each, outcome in zip(exchanges, outcomes, strict=True) if outcome is Outcome.OK), None)
    return Measures(
        passed=mark.passed,
        why=mark.why,
        turns=turns[-1] if turns else 0,
        calls=len(exchanges),
        errors=outcomes.count(Outcome.FAILED),
        early_error_rate=early.count(Outcome.FAILED) / len(early) if early else 0.0,
        first_success_turn=turns[first.asked] if first else None,
        first_success_seconds=_after(messages, first, began) if first else None,
        tools=len({plain_name(exchange.call.name) for exchange in exchanges}),
        distinct_calls=len({(plain_name(each.call.name), each.call.arguments) for each in exchanges}),
        checks=sum(step.effect is Effect.CHECKS or runs_tests(step) for step in steps),
        spent=spent,
        ending=ending,
    )


def _turns(messages: Sequence[Message]) -> list[int]:
    """For each message, how many answers of the model there were up to it."""
    counted: list[int] = []
    turn = 0
    for message in messages:
        turn += message.role is Role.AGENT
        counted.append(turn)
    return counted


def _after(messages: Sequence[Message], exchange: Exchange, began: float) -> float | None:
    at = messages[exchange.asked if exchange.answered is None else exchange.answered].at
    return None if at is None else max(0.0, at - began)
