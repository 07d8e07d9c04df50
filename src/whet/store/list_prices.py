"""What a model's vendor asks for its tokens, for sessions whose record does not say what they cost."""

from functools import cache

from msgspec.structs import replace

from whet.runs.models import Prices, model_of, with_facts
from whet.shipped.data import models
from whet.store.home import Home
from whet.store.session_facts import PriceOf
from whet.store.settings_file import load


def list_prices(home: Home) -> PriceOf:
    """What a model's tokens cost: by the table that comes with Whet, and by what the person set."""
    settings, table = load(home).models, models()

    @cache
    def price(model: str) -> Prices | None:
        found = with_facts(model_of(model, table), settings).prices
        return replace(found, long_above=None) if found else None  # a session's sum does not say how long each call was

    return price
