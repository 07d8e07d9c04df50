"""A start loads what it needs and no more: commands that read the store leave the readers of records alone."""

from pathlib import Path

from command import COMMAND, Whet, loaded


def test_commands_that_read_the_store_load_no_reader(whet: Whet, examples: Path, tmp_path: Path) -> None:
    assert whet("import", str(examples / "openai")).code == 0
    for command in ("lessons", "sessions", "rules", "report"):
        found = loaded(str(COMMAND), command, home=tmp_path / "home")
        assert "whet.store.opening" in found
        assert not [name for name in found if name.startswith(("whet.formats", "whet.intake"))], command


def test_a_run_loads_neither_trials_nor_editors_of_files_nor_tables(tmp_path: Path) -> None:
    """Each of them once cost a tenth of the time from the start to the first request."""
    (tmp_path / "replies").write_text('{"text": "Done."}\n')
    command = (str(COMMAND), "run", "List the files.", "--model", f"scripted:{tmp_path / 'replies'}")
    found = loaded(*command, home=tmp_path / "home")
    assert "whet.agent.assembling" in found
    assert found.isdisjoint(("whet.trials.attempts", "whet.evidence.betting", "tomlkit", "yaml", "rich.table"))
    assert found.isdisjoint(("concurrent.futures", "logging", "zipfile"))
