"""Where the time of one session went that bought nothing, at the list prices that come with Whet."""

from functools import cache

from whet.runs.models import Prices, cost, model_of
from whet.sessions.transcripts import Transcript, Usage
from whet.shipped.data import models
from whet.trouble.finding import find_trouble
from whet.trouble.values import SessionTrouble


def troubles(transcript: Transcript) -> SessionTrouble:
    """Find the stretches of a session that bought nothing, what each cost, and when people stepped in.

    Needs no model and no network. What a stretch cost is an upper bound: some of it may have been worth it.

    >>> import whet
    >>> [session] = whet.read("examples/sessions/codex")
    >>> found = whet.troubles(session)
    >>> [(one.kind.value, one.first, one.last, one.subject) for one in found.troubles]
    [('slip', 10, 15, 'python'), ('corrected', 13, 16, 'interrupt')]
    >>> found.interventions[0].words
    'Stop repeating it. You wrote /observation, the notes you found say observations.'
    """
    return find_trouble(transcript, price=_list_price)


def _list_price(usage: Usage, model: str) -> float | None:
    prices = _prices(model)
    return cost(usage, prices) if prices else None


@cache
def _prices(model: str) -> Prices | None:
    return model_of(model, models()).prices
