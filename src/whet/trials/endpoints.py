"""What a live trial of a rule goes by: its own failure among sessions in its situation, and the guards beside it.

A rule that makes its failure rarer by doing less has gained nothing. So the time that was lost, corrections, checks
and tokens of all its sessions are watched too: one that is clearly worse stops the promotion, and with more evidence
reverts the rule.
"""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from msgspec.structs import replace

from whet.evidence.coin_looks import CoinLook, CoinSession, SideLook, coin_looks
from whet.lessons.rungs import CanaryMove, LiveComparison, LiveGuard
from whet.trials.canaries import Observation, compare, decide, moves_of
from whet.values import Value

ALPHA_HELP, ALPHA_HARM, ALPHA_GUARD = 0.01, 0.009, 0.00025
"""The error rates at all looks: of a promotion, of a reversal by the endpoint, of one by each of the four guards."""


class LiveUnit(NamedTuple):
    """What drew together, and what was measured of it; None where it was not, or its situation did not come up."""

    told: bool
    loss: float
    failed: int | None = None  # how many failures of its own; at most one for a rule alone
    corrected: bool | None = None
    unchecked: bool | None = None
    tokens: int | None = None


class EndpointVerdict(Value, frozen=True):
    """What the endpoint and the guards say together. `held_by` names what stops a promotion or brought a reversal."""

    comparison: LiveComparison
    guards: tuple[LiveGuard, ...]
    held_by: str = ""


def in_situation(units: Sequence[LiveUnit], *, share: float) -> list[Observation]:
    """The units in which the rule's situation came up: the loss is 1 where it failed of its own."""
    return [Observation(each.told, float(each.failed > 0), share) for each in units if each.failed is not None]


def judge_endpoint(units: Sequence[LiveUnit], *, share: float) -> EndpointVerdict:
    """What the units say, in the order in which they were counted. The first look that is enough decides."""
    found = look_at(units, share=share)
    guards = tuple(_guards(units, share=share))
    worse = [guard.name for guard in guards if guard.reverts]
    if worse and found.decision is not CanaryMove.REVERT:
        return EndpointVerdict(replace(found, decision=CanaryMove.REVERT, decided_at=None), guards, ", ".join(worse))
    held = [guard.name for guard in guards if guard.stops]
    if _more_failures(units, share=share) > 0:
        held.append("failures in all, for its situation came up more often")
    if found.decision is CanaryMove.PROMOTE and held:
        return EndpointVerdict(replace(found, decision=CanaryMove.WAIT, decided_at=None), guards, ", ".join(held))
    return EndpointVerdict(found, guards)


def judge_in_bundle(units: Sequence[LiveUnit], bundle: CanaryMove, *, lessons: int, share: float) -> LiveComparison:
    """What becomes of one lesson of a bundle: that of all, unless it harms on its own.

    Where the bundle is promoted, one that failed more often with it than without is taken back all the same, and one
    of which nothing is known yet waits until it is.
    """
    found = look_at(units, share=share, alpha_harm=ALPHA_HARM / lessons)
    if found.decision is CanaryMove.REVERT:
        return found
    if bundle is CanaryMove.PROMOTE:
        more = _more_failures(units, share=share)
        bundle = CanaryMove.REVERT if more > 0 else CanaryMove.WAIT if more == 0 else CanaryMove.PROMOTE
    return replace(found, decision=bundle, decided_at=None)


def look_at(units: Sequence[LiveUnit], *, share: float, alpha_harm: float = ALPHA_HARM) -> LiveComparison:
    """The comparison with what the looks decide. Evidence is scaled so that at 1 / alpha a look is enough."""
    sessions = [CoinSession(each.told, each.failed) for each in units if each.failed is not None]
    decision, last = CanaryMove.WAIT, None
    for last in coin_looks(sessions, share=share, alpha_help=ALPHA_HELP, alpha_harm=alpha_harm):
        decision = _decision(last)
        if decision is not CanaryMove.WAIT:
            break
    return replace(
        compare(in_situation(units, share=share), alpha=ALPHA_HELP),
        decision=decision,
        evidence_help=_evidence(last.helped) if last else 1.0,
        evidence_harm=_evidence(last.harmed) if last else 1.0,
        decided_at=last.at if last and decision is not CanaryMove.WAIT else None,
    )


def _decision(look: CoinLook) -> CanaryMove:
    if look.helped.is_enough:
        return CanaryMove.PROMOTE
    return CanaryMove.REVERT if look.harmed.is_enough else CanaryMove.WAIT


def _evidence(side: SideLook) -> float:
    return side.allowed / max(side.chance, 1e-12) / ALPHA_HELP


def _more_failures(units: Sequence[LiveUnit], *, share: float) -> float:
    """How many failures more there were with the rule than its share of all of them."""
    return sum(each.failed or 0 for each in units if each.told) - share * sum(each.failed or 0 for each in units)


def _guards(units: Sequence[LiveUnit], *, share: float) -> Iterator[LiveGuard]:
    for name, losses in (
        ("time lost", [each.loss for each in units]),
        ("corrections", [each.corrected for each in units]),
        ("changes without a check", [each.unchecked for each in units]),
        ("tokens", list(_token_losses(units))),
    ):
        known = [(each.told, loss) for each, loss in zip(units, losses, strict=True) if loss is not None]
        found = decide(moves_of(Observation(told, float(loss), share) for told, loss in known), alpha=ALPHA_GUARD)
        told, untold = ([float(loss) for side, loss in known if side is wanted] for wanted in (True, False))
        yield LiveGuard(name, _mean(told), _mean(untold), found.evidence_harm, found.decision is CanaryMove.REVERT)


def _token_losses(units: Sequence[LiveUnit]) -> Iterator[float | None]:
    """Tokens between 0 and 1 by what was usual before: as many as usual are a half."""
    before: list[int] = []
    for each in units:
        if each.tokens is None:
            yield None
            continue
        usual = median(before) if before else each.tokens
        yield each.tokens / (each.tokens + usual) if each.tokens + usual else 0.5
        before.append(each.tokens)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
