"""All signals of one session, by the detectors of all kinds of trouble."""

from functools import lru_cache
from itertools import islice

from msgspec.structs import replace

from whet.failures.kinds import KINDS, KindTable
from whet.failures.phrases import QUOTE_LENGTH, shortened
from whet.failures.signals import Signal
from whet.failures.view import SessionView
from whet.secrets.redactor import Redactor
from whet.secrets.scan import encoded, find

MOST_SIGNALS = 500  # of one detector in one session: more of the same tell nothing new


def detect(evidence: SessionView, kinds: KindTable = KINDS) -> tuple[Signal, ...]:
    """All signals of a session in the order of its messages, without the secrets that they would quote."""
    detectors = (each for kind in kinds for each in kind.detectors)
    found = [signal for each in detectors for signal in islice(each(evidence), MOST_SIGNALS)]
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
