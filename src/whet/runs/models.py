"""Models: what is known of each by its name, and what its answers cost. A model nobody knows works too."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from whet.runs.settings import ModelFacts
from whet.sessions.transcripts import Usage
from whet.values import Value

MILLION = 1_000_000
_DATED = re.compile(r"(?:-latest|-\d{8}|-\d{4}-\d{2}-\d{2})$")


class Prices(Value, frozen=True):
    """Dollars for a million tokens, where the model's own vendor serves it. What is not priced apart costs as input.

    A request with more tokens than `long_above` costs so many times more, all of it.
    """

    input: float
    output: float
    cached: float | None = None
    cache_written: float | None = None
    cache_written_hour: float | None = None  # where it is kept for an hour, and not for minutes
    long_above: int | None = None
    long_input: float = 1.0
    long_output: float = 1.0


class Model(Value, frozen=True):
    """A model as far as it is known. `window` is how many tokens it reads, `output_tokens` how many it writes."""

    name: str
    family: str = ""
    window: int | None = None
    output_tokens: int | None = None
    tools: Literal["native", "text"] = "native"  # text: it is told of tools in words and calls them in words
    size: Literal["", "tiny", "small", "large"] = ""  # empty: as its name says; what is tiny is small too
    prices: Prices | None = None
    temperature: bool = True  # whether it takes one


class Series(Value, frozen=True):
    """What holds for all models whose names fit a pattern."""

    pattern: str
    family: str
    tools: Literal["native", "text"] = "native"
    temperature: bool = True


class KnownModel(Value, frozen=True):
    """One model that is known by its name, and the provider whose prices these are."""

    provider: str
    window: int | None = None
    output_tokens: int | None = None
    prices: Prices | None = None


class ModelTable(Value, frozen=True):
    """All that is known of models, as data."""

    series: tuple[Series, ...] = ()
    known: Mapping[str, KnownModel] = {}


def model_of(name: str, table: ModelTable, *, provider: str = "") -> Model:
    """What is known of a model. Its prices are left out where a provider other than its vendor serves it."""
    plain = _plain(name)
    fitting = [series for series in table.series if fnmatchcase(plain, series.pattern)]
    series = max(fitting, key=lambda one: len(one.pattern), default=Series("", ""))
    known = table.known.get(plain) or table.known.get(_DATED.sub("", plain)) or KnownModel("")
    return Model(
        name=name,
        family=series.family,
        window=known.window,
        output_tokens=known.output_tokens,
        tools=series.tools,
        prices=known.prices if provider in ("", known.provider) else None,
        temperature=series.temperature,
    )


def cost(usage: Usage, prices: Prices | None) -> float | None:
    """What one model call cost in dollars; None where the price is not known."""
    if prices is None:
        return usage.cost_dollars
    cached = prices.input if prices.cached is None else prices.cached
    written = prices.input if prices.cache_written is None else prices.cache_written
    for_hour = written if prices.cache_written_hour is None else prices.cache_written_hour
    hours = min(usage.cache_written_hour, usage.cache_written)
    fresh = max(usage.input - usage.cached - usage.cache_written, 0)
    read = fresh * prices.input + usage.cached * cached + (usage.cache_written - hours) * written + hours * for_hour
    said = usage.output * prices.output
    is_long = prices.long_above is not None and usage.input > prices.long_above
    return (read * prices.long_input + said * prices.long_output if is_long else read + said) / MILLION


def priced(usage: Usage, prices: Prices | None) -> Usage:
    """The usage with its cost: as the endpoint reported it, else as the table says."""
    if usage.cost_dollars is not None:
        return usage
    return msgspec.structs.replace(usage, cost_dollars=cost(usage, prices))


def with_facts(model: Model, facts: tuple[ModelFacts, ...]) -> Model:
    """The model with what the person knows better."""
    for each in facts:
        if each.name in (model.name, ""):
            model = _corrected(model, each)
    return model


def _corrected(model: Model, facts: ModelFacts) -> Model:
    given: dict[str, Any] = {
        "family": facts.family or model.family,
        "window": facts.window or model.window,
        "output_tokens": facts.output_tokens or model.output_tokens,
        "tools": facts.tools or model.tools,
        "size": facts.size or model.size,
    }
    if facts.input_dollars is not None and facts.output_dollars is not None:
        given["prices"] = Prices(facts.input_dollars, facts.output_dollars, facts.cached_dollars)
    return msgspec.structs.replace(model, **given)


def _plain(name: str) -> str:
    """A name without the vendor before it, the variant behind it and the dots that some endpoints write."""
    last = name.lower().rsplit("/", 1)[-1]
    return last.removesuffix(":free").replace(".", "-") if last.startswith("claude") else last
