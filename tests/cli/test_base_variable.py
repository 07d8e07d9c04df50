"""An address from the environment: named where it is in force, and where it is wrong."""

import pytest

from command import Whet

KEY = {"OPENAI_API_KEY": "none"}


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://127.0.0.1:9/v1", "Error: Openai: 127.0.0.1:9 cannot be reached"),
        ("here", "Error: OPENAI_BASE_URL is not a valid URL."),
    ],
)
def test_a_wrong_address_is_told_with_its_variable(address: str, words: str, whet: Whet) -> None:
    assert whet("config", "model", "openai:gpt-5.1").code == 0
    variables = {**KEY, "OPENAI_BASE_URL": address}
    done = whet("run", "Say hello.", variables=variables)
    assert done.code != 0
    assert words in done.err
    assert "OPENAI_BASE_URL" in done.err
    assert "OPENAI_BASE_URL is in force" in whet("config", variables=variables).out
    assert "OPENAI_BASE_URL" not in whet("config", variables=KEY).out
