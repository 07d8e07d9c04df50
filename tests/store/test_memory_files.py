"""Memory on disk: pages of notes, and Hermes' own files."""

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

from patience import PATIENCE_SECONDS
from whet.errors import WhetError
from whet.own.told.memory import Memory
from whet.sessions.trust import Trust
from whet.store.memory_files import MemoryFolder, Vault, connect, connected, disconnect, hermes_shelf, load, search_own


def test_a_page_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert load(MemoryFolder(tmp_path), "memory") == Memory("memory")


def test_the_files_of_hermes_are_read_in_their_form(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("Project uses uv.\n§\nTests need\na database.")
    notes = load(hermes_shelf(tmp_path), "memory").notes
    assert [note.text for note in notes] == ["Project uses uv.", "Tests need\na database."]


def test_a_file_that_is_no_text_gives_advice(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_bytes(b"\xff\xfe")
    with pytest.raises(WhetError, match="not UTF-8"):
        load(MemoryFolder(tmp_path), "memory")


def test_there_are_two_pages_and_no_other(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no notes called"):
        load(MemoryFolder(tmp_path), "../secret")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "whet.md").write_text("<!-- for agents -->\n- Answers in English.\n- Works in Lisbon.\n")
    (folder / "work" / ".trash").mkdir(parents=True)
    (folder / "work" / "servers.md").write_text("# Staging\n\nThe staging server stands in Oslo.\n\nUnrelated.\n")
    (folder / "work" / ".trash" / "old.md").write_text("staging server, thrown away")
    (folder / "secret.txt").write_text("staging server password")
    (tmp_path / "elsewhere.md").write_text("staging server outside")
    (folder / "link.md").symlink_to(tmp_path / "elsewhere.md")
    return folder


def test_a_vault_tells_the_one_file_that_is_kept_for_agents(vault: Path) -> None:
    assert Vault(vault).block(1000) == "- Answers in English.\n- Works in Lisbon."
    assert Vault(vault, "missing.md").block(1000) == ""


def test_a_vault_is_searched_without_links_hidden_folders_and_other_files(vault: Path) -> None:
    found = Vault(vault).search("Where does the staging server stand?", 10)
    assert found[0].text == "# Staging\nThe staging server stands in Oslo."
    assert {(each.place, each.trust) for each in found} == {("work/servers.md", Trust.EXTERNAL)}
    assert Vault(vault).search("orchid", 5) == ()


def test_own_notes_are_searched(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_text("- The staging server is rebuilt on Mondays.\n- Uses uv.\n")
    [found] = search_own(tmp_path, "staging server", 10)
    assert (found.place, found.text) == ("memory.md", "The staging server is rebuilt on Mondays.")


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


def test_a_file_of_hermes_is_not_written_while_hermes_holds_its_lock(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    worker = f"""
from pathlib import Path
from whet.store.memory_files import add_to_hermes
print("ready", flush=True)
add_to_hermes(Path({str(tmp_path)!r}), "memory", "late")
"""
    with (folder / "MEMORY.md.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen([sys.executable, "-c", worker], stdout=subprocess.PIPE)
        assert waiting.stdout is not None
        waiting.stdout.readline()
        (folder / "MEMORY.md").write_text("early")
    waiting.communicate(timeout=PATIENCE_SECONDS)
    assert waiting.returncode == 0
    assert (folder / "MEMORY.md").read_text() == "early\n§\nlate"
