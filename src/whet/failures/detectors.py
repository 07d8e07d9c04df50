"""The table of detectors: each reads the evidence of one session and yields signals of one kind."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from whet.failures import call_signals, claim_signals, word_signals
from whet.failures.phrases import QUOTE_LENGTH, shortened
from whet.failures.signals import Kind, Signal
from whet.failures.view import SessionView
from whet.secrets.redactor import Redactor
from whet.secrets.scan import encoded, find

MOST_SIGNALS = 500  # of one detector in one session: more of the same tell nothing new


class Detector(NamedTuple):
    """What it finds, how, and in one sentence when it speaks."""

    kind: Kind
    detect: Callable[[SessionView], Iterator[Signal]]
    speaks: str


DETECTORS: tuple[Detector, ...] = (
    Detector(Kind.RETRY_LOOP, call_signals.retry_loops, "the same call failed three times with no change in between"),
    Detector(Kind.TOOL_FAILURE, call_signals.tool_failures, "a call failed, other than a failing check"),
    Detector(Kind.TIMEOUT, call_signals.timeouts, "a call timed out"),
    Detector(Kind.HALLUCINATION, call_signals.inventions, "the agent called a tool that does not exist"),
    Detector(Kind.HALLUCINATION, claim_signals.false_claims, "the agent claimed success after a failed step"),
    Detector(Kind.HALLUCINATION, claim_signals.unbacked_claims, "the agent claimed passing checks but ran none"),
    Detector(Kind.HALLUCINATION, claim_signals.unmade_actions, "the agent claimed an action that no call made"),
    Detector(Kind.HALLUCINATION, claim_signals.denials, "the agent denied a capability that the record shows"),
    Detector(Kind.HALLUCINATION, claim_signals.admissions, "the agent admitted that it made something up"),
    Detector(Kind.CONTEXT_LOSS, call_signals.rereads, "the agent fetched the same result again and again"),
    Detector(Kind.CONTEXT_LOSS, word_signals.reminders, "someone said that it was said before, or forgotten"),
    Detector(Kind.USER_CORRECTION, word_signals.corrections, "the user corrected, refused or interrupted"),
    Detector(Kind.GAVE_UP, word_signals.surrenders, "the agent ended without a result"),
    Detector(Kind.BUDGET_SPENT, call_signals.budgets, "the session was cut off"),
)


def detect(evidence: SessionView) -> tuple[Signal, ...]:
    """All signals of a session in the order of its messages, without the secrets that they would quote."""
    found = [signal for detector in DETECTORS for signal in islice(detector.detect(evidence), MOST_SIGNALS)]
    found.sort(key=lambda signal: signal.message)
    if all(_is_clean(signal.quote) and _is_clean(signal.fingerprint) for signal in found):
        return tuple(replace(signal, quote=shortened(signal.quote, QUOTE_LENGTH)) for signal in found)
    redactor = Redactor()
    return tuple(_quotable(signal, redactor) for signal in found)


# The same errors come again and again, and hardly any holds a secret.
@lru_cache(maxsize=4096)
def _is_clean(text: str) -> bool:
    return not find(encoded(text))


def _quotable(signal: Signal, redactor: Redactor) -> Signal:
    """Redact first and cut then: half a secret would not be known as one."""
    quote = shortened(redactor.text(signal.quote), QUOTE_LENGTH)
    return replace(signal, quote=quote, fingerprint=redactor.text(signal.fingerprint))
