"""What is known of models, where each answers, and what the daily limit leaves for a call."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

import msgspec

from whet.errors import WhetError
from whet.own.runs.settings import DailyLimit, Endpoint, ModelFacts, Settings, dotted
from whet.sessions.transcripts import Usage
from whet.values import Value

KNOWN = (
    Endpoint("openai", "openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    Endpoint("anthropic", "anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    Endpoint("openrouter", "openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    Endpoint("gemini", "openai", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    Endpoint("groq", "openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Endpoint("mistral", "openai", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    Endpoint("deepseek", "openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    Endpoint("xai", "openai", "https://api.x.ai/v1", "XAI_API_KEY"),
    Endpoint("together", "openai", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    Endpoint("moonshot", "openai", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
    Endpoint("ollama", "openai", "http://127.0.0.1:11434/v1"),
    Endpoint("llamacpp", "openai", "http://127.0.0.1:8080/v1"),
    Endpoint("vllm", "openai", "http://127.0.0.1:8000/v1"),
    Endpoint("lmstudio", "openai", "http://127.0.0.1:1234/v1"),
    Endpoint("local", "local"),
    Endpoint("scripted", "scripted"),
)
# A model to begin with where a key is found; any other name works as well.
EXAMPLES = {
    "openai": "openai:gpt-5.1",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "openrouter": "openrouter:anthropic/claude-sonnet-4.5",
    "gemini": "gemini:gemini-2.5-pro",
    "groq": "groq:openai/gpt-oss-120b",
    "mistral": "mistral:mistral-large-latest",
    "deepseek": "deepseek:deepseek-chat",
    "xai": "xai:grok-4",
    "together": "together:openai/gpt-oss-120b",
}
MILLION = 1_000_000
_DATED = re.compile(r"(?:-latest|-\d{8}|-\d{4}-\d{2}-\d{2})$")
BYTES_PER_TOKEN = 2  # fewer than text has, so that a request never costs more than was set aside for it
ERRAND_TOKENS, ERRAND_DOLLARS = 100_000, 0.5  # set aside for an order to another agent without limits of its own
OUTPUT_TOKENS = 16_384  # at most, for one answer in the background


class Address(NamedTuple):
    """Where a model answers, and its name there."""

    endpoint: Endpoint
    model: str


def address_of(settings: Settings, model: str = "") -> Address:
    """Where the chosen model answers, or the one that is named; raises WhetError with advice."""
    chosen = model or settings.model
    if not chosen:
        raise WhetError(
            "No model is set.",
            advice="Run `whet config model PROVIDER:NAME`, or `whet config model local` to try it here.",
        )
    name, _, rest = chosen.partition(":")
    endpoint = endpoint_of(settings, name)
    if endpoint is None:
        known = ", ".join(each.name for each in (*settings.providers, *KNOWN) if each.kind != "scripted")
        raise WhetError(
            f"{chosen!r} does not name a known provider.",
            advice=f"Write provider:model with one of {known}; `whet config providers.{dotted((name,))}.base_url …`"
            " adds another.",
        )
    if not rest and endpoint.kind not in ("local", "scripted"):
        raise WhetError(
            f"{chosen!r} does not name a model.", advice=f"Write {name}:MODEL, such as {EXAMPLES.get(name, name)}."
        )
    return Address(endpoint, rest)


def endpoint_of(settings: Settings, name: str) -> Endpoint | None:
    """The endpoint of this name: the person's own first, whose empty fields a known one of the same name fills."""
    own = next((each for each in settings.providers if each.name == name), None)
    known = next((each for each in KNOWN if each.name == name), None)
    if own is None or known is None:
        return own or known
    filled = {"base_url": own.base_url or known.base_url, "key_variable": own.key_variable or known.key_variable}
    kind = own.kind if own.kind != "openai" else known.kind
    return Endpoint(name, kind, timeout_seconds=own.timeout_seconds, retries=own.retries, **filled)


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


