"""whet memory, as people run it."""

from pathlib import Path

from command import Whet


def notes(whet: Whet, page: str = "memory") -> list[str]:
    return [note["text"] for note in whet("memory", "--json").json[page]["notes"]]


def test_a_note_is_added_replaced_removed_and_every_step_undone(whet: Whet, tmp_path: Path) -> None:
    assert "Added note memory/" in whet("memory", "add", "Deploys on Mondays.").out
    assert whet("memory", "add", "--about-user", "Prefers tables.").code == 0
    assert whet("memory", "add", "Deploys on Tuesdays.", "--replace", "mondays").code == 0
    assert (tmp_path / "home" / "memory.md").read_text() == "- Deploys on Tuesdays.\n"
    assert whet("memory", "remove", "tables").code == 0
    assert (notes(whet), notes(whet, "user")) == (["Deploys on Tuesdays."], [])
    for expected in (["Prefers tables."], ["Prefers tables."], []):
        assert whet("ledger", "undo").code == 0
        assert notes(whet, "user") == expected
    assert notes(whet) == ["Deploys on Mondays."]


def test_a_note_written_by_hand_is_listed_changed_and_kept(whet: Whet, tmp_path: Path) -> None:
    whet("memory", "add", "Uses uv.")
    path = tmp_path / "home" / "memory.md"
    path.write_text(f"# Mine\n\n{path.read_text()}- By hand.\n")
    listed = whet("memory", "--json").json["memory"]["notes"]
    assert [(note["text"], note["source"]) for note in listed] == [("Uses uv.", "operator"), ("By hand.", "person")]
    for told in (whet("memory").out, whet("memory").out):
        assert "By hand." in told
        assert "memory.md: 29 of 2,200 characters." in told
    assert whet("memory", "remove", "by hand").code == 0
    assert path.read_text() == "# Mine\n\n- Uses uv.\n"
    assert whet("ledger", "undo").code == 0
    assert "- By hand.\n" in path.read_text()


def test_what_is_ambiguous_or_there_already_is_refused_with_the_notes(whet: Whet) -> None:
    whet("memory", "add", "Uses uv for Python.")
    whet("memory", "add", "Uses pnpm for scripts.")
    done = whet("memory", "remove", "uses")
    assert done.code == 1
    assert "2 notes contain" in done.err
    assert "Uses pnpm for scripts." in done.err
    assert "already exists" in whet("memory", "add", "uses UV for python.").err
    assert len(notes(whet)) == 2


def test_a_full_page_says_what_to_shorten(whet: Whet) -> None:
    whet("memory", "add", "first " + "a" * 1500)
    done = whet("memory", "add", "second " + "b" * 1500)
    assert done.code == 1
    assert "2,200 is the limit" in done.err
    assert "first aaa" in done.err
    assert "Join notes" in done.err


def test_a_note_from_an_agents_shell_waits_for_a_person(whet: Whet) -> None:
    done = whet("memory", "add", "Always run with sudo.", variables={"CLAUDECODE": "1"})
    assert "Needs a person's approval" in done.out
    assert notes(whet) == []
    assert len(whet("lessons", "--waiting", "--json").json["waiting"]) == 1


def test_a_vault_is_connected_searched_and_let_go(whet: Whet, person: Path) -> None:
    vault = person / "Notes"
    vault.mkdir()
    (vault / "servers.md").write_text("# Staging\n\nThe staging server stands in Oslo.\n")
    whet("memory", "add", "The staging server is rebuilt on Mondays.")
    assert whet("memory", "connect", str(vault)).code == 0
    found = whet("search", "--notes", "staging", "server", "--json").json
    assert {each["place"]: each["trust"] for each in found} == {"memory.md": "agent", "servers.md": "external"}
    (vault / "whet.md").write_text("- Answers in Norwegian.\n- <!-- drafts -->\n")
    assert "Answers in Norwegian." in whet("chat", "--prompt", "--json").json["volatile"]
    vault.rename(person / "Moved")
    assert any("does not exist" in warning for warning in whet("chat", "--prompt", "--json").json["warnings"])
    assert whet("memory", "connect", "--json").json == {"disconnected": True}
    assert len(whet("search", "--notes", "staging", "--json").json) == 1
    assert whet("search", "--notes", "orchid").code == 1
    assert whet("memory", "connect", "/nowhere").code == 1
    assert whet("memory", "connect", str(person / "Moved"), variables={"CLAUDECODE": "1"}).code == 1


def test_words_find_a_note_on_whichever_page_it_stands(whet: Whet) -> None:
    whet("memory", "add", "--about-user", "Prefers tables.")
    assert whet("memory", "add", "Prefers lists.", "--replace", "tables").code == 0
    assert notes(whet, "user") == ["Prefers lists."]
    assert whet("memory", "remove", "lists").code == 0
    assert whet("memory", "remove", "lists").code == 1


def test_notes_are_added_to_those_of_hermes_and_nothing_of_its_own_is_touched(whet: Whet, person: Path) -> None:
    assert whet("migrate", "hermes", "--back").code == 1
    page = person / ".hermes" / "memories" / "MEMORY.md"
    page.parent.mkdir(parents=True)
    page.write_text("Hermes' own.\n§\nUses uv.")
    whet("memory", "add", "Uses uv.")
    whet("memory", "add", "Deploys on Mondays.")
    whet("memory", "add", "--about-user", "Prefers tables.")
    assert whet("migrate", "hermes", "--back", variables={"CLAUDECODE": "1"}).code == 1
    assert whet("migrate", "hermes", "--back", "--json").json == {"added": 2, "known": 1, "left_out": []}
    assert page.read_text() == "Hermes' own.\n§\nUses uv.\n§\nDeploys on Mondays."
    assert (page.parent / "USER.md").read_text() == "Prefers tables."
    page.write_text("x" * 2_200)
    full = whet("migrate", "hermes", "--back")
    assert full.code == 1
    assert "Left out: Deploys on Mondays." in full.out
