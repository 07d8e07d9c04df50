"""Signs that a session went well: a check that passed after the last change, and work that was handed over."""

from whet.failures.view import SessionView
from whet.failures.wordings import Phrase
from whet.sessions.call_effects import COMMIT, Effect, checks_of, hands_over, tested_by


def verification(evidence: SessionView) -> bool | None:
    """Whether the checks that a session ran passed in the end; None where they say nothing about its work.

    A pass says something after a change, or where the same check had failed, and until the person objects. Tests of
    the same thing are the same check, by whichever command they are run.
    """
    last: dict[str, bool] = {}
    red: dict[str, frozenset[str]] = {}  # the tests that failed, and what they are about
    changed, passed_at = False, -1
    for step in evidence.steps:
        if step.effect is Effect.CHANGES and step.worked:
            changed, passed_at = True, -1
        tested = tested_by(step.exchange.call)
        for name in [name for name, about in red.items() if step.worked and about & tested]:
            last[name], passed_at = True, step.message
            del red[name]
        if step.effect is not Effect.CHECKS or not (step.worked or step.failed):
            continue
        for name in checks_of(step.exchange.call):
            if step.worked and name != COMMIT and (changed or last.get(name) is False):
                passed_at = step.message
            last[name] = step.worked
            red |= {name: tested} if step.failed and tested else {}
    if not all(last.values()):
        return False
    if passed_at < 0:
        return None
    return None if _objected_since(passed_at, evidence) else True


def handed_over(evidence: SessionView) -> bool:
    """Whether the work was committed, pushed or proposed for merging after its last change, and nobody objected."""
    for step in reversed(evidence.steps):
        if hands_over(step.exchange.call):
            return step.worked and not _objected_since(step.message, evidence)
        if step.effect is Effect.CHANGES and step.worked:
            return False
    return False


def is_settled(evidence: SessionView) -> bool:
    """Whether an act tells so, and not only a word: a check that passed, or work that was handed over."""
    return handed_over(evidence) or verification(evidence) is True


def _objected_since(message: int, evidence: SessionView) -> bool:
    return any(_objects(saying.phrases) for saying in evidence.by_user if saying.message >= message)


def _objects(phrases: frozenset[Phrase]) -> bool:
    return not phrases.isdisjoint((Phrase.CORRECTION, Phrase.NO)) and Phrase.SETTLED not in phrases
