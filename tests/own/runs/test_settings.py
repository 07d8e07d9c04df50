"""Settings: what a file may say, and what a person is told when it says something else."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.own.runs.models import address_of, endpoint_of
from whet.own.runs.run import Budget
from whet.own.runs.settings import TEXTS, Endpoint, Settings, default_of, parse, path_of
from whet.text.toml import encoded
from whet.text.toml_edits import assigned


def refusal(text: str) -> WhetError:
    with pytest.raises(WhetError) as caught:
        parse(text)
    return caught.value


def test_an_empty_file_gives_every_default() -> None:
    assert parse("") == Settings()


def test_every_setting_is_explained_in_one_line() -> None:
    assert len(TEXTS) <= 48, "a new one takes the place of another"
    assert all("\n" not in each and each.endswith((".", "…")) for each in TEXTS.values())


@pytest.mark.parametrize("key", [key for key in TEXTS if not key.startswith("providers.*.key")])
def test_every_default_can_be_written_down(key: str) -> None:
    default = default_of(key)
    if default is not None:
        text = assigned("", path_of(key.replace("*", "mine")), default)
        parse(text)


def test_a_file_says_what_differs() -> None:
    settings = parse('model = "mine:x"\n[budget]\ntokens = 5\n[providers.mine]\nbase_url = "http://127.0.0.1:1"')
    assert settings.model == "mine:x"
    assert settings.budget == Budget(tokens=5)
    assert settings.providers == (Endpoint("mine", base_url="http://127.0.0.1:1"),)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ('modle = "x"', "Did you mean model?"),
        ("[budget]\ntoken = 5", "Did you mean budget.tokens?"),
        ("tokens = 5", "Did you mean budget.tokens?"),
        ('[providers.mine]\nbase = "x"', "Did you mean providers.mine.base_url?"),
        ("qqqqqq = 1", "--explain"),
    ],
)
def test_an_unknown_key_names_the_nearest(text: str, advice: str) -> None:
    error = refusal(text)
    assert "There is no setting" in error.message
    assert advice in error.advice


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[budget]\ntokens = "many"', "budget.tokens must be a whole number, not text"),
        ("[budget]\ntokens = -1", "budget.tokens must be 0 or more"),
        ("[compaction]\nat = 80", "compaction.at must be between 0 and 1"),
        ('[local]\ncalls = "loud"', "local.calls must be one of 'free', 'valid', 'always'"),
        ("[models.m]\nprices = [-1, 2]", "models.m.prices must be 0 or more"),
        ('tools = "files"', "tools must be a list of texts"),
        ("model = 2026-01-01", "model must be text in quotes, not a date"),
        ("budget = 3", "budget is a table"),
        ("[budget.tokens]\nx = 1", "budget.tokens must be a whole number, not a table"),
        ("providers = 3", "providers is a table"),
        ("model = local", "cannot be read"),
        (f"model = {'[' * 100_000}", "cannot be read"),
    ],
)
def test_a_wrong_type_is_named_in_plain_words(text: str, message: str) -> None:
    assert message in refusal(text).message


@pytest.mark.parametrize(
    "text",
    [
        '[providers.mine]\nkey_variable = "sk-proj-0123456789abcdefghij"',
        '[providers.mine]\nkey_variable = "not a name"',
        '[providers.mine]\napi_key = "whatever"',
        'api_key = "whatever"',
        'model = "AIzaSyA0123456789abcdefghijklmnopqrstu"',
        '[providers.mine]\nbase_url = "https://me:hunter2@host/v1"',
        '[sandbox]\nvariables = ["ghp_0123456789abcdefghijABCDEFGHIJ012345"]',
    ],
)
def test_a_secret_is_refused_and_not_repeated(text: str) -> None:
    error = refusal(text)
    value = text.rpartition(' = "')[2].strip('"')
    assert value not in error.message + error.advice
    assert "environment" in error.advice


toml_values = st.recursive(
    st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def outcome(text: str) -> Settings | str:
    try:
        return parse(text)
    except WhetError as error:
        return error.advice


@given(st.sampled_from([key.replace("*", "mine") for key in TEXTS]), toml_values)
def test_whatever_stands_in_a_setting_is_settings_or_advice(key: str, value: object) -> None:
    text = f"{key} = {encoded(value)}"
    tomllib.loads(text)
    assert outcome(text)


def test_names_with_dots_and_slashes_need_no_quotes() -> None:
    assert path_of("models.openai/gpt-5.1.window") == ("models", "openai/gpt-5.1", "window")
    assert path_of('models."a.b".window') == ("models", "a.b", "window")
    assert path_of("budget.tokens") == ("budget", "tokens")


@pytest.mark.parametrize("key", ["budget tokens", "", "model = 1\ntools", "model = 1 #", "a.", "[a]"])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(WhetError, match="is not the name"):
        path_of(key)


def test_a_model_is_found_at_its_provider() -> None:
    assert address_of(Settings(), "openai:gpt-5.1").endpoint.base_url == "https://api.openai.com/v1"
    assert address_of(Settings(model="local")) == (Endpoint("local", "local"), "")
    assert address_of(Settings(), "openrouter:a/b:free").model == "a/b:free"


def test_a_person_s_own_provider_goes_first_and_is_filled_from_the_known_one() -> None:
    settings = parse('[providers.anthropic]\nbase_url = "http://proxy/v1"')
    found = endpoint_of(settings, "anthropic")
    assert found == Endpoint("anthropic", "anthropic", "http://proxy/v1", "ANTHROPIC_API_KEY")


@pytest.mark.parametrize("model", ["", "gpt-5.1", "nowhere:x", "openai:"])
def test_a_model_without_a_provider_gives_advice(model: str) -> None:
    with pytest.raises(WhetError) as caught:
        address_of(Settings(), model)
    assert caught.value.advice
