"""`whet models`, as a person runs it."""

from pathlib import Path

from agent.providers.model_files import MODEL, Served, hub_with
from command import Whet


def test_the_embedded_model_is_listed_before_it_is_fetched(whet: Whet) -> None:
    done = whet("models")
    assert done.code == 0
    assert "SmolLM2-135M-Instruct" in done.out
    assert "not downloaded: whet models pull" in done.out
    assert "only for trying and testing" in " ".join(done.out.split())
    found = whet("models", "--json").json
    assert all(each["name"] in done.out for each in found["recommended"])
    (model,) = found["models"]
    assert (model["setting"], model["is_here"], model["tools"]) == ("local", False, "text")


def test_a_model_is_pulled_from_a_hub_listed_and_removed(whet: Whet) -> None:
    with hub_with(Served(MODEL)) as hub:
        variables = {"HF_ENDPOINT": hub.address}
        pulled = whet("models", "pull", "hf:a/b/tiny.gguf", "--name", "mine", "--json", variables=variables)
    assert pulled.code == 0, pulled.err
    assert pulled.json["name"] == "mine"
    assert "Warning: No checksum is known" in pulled.err
    assert [each["setting"] for each in whet("models", "--json").json["models"]] == ["local", "local:mine"]
    assert "whet config model local:mine" not in pulled.out
    assert whet("models", "remove", "mine", "--json").json["removed"] == "mine"
    gone = whet("models", "remove", "mine")
    assert gone.code == 1
    assert "whet models" in gone.err


def test_a_pull_that_fails_says_why_and_leaves_nothing(whet: Whet, tmp_path: Path) -> None:
    with hub_with(Served(MODEL, status=404)) as hub:
        failed = whet("models", "pull", "hf:a/b/tiny.gguf", variables={"HF_ENDPOINT": hub.address})
    assert failed.code == 1
    assert "There is no file" in failed.err
    assert list((tmp_path / "home" / "models").iterdir()) == []


def test_a_recommended_model_must_have_the_checksum_that_is_known(whet: Whet, tmp_path: Path) -> None:
    """The hub serves another file under that name."""
    with hub_with(Served(MODEL)) as hub:
        refused = whet("models", "pull", "Qwen2.5-7B-Instruct-Q4_K_M", variables={"HF_ENDPOINT": hub.address})
    (path, _), *_ = hub.asked
    assert path == "/bartowski/Qwen2.5-7B-Instruct-GGUF/resolve/main/Qwen2.5-7B-Instruct-Q4_K_M.gguf"
    assert "65b8fcd92af6b4fefa935c625d1ac27ea29dcb6ee14589c55a8f115ceaaa1423" in refused.err
    assert list((tmp_path / "home" / "models").iterdir()) == []
