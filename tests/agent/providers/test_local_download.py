"""Weights from a hub: checked, and kept wholly or not at all."""

import hashlib
from pathlib import Path

import pytest

from agent.providers.model_files import MODEL, Served, hub_with
from whet.agent.providers.local_download import pull_file, wanted_of
from whet.agent.providers.local_weights import kept
from whet.errors import WhetError
from whet.store.home import Home

BODY = MODEL + bytes(range(256)) * 12_000
DIGEST = hashlib.sha256(BODY).hexdigest()
ADDRESS = "hf:owner/repo/sub/my-model.gguf"


def left(home: Home) -> list[str]:
    folder = home.folder / "models"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_a_model_comes_from_the_hub_to_the_home_folder(home: Home) -> None:
    steps: list[tuple[int, int]] = []
    with hub_with(Served(BODY, sha256=DIGEST)) as hub:
        wanted = wanted_of(ADDRESS, environment={"HF_ENDPOINT": hub.address})
        path = pull_file(wanted, home, progress=lambda got, size: steps.append((got, size)))
    assert hub.asked[0][0] == "/owner/repo/resolve/main/sub/my-model.gguf"
    assert path.read_bytes() == BODY
    assert [each.name for each in kept(home)] == ["my-model"]
    assert left(home) == ["my-model.gguf"]
    assert steps[-1] == (len(BODY), len(BODY))
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_cut_download_keeps_nothing_and_begins_anew(home: Home) -> None:
    with hub_with(Served(BODY, sha256=DIGEST, cuts=(1_000_000,))) as hub:
        wanted = wanted_of(ADDRESS, environment={"HF_ENDPOINT": hub.address})
        with pytest.raises(WhetError, match=f"1,000,000 of {len(BODY):,} bytes"):
            pull_file(wanted, home)
        assert kept(home) == ()
        assert pull_file(wanted, home).read_bytes() == BODY
    assert left(home) == ["my-model.gguf"]


@pytest.mark.parametrize("given", ["", "0" * 64])
def test_a_wrong_checksum_keeps_nothing(home: Home, given: str) -> None:
    with hub_with(Served(BODY, sha256="" if given else "f" * 64)) as hub:
        wanted = wanted_of(ADDRESS, environment={"HF_ENDPOINT": hub.address}, sha256=given)
        with pytest.raises(WhetError, match="checksum"):
            pull_file(wanted, home)
    assert left(home) == []


def test_the_checksum_of_the_hub_is_compared_beside_that_of_the_person(home: Home) -> None:
    with hub_with(Served(BODY, sha256="f" * 64)) as hub:
        wanted = wanted_of(ADDRESS, environment={"HF_ENDPOINT": hub.address}, sha256=DIGEST)
        with pytest.raises(WhetError, match="f" * 64):
            pull_file(wanted, home)
    assert left(home) == []


@pytest.mark.parametrize(("named", "given", "warnings"), [("", "", 1), (DIGEST, "", 0), ("", DIGEST, 0)])
def test_weights_without_any_checksum_are_kept_with_a_warning(
    home: Home, named: str, given: str, warnings: int
) -> None:
    said: list[str] = []
    with hub_with(Served(BODY, sha256=named)) as hub:
        wanted = wanted_of(ADDRESS, environment={"HF_ENDPOINT": hub.address}, sha256=given)
        assert pull_file(wanted, home, warn=said.append).read_bytes() == BODY
    assert len(said) == warnings
    assert all(DIGEST in each for each in said)


def test_what_is_no_model_is_not_kept(home: Home) -> None:
    with (
        hub_with(Served(b"<html>not found</html>")) as hub,
        pytest.raises(WhetError, match="not a GGUF"),
    ):
        pull_file(wanted_of(ADDRESS, environment={"HF_ENDPOINT": hub.address}), home)
    assert left(home) == []


@pytest.mark.parametrize(("status", "word"), [(404, "no file"), (401, "permission"), (403, "permission"), (500, "500")])
def test_a_refusal_is_told_with_advice(home: Home, status: int, word: str) -> None:
    with hub_with(Served(BODY, status=status)) as hub, pytest.raises(WhetError, match=word) as raised:
        pull_file(wanted_of(ADDRESS, environment={"HF_ENDPOINT": hub.address}), home)
    assert raised.value.advice


def test_a_hub_that_is_not_there_is_told(home: Home) -> None:
    with pytest.raises(WhetError, match="cannot be reached"):
        pull_file(wanted_of(ADDRESS, environment={"HF_ENDPOINT": "http://127.0.0.1:9"}), home)


@pytest.mark.parametrize(
    "elsewhere", ["http://example.org", "ftp://127.0.0.1", "file:///etc", "http://127.0.0.1.example"]
)
def test_a_hub_that_sends_on_to_an_address_without_encryption_is_not_followed(home: Home, elsewhere: str) -> None:
    with hub_with(Served(BODY)) as hub:
        hub.elsewhere = elsewhere
        with pytest.raises(WhetError, match=r"without https|not a valid URL"):
            pull_file(wanted_of(ADDRESS, environment={"HF_ENDPOINT": hub.address}), home)
    assert left(home) == []


def test_a_hub_that_sends_on_for_ever_is_given_up(home: Home) -> None:
    with hub_with(Served(BODY)) as hub:
        hub.elsewhere = ""  # to a path of its own
        with pytest.raises(WhetError, match="redirects too often"):
            pull_file(wanted_of(ADDRESS, environment={"HF_ENDPOINT": hub.address}), home)


def test_a_place_with_blanks_in_its_name_is_asked_for(home: Home) -> None:
    with hub_with(Served(BODY)) as hub:
        hub.elsewhere += "/a file?sig=b%2Fc&d=e/"
        pull_file(wanted_of(ADDRESS, environment={"HF_ENDPOINT": hub.address}), home)
    assert hub.asked[1][0] == "/a%20file?sig=b%2Fc&d=e//blob"


@pytest.mark.parametrize(
    "address", ["", "owner/repo/x.gguf", "hf:owner/x.gguf", "hf:owner/repo/x.bin", "hf:owner/../x.gguf", "hf://x.gguf"]
)
def test_an_address_of_another_form_is_refused(address: str) -> None:
    with pytest.raises(WhetError, match="not the address"):
        wanted_of(address, environment={})


def test_a_name_that_leads_elsewhere_is_refused(home: Home) -> None:
    with hub_with(Served(BODY)) as hub, pytest.raises(WhetError, match="not a valid"):
        pull_file(wanted_of(ADDRESS, environment={"HF_ENDPOINT": hub.address}, name="../x"), home)


def test_a_hub_without_encryption_and_a_checksum_of_another_form_are_refused() -> None:
    with pytest.raises(WhetError, match="https"):
        wanted_of(ADDRESS, environment={"HF_ENDPOINT": "http://example.org"})
    with pytest.raises(WhetError, match="SHA-256"):
        wanted_of(ADDRESS, environment={}, sha256="abc")
