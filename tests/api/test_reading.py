"""Programs read sessions from files as commands do, and nothing that they read can hurt the store."""

import json
import shutil
from pathlib import Path

import pytest

import whet

TALK = {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good morning."}]}


def test_files_folders_and_globs_are_read(examples: Path) -> None:
    by_folder = list(whet.read(examples / "openai"))
    by_file = list(whet.read(*sorted((examples / "openai").iterdir())))
    by_glob = list(whet.read(str(examples / "open?i" / "*.jsonl")))
    assert by_folder == by_file == by_glob
    assert all(isinstance(each, whet.Transcript) for each in by_folder)


def test_what_cannot_be_read_comes_with_its_reason_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Buy bread.")
    (tmp_path / "b.json").write_text(json.dumps(TALK))
    kinds = {type(each) for each in whet.read(tmp_path)}
    assert kinds == {whet.Skipped, whet.Transcript}


def test_a_path_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(whet.WhetError, match="There is no file"):
        whet.read(tmp_path / "nowhere.jsonl")


def test_the_database_of_a_store_is_never_opened(tmp_path: Path) -> None:
    with whet.Store(tmp_path / "home"):
        linked = tmp_path / "home" / "again"
        linked.symlink_to(tmp_path / "home" / "whet.db")
        found = list(whet.read(tmp_path / "home"))
    assert found
    assert {each.reason for each in found if isinstance(each, whet.Skipped)} == {"Whet's own database"}
    assert all(isinstance(each, whet.Skipped) for each in found)


def test_reading_leaves_secrets_in_and_redacting_takes_them_out(examples: Path, tmp_path: Path) -> None:
    shutil.copytree(examples / "codex", tmp_path / "codex")
    [session] = whet.read(tmp_path / "codex")
    assert isinstance(session, whet.Transcript)
    clean = whet.redact(session)
    assert sum(clean.counts.values()) == 2
    assert clean.transcript != session
    assert whet.redact(clean.transcript).transcript == clean.transcript
