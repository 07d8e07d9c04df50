"""What tokens cost at the list prices that come with Whet."""

from functools import cache

from whet.own.runs.models import Prices, cost, model_of
from whet.sessions.transcripts import Usage
from whet.shipped.data import models


def list_price(usage: Usage, model: str) -> float | None:
    """What a model's tokens cost in dollars; None where nobody knows."""
    prices = _prices(model)
    return cost(usage, prices) if prices else None


@cache
def _prices(model: str) -> Prices | None:
    return model_of(model, models()).prices
