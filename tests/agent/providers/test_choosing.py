"""The settings choose a provider; what is missing is told with advice that never holds a key."""

from pathlib import Path

import pytest

from agent.loopback import playing, streamed
from agent.providers.vendor_streams import KEY, openai_answer, replied
from whet.agent.providers.choosing import at_base, provider_for
from whet.agent.providers.vendors import BY_HOST, dialect_of
from whet.errors import WhetError
from whet.own.runs.models import KNOWN, Model, Prices, address_of, with_facts
from whet.own.runs.settings import Endpoint, ModelFacts, Settings
from whet.store.home import Home

HOME = Home(Path("/nowhere"))


def test_a_known_provider_is_chosen_with_what_is_known_of_its_model() -> None:
    chosen = provider_for(Settings(model="anthropic:claude-opus-5"), environment={"ANTHROPIC_API_KEY": KEY}, home=HOME)
    assert chosen.provider.name == "anthropic"
    assert (chosen.model.family, chosen.model.window) == ("claude", 1_000_000)
    assert chosen.model.prices


def test_prices_of_a_model_that_another_provider_serves_are_not_guessed() -> None:
    settings = Settings(model="openrouter:openai/gpt-5.1")
    chosen = provider_for(settings, environment={"OPENROUTER_API_KEY": KEY}, home=HOME)
    assert (chosen.model.family, chosen.model.prices) == ("gpt", None)


def test_an_endpoint_of_the_persons_own_is_asked() -> None:
    with playing(streamed(openai_answer({"content": "Hi"}))) as server:
        settings = Settings(model="mine:some/model", providers=(Endpoint("mine", "openai", server.base_url, "MINE"),))
        chosen = provider_for(settings, environment={"MINE": f" {KEY}\n"}, home=HOME)
        assert replied(chosen.provider).message.text == "Hi"
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_an_endpoint_that_needs_no_key_is_sent_none() -> None:
    with playing(streamed(openai_answer({"content": "Hi"}))) as server:
        settings = Settings(model="mine:m", providers=(Endpoint("mine", "openai", server.base_url),))
        replied(provider_for(settings, environment={}, home=HOME).provider)
        assert "authorization" not in server.requests[0].headers


def test_a_missing_key_is_told_by_the_name_of_its_variable() -> None:
    with pytest.raises(WhetError, match="OPENAI_API_KEY") as error:
        provider_for(Settings(model="openai:gpt-5.1"), environment={}, home=HOME)
    assert "export OPENAI_API_KEY" in error.value.advice


@pytest.mark.parametrize("key", [f"{KEY}\r\nx: y", f"{KEY} x", "schlüssel"])
def test_a_key_that_would_break_a_header_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(WhetError) as error:
        provider_for(Settings(model="openai:gpt-5.1"), environment={"OPENAI_API_KEY": key}, home=HOME)
    assert KEY not in f"{error.value.message}{error.value.advice}"


def test_what_the_person_knows_of_a_model_counts_more() -> None:
    facts = ModelFacts("m", window=5, tools="text", prices=(1.0, 2.0))
    corrected = with_facts(Model("m", family="f", window=9), (facts, ModelFacts("other", window=1)))
    assert corrected == Model("m", family="f", window=5, tools="text", prices=Prices(1.0, 2.0))


def test_a_script_can_be_chosen(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"text": "Hello."}\n')
    chosen = provider_for(Settings(model=f"scripted:{script}"), environment={}, home=HOME)
    assert replied(chosen.provider).message.text == "Hello."


def test_every_known_endpoint_can_be_asked() -> None:
    named = {"openai", "openrouter", "vllm", "ollama", "llamacpp", "lmstudio", "groq", "deepseek", "mistral", "gemini"}
    assert named <= {endpoint.name for endpoint in KNOWN}
    for endpoint in KNOWN:
        if endpoint.kind in ("openai", "anthropic"):
            settings = Settings(model=f"{endpoint.name}:m")
            chosen = provider_for(settings, environment={endpoint.key_variable: KEY}, home=HOME)
            assert chosen.provider.name == endpoint.name


def test_every_dialect_belongs_to_a_known_endpoint() -> None:
    assert {dialect_of(each.name, each.base_url) for each in KNOWN} >= set(BY_HOST.values())


@pytest.mark.parametrize(
    ("model", "variables", "base"),
    [
        ("openai:gpt-5.1", {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1/"}, "http://127.0.0.1:9/v1"),
        ("anthropic:claude", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, "http://127.0.0.1:9/v1"),
        ("anthropic:claude", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/v1"}, "http://127.0.0.1:9/v1"),
        ("openai:gpt-5.1", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, "https://api.openai.com/v1"),
    ],
)
def test_the_environment_may_name_the_address(model: str, variables: dict[str, str], base: str) -> None:
    settings = Settings(model=model)
    assert at_base(address_of(settings).endpoint, settings, variables).base_url == base


def test_an_address_in_the_settings_counts_more_than_one_in_the_environment() -> None:
    settings = Settings(model="openai:x", providers=(Endpoint("openai", "openai", "http://127.0.0.1:1/v1"),))
    found = at_base(address_of(settings).endpoint, settings, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    assert found.base_url == "http://127.0.0.1:1/v1"
