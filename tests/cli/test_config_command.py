"""whet config as a person uses it: what holds, where from, and a file that stays theirs."""

import json
import stat
from pathlib import Path

import pytest

from command import Whet
from whet.own.runs.settings import TEXTS


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "settings.toml"


def test_what_is_set_is_shown_with_where_it_comes_from(whet: Whet) -> None:
    assert whet("config", "model", "openai:gpt-5.1").code == 0
    rows = {row["key"]: row for row in whet("config", "--json").json["settings"]}
    assert (rows["model"]["value"], rows["model"]["origin"]) == ("openai:gpt-5.1", "settings.toml")
    assert rows["budget.model_calls"]["origin"] == "default"
    assert ["model", "openai:gpt-5.1", "settings.toml"] in [line.split() for line in whet("config").out.splitlines()]
    assert whet("config", "model").out == "openai:gpt-5.1\n"


def test_setting_and_unsetting_leave_the_rest_of_the_file_alone(whet: Whet, file: Path) -> None:
    file.parent.mkdir()
    own = '# mine\nmodel = "local" # for now\n\n[budget]\ntokens = 5\n'
    file.write_text(own)
    whet("config", "budget.dollars", "60")
    whet("config", "tools", "files, terminal")
    changed = file.read_text()
    assert '# mine\nmodel = "local" # for now\ntools = ["files", "terminal"]\n' in changed
    assert "tokens = 5\ndollars = 60.0\n" in changed
    whet("config", "--unset", "tools")
    whet("config", "--unset", "budget.dollars")
    assert file.read_text() == own


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model", "local"),
        ("review.model", "anthropic:claude-sonnet-4-5"),
        ("prompt.enforcement", "off"),
        ("prompt.enforcement", "gpt"),
        ("prompt.platform", "slack"),
        ("providers.mine.base_url", "http://127.0.0.1:9/v1"),
        ("sampling.temperature", "2"),
    ],
)
def test_what_the_next_run_can_use_is_set(whet: Whet, key: str, value: str) -> None:
    done = whet("config", key, value)
    assert done.code == 0, done.err


def test_a_new_file_is_for_its_owner_only(whet: Whet, file: Path) -> None:
    whet("config", "model", "local")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("modle", "x", "Did you mean model?"),
        ("budget.tokens", "many", "budget.tokens must be a whole number"),
        ("providers.mine.key_variable", "sk-0123456789abcdefghijkl", "would contain a secret"),
        ("model", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "would contain a secret"),
        ("budget", "5", "is a table of settings"),
        ("budget tokens", "5", "is not the name of a setting"),
        ("model", "foo", "'foo' does not name a known provider"),
        ("model", "openai", "does not name a model"),
        ("model", "local:/nope.gguf", "There is no model file /nope.gguf"),
        ("review.model", "nope:x", "does not name a known provider"),
        ("tools", "foo", "There is no set of tools foo"),
        ("prompt.platform", "nonsense", "Choose one of api, cli"),
        ("providers.openai.base_url", "notaurl", "providers.openai.base_url"),
        ("sampling.temperature", "99", "must be between 0 and 2"),
        ("budget.dollars", "-1", "budget.dollars must be 0 or more"),
    ],
)
def test_a_mistake_gives_advice_and_changes_nothing(whet: Whet, file: Path, key: str, value: str, words: str) -> None:
    done = whet("config", key, value)
    assert done.code == 1
    assert words in done.err
    assert not file.exists()


def test_an_agent_may_not_change_settings(whet: Whet, file: Path) -> None:
    done = whet("config", "sandbox.network", "true", variables={"WHET_RUN": "x"})
    assert done.code == 1
    assert "Only a person" in done.err
    assert not file.exists()


def test_a_mistake_in_the_file_names_the_file(whet: Whet, file: Path) -> None:
    file.parent.mkdir()
    file.write_text("[budget]\ntoken = 5\n")
    done = whet("config")
    assert done.code == 1
    assert str(file) in done.err
    assert "Did you mean budget.tokens?" in done.err
    assert "Traceback" not in done.err


def test_every_setting_is_explained(whet: Whet) -> None:
    explained = json.loads(whet("config", "--explain", "--json").out)
    assert [each["key"] for each in explained] == list(TEXTS)
    assert all(each["text"] for each in explained)
    assert "budget.dollars" in whet("config", "--explain").out


def test_a_key_in_the_environment_is_noticed(whet: Whet) -> None:
    assert "openai:gpt-5.1" in whet("config", variables={"OPENAI_API_KEY": "x"}).out
    assert "whet models pull" in whet("config").out
    whet("config", "model", "anthropic:claude-sonnet-4-5")
    assert "ANTHROPIC_API_KEY is not set" in whet("config").out
    assert "ANTHROPIC_API_KEY is set." in whet("config", variables={"ANTHROPIC_API_KEY": "x"}).out


def test_the_path_is_printed_for_editors(whet: Whet, file: Path) -> None:
    assert whet("config", "--json").json["path"] == str(file)
