"""What is known of models, and what they cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.own.runs.models import KnownModel, ModelSeries, ModelTable, Prices, cost, model_of, priced
from whet.sessions.transcripts import Usage
from whet.shipped.data import models

TABLE = ModelTable(
    series=(
        ModelSeries("gpt-*", "gpt"),
        ModelSeries("gpt-5*", "gpt", temperature=False),
        ModelSeries("smol*", "smol", tools="text"),
    ),
    known={
        "gpt-5": KnownModel("openai", 272_000, 128_000, Prices(1.0, 10.0, 0.1)),
        "claude-x-4-5": KnownModel("anthropic", 1),
    },
)


@given(st.text())
def test_a_model_that_nobody_knows_works(name: str) -> None:
    model = model_of(name, ModelTable())
    assert (model.name, model.window, model.tools, model.prices) == (name, None, "native", None)


@pytest.mark.parametrize(
    "name", ["gpt-5", "GPT-5", "openai/gpt-5", "gpt-5-2025-08-07", "gpt-5-20250807", "gpt-5-latest"]
)
def test_a_model_is_known_by_all_its_names(name: str) -> None:
    assert model_of(name, TABLE).window == 272_000


@pytest.mark.parametrize("name", ["gpt-5.1", "gpt-5-mini", "my-gpt-5"])
def test_a_name_that_is_only_like_it_is_another_model(name: str) -> None:
    assert model_of(name, TABLE).window is None


def test_the_closest_series_counts() -> None:
    assert model_of("gpt-4o", TABLE).temperature
    assert not model_of("gpt-5.9-new", TABLE).temperature
    assert model_of("smollm2", TABLE).tools == "text"
    assert model_of("anthropic/claude-x-4.5", TABLE).window == 1


def test_prices_are_those_of_the_vendor_alone() -> None:
    assert model_of("gpt-5", TABLE, provider="openai").prices
    assert model_of("gpt-5", TABLE, provider="resold").prices is None


def test_cost_counts_each_token_once_at_its_own_price() -> None:
    usage = Usage(input=1_000_000, output=100_000, cached=600_000, cache_written=100_000)
    assert cost(usage, Prices(1.0, 10.0, 0.1, 1.25)) == pytest.approx(0.3 + 0.06 + 0.125 + 1.0)
    assert cost(usage, Prices(1.0, 10.0)) == pytest.approx(2.0)
    assert cost(usage, None) is None
    hour = Usage(input=1_000_000, cache_written=100_000, cache_written_hour=40_000)
    assert cost(hour, Prices(1.0, 10.0, 0.1, 1.25, 2.0)) == pytest.approx(0.9 + 0.075 + 0.08)
    assert cost(hour, Prices(1.0, 10.0, 0.1, 1.25)) == pytest.approx(0.9 + 0.125), "no price for hours: as for minutes"


def test_a_long_request_costs_more_as_a_whole() -> None:
    prices = Prices(1.0, 10.0, 0.1, long_above=200_000, long_input=2.0, long_output=1.5)
    assert cost(Usage(200_000, 1_000, 100_000), prices) == pytest.approx(0.1 + 0.01 + 0.01)
    assert cost(Usage(200_001, 1_000, 100_000), prices) == pytest.approx(2 * (0.100001 + 0.01) + 1.5 * 0.01)


def test_what_the_endpoint_says_it_cost_counts_more_than_the_table() -> None:
    assert priced(Usage(10, 10, cost_dollars=0.5), Prices(1.0, 1.0)).cost_dollars == 0.5
    assert priced(Usage(10, 10), Prices(1.0, 1.0)).cost_dollars == pytest.approx(2e-5)


def test_the_table_that_ships_is_whole() -> None:
    table = models()
    assert all(model_of(name, table).family for name in table.known)
    for name, known in table.known.items():
        assert known.window, name
        assert known.prices, name
        assert known.prices.output >= known.prices.input >= (known.prices.cached or 0.0), name
        if known.provider == "anthropic":
            assert known.prices.cache_written == pytest.approx(1.25 * known.prices.input), name
            assert known.prices.cache_written_hour == pytest.approx(2 * known.prices.input), name
