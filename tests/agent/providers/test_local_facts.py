"""What a model file says of itself, whatever its bytes."""

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.providers.model_files import MODEL, gguf
from whet.agent.providers.local import known_model
from whet.agent.providers.local_weights import WeightFacts, facts_of
from whet.errors import WhetError
from whet.own.runs.settings import ModelFacts, Settings


def facts(folder: Path, body: bytes) -> WeightFacts:
    path = folder / "file.gguf"
    path.write_bytes(body)
    return facts_of(path)


def test_the_head_of_a_file_tells_what_the_model_is(tmp_path: Path) -> None:
    assert facts(tmp_path, MODEL) == WeightFacts("TinyLlama 1B", 4096, "{{ messages }} {{ tools }}", ("<|im_end|>",))


def test_a_file_that_says_little_of_itself_has_its_own_name(tmp_path: Path) -> None:
    assert facts(tmp_path, gguf({"general.architecture": "llama"})) == WeightFacts("file", None, "", ())


@pytest.mark.parametrize("body", [b"", b"GGUF", b"garbage" * 9, MODEL[:60], MODEL[:-3], gguf({}, version=99)])
def test_what_is_no_model_file_is_refused(tmp_path: Path, body: bytes) -> None:
    with pytest.raises(WhetError, match="not a model file"):
        facts(tmp_path, body)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="cannot be read"):
        facts_of(tmp_path / "none.gguf")


@given(st.integers(0, len(MODEL) - 1), st.binary(min_size=1, max_size=8))
def test_whatever_the_bytes_the_answer_is_facts_or_a_refusal(place: int, noise: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(MODEL[:place] + noise + MODEL[place + len(noise) :])
        file.flush()
        with contextlib.suppress(WhetError):
            assert isinstance(facts_of(Path(file.name)), WeightFacts)


def test_a_model_whose_template_has_no_tools_calls_them_in_text() -> None:
    with_tools = WeightFacts("Llama 3", 131072, "{{ tools }}", ())
    assert known_model("llama-3.1-8b", with_tools, 5_000_000_000, Settings()).tools == "native"
    assert known_model("llama-3.1-8b", with_tools._replace(template="{{ messages }}"), 1, Settings()).tools == "text"
    assert known_model("anything", WeightFacts("SmolLM2 135M", 8192, "", ()), 1, Settings()).family == "smollm"


def test_the_window_is_that_of_the_model_within_what_is_served() -> None:
    facts = WeightFacts("Llama 3", 131072, "", ())
    assert known_model("llama-3", facts, 1, Settings()).window == 16_384
    told = Settings(models=(ModelFacts("local", window=2048),))
    assert known_model("llama-3", facts, 1, told).window == 2048
    assert (
        known_model(
            "llama-3", facts._replace(window=1024), 1, Settings(models=(ModelFacts("local", window=2048),))
        ).window
        == 1024
    )
