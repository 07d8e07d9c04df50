"""Memories to draw on: both ways of being one keep the same promises."""

from pathlib import Path

import pytest

from whet.errors import WhetError
from whet.sessions.trust import Trust
from whet.store.memory_files import OwnMemory, Vault, connect, connected, disconnect


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "work" / ".trash").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / "whet.md").write_text("<!-- for agents -->\n- Answers in English.\n- Works in Lisbon.\n")
    (folder / "work" / "servers.md").write_text("# Staging\n\nThe staging server stands in Oslo.\n\nUnrelated.\n")
    (folder / "work" / "big.md").write_text("staging " * 40_000)
    (folder / "work" / ".trash" / "old.md").write_text("staging server, thrown away")
    (folder / "secret.txt").write_text("staging server password")
    (tmp_path / "elsewhere.md").write_text("staging server outside")
    (folder / "link.md").symlink_to(tmp_path / "elsewhere.md")
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "memory.md").write_text("- The staging server is rebuilt on Mondays.\n- Uses uv.\n")
    (folder / "user.md").write_text("- Answers in English.\n")
    return folder


def test_a_vault_tells_the_one_file_that_is_kept_for_agents(vault: Path) -> None:
    assert Vault(vault).block(1000) == "- Answers in English.\n- Works in Lisbon."
    assert Vault(vault, "missing.md").block(1000) == ""


def test_a_vault_is_searched_without_links_hidden_folders_and_other_files(vault: Path) -> None:
    found = Vault(vault).search("Where does the staging server stand?", 10)
    assert found[0].text == "# Staging\nThe staging server stands in Oslo."
    assert {(each.place, each.trust) for each in found} == {("work/servers.md", Trust.EXTERNAL)}


def test_own_notes_are_told_and_searched(own: Path) -> None:
    memory = OwnMemory(own)
    assert memory.block(1000).startswith("- The staging server is rebuilt on Mondays.\n- Uses uv.\n\n- Answers")
    (found,) = memory.search("staging server", 10)
    assert found.text == "The staging server is rebuilt on Mondays."
    assert found.place == "memory.md"


@pytest.mark.parametrize("limit", [0, 10, 30, 60])
def test_every_memory_keeps_to_the_limit_and_finds_nothing_for_nothing(vault: Path, own: Path, limit: int) -> None:
    for provider in (Vault(vault), OwnMemory(own)):
        assert len(provider.block(limit)) <= limit
        assert provider.search("", 5) == ()
        assert provider.search("orchid", 5) == ()
        assert len(provider.search("staging in english", 1)) == 1


def test_a_vault_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / 'my "notes" 📓\x7f'
    folder.mkdir()
    connect(tmp_path, Vault(folder))
    assert connected(tmp_path) == Vault(folder)


def test_a_vault_is_connected_and_let_go(tmp_path: Path, vault: Path) -> None:
    assert connected(tmp_path) is None
    connect(tmp_path, Vault(vault, 'my "notes".md'))
    assert connected(tmp_path) == Vault(vault, 'my "notes".md')
    connect(tmp_path, Vault(vault))
    assert connected(tmp_path) == Vault(vault)
    assert disconnect(tmp_path)
    assert not disconnect(tmp_path)
    assert connected(tmp_path) is None


def test_a_vault_that_is_not_there_and_a_note_outside_it_are_refused(tmp_path: Path, vault: Path) -> None:
    for wrong in (Vault(tmp_path / "nowhere"), Vault(vault, "../elsewhere.md")):
        with pytest.raises(WhetError):
            connect(tmp_path, wrong)


@pytest.mark.parametrize("body", ["[vault", "[vault]\n", "vault = 3\n", "\xff"])
def test_settings_that_cannot_be_read_give_advice(tmp_path: Path, body: str) -> None:
    (tmp_path / "memory.toml").write_bytes(body.encode("latin-1"))
    with pytest.raises(WhetError, match="cannot be read"):
        connected(tmp_path)