class ModelSeries(Value, frozen=True):
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

    series: tuple[ModelSeries, ...] = ()
    known: Mapping[str, KnownModel] = {}


def model_of(name: str, table: ModelTable, *, provider: str = "") -> Model:
    """What is known of a model. Its prices are left out where a provider other than its vendor serves it."""
    plain = _plain(name)
    # Most patterns are told apart by how they begin, which costs less than to make each of them.
    near = (series for series in table.series if plain.startswith(series.pattern.partition("*")[0]))
    fitting = [series for series in near if fnmatchcase(plain, series.pattern)]
    series = max(fitting, key=lambda one: len(one.pattern), default=ModelSeries("", ""))
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
            told = {name: getattr(each, name) for name in ("family", "window", "tools", "size")}
            prices = dict(zip(("input", "output", "cached"), each.prices, strict=False)) if each.prices[1:] else None
            given = {name: value for name, value in told.items() if value}
            if prices:
                given["prices"] = msgspec.convert(prices, Prices)
            model = msgspec.structs.replace(model, **given)
    return model


def _plain(name: str) -> str:
    """A name without the vendor before it, the variant behind it and the dots that some endpoints write."""
    last = name.lower().rsplit("/", 1)[-1]
    return last.removesuffix(":free").replace(".", "-") if last.startswith("claude") else last


class Amount(Value, frozen=True):
    """Tokens, and dollars where the price is known."""

    tokens: int = 0
    dollars: float | None = None


class DaySpent(Value, frozen=True):
    """What a day has cost so far, and what is set aside for calls that have not ended."""

    settled: Amount = Amount()
    held: Amount = Amount()

    @property
    def all(self) -> Amount:
        return Amount(self.settled.tokens + self.held.tokens, (self.settled.dollars or 0) + (self.held.dollars or 0))


class Headroom(StrEnum):
    """Whether one more call fits into the day."""

    FREE = "free"
    BUSY = "busy"  # it may, once the calls that run now have ended
    SPENT = "spent"


class Postponed(Exception):
    """The daily limit has no room for the next call; the step is done again when `has_room` says so."""

    def __init__(self, until: float, has_room: Callable[[], bool]) -> None:
        super().__init__("the daily limit of background work is reached")
        self.until = until
        self.has_room = has_room


def room_for(wanted: Amount, spent: DaySpent, limit: DailyLimit) -> Headroom:
    """Whether a call that takes at most `wanted` may begin, so that the day never costs more than its limit.

    Where its price is not known, it may begin while the dollars of the day are not spent.
    """
    if _fits(wanted, spent.all, limit):
        return Headroom.FREE
    return Headroom.BUSY if spent.held.tokens and _fits(wanted, spent.settled, limit) else Headroom.SPENT


def most_of(request_bytes: int, output_tokens: int, prices: Prices | None) -> Amount:
    """The most that a call can cost, told from the size of its request and the longest answer that it allows."""
    usage = Usage(request_bytes // BYTES_PER_TOKEN + 1, output_tokens)
    return amount_of(usage, prices)


def errand_most(tokens: int | None, dollars: float | None) -> Amount:
    """What is set aside for an order to another agent, which alone knows what it really spends."""
    return Amount(tokens or ERRAND_TOKENS, ERRAND_DOLLARS if dollars is None else dollars)


def amount_of(usage: Usage, prices: Prices | None) -> Amount:
    dollars = usage.cost_dollars if usage.cost_dollars is not None else cost(usage, prices)
    return Amount(usage.input + usage.output, dollars)


def _fits(wanted: Amount, taken: Amount, limit: DailyLimit) -> bool:
    if taken.tokens + wanted.tokens > limit.tokens_per_day:
        return False
    spent = taken.dollars or 0
    if wanted.dollars is None:
        return not spent or spent < limit.dollars_per_day
    return spent + wanted.dollars <= limit.dollars_per_day
